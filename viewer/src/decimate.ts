// What to draw of many samples on few pixels, without losing a peak.
import type { Numbers } from './types.ts';
import { lowerBound, upperBound } from './interpolate.ts';

/**
 * Numbers of the samples to draw between xmin and xmax on `columns` pixels: of the samples that fall in one pixel
 * the first, the least, the greatest and the last, in order. One sample more is kept on each side so that the line
 * runs to the border. A NaN is kept where it interrupts the line. Few samples are returned as they are.
 */
export function decimate(
  xs: Numbers, ys: Numbers, xmin: number, xmax: number, columns: number, log = false,
): Uint32Array {
  const n = Math.min(xs.length, ys.length);
  const from = Math.max(0, lowerBound(xs, xmin) - 1);
  const to = Math.min(n, upperBound(xs, xmax) + 1);
  const count = Math.max(0, to - from);
  if (count <= 4 * columns || !(columns > 0)) return Uint32Array.from({ length: count }, (_, k) => from + k);

  const map = log ? Math.log : (x: number): number => x;
  const left = map(xmin);
  const perColumn = columns / (map(xmax) - left);
  const kept = new Uint32Array(5 * (columns + 2) + 8);
  let size = 0;
  let start = from;
  while (start < to) {
    const column = Math.floor((map(xs[start]) - left) * perColumn);
    let end = start;
    let least = -1;
    let greatest = -1;
    let gap = -1;
    while (end < to && (end === start || Math.floor((map(xs[end]) - left) * perColumn) === column)) {
      const y = ys[end];
      if (Number.isNaN(y)) gap = end;
      else {
        if (least < 0 || y < ys[least]) least = end;
        if (greatest < 0 || y > ys[greatest]) greatest = end;
      }
      ++end;
    }
    const bucket = [start, least, greatest, gap, end - 1].filter((i) => i >= 0).sort((a, b) => a - b);
    for (let k = 0; k < bucket.length; ++k) {
      if (k === 0 || bucket[k] !== bucket[k - 1]) kept[size++] = bucket[k];
    }
    start = end;
  }
  return kept.slice(0, size);
}

/** Least and greatest finite value between xmin and xmax (positive ones only for a logarithmic axis). */
export function extent(
  xs: Numbers, ys: Numbers, xmin: number, xmax: number, positive = false,
): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  const to = Math.min(ys.length, upperBound(xs, xmax));
  for (let i = lowerBound(xs, xmin); i < to; ++i) {
    const y = ys[i];
    if (!Number.isFinite(y) || (positive && y <= 0)) continue;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  return low <= high ? [low, high] : null;
}

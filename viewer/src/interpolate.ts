// Values between samples.
import type { Numbers } from './types.ts';
import { clamp, rotationFromQuaternion, rotationZ, type Pose } from './math.ts';

export interface Interval {
  /** The sample at or before x (never the last one when there are two or more). */
  i: number;
  /** How far x is on the way to sample i + 1: 0 … 1. */
  f: number;
}

/** Number of the first sample that is > x. */
export function upperBound(xs: Numbers, x: number): number {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (xs[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of the first sample that is >= x. */
export function lowerBound(xs: Numbers, x: number): number {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (xs[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where x lies among ascending samples; outside it is held at the ends. */
export function locate(xs: Numbers, x: number): Interval {
  if (xs.length < 2) return { i: 0, f: 0 };
  const i = clamp(upperBound(xs, x) - 1, 0, xs.length - 2);
  const step = xs[i + 1] - xs[i];
  return { i, f: step > 0 ? clamp((x - xs[i]) / step, 0, 1) : 0 };
}

/** The value at x: the sample itself when x is on it, linear between samples, NaN outside the samples. */
export function valueAt(xs: Numbers, ys: Numbers, x: number): number {
  const n = Math.min(xs.length, ys.length);
  if (n === 0 || !(x >= xs[0] && x <= xs[n - 1])) return NaN;
  if (n === 1) return ys[0];
  const { i, f } = locate(xs, x);
  if (f === 0) return ys[i];
  if (f === 1) return ys[i + 1];
  return ys[i] + f * (ys[i + 1] - ys[i]);
}

export const numbersPerPose = (space: 'planar' | 'spatial'): number => (space === 'planar' ? 3 : 7);

/** Pose of one body from the numbers of one frame. */
export function poseFrom(values: Numbers, offset: number, space: 'planar' | 'spatial'): Pose {
  return space === 'planar'
    ? { p: [values[offset], values[offset + 1], 0], r: rotationZ(values[offset + 2]) }
    : {
        p: [values[offset], values[offset + 1], values[offset + 2]],
        r: rotationFromQuaternion(values[offset + 3], values[offset + 4], values[offset + 5], values[offset + 6]),
      };
}

/** Spherical linear interpolation of the quaternions at offsets a and b, along the shorter arc. */
export function slerp(q: Numbers, a: number, b: number, f: number): [number, number, number, number] {
  let cosine = q[a] * q[b] + q[a + 1] * q[b + 1] + q[a + 2] * q[b + 2] + q[a + 3] * q[b + 3];
  const sign = cosine < 0 ? -1 : 1;
  cosine *= sign;
  let wa = 1 - f;
  let wb = f;
  if (cosine < 0.9999) {
    const angle = Math.acos(cosine);
    wa = Math.sin((1 - f) * angle) / Math.sin(angle);
    wb = Math.sin(f * angle) / Math.sin(angle);
  }
  wb *= sign;
  return [
    wa * q[a] + wb * q[b],
    wa * q[a + 1] + wb * q[b + 1],
    wa * q[a + 2] + wb * q[b + 2],
    wa * q[a + 3] + wb * q[b + 3],
  ];
}

/** Pose of one body between frames: lengths and angles linear, quaternions on the arc. */
export function poseBetween(
  values: Numbers, body: number, bodies: number, at: Interval, space: 'planar' | 'spatial',
): Pose {
  const n = numbersPerPose(space);
  const a = (at.i * bodies + body) * n;
  if (at.f === 0) return poseFrom(values, a, space);
  const b = a + bodies * n;
  const mix = (k: number): number => values[a + k] + at.f * (values[b + k] - values[a + k]);
  if (space === 'planar') return { p: [mix(0), mix(1), 0], r: rotationZ(mix(2)) };
  const [w, x, y, z] = slerp(values, a + 3, b + 3, at.f);
  return { p: [mix(0), mix(1), mix(2)], r: rotationFromQuaternion(w, x, y, z) };
}

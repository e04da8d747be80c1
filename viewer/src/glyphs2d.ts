// Signs of mechanics drawn on a canvas, in pixels. g is the size of the signs (about the radius of a pin).
import { mix, type Colors } from './theme.ts';

export type Pixel = readonly [number, number];
type Context = CanvasRenderingContext2D;

const between = (a: Pixel, b: Pixel, f: number): Pixel => [a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1])];

/** Length, unit direction from a to b and its normal. */
function line(a: Pixel, b: Pixel): { length: number; d: Pixel; n: Pixel } {
  const [x, y] = [b[0] - a[0], b[1] - a[1]];
  const length = Math.hypot(x, y);
  const d: Pixel = length > 1e-9 ? [x / length, y / length] : [1, 0];
  return { length, d, n: [-d[1], d[0]] };
}

/** Convex hull (monotone chain). */
export function hull(points: readonly Pixel[]): Pixel[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (sorted.length < 3) return sorted;
  const half = (list: readonly Pixel[]): Pixel[] => {
    const chain: Pixel[] = [];
    for (const p of list) {
      while (chain.length > 1) {
        const [a, b] = [chain[chain.length - 2], chain[chain.length - 1]];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

export function trail(ctx: Context, points: readonly Pixel[], close = false): void {
  ctx.beginPath();
  points.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  if (close) ctx.closePath();
}

/** Where something shall go. */
export function desired(ctx: Context, points: readonly Pixel[], c: Colors): void {
  ctx.lineJoin = 'round';
  ctx.lineCap = 'butt';
  ctx.setLineDash([8, 4]);
  trail(ctx, points);
  ctx.strokeStyle = c.desired;
  ctx.lineWidth = 2;
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A slender link with round ends through some places; three and more span a plate. */
export function link(ctx: Context, points: readonly Pixel[], width: number, fill: string, stroke: string, plate: boolean): void {
  if (points.length === 0) return;
  const places = points.length === 1 ? [points[0], [points[0][0] + 0.01, points[0][1]] as Pixel] : points;
  const outline = plate && places.length > 2 ? hull(places) : places;
  ctx.lineJoin = 'round';
  ctx.lineCap = 'round';
  trail(ctx, outline, outline !== places);
  ctx.strokeStyle = stroke;
  ctx.lineWidth = width;
  ctx.stroke();
  ctx.strokeStyle = fill;
  ctx.lineWidth = Math.max(1, width - 2.5);
  ctx.stroke();
  if (outline !== places) {
    ctx.fillStyle = fill;
    ctx.fill();
  }
}

export function circle(ctx: Context, [x, y]: Pixel, r: number, fill: string | null, stroke: string | null, width = 1.5): void {
  ctx.beginPath();
  ctx.arc(x, y, Math.max(0.1, r), 0, 2 * Math.PI);
  if (fill) {
    ctx.fillStyle = fill;
    ctx.fill();
  }
  if (stroke) {
    ctx.strokeStyle = stroke;
    ctx.lineWidth = width;
    ctx.stroke();
  }
}

/** Short slanted lines on the far side of the segment a–b, the side that n points to. */
export function hatch(ctx: Context, a: Pixel, b: Pixel, n: Pixel, g: number, c: Colors): void {
  const { length, d } = line(a, b);
  const step = 0.75 * g;
  ctx.beginPath();
  ctx.moveTo(a[0], a[1]);
  ctx.lineTo(b[0], b[1]);
  ctx.strokeStyle = c.ground;
  ctx.lineCap = 'butt';
  ctx.lineWidth = 1.75;
  ctx.stroke();
  ctx.beginPath();
  const count = Math.max(1, Math.round(length / step));
  for (let k = 0; k < count; ++k) {
    const s = ((k + 0.75) * length) / count;
    const [x, y] = [a[0] + d[0] * s, a[1] + d[1] * s];
    ctx.moveTo(x, y);
    ctx.lineTo(x + 0.8 * g * (n[0] - 0.8 * d[0]), y + 0.8 * g * (n[1] - 0.8 * d[1]));
  }
  ctx.lineWidth = 1.1;
  ctx.stroke();
}

/** Bearing on the ground: a triangle under the pin on a hatched line. `down` is a unit direction. */
export function bearing(ctx: Context, p: Pixel, down: Pixel, g: number, c: Colors): void {
  const side: Pixel = [-down[1], down[0]];
  const h = 2.7 * g;
  const corner = (s: number, k: number): Pixel => [p[0] + down[0] * h + side[0] * s * k * g, p[1] + down[1] * h + side[1] * s * k * g];
  trail(ctx, [p, corner(1, 1.75), corner(-1, 1.75)], true);
  ctx.fillStyle = mix(c.surface, c.ground, 0.14);
  ctx.fill();
  ctx.strokeStyle = c.ground;
  ctx.lineWidth = 1.5;
  ctx.lineJoin = 'round';
  ctx.stroke();
  hatch(ctx, corner(1, 2.6), corner(-1, 2.6), down, g, c);
}

/** Block that slides along a direction. */
export function block(ctx: Context, p: Pixel, along: Pixel, g: number, fill: string, stroke: string): void {
  const { d, n } = line([0, 0], along);
  const corner = (s: number, t: number): Pixel => [
    p[0] + g * (s * 2.2 * d[0] + t * 1.35 * n[0]), p[1] + g * (s * 2.2 * d[1] + t * 1.35 * n[1])];
  trail(ctx, [corner(1, 1), corner(-1, 1), corner(-1, -1), corner(1, -1)], true);
  ctx.lineJoin = 'round';
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 1.75;
  ctx.stroke();
}

/** Zig-zag between two places, with straight ends. */
export function coil(ctx: Context, a: Pixel, b: Pixel, g: number, color: string): void {
  const { length, n } = line(a, b);
  const ends = Math.min(2.2 * g, 0.18 * length) / (length || 1);
  const teeth = 8;
  const points: Pixel[] = [a, between(a, b, ends)];
  for (let k = 0; k < teeth; ++k) {
    const [x, y] = between(a, b, ends + ((1 - 2 * ends) * (k + 0.5)) / teeth);
    const s = (k % 2 ? -1 : 1) * 1.15 * g;
    points.push([x + s * n[0], y + s * n[1]]);
  }
  points.push(between(a, b, 1 - ends), b);
  trail(ctx, points);
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.6;
  ctx.lineJoin = 'round';
  ctx.lineCap = 'round';
  ctx.stroke();
}

/** Piston in a cup. */
export function dashpot(ctx: Context, a: Pixel, b: Pixel, g: number, color: string): void {
  const { length, d, n } = line(a, b);
  const half = Math.min(2.2 * g, 0.3 * length);
  const m = between(a, b, 0.5);
  const at = (s: number, t: number): Pixel => [m[0] + s * d[0] + t * n[0], m[1] + s * d[1] + t * n[1]];
  const strokes: Pixel[][] = [
    [a, at(-half, 0)],
    [at(half, 1.15 * g), at(-half, 1.15 * g), at(-half, -1.15 * g), at(half, -1.15 * g)],
    [at(0.25 * half, 0.85 * g), at(0.25 * half, -0.85 * g)],
    [at(0.25 * half, 0), b],
  ];
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.6;
  ctx.lineJoin = 'miter';
  ctx.lineCap = 'round';
  for (const s of strokes) {
    trail(ctx, s);
    ctx.stroke();
  }
}

/** Spring or damper, or both side by side, between two places. */
export function spring(ctx: Context, a: Pixel, b: Pixel, parts: 'spring' | 'damper' | 'both', g: number, color: string): void {
  if (parts !== 'both') {
    (parts === 'spring' ? coil : dashpot)(ctx, a, b, g, color);
    return;
  }
  const { length, n } = line(a, b);
  const ends = Math.min(2 * g, 0.15 * length) / (length || 1);
  const [p, q] = [between(a, b, ends), between(a, b, 1 - ends)];
  const shifted = (x: Pixel, s: number): Pixel => [x[0] + s * g * n[0], x[1] + s * g * n[1]];
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.6;
  for (const s of [[a, p], [shifted(p, 1.7), shifted(p, -1.7)], [shifted(q, 1.7), shifted(q, -1.7)], [q, b]]) {
    trail(ctx, s);
    ctx.stroke();
  }
  coil(ctx, shifted(p, 1.7), shifted(q, 1.7), 0.85 * g, color);
  dashpot(ctx, shifted(p, -1.7), shifted(q, -1.7), 0.85 * g, color);
}

/** Spiral from the angle `from` (inside) to the angle `to` (outside); it winds as the two turn. */
export function spiral(ctx: Context, p: Pixel, from: number, to: number, g: number, color: string): void {
  const turns = 2.25 * 2 * Math.PI + (to - from);
  const steps = 90;
  ctx.beginPath();
  for (let k = 0; k <= steps; ++k) {
    const f = k / steps;
    const r = g * (1.3 + 2.3 * f);
    const angle = from + f * turns;
    ctx.lineTo(p[0] + r * Math.cos(angle), p[1] - r * Math.sin(angle));
  }
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.6;
  ctx.lineJoin = 'round';
  ctx.stroke();
}

function head(ctx: Context, tip: Pixel, d: Pixel, g: number, color: string): void {
  const n: Pixel = [-d[1], d[0]];
  trail(ctx, [
    tip, [tip[0] - 1.7 * g * d[0] + 0.75 * g * n[0], tip[1] - 1.7 * g * d[1] + 0.75 * g * n[1]],
    [tip[0] - 1.7 * g * d[0] - 0.75 * g * n[0], tip[1] - 1.7 * g * d[1] - 0.75 * g * n[1]]], true);
  ctx.fillStyle = color;
  ctx.fill();
}

/** Arrow that starts at p. */
export function arrow(ctx: Context, p: Pixel, along: Pixel, length: number, g: number, color: string): void {
  const { d } = line([0, 0], along);
  const tip: Pixel = [p[0] + length * d[0], p[1] + length * d[1]];
  ctx.beginPath();
  ctx.moveTo(p[0], p[1]);
  ctx.lineTo(tip[0] - 1.2 * g * d[0], tip[1] - 1.2 * g * d[1]);
  ctx.strokeStyle = color;
  ctx.lineWidth = 2.25;
  ctx.lineCap = 'butt';
  ctx.stroke();
  head(ctx, tip, d, g, color);
}

/** Arrow around p, against the clock. */
export function torque(ctx: Context, p: Pixel, g: number, color: string): void {
  const r = 3.1 * g;
  const end = -0.75 * Math.PI;
  ctx.beginPath();
  ctx.arc(p[0], p[1], r, 0.25 * Math.PI, end, true);
  ctx.strokeStyle = color;
  ctx.lineWidth = 2.25;
  ctx.lineCap = 'butt';
  ctx.stroke();
  const tip: Pixel = [p[0] + r * Math.cos(end - 0.4), p[1] + r * Math.sin(end - 0.4)];
  head(ctx, tip, [Math.sin(end - 0.2), -Math.cos(end - 0.2)], g, color);
}

/** A badge beside the place that is measured. */
export function sensor(ctx: Context, p: Pixel, type: string, g: number, c: Colors): void {
  const s = Math.max(7, 1.25 * g);
  const m: Pixel = [p[0] + 2.6 * g, p[1] - 2.6 * g];
  ctx.beginPath();
  ctx.moveTo(p[0], p[1]);
  ctx.lineTo(m[0], m[1]);
  ctx.strokeStyle = c.sensor;
  ctx.lineWidth = 1.25;
  ctx.stroke();
  circle(ctx, p, 0.3 * g, c.sensor, null);
  ctx.beginPath();
  ctx.roundRect(m[0] - s, m[1] - s, 2 * s, 2 * s, 0.45 * s);
  ctx.fillStyle = c.sensor;
  ctx.fill();
  ctx.save();
  ctx.translate(m[0], m[1]);
  ctx.scale(s / 8, s / 8);
  ctx.strokeStyle = c.surface;
  ctx.lineWidth = 1.4;
  ctx.lineCap = 'round';
  ctx.lineJoin = 'round';
  ctx.beginPath();
  for (const stroke of pictogram(type)) {
    if (typeof stroke[0] === 'number') {
      const [x, y, r, from, to] = stroke as number[];
      ctx.moveTo(x + r * Math.cos(from), y + r * Math.sin(from));
      ctx.arc(x, y, r, from, to);
    } else (stroke as Pixel[]).forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  }
  ctx.stroke();
  ctx.restore();
}

/** Strokes in a square of ±8: lines, or arcs as x, y, r, from, to. */
function pictogram(type: string): (number[] | Pixel[])[] {
  switch (type) {
    case 'gyroscope':
      return [[0, 0, 4, 0.6, 5.6], [[4.6, -5.2], [3.2, -2.5], [0.3, -3.4]]];
    case 'accelerometer':
      return [[[-4.5, 4.5], [-4.5, -4.5]], [[-6, -2.6], [-4.5, -4.5], [-3, -2.6]], [[-4.5, 4.5], [4.5, 4.5]], [[2.6, 3], [4.5, 4.5], [2.6, 6]]];
    case 'encoder':
    case 'angle':
      return [[[5, 4], [-5, 4], [3, -4.5]], [-5, 4, 6, -0.8, 0]];
    case 'distance':
      return [[[-5, 0], [5, 0]], [[-5, -3], [-5, 3]], [[5, -3], [5, 3]]];
    case 'force':
      return [[[0, -5], [0, 4.5]], [[-2.5, 2], [0, 5], [2.5, 2]]];
    default:
      return [[0, 0, 3, 0, 2 * Math.PI], [[-5.5, 0], [5.5, 0]], [[0, -5.5], [0, 5.5]]];
  }
}

/** Directions of x, y and z: right, down and towards the eye of each unit vector. */
export function triad(ctx: Context, p: Pixel, axes: number[][], c: Colors): void {
  ctx.font = '600 11px system-ui, sans-serif';
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  const hues = [c.force, c.spring, c.accent];
  const order = [0, 1, 2].sort((a, b) => axes[a][2] - axes[b][2]);
  for (const k of order) {
    const [x, y] = axes[k];
    const length = Math.hypot(x, y);
    if (length > 0.08) arrow(ctx, p, [x, y], 24 * length, 3, hues[k]);
    label(ctx, 'xyz'[k], [p[0] + 33 * x, p[1] + 33 * y], hues[k], c.surface);
  }
}

/** Text that stays readable on top of lines. */
export function label(ctx: Context, text: string, [x, y]: Pixel, color: string, halo: string): void {
  ctx.lineJoin = 'round';
  ctx.lineWidth = 3.5;
  ctx.strokeStyle = halo;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
}

// Vectors, rotations and poses. A rotation is 9 numbers, column after column; a pose maps body axes to the world.

export type Vec3 = readonly [number, number, number];
export type Rotation = readonly number[];
export interface Pose {
  readonly p: Vec3;
  readonly r: Rotation;
}

export const identity: Rotation = [1, 0, 0, 0, 1, 0, 0, 0, 1];
export const origin: Vec3 = [0, 0, 0];

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const sub = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const norm = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/** Unit vector along a, or the fallback when a has no length. */
export function unit(a: Vec3, fallback: Vec3 = [1, 0, 0]): Vec3 {
  const n = norm(a);
  return n > 1e-12 ? scale(a, 1 / n) : fallback;
}

/** A unit vector orthogonal to the unit vector a. */
export function orthogonal(a: Vec3): Vec3 {
  return unit(cross(a, Math.abs(a[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
}

export const rotate = (r: Rotation, v: Vec3): Vec3 => [
  r[0] * v[0] + r[3] * v[1] + r[6] * v[2],
  r[1] * v[0] + r[4] * v[1] + r[7] * v[2],
  r[2] * v[0] + r[5] * v[1] + r[8] * v[2],
];

export const apply = (x: Pose, v: Vec3): Vec3 => add(x.p, rotate(x.r, v));

export function multiply(a: Rotation, b: Rotation): Rotation {
  const column = (k: number): Vec3 => rotate(a, [b[3 * k], b[3 * k + 1], b[3 * k + 2]]);
  return [...column(0), ...column(1), ...column(2)];
}

export const compose = (a: Pose, b: Pose): Pose => ({ p: apply(a, b.p), r: multiply(a.r, b.r) });

export function rotationZ(angle: number): Rotation {
  const c = Math.cos(angle);
  const s = Math.sin(angle);
  return [c, s, 0, -s, c, 0, 0, 0, 1];
}

/** Rotation of the quaternion w x y z, which need not have unit length. */
export function rotationFromQuaternion(w: number, x: number, y: number, z: number): Rotation {
  const n = w * w + x * x + y * y + z * z;
  const s = n > 0 ? 2 / n : 0;
  return [
    1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y),
    s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x),
    s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y),
  ];
}

/** Rotation by the angle |v| about v. */
export function rotationFromVector(v: Vec3): Rotation {
  const angle = norm(v);
  if (angle < 1e-15) return identity;
  const s = Math.sin(angle / 2) / angle;
  return rotationFromQuaternion(Math.cos(angle / 2), v[0] * s, v[1] * s, v[2] * s);
}

export const clamp = (x: number, low: number, high: number): number => Math.min(high, Math.max(low, x));

/** The next of 1, 2, 5 · 10ⁿ at or above a number. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((k) => k * power >= least * 0.999) ?? 10);
}

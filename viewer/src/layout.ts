// What the flat and the spatial drawing share: travel of sliding joints, places of names, the grid on the floor.
import { bodyReach, poseOf, worldPlace, type Box } from './mechanism.ts';
import { add, apply, cross, dot, orthogonal, rotate, roundStep, scale, sub, unit, type Pose, type Vec3 } from './math.ts';
import type { Joint, Scene } from './types.ts';

/** How far a sliding joint travels along its axis, in metres from the place on body a. */
export type Travel = ReadonlyMap<Joint, readonly [number, number]>;

export const slides = (j: Joint): boolean => ['prismatic', 'slider', 'cylindrical'].includes(j.type);
export const linked = (j: Joint): boolean => ['gear', 'rack', 'coupling'].includes(j.type);
export const unseen = (j: Joint): boolean => ['free', 'planar'].includes(j.type);

/** Names of bodies in their middle, of joints and points beside their place. */
export function placedLabels(scene: Scene, poses: readonly Pose[]): { name: string; at: Vec3; strong: boolean }[] {
  const reach = bodyReach(scene).bodies;
  const bodies = scene.bodies.map((b, k) => {
    const own = reach[k].map((p) => apply(poses[k], p));
    scene.sections.forEach((s, i) => s.body === k && own.push(poses[scene.bodies.length + i].p));
    return { name: b.name, at: scale(own.reduce(add, [0, 0, 0] as Vec3), 1 / own.length), strong: true };
  });
  const joints = scene.joints.filter((j) => !unseen(j)).map((j) => ({ name: j.name, at: worldPlace(poses, j.b), strong: false }));
  const taken = (at: Vec3): boolean => joints.some((j) => Math.hypot(...sub(j.at, at)) < 1e-6 * scene.size);
  const points = scene.points.map((p) => ({ name: p.name, at: worldPlace(poses, p), strong: false })).filter((p) => !taken(p.at));
  return [...bodies, ...joints, ...points];
}

/** A square grid on the floor below everything. */
export function floorGrid(scene: Scene, box: Box): { lines: [Vec3, Vec3][]; centre: Vec3; half: number } {
  const up = unit(scene.up, [0, 0, 1]);
  const first = orthogonal(up);
  const second = cross(up, first);
  const middle = scale(add(box.low, box.high), 0.5);
  const diagonal = Math.hypot(...sub(box.high, box.low)) || scene.size;
  const lowest = Math.min(...[0, 1, 2, 3, 4, 5, 6, 7].map((k) =>
    dot(up, [k & 1 ? box.low[0] : box.high[0], k & 2 ? box.low[1] : box.high[1], k & 4 ? box.low[2] : box.high[2]])));
  const step = roundStep(diagonal / 12);
  const count = Math.ceil((0.7 * diagonal) / step);
  const half = count * step;
  const snap = (v: number): number => Math.round(v / step) * step;
  const centre = add(add(scale(first, snap(dot(middle, first))), scale(second, snap(dot(middle, second)))), scale(up, lowest - 0.02 * scene.size));
  const lines: [Vec3, Vec3][] = [];
  for (let k = -count; k <= count; ++k) {
    for (const [across, along] of [[first, second], [second, first]]) {
      const at = add(centre, scale(across, k * step));
      lines.push([add(at, scale(along, -half)), add(at, scale(along, half))]);
    }
  }
  return { lines, centre, half };
}

/** Travel of every sliding joint over some frames. */
export function travels(scene: Scene, frames: Iterable<readonly Pose[]>): Travel {
  const result = new Map<Joint, [number, number]>(scene.joints.filter(slides).map((j) => [j, [0, 0]]));
  if (result.size === 0) return result;
  for (const poses of frames) {
    for (const [j, range] of result) {
      const axis = unit(rotate(poseOf(poses, j.a.body).r, j.axis ?? [1, 0, 0]));
      const s = dot(axis, sub(worldPlace(poses, j.b), worldPlace(poses, j.a)));
      range[0] = Math.min(range[0], s);
      range[1] = Math.max(range[1], s);
    }
  }
  return result;
}

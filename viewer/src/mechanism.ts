// Where everything of a scene is at one instant.
import { locate, poseBetween, poseFrom, numbersPerPose } from './interpolate.ts';
import { apply, identity, origin, type Pose, type Vec3 } from './math.ts';
import type { Motion, Numbers, Place, Scene, Shape } from './types.ts';

export const groundPose: Pose = { p: origin, r: identity };

/** Poses of all bodies at time t. */
export function posesAt(scene: Scene, motion: Motion, t: number): Pose[] {
  const at = locate(motion.t, t);
  return scene.bodies.map((_, b) => poseBetween(motion.poses, b, scene.bodies.length, at, scene.space));
}

/** Poses of all bodies from the numbers of one frame. */
export function posesOfFrame(scene: Scene, values: Numbers, frame = 0): Pose[] {
  const n = numbersPerPose(scene.space);
  return scene.bodies.map((_, b) => poseFrom(values, (frame * scene.bodies.length + b) * n, scene.space));
}

export const poseOf = (poses: readonly Pose[], body: number): Pose => (body < 0 ? groundPose : poses[body]);
export const worldPlace = (poses: readonly Pose[], place: Place): Vec3 => apply(poseOf(poses, place.body), place.at);

/** Names that can be followed: named points, then joints (at their place on the moving side). */
export function namedPlaces(scene: Scene): { name: string; place: Place }[] {
  const seen = new Set<string>();
  const places: { name: string; place: Place }[] = [];
  const joints = scene.joints.map((j) => ({ name: j.name, body: j.b.body, at: j.b.at }));
  for (const p of [...scene.points, ...joints]) {
    if (!p.name || seen.has(p.name)) continue;
    seen.add(p.name);
    places.push({ name: p.name, place: { body: p.body, at: p.at } });
  }
  return places;
}

export const shapePose = (shape: Shape): Pose => ({
  p: shape.at ?? origin,
  r: shape.axes && shape.axes.length === 9 ? shape.axes : identity,
});

/** Points that bound a shape, in the axes of its body. */
export function shapeCorners(shape: Shape): Vec3[] {
  const own = shapePose(shape);
  const corners: Vec3[] = [];
  const block = (low: Vec3, high: Vec3): void => {
    for (const x of [low[0], high[0]]) for (const y of [low[1], high[1]]) for (const z of [low[2], high[2]]) corners.push([x, y, z]);
  };
  const r = shape.radius ?? 0;
  const half = (shape.length ?? 0) / 2;
  switch (shape.kind) {
    case 'bar': {
      const [w, h] = [(shape.width ?? 0) / 2, (shape.height ?? 0) / 2];
      block([0, -w, -h], [shape.length ?? 0, w, h]);
      break;
    }
    case 'box': {
      const s = shape.size ?? [0, 0, 0];
      block([-s[0] / 2, -s[1] / 2, -s[2] / 2], [s[0] / 2, s[1] / 2, s[2] / 2]);
      break;
    }
    case 'cylinder': {
      const k = 'xyz'.indexOf(shape.axis ?? 'z');
      const e = [r, r, r].map((v, i) => (i === k ? half : v));
      block([-e[0], -e[1], -e[2]], [e[0], e[1], e[2]]);
      break;
    }
    case 'sphere':
      block([-r, -r, -r], [r, r, r]);
      break;
    case 'polygon':
    case 'link':
      for (const p of shape.points ?? []) corners.push([p[0], p[1], p[2] ?? 0]);
  }
  return corners.map((c) => apply(own, c));
}

/** Points fixed in each body that tell how far it reaches: corners of shapes, joints, springs, loads, sensors, points. */
export function bodyReach(scene: Scene): { bodies: Vec3[][]; ground: Vec3[] } {
  const bodies: Vec3[][] = scene.bodies.map((b) => b.shapes.flatMap(shapeCorners));
  const ground: Vec3[] = [];
  const places: Place[] = [
    ...scene.joints.flatMap((j) => [j.a, j.b]),
    ...scene.springs.flatMap((s) => [s.a, s.b]),
    ...scene.forces, ...scene.sensors, ...scene.points,
  ];
  for (const { body, at } of places) (body < 0 ? ground : bodies[body]).push(at);
  bodies.forEach((b) => {
    if (!b.length) b.push(origin);
  });
  return { bodies, ground };
}

export interface Box {
  low: Vec3;
  high: Vec3;
}

/** The box that everything stays in, over all the given frames of poses. */
export function boundingBox(scene: Scene, frames: Iterable<readonly Pose[]>): Box {
  const reach = bodyReach(scene);
  const low: [number, number, number] = [Infinity, Infinity, Infinity];
  const high: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  const include = (p: Vec3): void => {
    for (let k = 0; k < 3; ++k) {
      if (p[k] < low[k]) low[k] = p[k];
      if (p[k] > high[k]) high[k] = p[k];
    }
  };
  reach.ground.forEach(include);
  for (const poses of frames) reach.bodies.forEach((points, b) => points.forEach((p) => include(apply(poses[b], p))));
  if (!low.every(Number.isFinite) || !high.every(Number.isFinite)) {
    const h = scene.size / 2;
    return { low: [-h, -h, -h], high: [h, h, h] };
  }
  return { low, high };
}

/** About `count` frames spread over a motion. */
export function* sampledFrames(scene: Scene, motion: Motion, count = 200): Generator<Pose[]> {
  const step = Math.max(1, Math.floor(motion.t.length / count));
  for (let i = 0; i < motion.t.length; i += step) yield posesOfFrame(scene, motion.poses, i);
}

/** The way of a place through all frames of a motion. */
export function path(scene: Scene, motion: Motion, place: Place): Vec3[] {
  if (place.body < 0) return [place.at];
  const n = numbersPerPose(scene.space);
  return Array.from({ length: motion.t.length }, (_, i) =>
    apply(poseFrom(motion.poses, (i * scene.bodies.length + place.body) * n, scene.space), place.at));
}

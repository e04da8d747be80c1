// Where everything of a scene is at one instant.
import { locate, poseBetween, poseFrom, numbersPerPose } from './interpolate.ts';
import { apply, identity, multiply, origin, rotationZ, roundStep, type Pose, type Rotation, type Vec3 } from './math.ts';
import type { Motion, Numbers, Place, Scene, Section, Shape } from './types.ts';

export const groundPose: Pose = { p: origin, r: identity };

/** A pose of each body, then the displacements x y turn of each node of the beams. */
export const numbersPerFrame = (scene: Scene): number => scene.bodies.length * numbersPerPose(scene.space) + 3 * scene.nodes;

/** Displacements dx, dy and slope of a section in the axes of its link, whose rotation is r; u: those of all nodes. */
export function bending(section: Section, r: Rotation, u: Numbers): Vec3 {
  const d = [0, 0, 0];
  for (const k of [0, 1]) {
    const n = 3 * (section.node + k);
    const local = [r[0] * u[n] + r[1] * u[n + 1], r[0] * u[n + 1] - r[1] * u[n], u[n + 2]];
    for (let i = 0; i < 3; ++i) for (let j = 0; j < 3; ++j) d[i] += section.rows[6 * i + 3 * k + j] * local[j];
  }
  return [d[0], d[1], d[2]];
}

/** Where a section is when displacements are drawn `deformation` times as large; it stays normal to the drawn curve. */
function sectionPose(section: Section, link: Pose, u: Numbers, deformation: number): Pose {
  const [dx, dy, slope] = bending(section, link.r, u);
  return {
    p: apply(link, [section.x + deformation * dx, deformation * dy, 0]),
    r: multiply(link.r, rotationZ(Math.atan(deformation * slope))),
  };
}

/** Poses of the bodies, then those of the sections of beams. */
export function withSections(scene: Scene, bodies: Pose[], u: Numbers, deformation: number): Pose[] {
  return scene.sections.length ? [...bodies, ...scene.sections.map((s) => sectionPose(s, bodies[s.body], u, deformation))] : bodies;
}

/** The largest elastic displacement of any section, without its scale. */
export function largestDeflection(scene: Scene, bodies: readonly Pose[], u: Numbers): number {
  return Math.max(0, ...scene.sections.map((s) => Math.hypot(...bending(s, bodies[s.body].r, u).slice(0, 2))));
}

/** The scale that shows the largest deflection as a twentieth of the size or a little more; 1 when it is larger, or nothing but round-off. */
export function visibleDeformation(scene: Scene, deflection: number): number {
  return deflection > 1e-9 * scene.size ? Math.max(1, roundStep((0.05 * scene.size) / deflection)) : 1;
}

/** Poses of all bodies and sections at time t. */
export function posesAt(scene: Scene, motion: Motion, t: number, deformation: number): Pose[] {
  const at = locate(motion.t, t);
  // Where there are nodes, a pose has three numbers as well.
  const items = scene.bodies.length + scene.nodes;
  const bodies = scene.bodies.map((_, b) => poseBetween(motion.poses, b, items, at, scene.space));
  const here = displacementsOfFrame(scene, motion.poses, at.i);
  const next = at.f > 0 ? displacementsOfFrame(scene, motion.poses, at.i + 1) : here;
  return withSections(scene, bodies, Float64Array.from(here, (u, k) => u + at.f * (next[k] - u)), deformation);
}

/** Displacements of all nodes in one frame. */
export function displacementsOfFrame(scene: Scene, values: Numbers, frame = 0): Numbers {
  const end = (frame + 1) * numbersPerFrame(scene);
  return values.subarray(end - 3 * scene.nodes, end);
}

/** Poses of all bodies and sections from the numbers of one frame. */
export function posesOfFrame(scene: Scene, values: Numbers, deformation: number, frame = 0): Pose[] {
  const [n, start] = [numbersPerPose(scene.space), frame * numbersPerFrame(scene)];
  const bodies = scene.bodies.map((_, b) => poseFrom(values, start + b * n, scene.space));
  return withSections(scene, bodies, displacementsOfFrame(scene, values, frame), deformation);
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
      break;
    case 'beam': // its sections tell
  }
  return corners.map((c) => apply(own, c));
}

/** Points fixed in each body and section that tell how far it reaches: corners of shapes, joints, springs, loads, sensors, points. */
export function bodyReach(scene: Scene): { bodies: Vec3[][]; ground: Vec3[] } {
  const bodies: Vec3[][] = [...scene.bodies.map((b) => b.shapes.flatMap(shapeCorners)), ...scene.sections.map(() => [])];
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
  for (const p of scene.paths) p.points.forEach(include);
  for (const poses of frames) reach.bodies.forEach((points, b) => points.forEach((p) => include(apply(poses[b], p))));
  if (!low.every(Number.isFinite) || !high.every(Number.isFinite)) {
    const h = scene.size / 2;
    return { low: [-h, -h, -h], high: [h, h, h] };
  }
  return { low, high };
}

/** Numbers of about `count` frames spread over a motion. */
export function sampledFrames(motion: Motion, count = 200): number[] {
  const step = Math.max(1, Math.floor(motion.t.length / count));
  return Array.from({ length: Math.ceil(motion.t.length / step) }, (_, k) => k * step);
}

/** The way of a place through all frames of a motion. */
export function path(scene: Scene, motion: Motion, place: Place, deformation: number): Vec3[] {
  if (place.body < 0) return [place.at];
  const section = scene.sections[place.body - scene.bodies.length];
  const [n, size, body] = [numbersPerPose(scene.space), numbersPerFrame(scene), section?.body ?? place.body];
  return Array.from({ length: motion.t.length }, (_, i) => {
    const pose = poseFrom(motion.poses, i * size + body * n, scene.space);
    const moved = section ? sectionPose(section, pose, displacementsOfFrame(scene, motion.poses, i), deformation) : pose;
    return apply(moved, place.at);
  });
}

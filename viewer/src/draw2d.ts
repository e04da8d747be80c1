// A mechanism on a canvas, through a parallel projection.
import type { Camera2d } from './camera2d.ts';
import {
  arrow, bearing, block, circle, desired, hatch, hull, label, link, sensor, spiral, spring, torque, trail, triad, type Pixel,
} from './glyphs2d.ts';
import { floorGrid, linked, placedLabels, slides, unseen, type Travel } from './layout.ts';
import { poseOf, shapeCorners, shapePose, worldPlace, type Box } from './mechanism.ts';
import { add, apply, clamp, compose, dot, rotate, roundStep, scale, unit, type Pose, type Vec3 } from './math.ts';
import { formatNumber } from './format.ts';
import { colors, cycle, fade, isColor, mix, type Colors } from './theme.ts';
import type { Joint, Scene, Shape } from './types.ts';
import type { Layer, Picture, Trace } from './view.ts';

interface Ink {
  fill: string;
  stroke: string;
}

export class Drawing2d {
  private c: Colors = colors();
  private g = 6;

  constructor(
    private readonly ctx: CanvasRenderingContext2D, private readonly scene: Scene, private readonly camera: Camera2d,
    private readonly travel: Travel, private readonly box: Box,
  ) {}

  draw(picture: Picture, ratio: number): void {
    const { ctx, camera, scene } = this;
    this.c = colors();
    this.g = clamp(0.021 * scene.size * camera.zoom, 3.5, 9);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, camera.width, camera.height);
    ctx.fillStyle = this.c.surface;
    ctx.fillRect(0, 0, camera.width, camera.height);
    if (camera.spatial) this.floor();
    else this.grid();
    const solid = picture.layers.find((l) => l.ghost === 0);
    const ghosts = picture.layers.filter((l) => l.ghost > 0);
    if (solid) this.ground(solid.poses);
    for (const p of scene.paths) desired(ctx, p.points.map((q) => camera.project(q)), this.c);
    for (const trace of picture.traces) this.trace(trace);
    for (const ghost of ghosts) this.layer(ghost);
    if (solid) {
      this.layer(solid);
      this.extras(solid.poses);
    }
    for (const trace of picture.traces) circle(ctx, camera.project(trace.here), 3.5, this.traceColor(trace), this.c.surface, 1.5);
    if (solid && picture.labels) this.labels(solid.poses);
    this.legend();
  }

  /** Grid lines of the drawing plane at round distances. */
  private grid(): void {
    const { ctx, camera } = this;
    const step = roundStep(64 / camera.zoom);
    const [cx, cy] = [dot(camera.target, camera.right), dot(camera.target, camera.up)];
    const [w, h] = [camera.width / 2 / camera.zoom, camera.height / 2 / camera.zoom];
    for (const major of [false, true]) {
      ctx.beginPath();
      for (let k = Math.ceil((cx - w) / step); k * step <= cx + w; ++k) {
        if ((k % 5 === 0) !== major) continue;
        const x = Math.round(camera.width / 2 + (k * step - cx) * camera.zoom) + 0.5;
        ctx.moveTo(x, 0);
        ctx.lineTo(x, camera.height);
      }
      for (let k = Math.ceil((cy - h) / step); k * step <= cy + h; ++k) {
        if ((k % 5 === 0) !== major) continue;
        const y = Math.round(camera.height / 2 - (k * step - cy) * camera.zoom) + 0.5;
        ctx.moveTo(0, y);
        ctx.lineTo(camera.width, y);
      }
      ctx.strokeStyle = fade(this.c.grid, major ? 0.85 : 0.45);
      ctx.lineWidth = 1;
      ctx.stroke();
    }
  }

  /** Grid on the floor under a spatial mechanism. */
  private floor(): void {
    const { ctx, camera } = this;
    ctx.beginPath();
    for (const [a, b] of floorGrid(this.scene, this.box).lines) {
      const [p, q] = [camera.project(a), camera.project(b)];
      ctx.moveTo(p[0], p[1]);
      ctx.lineTo(q[0], q[1]);
    }
    ctx.strokeStyle = this.c.grid;
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  private traceColor(trace: Trace): string {
    return cycle(trace.ghost ? this.c.ghosts : this.c.series, trace.ghost ? trace.ghost - 1 : trace.color);
  }

  private trace(trace: Trace): void {
    const { ctx } = this;
    const color = this.traceColor(trace);
    const pixels = trace.points.map((p) => this.camera.project(p));
    ctx.lineJoin = 'round';
    ctx.lineCap = 'butt';
    if (trace.ghost) ctx.setLineDash([5, 4]);
    trail(ctx, pixels);
    ctx.strokeStyle = fade(color, 0.3);
    ctx.lineWidth = 1.5;
    ctx.stroke();
    trail(ctx, [...pixels.slice(0, trace.passed), this.camera.project(trace.here)]);
    ctx.strokeStyle = color;
    ctx.lineWidth = 1.75;
    ctx.stroke();
    ctx.setLineDash([]);
  }

  private down(): Pixel {
    const d = this.camera.direction(scale(this.scene.up, -1));
    const n = Math.hypot(d[0], d[1]);
    return n > 1e-9 * this.camera.zoom ? [d[0] / n, d[1] / n] : [0, 1];
  }

  /** What stands still: bearings, rails and hatching at the joints with the ground. */
  private ground(poses: readonly Pose[]): void {
    const seen = new Set<string>();
    const down = this.down();
    for (const j of this.scene.joints) {
      if (slides(j)) this.rail(j, poses);
      const grounded = j.a.body < 0 ? j.a : j.b.body < 0 ? j.b : null;
      if (!grounded || slides(j) || linked(j) || unseen(j)) continue;
      const p = this.camera.project(worldPlace(poses, grounded));
      const key = `${p[0].toFixed(1)} ${p[1].toFixed(1)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (j.type === 'weld') {
        const [sx, sy] = [down[1] * 2.6 * this.g, -down[0] * 2.6 * this.g];
        hatch(this.ctx, [p[0] - sx, p[1] - sy], [p[0] + sx, p[1] + sy], down, this.g, this.c);
      } else bearing(this.ctx, p, down, this.g, this.c);
    }
  }

  private axisOf(j: Joint, poses: readonly Pose[]): Vec3 {
    return unit(rotate(poseOf(poses, j.a.body).r, j.axis ?? [1, 0, 0]));
  }

  /** The straight guide of a sliding joint, hatched when it is fixed to the ground. */
  private rail(j: Joint, poses: readonly Pose[]): void {
    const { ctx, camera, g } = this;
    const axis = this.axisOf(j, poses);
    const from = worldPlace(poses, j.a);
    const [low, high] = this.travel.get(j) ?? [0, 0];
    const [dx, dy] = camera.direction(axis);
    const pixels = Math.hypot(dx, dy);
    if (pixels < 1e-6) return;
    const margin = (4 * g) / pixels;
    const n0: Pixel = [-dy / pixels, dx / pixels];
    const down = this.down();
    const n: Pixel = n0[0] * down[0] + n0[1] * down[1] < 0 ? [-n0[0], -n0[1]] : n0;
    const shift = j.a.body < 0 || j.b.body < 0 ? 1.5 * g : 0;
    const at = (s: number): Pixel => {
      const [x, y] = camera.project(add(from, scale(axis, s)));
      return [x + n[0] * shift, y + n[1] * shift];
    };
    const [a, b] = [at(low - margin), at(high + margin)];
    if (shift) hatch(ctx, a, b, n, g, this.c);
    else {
      trail(ctx, [a, b]);
      ctx.strokeStyle = mix(cycle(this.c.bodies, j.a.body), this.c.surface, 0.35);
      ctx.lineCap = 'round';
      ctx.lineWidth = 0.8 * g;
      ctx.stroke();
    }
  }

  private layer(layer: Layer): void {
    const { ctx, camera, scene } = this;
    const ghost = layer.ghost > 0;
    const color = (body: number, own?: string): string =>
      ghost ? cycle(this.c.ghosts, layer.ghost - 1) : isColor(own) ? own : cycle(this.c.bodies, body);
    const ink = (body: number, own?: string): Ink => {
      const base = color(body, own);
      return ghost
        ? { fill: fade(base, 0.2), stroke: fade(base, 0.75) }
        : { fill: mix(base, this.c.surface, 0.62), stroke: base };
    };
    if (ghost) ctx.setLineDash([4, 3]);
    else this.springs(layer.poses);
    const parts = scene.bodies.flatMap((b, k) => b.shapes.map((shape) => ({ shape, k, pose: compose(layer.poses[k], shapePose(shape)) })));
    if (camera.spatial) {
      const depth = new Map(parts.map((p) => {
        const corners = shapeCorners(p.shape);
        const centre = scale(corners.reduce(add, [0, 0, 0] as Vec3), 1 / Math.max(1, corners.length));
        return [p, camera.depth(apply(layer.poses[p.k], centre))];
      }));
      parts.sort((p, q) => depth.get(p)! - depth.get(q)!);
    }
    for (const { shape, k, pose } of parts) {
      if (shape.kind === 'beam') this.beam(shape, layer.poses, ink(k, shape.color), ghost);
      else this.shape(shape, pose, ink(k, shape.color), ghost);
    }
    for (const j of scene.joints) this.joint(j, layer.poses, ghost ? color(0) : null, (b) => ink(b, scene.bodies[b]?.shapes[0]?.color));
    ctx.setLineDash([]);
  }

  private shape(shape: Shape, pose: Pose, ink: Ink, ghost: boolean): void {
    const { camera, g } = this;
    const at = (x: number, y: number, z = 0): Pixel => camera.project(apply(pose, [x, y, z]));
    const length = shape.length ?? 0;
    const radius = shape.radius ?? 0;
    switch (shape.kind) {
      case 'bar': {
        const stout = (shape.width ?? 0) > 0.5 * length || (camera.spatial && (shape.width ?? 0) * (shape.height ?? 0) > 0);
        if (stout) this.solid(shapeCorners({ ...shape, at: undefined, axes: undefined }).map((p) => at(...p)), ink, ghost);
        else this.link([at(0, 0), at(length, 0)], this.barWidth(shape), ink, ghost);
        break;
      }
      case 'link':
        this.link((shape.points ?? []).map((p) => at(p[0], p[1], p[2] ?? 0)), 2.9 * g, ink, ghost);
        break;
      case 'polygon':
        this.outline((shape.points ?? []).map((p) => at(p[0], p[1])), ink);
        break;
      case 'box':
        this.solid(shapeCorners({ ...shape, at: undefined, axes: undefined }).map((p) => at(...p)), ink, ghost);
        break;
      case 'sphere':
        this.disk(at(0, 0), radius * camera.zoom, ink);
        break;
      case 'cylinder':
        if (!camera.spatial) this.disk(at(0, 0), radius * camera.zoom, ink, pose);
        else {
          const k = 'xyz'.indexOf(shape.axis ?? 'z');
          const rim = (end: number): Pixel[] => Array.from({ length: 24 }, (_, i) => {
            const v = [0, 0, 0];
            v[k] = (end * length) / 2;
            v[(k + 1) % 3] = radius * Math.cos((i * Math.PI) / 12);
            v[(k + 2) % 3] = radius * Math.sin((i * Math.PI) / 12);
            return at(v[0], v[1], v[2]);
          });
          this.outline(hull([...rim(-1), ...rim(1)]), ink);
          const axis = rotate(pose.r, [Number(k === 0), Number(k === 1), Number(k === 2)]);
          this.outline(rim(camera.depth(add(camera.target, axis)) > 0 ? 1 : -1), ink);
        }
    }
  }

  /** A beam as a curve through its sections. */
  private beam(shape: Shape, poses: readonly Pose[], ink: Ink, ghost: boolean): void {
    const first = this.scene.bodies.length + (shape.first ?? 0);
    const points = poses.slice(first, first + (shape.count ?? 0)).map((pose) => this.camera.project(pose.p));
    this.link(points, this.barWidth(shape), ink, ghost, false);
  }

  private barWidth(shape: Shape): number {
    return Math.max((shape.width ?? 0) * this.camera.zoom, shape.width ? 5 : 2.9 * this.g);
  }

  private link(points: Pixel[], width: number, ink: Ink, ghost: boolean, plate = !this.camera.spatial): void {
    if (!ghost) link(this.ctx, points, width, ink.fill, ink.stroke, plate);
    else {
      // A translucent line must not be painted twice: one stroke, then a thin dashed centre line.
      const { ctx } = this;
      ctx.setLineDash([]);
      const outline = plate && points.length > 2 ? hull(points) : points;
      trail(ctx, outline, outline !== points);
      ctx.lineCap = 'round';
      ctx.lineJoin = 'round';
      ctx.strokeStyle = ink.fill;
      ctx.lineWidth = width;
      ctx.stroke();
      ctx.setLineDash([5, 4]);
      ctx.lineCap = 'butt';
      ctx.strokeStyle = ink.stroke;
      ctx.lineWidth = 1.5;
      ctx.stroke();
    }
  }

  private outline(points: Pixel[], ink: Ink): void {
    const { ctx } = this;
    trail(ctx, points, true);
    ctx.fillStyle = ink.fill;
    ctx.fill();
    ctx.lineJoin = 'round';
    ctx.strokeStyle = ink.stroke;
    ctx.lineWidth = 1.5;
    ctx.stroke();
  }

  /** A block from its eight corners. */
  private solid(corners: Pixel[], ink: Ink, ghost: boolean): void {
    this.outline(hull(corners), ink);
    if (!this.camera.spatial || ghost) return;
    const { ctx } = this;
    ctx.beginPath();
    for (const bit of [1, 2, 4]) {
      for (let k = 0; k < 8; ++k) {
        if (k & bit) continue;
        ctx.moveTo(...corners[k]);
        ctx.lineTo(...corners[k | bit]);
      }
    }
    ctx.strokeStyle = fade(ink.stroke, 0.45);
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  /** A disk; with a pose, a radius shows how it turns. */
  private disk(p: Pixel, r: number, ink: Ink, pose?: Pose): void {
    circle(this.ctx, p, r, ink.fill, ink.stroke, 1.5);
    if (!pose) return;
    const [x, y] = this.camera.direction(rotate(pose.r, [1, 0, 0]));
    const n = Math.hypot(x, y) || 1;
    trail(this.ctx, [p, [p[0] + (r * x) / n, p[1] + (r * y) / n]]);
    this.ctx.strokeStyle = ink.stroke;
    this.ctx.lineWidth = 1;
    this.ctx.stroke();
  }

  private springs(poses: readonly Pose[]): void {
    const { ctx, camera, g, c } = this;
    for (const s of this.scene.springs) {
      const [a, b] = [camera.project(worldPlace(poses, s.a)), camera.project(worldPlace(poses, s.b))];
      if (s.type === 'torsional') {
        spiral(ctx, a, this.screenAngle(poseOf(poses, s.a.body)), this.screenAngle(poseOf(poses, s.b.body)), g, c.spring);
        continue;
      }
      for (const [end, place] of [[a, s.a], [b, s.b]] as const) {
        if (place.body < 0) {
          const other = end === a ? b : a;
          const d = Math.hypot(other[0] - end[0], other[1] - end[1]) || 1;
          const away: Pixel = [(end[0] - other[0]) / d, (end[1] - other[1]) / d];
          const [sx, sy] = [-away[1] * 2.2 * g, away[0] * 2.2 * g];
          hatch(ctx, [end[0] - sx, end[1] - sy], [end[0] + sx, end[1] + sy], away, g, c);
        }
        circle(ctx, end, 0.45 * g, c.spring, null);
      }
      spring(ctx, a, b, s.parts ?? 'spring', g, c.spring);
    }
  }

  private screenAngle(pose: Pose): number {
    const [x, y] = this.camera.direction(rotate(pose.r, [1, 0, 0]));
    return Math.atan2(-y, x);
  }

  private joint(j: Joint, poses: readonly Pose[], ghost: string | null, ink: (body: number) => Ink): void {
    const { ctx, camera, g, c } = this;
    const [a, b] = [camera.project(worldPlace(poses, j.a)), camera.project(worldPlace(poses, j.b))];
    const stroke = ghost ?? c.pin;
    const fill = ghost ? null : c.pinFill;
    if (unseen(j)) return;
    if (linked(j) || j.type === 'distance') {
      if (ghost) return;
      if (linked(j)) ctx.setLineDash([2, 3]);
      trail(ctx, [a, b]);
      ctx.strokeStyle = c.pin;
      ctx.lineWidth = linked(j) ? 1.25 : 2;
      ctx.stroke();
      ctx.setLineDash([]);
      if (j.type === 'distance') for (const p of [a, b]) circle(ctx, p, 0.6 * g, c.pinFill, c.pin);
      return;
    }
    if (slides(j)) {
      const body = j.b.body < 0 ? j.a.body : j.b.body;
      const own = body < 0 ? { fill: c.surface, stroke: c.ground } : ink(body);
      block(ctx, b, camera.direction(this.axisOf(j, poses)), g, ghost ? 'transparent' : own.fill, ghost ?? own.stroke);
      circle(ctx, b, 0.45 * g, ghost ? null : c.pin, null);
      return;
    }
    if (j.type === 'weld') {
      if (j.a.body < 0 || j.b.body < 0) return;
      ctx.fillStyle = stroke;
      ctx.fillRect(b[0] - 0.6 * g, b[1] - 0.6 * g, 1.2 * g, 1.2 * g);
      return;
    }
    const r = 0.92 * g;
    circle(ctx, b, r, fill, stroke, 1.75);
    if (j.type === 'universal') {
      trail(ctx, [[b[0] - r, b[1]], [b[0] + r, b[1]]]);
      ctx.moveTo(b[0], b[1] - r);
      ctx.lineTo(b[0], b[1] + r);
      ctx.stroke();
    } else if (j.type === 'spherical') circle(ctx, b, 0.5 * r, ghost ? null : stroke, null);
  }

  /** Loads, sensors and gravity. */
  private extras(poses: readonly Pose[]): void {
    const { ctx, camera, g, c } = this;
    for (const f of this.scene.forces) {
      const p = camera.project(worldPlace(poses, f));
      if (f.type === 'torque') torque(ctx, p, g, c.force);
      else if (f.direction) {
        const d = camera.direction(unit(f.direction));
        if (Math.hypot(d[0], d[1]) > 0.1 * camera.zoom) arrow(ctx, p, d, 8.5 * g, g, c.force);
        else {
          circle(ctx, p, 1.1 * g, null, c.force, 2);
          circle(ctx, p, 0.35 * g, c.force, null);
        }
      } else circle(ctx, p, 1.6 * g, null, c.force, 2);
    }
    for (const s of this.scene.sensors) sensor(ctx, camera.project(worldPlace(poses, s)), s.type, g, c);
  }

  private labels(poses: readonly Pose[]): void {
    const { ctx } = this;
    for (const { name, at, strong } of placedLabels(this.scene, poses)) {
      const [x, y] = this.camera.project(at);
      ctx.font = `${strong ? '600 12px' : '11px'} system-ui, sans-serif`;
      ctx.textAlign = strong ? 'center' : 'left';
      ctx.textBaseline = 'middle';
      label(ctx, name, strong ? [x, y] : [x + 1.6 * this.g, y + 1.9 * this.g], strong ? this.c.text : this.c.muted, this.c.surface);
    }
  }

  /** Bar of a round length, the axes of a spatial model, and the direction of gravity. */
  private legend(): void {
    const { ctx, camera, c } = this;
    if (camera.spatial) {
      const { right, up, toEye } = camera;
      triad(ctx, [52, camera.height - 84], [0, 1, 2].map((k) => [right[k], -up[k], toEye[k]]), c);
    }
    const length = roundStep(70 / camera.zoom);
    const pixels = length * camera.zoom;
    const [x, y] = [18, camera.height - 18];
    trail(ctx, [[x, y - 4], [x, y], [x + pixels, y], [x + pixels, y - 4]]);
    ctx.strokeStyle = c.muted;
    ctx.lineWidth = 1.25;
    ctx.lineJoin = 'miter';
    ctx.stroke();
    ctx.font = '11px system-ui, sans-serif';
    ctx.textAlign = 'center';
    ctx.textBaseline = 'bottom';
    label(ctx, formatLength(length), [x + pixels / 2, y - 4], c.muted, c.surface);
    const gravity = this.scene.gravity;
    if (!gravity || Math.hypot(...gravity) === 0) return;
    const d = camera.direction(unit(gravity));
    if (Math.hypot(d[0], d[1]) < 0.2 * camera.zoom) return;
    const corner: Pixel = [camera.width - 30, camera.height - 34];
    const n = Math.hypot(d[0], d[1]);
    arrow(ctx, [corner[0] - (12 * d[0]) / n, corner[1] - (12 * d[1]) / n], d, 24, 4, c.muted);
    ctx.textBaseline = 'middle';
    ctx.font = 'italic 12px system-ui, sans-serif';
    label(ctx, 'g', [corner[0] + 12, corner[1]], c.muted, c.surface);
  }
}

function formatLength(metres: number): string {
  if (metres < 1e-3) return `${formatNumber(metres * 1e6)} µm`;
  if (metres < 1) return `${formatNumber(metres * 1e3)} mm`;
  return metres < 1000 ? `${formatNumber(metres)} m` : `${formatNumber(metres / 1000)} km`;
}

// Parallel projection of the world on a flat drawing.
import type { Box } from './mechanism.ts';
import { add, clamp, cross, dot, orthogonal, scale, sub, unit, type Vec3 } from './math.ts';

export class Camera2d {
  width = 1;
  height = 1;
  /** Pixels per metre. */
  zoom = 100;
  /** What is in the middle of the drawing. */
  target: Vec3 = [0, 0, 0];
  right: Vec3 = [1, 0, 0];
  up: Vec3 = [0, 1, 0];
  /** Towards the eye. */
  toEye: Vec3 = [0, 0, 1];
  private azimuth = -Math.PI / 4;
  private elevation = Math.atan(1 / Math.SQRT2);

  constructor(readonly spatial: boolean, private readonly worldUp: Vec3) {
    if (spatial) this.orbit(0, 0);
    else {
      this.up = unit([worldUp[0], worldUp[1], 0], [0, 1, 0]);
      this.right = cross(this.up, this.toEye);
    }
  }

  /** Turns an isometric view about the vertical and up or down, in radians. */
  orbit(turn: number, tilt: number): void {
    this.azimuth += turn;
    this.elevation = clamp(this.elevation + tilt, -1.55, 1.55);
    const vertical = unit(this.worldUp, [0, 0, 1]);
    const first = orthogonal(vertical);
    const second = cross(vertical, first);
    const flat = add(scale(first, Math.cos(this.azimuth)), scale(second, Math.sin(this.azimuth)));
    this.toEye = add(scale(flat, Math.cos(this.elevation)), scale(vertical, Math.sin(this.elevation)));
    this.right = unit(cross(vertical, this.toEye));
    this.up = cross(this.toEye, this.right);
  }

  project(p: Vec3): [number, number] {
    const d = sub(p, this.target);
    return [this.width / 2 + this.zoom * dot(this.right, d), this.height / 2 - this.zoom * dot(this.up, d)];
  }

  /** Distance towards the eye, for the order of drawing. */
  depth(p: Vec3): number {
    return dot(this.toEye, sub(p, this.target));
  }

  /** A direction of the world on the screen, in pixels per metre. */
  direction(v: Vec3): [number, number] {
    return [this.zoom * dot(this.right, v), -this.zoom * dot(this.up, v)];
  }

  pan(dx: number, dy: number): void {
    this.target = add(this.target, add(scale(this.right, -dx / this.zoom), scale(this.up, dy / this.zoom)));
  }

  /** Zooms about a pixel, which keeps its place. */
  zoomAt(factor: number, px: number, py: number): void {
    const f = clamp(this.zoom * factor, 1e-6, 1e9) / this.zoom;
    const [dx, dy] = [px - this.width / 2, py - this.height / 2];
    this.pan(-dx, -dy);
    this.zoom *= f;
    this.pan(dx, dy);
  }

  fit(box: Box, size: number): void {
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const x of [box.low[0], box.high[0]]) {
      for (const y of [box.low[1], box.high[1]]) {
        for (const z of [box.low[2], box.high[2]]) {
          const [u, v] = [dot(this.right, [x, y, z]), dot(this.up, [x, y, z])];
          [left, right] = [Math.min(left, u), Math.max(right, u)];
          [bottom, top] = [Math.min(bottom, v), Math.max(top, v)];
        }
      }
    }
    const least = 0.2 * size;
    const [w, h] = [Math.max(right - left, least), Math.max(top - bottom, least)];
    const margin = 2 * Math.min(56, 0.14 * Math.min(this.width, this.height));
    this.zoom = Math.max(1e-6, Math.min((this.width - margin) / w, (this.height - margin) / h));
    const along = dot(this.toEye, scale(add(box.low, box.high), 0.5));
    this.target = add(
      add(scale(this.right, (left + right) / 2), scale(this.up, (bottom + top) / 2)), scale(this.toEye, along));
  }
}

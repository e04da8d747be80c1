// What is to be drawn, and what a drawing can do; view2d.ts and view3d.ts are the two ways.
import type { Pose, Vec3 } from './math.ts';

export interface Layer {
  poses: readonly Pose[];
  /** 0 is the mechanism itself; k > 0 the k-th ghost, drawn translucent. */
  ghost: number;
}
export interface Trace {
  points: readonly Vec3[];
  /** Where the point is now, and how many of the points are behind it. */
  here: Vec3;
  passed: number;
  color: number;
  ghost: number;
}
export interface Picture {
  layers: readonly Layer[];
  traces: readonly Trace[];
  labels: boolean;
}
export interface View {
  readonly kind: '2d' | '3d';
  readonly element: HTMLElement;
  draw(picture: Picture): void;
  /** World to CSS pixels from the top left corner of the drawing. */
  project(point: Vec3): [number, number];
  /** The numbers of the projection, for tests. */
  camera(): object;
  fit(): void;
  zoomBy(factor: number): void;
  /** Takes the size of the element; false when nothing changed. */
  resize(): boolean;
}

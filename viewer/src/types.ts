// The report as the page uses it: numbers in bulk are typed arrays. The format is described in DATA.md.
import type { Vec3 } from './math.ts';

export type Numbers = Float64Array | Float32Array;

export interface Place {
  /** -1: the ground; beyond the bodies: the sections, which move as bodies of their own with their place on the link as origin. */
  body: number;
  at: Vec3;
}
export interface Shape {
  kind: 'bar' | 'box' | 'cylinder' | 'sphere' | 'polygon' | 'link' | 'beam';
  color?: string;
  at?: Vec3;
  axes?: number[];
  length?: number;
  width?: number;
  height?: number;
  radius?: number;
  size?: Vec3;
  axis?: 'x' | 'y' | 'z';
  points?: number[][];
  /** Of a beam: the sections it is drawn through. */
  first?: number;
  count?: number;
}
/** Of a beam, at x on its rigid link: rows times the displacements of nodes node and node + 1 in link axes are dx, dy and the slope. */
export interface Section {
  body: number;
  x: number;
  node: number;
  rows: readonly number[];
}
export interface Body {
  name: string;
  shapes: Shape[];
}
export interface Joint {
  name: string;
  type: string;
  a: Place;
  b: Place;
  axis?: Vec3;
  loop?: boolean;
}
export interface Spring {
  name: string;
  type: 'linear' | 'torsional';
  parts?: 'spring' | 'damper' | 'both';
  a: Place;
  b: Place;
}
export interface Load extends Place {
  name: string;
  type: 'force' | 'torque';
  direction?: Vec3;
}
export interface Sensor extends Place {
  name: string;
  type: string;
}
export interface NamedPoint extends Place {
  name: string;
}
/** A line in the world that does not move: where something shall go. */
export interface DrawnPath {
  name: string;
  points: Vec3[];
}
export interface Scene {
  space: 'planar' | 'spatial';
  gravity?: Vec3;
  size: number;
  up: Vec3;
  bodies: Body[];
  /** How many nodes the beams have. */
  nodes: number;
  sections: Section[];
  joints: Joint[];
  springs: Spring[];
  forces: Load[];
  sensors: Sensor[];
  points: NamedPoint[];
  paths: DrawnPath[];
}
export interface Motion {
  name: string;
  t: Numbers;
  poses: Numbers;
}
export interface Mode {
  label: string;
  frequency_hz?: number;
  damping?: number;
  shape: Numbers;
  shape_imag?: Numbers;
}
export interface Modes {
  pose: Numbers;
  list: Mode[];
}

export interface Axis {
  name: string;
  unit: string;
}
export interface PlotSeries extends Axis {
  data: Numbers;
  x: Numbers;
  low?: Numbers;
  high?: Numbers;
  motion: number;
  hidden: boolean;
  points: boolean;
}
export type AxisScale = 'linear' | 'log';
interface PanelBase {
  title: string;
  note?: string;
  group?: string;
}
export interface PlotPanel extends PanelBase {
  kind: 'plot';
  x: Axis;
  series: PlotSeries[];
  xscale: AxisScale;
  yscale: AxisScale;
  cursor: boolean;
}
export interface FrfPanel extends PanelBase {
  kind: 'frf';
  x: Axis;
  series: { magnitude: PlotSeries; phase: PlotSeries }[];
}
export interface MatrixPanel extends PanelBase {
  kind: 'matrix';
  rows: string[];
  columns: string[];
  values: (number | null)[][];
}
export type Cell = string | number | null | { text: string | number; mark?: 'good' | 'bad' | 'warn' };
export interface TablePanel extends PanelBase {
  kind: 'table';
  columns: Axis[];
  rows: Cell[][];
}
export interface ScatterSeries {
  name: string;
  x: Numbers;
  y: Numbers;
  mark: 'cross' | 'circle' | 'dot';
}
export interface ScatterPanel extends PanelBase {
  kind: 'scatter';
  x: Axis;
  y: Axis;
  series: ScatterSeries[];
  equal: boolean;
}
export interface BarSeries {
  name: string;
  values: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
}
export interface BarsPanel extends PanelBase {
  kind: 'bars';
  unit: string;
  categories: string[];
  series: BarSeries[];
}
export interface TextPanel extends PanelBase {
  kind: 'text';
  text: string[];
}
/** A panel whose data could not be read. */
export interface BrokenPanel extends PanelBase {
  kind: 'broken';
  reason: string;
}
export type Panel =
  | PlotPanel | FrfPanel | MatrixPanel | TablePanel | ScatterPanel | BarsPanel | TextPanel | BrokenPanel;

export interface Report {
  title: string;
  model: string;
  generator: string;
  notes: string[];
  scene?: Scene;
  motions: Motion[];
  modes?: Modes;
  /** Scale of elastic displacements; undefined: chosen here. */
  deformation?: number;
  panels: Panel[];
  /** What of the data this page does not know. */
  ignored: string[];
}

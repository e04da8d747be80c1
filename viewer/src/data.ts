// From the JSON text of a report to the data of types.ts. Checks everything that the page relies on.
import type { Vec3 } from './math.ts';
import { numbersPerFrame } from './mechanism.ts';
import type {
  Axis, BarSeries, Body, BrokenPanel, Cell, DrawnPath, Joint, Load, Mode, Modes, Motion, NamedPoint, Numbers, Panel, Place,
  PlotSeries, Report, Scene, Section, Sensor, Shape, Spring,
} from './types.ts';

/** The data cannot be shown; the message is for the reader of the page. */
export class ReportError extends Error {}

type Json = Record<string, unknown>;

/** Bytes of base64 text; quicker than a loop over atob's characters where the browser has it. */
function bytesOf(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** A list of numbers or {type, n, data}; `what` names it in messages. */
export function decodeArray(value: unknown, what: string): Numbers {
  if (Array.isArray(value)) {
    return Float64Array.from(value, (x) => {
      if (x === null) return NaN;
      if (typeof x !== 'number') throw new ReportError(`${what}: a list of numbers holds ${JSON.stringify(x)}`);
      return x;
    });
  }
  if (!isObject(value)) throw new ReportError(`${what}: numbers are missing`);
  const { type, n, data } = value;
  const width = type === 'f8' ? 8 : type === 'f4' ? 4 : 0;
  if (!width) throw new ReportError(`${what}: numbers of type ${JSON.stringify(type)} are not known`);
  if (typeof data !== 'string' || !Number.isInteger(n)) throw new ReportError(`${what}: numbers are incomplete`);
  let bytes: Uint8Array;
  try {
    bytes = bytesOf(data);
  } catch {
    throw new ReportError(`${what}: the encoded numbers are damaged`);
  }
  if (bytes.length !== (n as number) * width) {
    throw new ReportError(`${what}: ${Math.floor(bytes.length / width)} numbers where ${n} were announced`);
  }
  return width === 8 ? new Float64Array(aligned(bytes)) : new Float32Array(aligned(bytes));
}

/** A buffer of its own: the browser may hand out a view into a larger one. */
const aligned = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;

const isObject = (x: unknown): x is Json => typeof x === 'object' && x !== null && !Array.isArray(x);
const text = (x: unknown, fallback = ''): string =>
  typeof x === 'string' ? x : typeof x === 'number' ? String(x) : fallback;
const list = (x: unknown): unknown[] => (Array.isArray(x) ? x : []);
const objects = (x: unknown): Json[] => list(x).filter(isObject);
const optional = (x: unknown): number | undefined => (typeof x === 'number' && Number.isFinite(x) ? x : undefined);

function vector(x: unknown, fallback: Vec3): Vec3;
function vector(x: unknown): Vec3 | undefined;
function vector(x: unknown, fallback?: Vec3): Vec3 | undefined {
  const v = list(x).map(Number);
  if (v.length < 2 || v.some((c) => !Number.isFinite(c))) return fallback;
  return [v[0], v[1], v[2] ?? 0];
}

/** Notes keys that this page does not know, so that a newer report says what is not shown. */
class Reader {
  readonly ignored: string[] = [];
  known(object: Json, where: string, keys: string): void {
    const allowed = new Set(keys.split(' '));
    const unknown = Object.keys(object).filter((k) => !allowed.has(k));
    if (unknown.length) this.ignored.push(`${where}: ${unknown.join(', ')}`);
  }
}

/** The reports of a page: one, or the chapters of several that were bound together. */
export interface Pages {
  title: string;
  /** Empty: the page has one report and nothing to choose. */
  chapters: string[];
  report: (chapter: number) => Report;
}

export function parsePages(source: string): Pages {
  const root = parseRoot(source);
  const chapters = objects(root.chapters);
  const title = text(root.title);
  if (!('chapters' in root)) return { title, chapters: [], report: () => readReport(root) };
  if (!chapters.length) throw new ReportError('This page has no chapters.');
  return {
    title,
    chapters: chapters.map((c, k) => text(c.title) || `Chapter ${k + 1}`),
    report: (k) => readReport(chapters[Math.min(Math.max(k, 0), chapters.length - 1)]),
  };
}

export const parseReport = (source: string): Report => readReport(parseRoot(source));

function parseRoot(source: string): Json {
  let root: unknown;
  try {
    root = JSON.parse(source);
  } catch (error) {
    throw new ReportError(
      `The data of this report are damaged or incomplete (${source.length.toLocaleString('en')} characters were found): ` +
        `${(error as Error).message}. Write the report again with panto view.`);
  }
  if (!isObject(root) || root.format !== 'pantograph-report') {
    throw new ReportError('The data on this page are not those of a Pantograph report.');
  }
  return root;
}

function readReport(root: Json): Report {
  const reader = new Reader();
  reader.known(root, 'report', 'format version generator title model notes scene motions modes deformation panels');
  const notes = list(root.notes).map((n) => text(n));
  if (typeof root.version === 'number' && root.version > 1) {
    notes.unshift(`The report has format version ${root.version}; this page knows version 1 and shows what it can.`);
  }
  /** A part that cannot be read is left out with a note; the rest is shown. */
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ReportError)) throw error;
      notes.push(error.message);
      return undefined;
    }
  };
  const scene = isObject(root.scene) ? readScene(root.scene, reader) : undefined;
  const motions: Motion[] = [];
  let modes: Modes | undefined;
  if (scene) {
    objects(root.motions).forEach((m, k) => {
      const motion = attempt(() => readMotion(m, k, scene));
      if (motion) motions.push(motion);
    });
    const described = root.modes;
    if (isObject(described)) modes = attempt(() => readModes(described, scene));
  }
  const panels = objects(root.panels).map((p, k) => readPanel(p, k, reader)).filter((p): p is Panel => p !== null);
  const model = text(root.model);
  return {
    title: text(root.title) || model || 'Report',
    model, generator: text(root.generator), notes, scene, motions, modes, deformation: optional(root.deformation), panels,
    ignored: reader.ignored,
  };
}

function readScene(s: Json, reader: Reader): Scene {
  reader.known(s, 'scene', 'space gravity size up bodies nodes sections joints springs forces sensors points paths');
  const space = s.space === 'spatial' ? 'spatial' : 'planar';
  const nodes = list(s.nodes).length;
  const sections = objects(s.sections).map((x): Section => {
    const [body, node, rows] = [Number(x.body), Number(x.node), list(x.rows).map(Number)];
    const fits = space === 'planar' && list(s.bodies)[body] && node >= 0 && node + 1 < nodes && rows.length === 18;
    if (!fits) throw new ReportError('The sections of beams in this report do not fit its bodies and nodes.');
    return { body, x: Number(x.x), node, rows };
  });
  const bodies: Body[] = objects(s.bodies).map((b) => ({
    name: text(b.name),
    shapes: objects(b.shapes).filter((shape) => {
      const beam = shape.kind === 'beam' && Number(shape.first) >= 0 && Number(shape.first) + Number(shape.count) <= sections.length;
      const known = beam || ['bar', 'box', 'cylinder', 'sphere', 'polygon', 'link'].includes(text(shape.kind));
      if (!known) reader.ignored.push(`shape of kind ${text(shape.kind, '?')} of ${text(b.name)}`);
      return known;
    }) as unknown as Shape[],
  }));
  const place = (x: unknown): Place => {
    const p = isObject(x) ? x : {};
    const body = typeof p.body === 'number' && p.body >= 0 && p.body < bodies.length ? p.body : -1;
    const at = vector(p.at, [0, 0, 0]);
    const section = sections[Number(p.section)];
    return section ? { body: bodies.length + Number(p.section), at: [at[0] - section.x, at[1], at[2]] } : { body, at };
  };
  const joints: Joint[] = objects(s.joints).map((j) => ({
    name: text(j.name), type: text(j.type), a: place(j.a), b: place(j.b), axis: vector(j.axis), loop: j.loop === true,
  }));
  const springs: Spring[] = objects(s.springs).map((k) => ({
    name: text(k.name), type: k.type === 'torsional' ? 'torsional' : 'linear', a: place(k.a), b: place(k.b),
    parts: k.parts === 'damper' || k.parts === 'both' ? k.parts : 'spring',
  }));
  const forces: Load[] = objects(s.forces).map((f) => ({
    ...place(f), name: text(f.name), type: f.type === 'torque' ? 'torque' : 'force', direction: vector(f.direction),
  }));
  const sensors: Sensor[] = objects(s.sensors).map((x) => ({ ...place(x), name: text(x.name), type: text(x.type) }));
  const points: NamedPoint[] = objects(s.points).map((x) => ({ ...place(x), name: text(x.name) }));
  const paths: DrawnPath[] = objects(s.paths).map((x) => ({ name: text(x.name), points: list(x.points).map((p) => vector(p, [0, 0, 0])) }));
  const size = optional(s.size);
  return {
    space, gravity: vector(s.gravity), size: size && size > 0 ? size : 1,
    up: vector(s.up, space === 'planar' ? [0, 1, 0] : [0, 0, 1]),
    bodies, nodes, sections, joints, springs, forces, sensors, points, paths,
  };
}

function readMotion(m: Json, k: number, scene: Scene): Motion {
  const name = text(m.name) || `motion ${k + 1}`;
  const t = decodeArray(m.t, `time of motion "${name}"`);
  let poses = decodeArray(m.poses, `poses of motion "${name}"`);
  const perFrame = numbersPerFrame(scene);
  const frames = perFrame ? Math.min(t.length, Math.floor(poses.length / perFrame)) : t.length;
  if (poses.length !== t.length * perFrame || frames === 0) {
    throw new ReportError(
      `Motion "${name}" is not shown: ${poses.length} numbers for ${t.length} times of ${scene.bodies.length} bodies.`);
  }
  poses = poses.subarray(0, frames * perFrame);
  return { name, t, poses };
}

function readModes(m: Json, scene: Scene): Modes | undefined {
  const pose = decodeArray(m.pose, 'pose of the mode shapes');
  if (pose.length !== numbersPerFrame(scene)) {
    throw new ReportError('Mode shapes are not shown: their pose does not have the size of the model.');
  }
  const modes = objects(m.list).map((mode, k): Mode => {
    const label = text(mode.label) || `mode ${k + 1}`;
    const shape = decodeArray(mode.shape, `shape of ${label}`);
    const imaginary = mode.shape_imag === undefined ? undefined : decodeArray(mode.shape_imag, `shape of ${label}`);
    for (const s of [shape, imaginary]) {
      if (s && s.length !== 6 * scene.bodies.length + 3 * scene.nodes) {
        throw new ReportError(`Mode shapes are not shown: ${label} has ${s.length} numbers for ${scene.bodies.length} bodies.`);
      }
    }
    return {
      label, frequency_hz: optional(mode.frequency_hz), damping: optional(mode.damping), shape, shape_imag: imaginary,
    };
  });
  return modes.length ? { pose, list: modes } : undefined;
}

const axis = (x: unknown): Axis => (isObject(x) ? { name: text(x.name), unit: text(x.unit) } : { name: '', unit: '' });

const panelKeys: Record<string, string> = {
  plot: 'x series xscale yscale cursor',
  frf: 'x series',
  matrix: 'rows columns values',
  table: 'columns rows',
  scatter: 'x y series equal',
  bars: 'unit categories series',
  text: 'text',
};

function readPanel(p: Json, k: number, reader: Reader): Panel | null {
  const kind = text(p.kind);
  const base = { title: text(p.title), note: text(p.note) || undefined, group: text(p.group) || undefined };
  const called = base.title || `panel ${k + 1}`;
  if (!(kind in panelKeys)) {
    reader.ignored.push(`panel "${called}" of kind ${kind || '?'}`);
    return null;
  }
  reader.known(p, `panel "${called}"`, `kind title note group ${panelKeys[kind]}`);
  try {
    return { ...base, ...readPanelData(kind, p, called) } as Panel;
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    return { ...base, kind: 'broken', reason: error.message } satisfies BrokenPanel;
  }
}

/** One curve: `key` holds its ordinates; abscissae are its own or those of the panel. */
function readSeries(s: Json, key: string, shared: Numbers | undefined, unit: string): PlotSeries {
  const name = text(s.name);
  const data = decodeArray(s[key], `series "${name}"`);
  const x = s.x === undefined ? shared : decodeArray(s.x, `abscissae of series "${name}"`);
  if (!x) throw new ReportError(`series "${name}": abscissae are missing`);
  if (x.length !== data.length) {
    throw new ReportError(`series "${name}": ${data.length} values for ${x.length} abscissae`);
  }
  const bound = (b: 'low' | 'high'): Numbers | undefined => {
    if (s[b] === undefined) return undefined;
    const values = decodeArray(s[b], `band of series "${name}"`);
    if (values.length !== data.length) throw new ReportError(`series "${name}": its band has another length`);
    return values;
  };
  return {
    name, unit, data, x, low: bound('low'), high: bound('high'),
    motion: optional(s.motion) ?? 0, hidden: s.hidden === true, points: s.points === true,
  };
}

function readPanelData(kind: string, p: Json, called: string): object {
  const x = axis(p.x);
  const shared = isObject(p.x) && p.x.data !== undefined ? decodeArray(p.x.data, `abscissae of "${called}"`) : undefined;
  const values = (v: unknown): (number | null)[] => list(v).map((n) => (typeof n === 'number' ? n : null));
  switch (kind) {
    case 'plot':
      return {
        kind, x, cursor: p.cursor === true,
        xscale: p.xscale === 'log' ? 'log' : 'linear', yscale: p.yscale === 'log' ? 'log' : 'linear',
        series: objects(p.series).map((s) => readSeries(s, 'data', shared, text(s.unit))),
      };
    case 'frf':
      return {
        kind, x: { name: x.name || 'frequency', unit: x.unit || 'Hz' },
        series: objects(p.series).map((s) => ({
          magnitude: readSeries(s, 'magnitude', shared, text(s.unit)),
          phase: readSeries({ ...s, low: undefined, high: undefined }, 'phase_deg', shared, 'deg'),
        })),
      };
    case 'matrix': {
      const rows = list(p.values).map(values);
      const names = (n: unknown, count: number): string[] =>
        Array.from({ length: count }, (_, k) => text(list(n)[k], String(k + 1)));
      return { kind, values: rows, rows: names(p.rows, rows.length), columns: names(p.columns, Math.max(0, ...rows.map((r) => r.length))) };
    }
    case 'table':
      return {
        kind, columns: list(p.columns).map((c) => (typeof c === 'string' ? { name: c, unit: '' } : axis(c))),
        rows: list(p.rows).map((r) => list(r) as Cell[]),
      };
    case 'scatter':
      return {
        kind, x, y: axis(p.y), equal: p.equal === true,
        series: objects(p.series).map((s) => {
          const name = text(s.name);
          const [sx, sy] = [decodeArray(s.x, `series "${name}"`), decodeArray(s.y, `series "${name}"`)];
          if (sx.length !== sy.length) throw new ReportError(`series "${name}": ${sx.length} x for ${sy.length} y`);
          return { name, x: sx, y: sy, mark: s.mark === 'cross' || s.mark === 'circle' ? s.mark : 'dot' };
        }),
      };
    case 'bars':
      return {
        kind, unit: text(p.unit), categories: list(p.categories).map((c) => text(c)),
        series: objects(p.series).map((s): BarSeries => ({
          name: text(s.name), values: values(s.values),
          low: s.low === undefined ? undefined : values(s.low), high: s.high === undefined ? undefined : values(s.high),
        })),
      };
    default:
      return { kind: 'text', text: (Array.isArray(p.text) ? p.text.map((t) => text(t)) : text(p.text).split(/\n\s*\n/)).filter(Boolean) };
  }
}

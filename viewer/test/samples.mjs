// Reports made from closed formulas, written as the format in DATA.md says.
import { readFileSync, writeFileSync } from 'node:fs';

export const f4 = (values) => pack('f4', Float32Array.from(values));
export const f8 = (values) => pack('f8', Float64Array.from(values));
const pack = (type, a) => ({ type, n: a.length, data: Buffer.from(a.buffer, a.byteOffset, a.byteLength).toString('base64') });
export const range = (n, f) => Array.from({ length: n }, (_, k) => f(k));

/** Puts data into the page. */
export function writeReport(template, report, path, cut) {
  const page = readFileSync(template, 'utf8');
  const text = typeof report === 'string' ? report : JSON.stringify(report).replaceAll('<', '\\u003c');
  const full = page.replace('<!--PANTOGRAPH-REPORT-->', () => `<script type="application/json" id="report">${text}</script>`);
  writeFileSync(path, cut ? full.slice(0, Math.floor(full.length - text.length * (1 - cut))) : full);
  return path;
}

export const links = { crank: 1, coupler: 3, rocker: 2.5, ground: 3 };

/** Crank-rocker: the crank turns with speed w; the coupler pin is where two circles meet. */
export function fourbarAt(t, w = 2) {
  const a = 0.4 + w * t;
  const A = [links.crank * Math.cos(a), links.crank * Math.sin(a)];
  const d = [links.ground - A[0], -A[1]];
  const l = Math.hypot(...d);
  const along = (l * l + links.coupler ** 2 - links.rocker ** 2) / (2 * l);
  const h = Math.sqrt(links.coupler ** 2 - along ** 2);
  const B = [A[0] + (along * d[0] - h * d[1]) / l, A[1] + (along * d[1] + h * d[0]) / l];
  return {
    A, B, theta: a,
    beta: Math.atan2(B[1] - A[1], B[0] - A[0]),
    gamma: Math.atan2(B[1], B[0] - links.ground),
  };
}

function fourbarMotion(name, times, w) {
  const poses = times.flatMap((t) => {
    const s = fourbarAt(t, w);
    return [0, 0, s.theta, ...s.A, s.beta, links.ground, 0, s.gamma];
  });
  return { name, t: f8(times), poses: f4(poses) };
}

export function fourbarScene() {
  return {
    space: 'planar', gravity: [0, -9.81, 0], size: 4, up: [0, 1, 0],
    bodies: [
      { name: 'crank', shapes: [{ kind: 'bar', length: 1 }] },
      { name: 'coupler', shapes: [{ kind: 'link', points: [[0, 0, 0], [3, 0, 0], [1.6, 0.9, 0]] }] },
      { name: 'rocker', shapes: [{ kind: 'bar', length: 2.5, width: 0.12 }] },
    ],
    joints: [
      { name: 'theta', type: 'revolute', a: { body: -1, at: [0, 0, 0] }, b: { body: 0, at: [0, 0, 0] }, axis: [0, 0, 1], loop: false },
      { name: 'beta', type: 'revolute', a: { body: 0, at: [1, 0, 0] }, b: { body: 1, at: [0, 0, 0] }, axis: [0, 0, 1], loop: false },
      { name: 'gamma', type: 'revolute', a: { body: -1, at: [3, 0, 0] }, b: { body: 2, at: [0, 0, 0] }, axis: [0, 0, 1], loop: false },
      { name: 'pin', type: 'pin', a: { body: 1, at: [3, 0, 0] }, b: { body: 2, at: [2.5, 0, 0] }, axis: [0, 0, 1], loop: true },
    ],
    springs: [
      { name: 'k1', type: 'linear', parts: 'both', a: { body: -1, at: [5, 1.2, 0] }, b: { body: 2, at: [1.4, 0, 0] } },
      { name: 'kt', type: 'torsional', a: { body: -1, at: [0, 0, 0] }, b: { body: 0, at: [0, 0, 0] } },
    ],
    forces: [
      { name: 'F', type: 'force', body: 1, at: [1.6, 0.9, 0], direction: [0, -1, 0] },
      { name: 'motor', type: 'torque', body: 0, at: [0, 0, 0] },
    ],
    sensors: [{ name: 'gyro', type: 'gyroscope', body: 2, at: [0.9, 0, 0] }],
    points: [{ name: 'coupler.point', body: 1, at: [1.6, 0.9, 0] }, { name: 'coupler.end', body: 1, at: [3, 0, 0] }],
  };
}

/** Crank-rocker with a ghost, plots of two and three units, a band, tables and an audit. */
export function fourbarReport() {
  const times = range(1001, (k) => k * 0.01);
  const at = times.map((t) => fourbarAt(t));
  const other = times.map((t) => fourbarAt(t, 1.9));
  const energy = times.map((t) => 1e-11 * Math.sin(3 * t) * t);
  const x = { name: 'time', unit: 's', data: f8(times) };
  return {
    format: 'pantograph-report', version: 1, generator: 'panto 0.1.0', title: 'Crank-rocker with a spring', model: 'crank_rocker',
    notes: [], scene: fourbarScene(),
    motions: [fourbarMotion('truth', times, 2), fourbarMotion('estimate', times, 1.9)],
    panels: [
      {
        kind: 'plot', group: 'Motion', title: 'Rocker angle', note: 'truth and estimate with its 95 % band', x, cursor: true,
        series: [
          { name: 'gamma', unit: 'rad', data: f4(at.map((s) => s.gamma)) },
          {
            name: 'gamma', unit: 'rad', motion: 1, data: f4(other.map((s) => s.gamma)),
            low: f4(other.map((s, k) => s.gamma - 0.03 - 0.00015 * k)), high: f4(other.map((s, k) => s.gamma + 0.03 + 0.00015 * k)),
          },
          { name: 'measured', unit: 'rad', x: f8(times.filter((_, k) => k % 25 === 0)), points: true,
            data: f4(at.filter((_, k) => k % 25 === 0).map((s, k) => s.gamma + 0.02 * Math.sin(37 * k))) },
        ],
      },
      {
        kind: 'plot', title: 'Coupler pin', x, cursor: true,
        series: [
          { name: 'pin_x', unit: 'm', data: f4(at.map((s) => s.B[0])) },
          { name: 'pin_y', unit: 'm', data: f4(at.map((s) => s.B[1])) },
          { name: 'theta', unit: 'rad', data: f4(at.map((s) => s.theta)) },
          { name: 'beta', unit: 'rad', data: f4(at.map((s) => s.beta)), hidden: true },
        ],
      },
      {
        kind: 'plot', group: 'Audit', title: 'Energy and constraints', x, cursor: true,
        series: [
          { name: 'energy drift', unit: 'J', data: f4(energy) },
          { name: 'loop error', unit: 'm', data: f4(times.map((t) => 2e-16 * (1 + Math.sin(40 * t)))) },
          { name: 'power', unit: 'kg*m^2/s^3', data: f4(at.map((s) => 40 * s.B[1] * Math.cos(s.gamma))) },
        ],
      },
      {
        kind: 'table', group: 'Model', title: 'Bodies',
        columns: [{ name: 'body' }, { name: 'mass', unit: 'kg' }, { name: 'inertia', unit: 'kg*m^2' }, { name: 'length', unit: 'm' }, { name: 'check' }],
        rows: [
          ['crank', 1, 1 / 12, 1, { text: 'ok', mark: 'good' }],
          ['coupler', 2.123456789, 1.591549430918, 3, { text: 'heavy', mark: 'warn' }],
          ['rocker', 4, null, 2.5, { text: 'no inertia', mark: 'bad' }],
        ],
      },
      { kind: 'text', title: 'About', text: 'The crank turns at a constant speed; the rocker follows.\n\nThe ghost turns slower.' },
    ],
  };
}

const quaternion = (axis, angle) => [Math.cos(angle / 2), ...axis.map((c) => c * Math.sin(angle / 2))];
const product = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
const turned = (q, v) => {
  const [w, x, y, z] = product(product(q, [0, ...v]), [q[0], -q[1], -q[2], -q[3]]);
  return [x, y, z, w].slice(0, 3);
};

/** Two arms: the first turns about z and swings about y, the second about its own y. */
export function doublePendulumAt(t) {
  const q1 = product(quaternion([0, 0, 1], 0.8 * t), quaternion([0, 1, 0], 1.2 + 0.5 * Math.sin(2 * t)));
  const q2 = product(q1, quaternion([0, 1, 0], 0.9 * Math.sin(3 * t)));
  const elbow = turned(q1, [1, 0, 0]);
  const end = turned(q2, [0.8, 0, 0]).map((c, k) => c + elbow[k]);
  return { q1, q2, elbow, end };
}

export function spatialReport() {
  const times = range(601, (k) => k * 0.01);
  const poses = times.flatMap((t) => {
    const s = doublePendulumAt(t);
    return [0, 0, 0, ...s.q1, ...s.elbow, ...s.q2];
  });
  return {
    format: 'pantograph-report', version: 1, generator: 'panto 0.1.0', title: 'Spatial double pendulum', model: 'double_pendulum_3d', notes: [],
    scene: {
      space: 'spatial', gravity: [0, 0, -9.81], size: 1.8, up: [0, 0, 1],
      bodies: [
        { name: 'upper', shapes: [{ kind: 'bar', length: 1, width: 0.09, height: 0.05 }] },
        { name: 'lower', shapes: [{ kind: 'link', points: [[0, 0, 0], [0.8, 0, 0]] }, { kind: 'sphere', radius: 0.09, at: [0.8, 0, 0] },
          { kind: 'cylinder', length: 0.2, radius: 0.05, axis: 'x', at: [0.35, 0, 0] }] },
      ],
      joints: [
        { name: 'shoulder', type: 'universal', a: { body: -1, at: [0, 0, 0] }, b: { body: 0, at: [0, 0, 0] }, axis: [0, 0, 1] },
        { name: 'elbow', type: 'revolute', a: { body: 0, at: [1, 0, 0] }, b: { body: 1, at: [0, 0, 0] }, axis: [0, 1, 0] },
      ],
      springs: [{ name: 'k', type: 'linear', a: { body: -1, at: [0, 0.9, 0.4] }, b: { body: 0, at: [0.7, 0, 0] } }],
      forces: [{ name: 'F', type: 'force', body: 1, at: [0.8, 0, 0], direction: [0, 0, -1] }],
      sensors: [{ name: 'acc', type: 'accelerometer', body: 1, at: [0.5, 0, 0.04] }],
      points: [{ name: 'end', body: 1, at: [0.8, 0, 0] }],
    },
    motions: [{ name: 'run', t: f8(times), poses: f4(poses) }],
    panels: [{
      kind: 'plot', title: 'End', x: { name: 'time', unit: 's', data: f8(times) }, cursor: true,
      series: ['x', 'y', 'z'].map((c, k) => ({ name: `end_${c}`, unit: 'm', data: f4(times.map((t) => doublePendulumAt(t).end[k])) })),
    }],
  };
}

/** Mode shapes of the crank-rocker with everything that a modal report shows. */
export function modesReport() {
  const report = fourbarReport();
  const s = fourbarAt(0.3);
  const shape = (k) => [0, 0, 0, 0, 0, 0.1 * k, -0.1 * k * s.A[1], 0.1 * k * s.A[0], 0, 0, 0, 0.05, 0, 0, 0, 0, 0, -0.07 * k];
  const hz = range(400, (k) => 10 ** (-1 + (3 * k) / 399));
  const response = (f, f0, z) => {
    const [re, im] = [1 - (f / f0) ** 2, 2 * z * (f / f0)];
    return { magnitude: 1 / Math.hypot(re, im), phase: (-Math.atan2(im, re) * 180) / Math.PI };
  };
  return {
    ...report, title: 'Modes of the crank-rocker', motions: [],
    modes: {
      pose: f4([0, 0, s.theta, ...s.A, s.beta, links.ground, 0, s.gamma]),
      list: [
        { label: 'mode 1', frequency_hz: 1.2345678, damping: 0.01, shape: f4(shape(1)) },
        { label: 'mode 2', frequency_hz: 8.75, damping: 0.023, shape: f4(shape(-2)), shape_imag: f4(shape(1)) },
        { label: 'mode 3', frequency_hz: 31.4, damping: 0.005, shape: f4(shape(3)) },
      ],
    },
    panels: [
      {
        kind: 'frf', title: 'Compliance', x: { name: 'frequency', unit: 'Hz', data: f8(hz) },
        series: [[1.2, 0.01], [8.75, 0.02]].map(([f0, z], k) => ({
          name: `H${k + 1}1`, unit: 'm/N', magnitude: f4(hz.map((f) => 1e-3 * response(f, f0, z).magnitude)),
          phase_deg: f4(hz.map((f) => response(f, f0, z).phase)),
        })),
      },
      {
        kind: 'matrix', title: 'Modal assurance', note: 'model against measurement', rows: ['model 1', 'model 2', 'model 3'],
        columns: ['test 1', 'test 2', 'test 3'], values: [[0.987654, 0.05, 0.01], [0.04, 0.91, 0.12], [0, 0.2, 0.77]],
      },
      {
        kind: 'scatter', title: 'Poles and zeros', x: { name: 'real', unit: 'rad/s' }, y: { name: 'imaginary', unit: 'rad/s' }, equal: true,
        series: [
          { name: 'poles', x: [-0.3, -0.3, -1.2, -1.2], y: [7.7, -7.7, 3, -3], mark: 'cross' },
          { name: 'zeros', x: [-0.1, -0.1], y: [5, -5], mark: 'circle' },
        ],
      },
      {
        kind: 'bars', title: 'Frequencies before and after', unit: 'Hz', categories: ['mode 1', 'mode 2', 'mode 3'],
        series: [
          { name: 'before', values: [1.3, 9.4, 28.1] },
          { name: 'after', values: [1.23, 8.8, 31.2], low: [1.2, 8.5, 29.9], high: [1.26, 9.1, 32.5] },
        ],
      },
    ],
  };
}

/** What a cantilever of length 2 with a force across its end bends to, per deflection of the end: at x, and its slope. */
export const cantilever = { length: 2, tip: 0.01, at: (x) => (x * x * (6 - x)) / 16, slope: (x) => (x * (12 - 3 * x)) / 16 };

/** A clamped beam of one element along x that swings by 10 mm at its end in 1 s, and its bending as a mode shape. */
export function beamReport() {
  const { length, tip, slope } = cantilever;
  const rows = (s) => [
    1 - s, 0, 0, s, 0, 0,
    0, 1 - 3 * s * s + 2 * s ** 3, length * (s - 2 * s * s + s ** 3), 0, 3 * s * s - 2 * s ** 3, length * (s ** 3 - s * s),
    0, (-6 * s * (1 - s)) / length, (1 - s) * (1 - 3 * s), 0, (6 * s * (1 - s)) / length, s * (3 * s - 2)];
  const times = range(101, (k) => k * 0.01);
  const bent = (d) => [0, 0, 0, 0, d, d * slope(length)];
  return {
    format: 'pantograph-report', version: 1, generator: 'panto 0.1.0', title: 'Cantilever', model: 'cantilever', notes: [],
    scene: {
      space: 'planar', gravity: [0, 0, 0], size: length, up: [0, 1, 0],
      bodies: [{ name: 'beam', shapes: [{ kind: 'beam', length, width: 0.02, first: 0, count: 9 }] }],
      nodes: ['beam.n1', 'beam.n2'],
      sections: range(9, (k) => ({ body: 0, x: (k * length) / 8, node: 0, rows: rows(k / 8) })),
      joints: [{ name: 'clamp', type: 'weld', a: { body: -1, at: [0, 0, 0] }, b: { body: 0, at: [0, 0, 0], section: 0 }, axis: [0, 0, 1] }],
      springs: [{ name: 'k', type: 'linear', a: { body: -1, at: [length, -0.5, 0] }, b: { body: 0, at: [length, 0, 0], section: 8 } }],
      forces: [], sensors: [{ name: 'gauge', type: 'strain_gauge', body: 0, at: [1, 0.01, 0], section: 4 }],
      points: [{ name: 'beam.middle', body: 0, at: [1, 0, 0], section: 4 }, { name: 'beam.end', body: 0, at: [length, 0, 0], section: 8 }],
    },
    motions: [{ name: 'run', t: f8(times), poses: f4(times.flatMap((t) => [0, 0, 0, ...bent(tip * Math.sin((Math.PI / 2) * t))])) }],
    modes: { pose: f4(new Array(9).fill(0)), list: [{ label: 'mode 1', frequency_hz: 2, damping: 0, shape: f4([0, 0, 0, 0, 0, 0, ...bent(3)]) }] },
    panels: [],
  };
}

/** Samples of channel 7 of the long report that stand out alone. */
export const spikes = [1234, 4321, 6789, 8888];

/** 10 s at 1 kHz with 20 channels. */
export function longReport() {
  const times = range(10001, (k) => k * 1e-3);
  const report = fourbarReport();
  const x = { name: 'time', unit: 's', data: f8(times) };
  const channel = (c) => {
    const values = times.map((t) => Math.sin((1 + 0.3 * c) * t + c) + 0.1 * Math.sin(200 * t + c));
    if (c === 7) for (const k of spikes) values[k] = 25;
    return { name: `channel ${c}`, unit: ['rad', 'rad/s', 'N', 'm'][Math.floor(c / 5)], data: f4(values) };
  };
  return {
    ...report, motions: [fourbarMotion('run', range(5000, (k) => k * 0.002), 2)],
    panels: range(4, (p) => ({ kind: 'plot', title: `Channels ${5 * p} to ${5 * p + 4}`, cursor: true, x, series: range(5, (c) => channel(5 * p + c)) })),
  };
}

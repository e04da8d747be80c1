import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decimate, extent } from '../src/decimate.ts';

const n = 100001;
const xs = Float64Array.from({ length: n }, (_, k) => k / (n - 1));
const noise = Float32Array.from(xs, (x, k) => Math.sin(40 * x) + ((k * 7919) % 104729) / 104729);

test('no peak is lost, wherever it is', () => {
  for (const at of [0, 1, 777, 50000, 99999, n - 1]) {
    for (const peak of [9, -9]) {
      const ys = noise.slice();
      ys[at] = peak;
      assert.ok(decimate(xs, ys, 0, 1, 500).includes(at), `sample ${at}`);
    }
  }
});

test('every pixel keeps its own least and greatest value', () => {
  const columns = 300;
  const kept = decimate(xs, noise, 0, 1, columns);
  const spans = (indices) => {
    const low = new Map();
    const high = new Map();
    for (const i of indices) {
      const c = Math.floor(xs[i] * columns);
      low.set(c, Math.min(low.get(c) ?? Infinity, noise[i]));
      high.set(c, Math.max(high.get(c) ?? -Infinity, noise[i]));
    }
    return [[...low], [...high]];
  };
  assert.deepEqual(spans(kept), spans(xs.keys()));
  assert.ok(kept.length <= 5 * (columns + 2));
  for (let k = 1; k < kept.length; ++k) assert.ok(kept[k] > kept[k - 1]);
});

test('few samples are all kept, with one beyond each border', () => {
  const few = Float64Array.from({ length: 11 }, (_, k) => k);
  assert.deepEqual([...decimate(few, few, 2.5, 5.5, 100)], [2, 3, 4, 5, 6]);
  assert.deepEqual([...decimate(few, few, 20, 30, 100)], [10]);
  assert.deepEqual([...decimate(new Float64Array(0), few, 0, 1, 100)], []);
});

test('zooming in shows every sample again', () => {
  assert.equal(decimate(xs, noise, 0.5, 0.505, 500).length, 503);
});

test('a missing value still interrupts the line', () => {
  const ys = noise.slice();
  ys[12345] = NaN;
  assert.ok(decimate(xs, ys, 0, 1, 500).includes(12345));
});

test('on a logarithmic axis pixels are decades apart', () => {
  const f = Float64Array.from({ length: 20000 }, (_, k) => 10 ** ((4 * k) / 19999));
  const ys = Float64Array.from(f, (x, k) => (k === 15000 ? 50 : 1 / x));
  const kept = decimate(f, ys, 1, 1e4, 400, true);
  assert.ok(kept.includes(15000) && kept.length < 2100 && kept.length > 700);
});

test('limits of the visible stretch', () => {
  const x = Float64Array.of(0, 1, 2, 3);
  const y = Float64Array.of(-5, NaN, 2, 1);
  assert.deepEqual(extent(x, y, 0, 3), [-5, 2]);
  assert.deepEqual(extent(x, y, 0.5, 3), [1, 2]);
  assert.deepEqual(extent(x, y, 0, 3, true), [1, 2]);
  assert.equal(extent(x, y, 0.5, 1.5), null);
});

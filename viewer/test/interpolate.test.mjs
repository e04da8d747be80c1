import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locate, poseBetween, slerp, valueAt } from '../src/interpolate.ts';
import { apply, rotationFromQuaternion, rotationFromVector, rotationZ } from '../src/math.ts';
import { largestDisplacement, ModeShapes } from '../src/modes.ts';
import { naturalSpeed } from '../src/playback.ts';
import { parseReport } from '../src/data.ts';
import { modesReport } from './samples.mjs';

const close = (a, b, tolerance = 1e-12) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
const t = Float64Array.of(0, 1, 3);

test('a sample is returned exactly, between samples the value is linear', () => {
  const y = Float32Array.of(0.1, 0.2, 0.7);
  assert.equal(valueAt(t, y, 1), Math.fround(0.2));
  assert.equal(valueAt(t, y, 3), Math.fround(0.7));
  close(valueAt(t, y, 2), (y[1] + y[2]) / 2);
});

test('there is no value outside the samples or beside a missing one', () => {
  const y = Float64Array.of(1, NaN, 3);
  assert.ok(Number.isNaN(valueAt(t, y, -0.1)) && Number.isNaN(valueAt(t, y, 3.1)) && Number.isNaN(valueAt(t, y, 0.5)));
  assert.equal(valueAt(t, y, 0), 1);
  assert.ok(Number.isNaN(valueAt(new Float64Array(0), y, 0)));
  assert.equal(valueAt(Float64Array.of(2), Float64Array.of(5), 2), 5);
});

test('times outside are held at the ends; equal times do not divide by zero', () => {
  assert.deepEqual(locate(t, -5), { i: 0, f: 0 });
  assert.deepEqual(locate(t, 9), { i: 1, f: 1 });
  assert.deepEqual(locate(Float64Array.of(0, 1, 1), 1), { i: 1, f: 0 });
});

test('planar angles are unwrapped and go the long way when the data do', () => {
  const poses = Float32Array.of(0, 0, 0, 2, 4, 3 * Math.PI);
  const pose = poseBetween(poses, 0, 1, { i: 0, f: 0.5 }, 'planar');
  close(pose.p[0], 1);
  close(pose.p[1], 2);
  rotationZ(1.5 * Math.PI).forEach((c, k) => close(pose.r[k], c, 1e-6));
});

test('quaternions turn evenly on the arc, also when a sign flips', () => {
  const half = (angle) => [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)];
  for (const sign of [1, -1]) {
    const q = Float64Array.of(...half(0), ...half(1.2).map((c) => sign * c));
    const r = rotationFromQuaternion(...slerp(q, 0, 4, 0.25));
    rotationZ(0.3).forEach((c, k) => close(r[k], c));
  }
});

test('nearly equal quaternions interpolate without losing digits', () => {
  const q = Float64Array.of(1, 0, 0, 0, Math.cos(5e-9), 0, 0, Math.sin(5e-9));
  close(slerp(q, 0, 4, 0.5)[3], 2.5e-9, 1e-16);
});

test('a rotation vector turns about its direction', () => {
  const p = apply({ p: [1, 0, 0], r: rotationFromVector([0, 0, Math.PI / 2]) }, [2, 0, 0]);
  [1, 2, 0].forEach((c, k) => close(p[k], c));
});

test('a mode shape at amplitude 1 moves no point further than a tenth of the size', () => {
  const { scene, modes } = parseReport(JSON.stringify(modesReport()));
  const shapes = new ModeShapes(scene, modes);
  const rest = shapes.pose(1);
  modes.list.forEach((mode, k) => {
    const small = 1e-4;
    let largest = 0;
    for (let phase = 0; phase < 6.3; phase += 0.01) {
      const poses = shapes.poses(k, small, phase, 1);
      for (const j of scene.joints) {
        for (const { body, at } of [j.a, j.b]) {
          if (body < 0) continue;
          const [a, b] = [apply(poses[body], at), apply(rest[body], at)];
          largest = Math.max(largest, Math.hypot(a[0] - b[0], a[1] - b[1]));
        }
      }
    }
    assert.ok(largest <= (small * scene.size) / 10 * 1.0001, mode.label);
    assert.ok(largest > (0.5 * small * scene.size) / 10, mode.label);
    assert.ok(largestDisplacement(scene, rest, mode) > 0);
  });
});

test('the speed at first shows short runs slowly and long runs quickly', () => {
  assert.equal(naturalSpeed(10), 1);
  assert.equal(naturalSpeed(0.04), 0.01);
  assert.equal(naturalSpeed(600), 10);
});

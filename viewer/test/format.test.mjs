import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNumber, formatQuantity, formatTicks, formatTime, formatUnit, labelled, logTicks } from '../src/format.ts';

test('six significant digits, no trailing zeros', () => {
  const cases = [
    [0, '0'], [1, '1'], [-0.5, '-0.5'], [Math.PI, '3.14159'], [123456.7, '123457'], [999999.9, '1e6'], [1234567, '1.23457e6'],
    [1e-4, '0.0001'], [0.000099999999, '0.0001'], [1.5e-5, '1.5e-5'], [-2.5e-12, '-2.5e-12'], [1e21, '1e21'], [100, '100'],
    [NaN, '–'], [null, '–'], [Infinity, '∞'],
  ];
  for (const [x, text] of cases) assert.equal(formatNumber(x), text);
});

test('units as people write them', () => {
  assert.equal(formatUnit('kg*m^2'), 'kg·m²');
  assert.equal(formatUnit('m/s^2'), 'm/s²');
  assert.equal(formatUnit('s^-1'), 's⁻¹');
  assert.equal(formatUnit('deg'), '°');
  assert.equal(formatUnit('deg/s'), '°/s');
  assert.equal(formatUnit('1'), '');
  assert.equal(labelled('theta', 'rad'), 'theta [rad]');
  assert.equal(labelled('ratio', '1'), 'ratio');
  assert.equal(formatQuantity(1.5, 'rad/s'), '1.5 rad/s');
  assert.equal(formatQuantity(90, 'deg'), '90°');
  assert.equal(formatQuantity(NaN, 'rad/s'), '–');
});

test('ticks tell each other apart', () => {
  assert.deepEqual(formatTicks([0, 0.25, 0.5]), ['0', '0.25', '0.50']);
  assert.deepEqual(formatTicks([-1, 0, 1]), ['-1', '0', '1']);
  assert.deepEqual(formatTicks([100, 100.5, 101]), ['100.0', '100.5', '101.0']);
  assert.deepEqual(formatTicks([0, 2e-12, 4e-12]), ['0', '2e-12', '4e-12']);
  assert.deepEqual(formatTicks([0, 2.5e6, 5e6]), ['0', '2.5e6', '5e6']);
  assert.deepEqual(formatTicks([0.1 + 0.2, null]), ['0.3', '']);
});

test('logarithmic ticks leave room for each other', () => {
  const tens = (...powers) => powers.flatMap((p) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => Number(`${k}e${p}`)));
  assert.deepEqual(logTicks(tens(-2, -1)).filter((t) => t), ['0.01', '0.1']);
  assert.deepEqual(logTicks(tens(-3).slice(1).concat(tens(-2).slice(0, 9))).filter((t) => t), ['0.002', '0.005', '0.01', '0.02', '0.05']);
  assert.deepEqual(logTicks([2, 3, 4, 5]), ['2', '3', '4', '5']);
});

test('time has as many decimals as the run deserves', () => {
  assert.equal(formatTime(1.23456, 10), '1.23');
  assert.equal(formatTime(1.23456, 2), '1.235');
  assert.equal(formatTime(0.0123456, 0.05), '0.01235');
});

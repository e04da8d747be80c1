import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeArray, parsePages, parseReport, ReportError } from '../src/data.ts';
import { beamReport, f4, f8, fourbarReport, modesReport, spatialReport } from './samples.mjs';

const parse = (report) => parseReport(JSON.stringify(report));

test('base64 numbers come back bit for bit, NaN included', () => {
  const values = [0, -1.5, Math.PI, 1e-300, NaN, Infinity];
  assert.deepEqual([...decodeArray(f8(values), 'x')], values);
  assert.deepEqual([...decodeArray(f4(values), 'x')], values.map(Math.fround));
});

test('a plain list is numbers too, null is no value', () => {
  assert.deepEqual([...decodeArray([1, null, 2], 'x')], [1, NaN, 2]);
});

test('damaged numbers are refused with their name', () => {
  assert.throws(() => decodeArray({ type: 'f4', n: 3, data: 'AAAA' }, 'speed'), /speed: 0 numbers where 3 were announced/);
  assert.throws(() => decodeArray({ type: 'i4', n: 1, data: 'AAAA' }, 'speed'), /type "i4"/);
  assert.throws(() => decodeArray({ type: 'f4', n: 1, data: '*' }, 'speed'), /speed/);
  assert.throws(() => decodeArray(undefined, 'speed'), /speed: numbers are missing/);
  assert.throws(() => decodeArray(['a'], 'speed'), ReportError);
});

test('text that is no JSON, or JSON that is no report, is refused', () => {
  const source = JSON.stringify(fourbarReport());
  assert.throws(() => parseReport(source.slice(0, source.length / 2)), /damaged or incomplete/);
  assert.throws(() => parseReport('{}'), /not those of a Pantograph report/);
  assert.throws(() => parseReport('null'), ReportError);
});

test('the samples are read without notes', () => {
  for (const sample of [fourbarReport(), spatialReport(), modesReport()]) {
    const report = parse(sample);
    assert.deepEqual([report.notes, report.ignored], [[], []]);
    assert.ok(report.panels.every((p) => p.kind !== 'broken'));
  }
});

test('a page has one report, or chapters of several', () => {
  const bound = { format: 'pantograph-report', version: 1, title: 'Both', chapters: [fourbarReport(), { ...modesReport(), title: '' }] };
  const pages = parsePages(JSON.stringify(bound));
  assert.deepEqual([pages.title, pages.chapters], ['Both', [fourbarReport().title, 'Chapter 2']]);
  assert.equal(pages.report(0).motions.length, fourbarReport().motions.length);
  assert.ok(pages.report(1).modes);
  assert.equal(pages.report(7).modes?.list.length, pages.report(1).modes.list.length);
  assert.deepEqual(parsePages(JSON.stringify(fourbarReport())).chapters, []);
  assert.throws(() => parsePages(JSON.stringify({ ...bound, chapters: [] })), /no chapters/);
});

test('a newer report says what is not shown', () => {
  const sample = fourbarReport();
  sample.version = 2;
  sample.weather = 'fine';
  sample.panels.push({ kind: 'hologram', title: 'Future' });
  const report = parse(sample);
  assert.match(report.notes[0], /version 2/);
  assert.deepEqual(report.ignored, ['report: weather', 'panel "Future" of kind hologram']);
});

test('one broken panel does not spoil the others', () => {
  const sample = fourbarReport();
  sample.panels[0].series[0].data.n = 7;
  const report = parse(sample);
  assert.equal(report.panels[0].kind, 'broken');
  assert.match(report.panels[0].reason, /"gamma".*announced/);
  assert.equal(report.panels[1].kind, 'plot');
});

test('a motion or mode of the wrong size is left out with a note', () => {
  const sample = fourbarReport();
  sample.motions[0].poses = f4([1, 2, 3]);
  const report = parse(sample);
  assert.equal(report.motions.length, 1);
  assert.match(report.notes[0], /Motion "truth" is not shown/);
  const modal = modesReport();
  modal.modes.list[1].shape = f4([1]);
  assert.match(parse(modal).notes[0], /mode 2 has 1 numbers/);
});

test('sections of beams fit bodies and nodes, and places on them count from their origin', () => {
  const sample = beamReport();
  const { scene } = parse(sample);
  assert.deepEqual(scene.sensors[0], { body: 5, at: [0, 0.01, 0], name: 'gauge', type: 'strain_gauge' });
  sample.scene.nodes.pop();
  assert.throws(() => parse(sample), /sections of beams/);
});

test('series of unequal length are refused', () => {
  const sample = fourbarReport();
  sample.panels[0].series[0].data = f4([1, 2]);
  assert.match(parse(sample).panels[0].reason, /2 values for 1001 abscissae/);
});

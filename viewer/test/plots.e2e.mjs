// Plots and panels show the data, and share the cursor with the animation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { close, color, drawn, find, open, pixels, setTime } from './harness.mjs';
import { f4, f8, fourbarAt, fourbarReport, longReport, modesReport, range, spikes } from './samples.mjs';

const time = (page) => page.evaluate(() => window.pantograph.time);
const field = async (page, panel, lane = 0) => page.locator('.panel').nth(panel).locator('.u-over').nth(lane).boundingBox();
/** Moves the pointer to a fraction of the width of a plot. */
const hover = async (page, panel, fraction) => {
  const box = await field(page, panel);
  await page.mouse.move(box.x + fraction * box.width, box.y + box.height / 2);
  await drawn(page);
};

test('the readout is the data: the sample on a sample, linear between', async () => {
  const page = await open(fourbarReport());
  const gamma = range(1001, (k) => Math.fround(fourbarAt(k * 0.01).gamma));
  for (const [t, want] of [[0, gamma[0]], [2.5, gamma[250]], [10, gamma[1000]], [1.2345, gamma[123] + ((1.2345 - 123 * 0.01) / 0.01) * (gamma[124] - gamma[123])]]) {
    await setTime(page, t);
    const read = await page.evaluate(() => window.pantograph.readout());
    assert.ok(Math.abs(read.gamma - want) < 1e-9, `${read.gamma} is not ${want}`);
    assert.ok(Math.abs(read['gamma (estimate)'] - fourbarAt(t, 1.9).gamma) < 1e-4);
    const shown = await page.locator('.panel').first().locator('.legend .value').first().textContent();
    assert.equal(shown, `${Number(want.toPrecision(6))} rad`);
  }
  assert.equal(Object.keys(await page.evaluate(() => window.pantograph.readout())).length, 10);
  await close(page);
});

test('the pointer in a plot moves the animation and the cursor of every plot', async () => {
  const page = await open(fourbarReport());
  await hover(page, 0, 0.35);
  assert.ok(Math.abs((await time(page)) - 3.5) < 0.03);
  const t = await time(page);
  const { world } = await page.evaluate(() => window.pantograph.point('pin'));
  assert.ok(Math.hypot(world[0] - fourbarAt(t).B[0], world[1] - fourbarAt(t).B[1]) < 3e-4);
  for (const panel of [0, 1, 2]) {
    const [over, line] = [await field(page, panel), await page.locator('.panel').nth(panel).locator('.cursor-line').first().boundingBox()];
    assert.ok(Math.abs(line.x + line.width / 2 - (over.x + (t / 10) * over.width)) < 1, `cursor of panel ${panel}`);
  }
  await close(page);
});

test('playing moves the cursor; the pointer does not disturb it; speed counts', async () => {
  const page = await open(fourbarReport());
  await page.evaluate(() => {
    window.pantograph.setSpeed(2);
    window.pantograph.play();
  });
  await page.waitForFunction(() => window.pantograph.time > 0.5, undefined, { timeout: 5000 });
  await hover(page, 0, 0.95);
  assert.ok((await time(page)) < 9);
  await page.evaluate(() => window.pantograph.pause());
  const t = await time(page);
  await page.waitForTimeout(60);
  assert.equal(await time(page), t);
  await close(page);
});

test('a drag zooms all time plots, a double click shows all again', async () => {
  const page = await open(fourbarReport());
  const box = await field(page, 1);
  await page.mouse.move(box.x + 0.2 * box.width, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.4 * box.width, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await drawn(page);
  for (const panel of [0, 1]) {
    assert.ok(await page.locator('.panel').nth(panel).locator('.reset').isVisible());
    await hover(page, panel, 0.5);
    assert.ok(Math.abs((await time(page)) - 3) < 0.03, 'the middle is now 3 s');
  }
  const again = await field(page, 1);
  await page.mouse.dblclick(again.x + 0.5 * again.width, again.y + 50);
  await drawn(page);
  assert.ok(await page.locator('.panel').nth(1).locator('.reset').isHidden());
  await hover(page, 1, 0.5);
  assert.ok(Math.abs((await time(page)) - 5) < 0.03);
  await close(page);
});

test('curves are shown and hidden by their names', async () => {
  const page = await open(fourbarReport());
  const panel = page.locator('.panel').nth(1);
  const count = async (name) => find(await pixels(page, await field(page, 1)), await color(page, name), 30).n;
  assert.ok((await count('series-2')) > 100);
  assert.equal(await count('series-4'), 0, 'hidden at first');
  await panel.getByRole('button', { name: /pin_y/ }).click();
  await panel.getByRole('button', { name: /beta/ }).click();
  await page.mouse.move(0, 0);
  await drawn(page);
  assert.equal(await count('series-2'), 0);
  assert.ok((await count('series-4')) > 100);
  await panel.getByRole('button', { name: /pin_x/ }).click({ modifiers: ['Shift'] });
  await drawn(page);
  assert.equal(await panel.locator('[aria-pressed=true]').count(), 1);
  await close(page);
});

test('two units get two axes, three are stacked', async () => {
  const page = await open(fourbarReport());
  assert.equal(await page.locator('.panel').nth(1).locator('.uplot').count(), 1);
  assert.equal(await page.locator('.panel').nth(1).locator('.u-axis').count(), 3);
  assert.equal(await page.locator('.panel').nth(2).locator('.uplot').count(), 3);
  await close(page);
});

test('a band is filled between its borders and marks are drawn', async () => {
  const page = await open(fourbarReport());
  const box = await field(page, 0);
  const marks = find(await pixels(page, box), await color(page, 'series-2'), 30);
  assert.ok(marks.n > 200, 'measured samples');
  const series = await color(page, 'series-1');
  const band = series.map((c) => 255 + 0.17 * (c - 255));
  assert.ok(find(await pixels(page, box), band, 6).n > 500, 'band');
  await close(page);
});

test('10 s at 1 kHz with 20 channels opens in less than 2 s and keeps the spikes', async () => {
  // The best of three: the machine may be busy with other work.
  let [page, opened] = [null, Infinity];
  for (let k = 0; k < 3 && opened >= 2000; ++k) {
    if (page) await close(page);
    page = await open(longReport());
    opened = await page.evaluate(() => performance.getEntriesByName('pantograph-ready')[0].startTime);
  }
  console.log(`# opened in ${opened.toFixed(0)} ms`);
  assert.ok(opened < 2000, `${opened} ms`);
  const box = await field(page, 1);
  for (const k of spikes) {
    const x = Math.round(box.x + (k / 10000) * box.width);
    const spike = await pixels(page, { x: x - 3, y: box.y + 2, width: 6, height: 0.5 * box.height });
    assert.ok(find(spike, await color(page, 'series-3'), 60).n > 20, `sample ${k} of 10,001 is seen`);
  }
  await setTime(page, 4.321);
  assert.equal((await page.evaluate(() => window.pantograph.readout()))['channel 7'], 25);
  await close(page);
});

test('frequency response, assurance matrix, poles, bars', async () => {
  const page = await open(modesReport());
  const panels = page.locator('.panel');
  assert.equal(await panels.nth(0).locator('.uplot').count(), 2);
  const box = await field(page, 0);
  // 1 Hz is a third of the way from 0.1 Hz to 100 Hz.
  await page.mouse.move(box.x + box.width / 3, box.y + 20);
  await drawn(page);
  const h = 1 / Math.hypot(1 - (1 / 1.2) ** 2, (2 * 0.01) / 1.2);
  const [magnitude, phase] = (await panels.nth(0).locator('.legend .value').first().textContent()).split('∠');
  assert.ok(Math.abs(parseFloat(magnitude) / (1e-3 * h) - 1) < 0.05, magnitude);
  assert.match(magnitude, /m\/N/);
  assert.ok(Math.abs(parseFloat(phase) - (-Math.atan2(0.02 / 1.2, 1 - (1 / 1.2) ** 2) * 180) / Math.PI) < 1, phase);
  assert.deepEqual(await panels.nth(1).locator('tbody td').allTextContents(), ['0.99', '0.05', '0.01', '0.04', '0.91', '0.12', '0.00', '0.20', '0.77']);
  assert.equal(await panels.nth(1).locator('tbody td').first().getAttribute('title'), 'model 1 × test 1: 0.987654');
  assert.ok(find(await pixels(page, await panels.nth(2).locator('.u-over').boundingBox().then(async (b) => {
    await panels.nth(2).scrollIntoViewIfNeeded();
    return panels.nth(2).locator('.u-over').boundingBox();
  })), await color(page, 'series-1'), 40).n > 30, 'poles');
  await panels.nth(3).scrollIntoViewIfNeeded();
  assert.equal(await panels.nth(3).locator('rect').count(), 6);
  assert.equal(await panels.nth(3).locator('.whisker').count(), 3);
  const heights = await panels.nth(3).locator('rect').evaluateAll((r) => r.map((x) => Number(x.getAttribute('height'))));
  assert.ok(Math.abs(heights[2] / heights[4] - 9.4 / 28.1) < 0.01);
  await close(page);
});

test('poles zoom in both directions and name the nearest', async () => {
  const page = await open(modesReport());
  const panel = page.locator('.panel').nth(2);
  await panel.scrollIntoViewIfNeeded();
  const box = await panel.locator('.u-over').boundingBox();
  await page.mouse.move(box.x + 0.4 * box.width, box.y + 0.05 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.45 * box.height, { steps: 4 });
  await page.mouse.up();
  await drawn(page);
  assert.ok(await panel.locator('.reset').isVisible());
  let words = '';
  for (let k = 0; k < 40 && !words.startsWith('poles'); ++k) {
    await page.mouse.move(box.x + ((k % 8) + 0.5) / 8 * box.width, box.y + (Math.floor(k / 8) + 0.5) / 5 * box.height);
    words = (await panel.locator('.readout').textContent()).trim();
  }
  assert.match(words, /poles: -\d.* rad\/s, \d/);
  await panel.locator('.reset').click();
  assert.ok(await panel.locator('.reset').isHidden());
  await close(page);
});

test('a table shows six digits, full precision in the tooltip, marks and units', async () => {
  const page = await open(fourbarReport());
  const table = page.locator('table.table');
  assert.deepEqual(await table.locator('th').allTextContents(), ['body', 'mass [kg]', 'inertia [kg·m²]', 'length [m]', 'check']);
  const cell = table.locator('tbody tr').nth(1).locator('td').nth(2);
  assert.equal(await cell.textContent(), '1.59155');
  assert.equal(await cell.getAttribute('title'), '1.591549430918');
  assert.equal(await cell.evaluate((e) => getComputedStyle(e).textAlign), 'right');
  assert.equal(await table.locator('td.bad').textContent(), 'no inertia');
  await close(page);
});

test('logarithmic axes, gaps, empty and single-sample curves do no harm', async () => {
  const x = { name: 'n', unit: '', data: f8(range(50, (k) => 10 ** (k / 10))) };
  const page = await open({
    format: 'pantograph-report', version: 1, title: 'Odd plots', model: '',
    panels: [
      { kind: 'plot', title: 'log', x, xscale: 'log', yscale: 'log', series: [{ name: 'error', unit: '1', data: f4(range(50, (k) => (k % 9 ? 10 ** -k : 0))) }] },
      { kind: 'plot', title: 'gaps', x, series: [{ name: 'y', unit: 'm', data: f4(range(50, (k) => (k % 5 ? k : NaN))) }] },
      { kind: 'plot', title: 'empty', x, series: [] },
      { kind: 'plot', title: 'none', x: { name: 't', unit: 's', data: [] }, cursor: true, series: [{ name: 'z', unit: 'm', data: [] }] },
      { kind: 'plot', title: 'one', x: { name: 't', unit: 's', data: [1] }, cursor: true, series: [{ name: 'w', unit: 'm', data: [3] }] },
      { kind: 'scatter', title: 'nothing', x: { name: 'a' }, y: { name: 'b' }, series: [] },
      { kind: 'bars', title: 'zero', unit: 'N', categories: ['a', 'b'], series: [{ name: 's', values: [0, null] }] },
      { kind: 'matrix', title: 'none', values: [] },
      { kind: 'table', title: 'none', columns: [], rows: [] },
    ],
  });
  assert.equal(await page.locator('.panel').count(), 9);
  await hover(page, 0, 0.5);
  assert.match(await page.locator('.panel').first().locator('.legend .value').textContent(), /e-/);
  await close(page);
});

test('a reduction shows the error of every ranking over its own sizes, without a mechanism', async () => {
  const curve = (name, sizes, power) => ({ name, unit: '%', data: f8(sizes.map((n) => 10 ** (-power * (n - 3)))), x: f8(sizes) });
  const page = await open({
    format: 'pantograph-report', version: 1, title: 'Reduction of a frame', model: 'frame',
    panels: [
      { kind: 'table', title: 'Size needed', columns: [{ name: 'ranking' }, { name: 'size' }], rows: [['IMR', 6], ['SBE', { text: 'not reached', mark: 'warn' }]] },
      {
        kind: 'plot', title: 'Truncation error', group: 'Error by size', x: { name: 'degrees of freedom', unit: '', data: [] }, yscale: 'log',
        series: [curve('IMR', [3, 4, 5, 6, 8, 11], 1), curve('SBE', [3, 6, 9], 0.5), { name: 'allowed', unit: '%', data: f8([1, 1]), x: f8([3, 11]) }],
      },
    ],
  });
  const plot = page.locator('.panel').nth(1);
  assert.deepEqual(await plot.locator('.legend .name').allTextContents(), ['IMR', 'SBE', 'allowed']);
  assert.equal(await page.locator('td.warn').textContent(), 'not reached');
  await hover(page, 1, 0.5);
  for (const value of await plot.locator('.legend .value').allTextContents()) assert.notEqual(value.trim(), '', 'a value at the cursor');
  await close(page);
});

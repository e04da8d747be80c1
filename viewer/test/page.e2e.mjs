// The page around drawing and plots: keyboard, themes, paper, bad data.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { close, color, distance, drawn, open, pixels, setTime } from './harness.mjs';
import { fourbarReport, modesReport, spatialReport } from './samples.mjs';

const time = (page) => page.evaluate(() => window.pantograph.time);

test('the keyboard plays, steps, jumps, changes speed, zooms and helps', async () => {
  const page = await open(fourbarReport());
  const press = async (...keys) => {
    for (const k of keys) await page.keyboard.press(k);
    await drawn(page);
  };
  await press('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft');
  assert.ok(Math.abs((await time(page)) - 0.02) < 1e-12);
  await press('Shift+ArrowRight');
  assert.ok(Math.abs((await time(page)) - 0.12) < 1e-12);
  await press('End');
  assert.equal(await time(page), 10);
  await press('Home');
  assert.equal(await time(page), 0);
  await press(']', ']', '[', '[', '[');
  assert.equal(await page.locator('.transport select').inputValue(), '0.5');
  await press(' ');
  await page.waitForFunction(() => window.pantograph.time > 0.02);
  await press(' ');
  const t = await time(page);
  await page.waitForTimeout(60);
  assert.equal(await time(page), t);
  const zoom = () => page.evaluate(() => window.pantograph.camera().zoom);
  const fitted = await zoom();
  await press('+');
  assert.ok((await zoom()) > fitted);
  await press('-', '-');
  assert.ok((await zoom()) < fitted);
  await press('f');
  assert.ok(Math.abs((await zoom()) - fitted) < 1e-9);
  await press('?');
  assert.ok(await page.locator('dialog').isVisible());
  await press('?');
  assert.ok(await page.locator('dialog').isHidden());
  await close(page);
});

test('a bound page shows one chapter, and another one on a click', async () => {
  const page = await open({ format: 'pantograph-report', version: 1, title: 'All of it', chapters: [fourbarReport(), modesReport()] });
  assert.equal(await page.locator('h1').textContent(), fourbarReport().title);
  assert.equal(await page.locator('.chapters a').count(), 2);
  await page.locator('.chapters a').nth(1).click();
  await page.waitForFunction((title) => document.querySelector('h1')?.textContent === title && window.pantograph?.ready, modesReport().title);
  assert.equal(await page.locator('.chapters a[aria-current]').count(), 1);
  assert.equal(await page.title(), 'All of it');
  await close(page);
});

test('every control is reached with the tabulator, has a name and shows the focus', async () => {
  const page = await open({ ...modesReport(), motions: fourbarReport().motions });
  const seen = new Set();
  for (let k = 0; k < 60; ++k) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate(() => {
      const e = document.activeElement;
      if (e === document.body) return null;
      const name = e.getAttribute('aria-label') ?? e.labels?.[0]?.textContent ?? e.textContent;
      return { name: name?.trim(), outline: getComputedStyle(e).outlineStyle };
    });
    if (!focus) continue;
    assert.ok(focus.name, 'a name');
    assert.equal(focus.outline, 'solid', focus.name);
    seen.add(focus.name);
  }
  for (const name of ['Print', 'Help (?)', 'Motion', 'Fit (F)', 'Play (space)', 'Time', 'Speed', 'Names', 'Paths']) assert.ok(seen.has(name), name);
  await close(page);
});

test('space on a focused button presses the button only', async () => {
  const page = await open(fourbarReport());
  await page.getByRole('button', { name: 'Fit (F)' }).focus();
  await page.keyboard.press(' ');
  await drawn(page);
  assert.ok(await page.getByRole('button', { name: 'Play (space)' }).isVisible());
  await page.getByLabel('Time').focus();
  await page.keyboard.press('ArrowRight');
  assert.ok(Math.abs((await time(page)) - 0.01) < 1e-12);
  await close(page);
});

test('dark when the system is dark, and by the button; the drawing follows', async () => {
  const corner = async (page) => {
    await drawn(page);
    const view = await page.locator('.view').boundingBox();
    return (await pixels(page, { x: view.x + 4, y: view.y + 90, width: 3, height: 3 })).at(1, 1);
  };
  for (const report of [fourbarReport(), spatialReport()]) {
    const page = await open(report, { colorScheme: 'dark' });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    const dark = await color(page, 'surface');
    assert.ok(dark.every((c) => c < 60));
    assert.ok(distance(await corner(page), dark) < 30);
    await page.getByRole('button', { name: 'Light or dark (T)' }).click();
    assert.ok(distance(await corner(page), [255, 255, 255]) < 30);
    await page.keyboard.press('t');
    assert.ok(distance(await corner(page), dark) < 30);
    await close(page);
  }
});

test('on paper: light, no controls, plots as wide as the sheet, the current frame', async () => {
  const page = await open(fourbarReport(), { colorScheme: 'dark' });
  await setTime(page, 2);
  const screen = await page.locator('.panel .uplot').first().boundingBox();
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await drawn(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  for (const control of ['.transport', '.tools', 'header .controls', '.options', '.cursor-line']) {
    assert.ok(await page.locator(control).first().isHidden(), control);
  }
  assert.equal(await page.locator('.stamp').textContent(), 't = 2.00 s');
  assert.ok(await page.locator('.stamp').isVisible());
  const plot = await page.locator('.panel .uplot').first().boundingBox();
  const panel = await page.locator('.panel').first().boundingBox();
  assert.ok(plot.width <= panel.width && plot.width > 0.9 * panel.width);
  const view = await page.locator('.view').boundingBox();
  const screenPixel = (await page.evaluate(() => window.pantograph.point('gamma'))).screen;
  assert.ok(screenPixel[0] < view.width && screenPixel[1] < view.height, 'the drawing fits its frame');
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
  await drawn(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  assert.equal((await page.locator('.panel .uplot').first().boundingBox()).width, screen.width);
  const pdf = await page.pdf({ format: 'A4' });
  assert.ok(pdf.length > 10000);
  await close(page);
});

test('a spatial drawing is printed too', async () => {
  const page = await open(spatialReport(), { colorScheme: 'dark' });
  await setTime(page, 2);
  // What the flat canvas above the drawing holds when the sheet is made.
  await page.evaluate(() => addEventListener('beforeprint', () => {
    const canvas = document.querySelector('.overlay');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let [body, white] = [0, 0];
    for (let i = 0; i < data.length; i += 4) {
      if (data[i] > data[i + 2] + 60 && data[i + 3] === 255) body += 1;
      if (data[i] === 255 && data[i + 1] === 255 && data[i + 2] === 255) white += 1;
    }
    window.printed = { body, share: white / (data.length / 4) };
  }));
  await page.pdf({ format: 'A4' });
  const { body, share } = await page.evaluate(() => window.printed);
  assert.ok(body > 200, `${body} pixels of the second body`);
  assert.ok(share > 0.5, 'on white paper');
  await close(page);
});

test('a narrow window puts the plots below the drawing, without sideways scrolling', async () => {
  const page = await open(fourbarReport(), { viewport: { width: 420, height: 800 } });
  const [stage, panel] = [await page.locator('.stage').boundingBox(), await page.locator('.panel').first().boundingBox()];
  assert.ok(panel.y > stage.y + stage.height);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.setViewportSize({ width: 1300, height: 800 });
  await drawn(page);
  const wide = await page.locator('.panel').first().boundingBox();
  assert.ok(wide.y < 200);
  const plot = await page.locator('.panel .uplot').first().boundingBox();
  assert.ok(plot.width > 0.9 * (wide.width - 34), 'plots follow the window');
  await close(page);
});

test('a page without data says so', async () => {
  const page = await open(null, { wait: false });
  assert.match(await page.locator('.message').textContent(), /empty report page/);
  await close(page);
});

test('a file cut short says so', async () => {
  const page = await open(fourbarReport(), { cut: 0.6, wait: false });
  assert.match(await page.locator('.message').textContent(), /damaged or incomplete/);
  await close(page);
});

test('data that are no report say so', async () => {
  for (const [text, words] of [['{"a": ', /damaged or incomplete/], ['{"format": "cake"}', /not those of a Pantograph report/]]) {
    const page = await open(text, { wait: false });
    assert.match(await page.locator('.message').textContent(), words);
    await close(page);
  }
});

test('notes, unknown parts and broken panels are told', async () => {
  const report = fourbarReport();
  report.notes = ['the run file ends at 7 s'];
  report.panels[1].series[0].data.n = 5;
  report.panels.push({ kind: 'hologram', title: 'Future' });
  report.title = 'Angles <b>&amp;</b> </script> <!-- <script>';
  const page = await open(report);
  assert.equal(await page.locator('h1').textContent(), report.title);
  assert.match(await page.locator('.notes').textContent(), /ends at 7 s/);
  assert.match(await page.locator('.problem').textContent(), /cannot be shown.*"pin_x"/);
  assert.match(await page.locator('footer').textContent(), /"Future" of kind hologram/);
  await close(page);
});

test('a scene that stands still, or none at all', async () => {
  const still = await open({ ...fourbarReport(), motions: [], panels: [] });
  assert.ok(await still.locator('.transport').isHidden());
  assert.ok((await still.locator('.stage').boundingBox()).width > 1000);
  await close(still);
  const plots = await open({ ...fourbarReport(), scene: undefined });
  assert.equal(await plots.locator('.stage').count(), 0);
  await plots.keyboard.press('End');
  assert.equal(await time(plots), 10);
  await close(plots);
});

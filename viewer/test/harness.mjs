// Opens reports in headless Chromium and looks at their pixels.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import { launch } from '../browser.mjs';
import { writeReport } from './samples.mjs';

let browser;
let decoder;
let count = 0;
before(async () => {
  browser = await launch();
  decoder = await browser.newPage();
});
after(() => browser?.close());

/** Opens a page with data (an object, a text, or null for none) and waits until it is drawn. */
export async function open(report, { hash = '', cut, wait = true, ...options } = {}) {
  const path = join(process.env.SCRATCH, `report-${process.pid}-${++count}.html`);
  writeReport(process.env.REPORT_PAGE, report ?? '', path, cut);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.problems = [];
  page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
  page.on('pageerror', (e) => page.problems.push(e.message));
  page.on('request', (r) => !/^(file|data|blob):/.test(r.url()) && page.problems.push(`asks for ${r.url()}`));
  await page.goto(pathToFileURL(path).href + hash);
  if (wait) await page.waitForFunction(() => window.pantograph?.ready, undefined, { timeout: 10000 });
  return page;
}

export async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.close();
}

/** After the next frame of the browser has been drawn. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

export async function setTime(page, t) {
  await page.evaluate((x) => window.pantograph.setTime(x), t);
  await drawn(page);
}

/** Pixels of a part of the page: {width, height, at(x, y) → [r, g, b]}. */
export async function pixels(page, clip) {
  const png = (await page.screenshot({ clip })).toString('base64');
  const { width, height, data } = await decoder.evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const ctx = canvas.getContext('2d');
    ctx.drawImage(image, 0, 0);
    return { width: image.width, height: image.height, data: [...ctx.getImageData(0, 0, image.width, image.height).data] };
  }, png);
  return { width, height, at: (x, y) => data.slice(4 * (y * width + x), 4 * (y * width + x) + 3) };
}

export const hex = (c) => [1, 3, 5].map((k) => parseInt(c.slice(k, k + 2), 16));
export const color = async (page, name) =>
  hex(await page.evaluate((n) => getComputedStyle(document.documentElement).getPropertyValue(n).trim(), `--${name}`));
export const distance = (a, b) => Math.hypot(...a.map((c, k) => c - b[k]));

/** Number of pixels that have a colour, and their centre. */
export function find(picture, wanted, tolerance = 40) {
  let [n, x, y] = [0, 0, 0];
  for (let j = 0; j < picture.height; ++j) {
    for (let i = 0; i < picture.width; ++i) {
      if (distance(picture.at(i, j), wanted) > tolerance) continue;
      n += 1;
      x += i + 0.5;
      y += j + 0.5;
    }
  }
  return { n, x: x / n, y: y / n };
}

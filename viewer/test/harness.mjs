// Opens reports in headless Chromium and looks at their pixels.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inflateSync } from 'node:zlib';
import { launch } from '../browser.mjs';
import { writeReport } from './samples.mjs';

let browser;
let count = 0;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Opens a page with data (an object, a text, or null for none) and waits until it is drawn. */
export async function open(report, { hash = '', cut, wait = true, init, ...options } = {}) {
  const path = join(process.env.SCRATCH, `report-${process.pid}-${++count}.html`);
  writeReport(process.env.REPORT_PAGE, report ?? '', path, cut);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.problems = [];
  if (init) await page.addInitScript(init);
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
  return decodePng(await page.screenshot({ clip }));
}

/** PNG as Chromium writes it: 8 bits, RGB or RGBA, not interlaced. */
function decodePng(file) {
  const parts = [];
  let [width, height, n] = [0, 0, 0];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    const [length, type] = [file.readUInt32BE(at), file.toString('latin1', at + 4, at + 8)];
    if (type === 'IHDR') [width, height, n] = [file.readUInt32BE(at + 8), file.readUInt32BE(at + 12), file[at + 17] === 6 ? 4 : 3];
    if (type === 'IDAT') parts.push(file.subarray(at + 8, at + 8 + length));
  }
  const raw = inflateSync(Buffer.concat(parts));
  const row = n * width;
  const data = new Uint8Array(row * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)];
    for (let k = 0; k < row; ++k) {
      const left = k >= n ? data[y * row + k - n] : 0;
      const above = y ? data[(y - 1) * row + k] : 0;
      const corner = k >= n && y ? data[(y - 1) * row + k - n] : 0;
      const p = left + above - corner;
      const [a, b, c] = [Math.abs(p - left), Math.abs(p - above), Math.abs(p - corner)];
      const guess = [0, left, above, (left + above) >> 1, a <= b && a <= c ? left : b <= c ? above : corner][filter];
      data[y * row + k] = raw[y * (row + 1) + 1 + k] + guess;
    }
  }
  return { width, height, at: (x, y) => [...data.subarray(n * (y * width + x), n * (y * width + x) + 3)] };
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

/** Size and centre of the patch of one colour around a pixel. */
export function patch(picture, x0, y0, tolerance = 40) {
  const wanted = picture.at(x0, y0);
  const seen = new Set();
  const todo = [[x0, y0]];
  let [n, x, y] = [0, 0, 0];
  while (todo.length) {
    const [i, j] = todo.pop();
    const key = j * picture.width + i;
    if (i < 0 || j < 0 || i >= picture.width || j >= picture.height || seen.has(key)) continue;
    seen.add(key);
    if (distance(picture.at(i, j), wanted) > tolerance) continue;
    n += 1;
    x += i + 0.5;
    y += j + 0.5;
    todo.push([i + 1, j], [i - 1, j], [i, j + 1], [i, j - 1]);
  }
  return { n, x: x / n, y: y / n };
}

// Picture of a report: node screenshot.mjs REPORT.html OUT.png [--time T] [--mode K] [--dark] [--width W] [--height H]
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from './browser.mjs';

const usage = 'usage: node screenshot.mjs REPORT.html OUT.png [--time T] [--mode K] [--dark] [--width W] [--height H]';
const { values, positionals } = (() => {
  try {
    const text = { type: 'string' };
    return parseArgs({
      allowPositionals: true, options: { time: text, mode: text, width: text, height: text, dark: { type: 'boolean' } },
    });
  } catch (error) {
    console.error(`${error.message}\n${usage}`);
    process.exit(1);
  }
})();
const number = (name, fallback) => {
  const x = values[name] === undefined ? fallback : Number(values[name]);
  if (x !== undefined && !Number.isFinite(x)) {
    console.error(`--${name}: not a number: ${values[name]}\n${usage}`);
    process.exit(1);
  }
  return x;
};
const [time, mode, width, height] = [number('time'), number('mode'), number('width', 1440), number('height', 900)];
if (positionals.length !== 2) {
  console.error(usage);
  process.exit(1);
}
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: values.dark ? 'dark' : 'light' });
  await page.goto(pathToFileURL(positionals[0]).href);
  await page.waitForFunction(() => window.pantograph?.ready, undefined, { timeout: 20000 });
  if (mode !== undefined) await page.evaluate((k) => window.pantograph.mode(k), mode);
  if (time !== undefined) await page.evaluate((t) => window.pantograph.setTime(t), time);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: positionals[1] });
} finally {
  await browser.close();
}

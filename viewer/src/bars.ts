// Bars by category, side by side, with whiskers.
import { el, svg } from './dom.ts';
import { formatQuantity, formatTicks, formatUnit } from './format.ts';
import { roundStep } from './math.ts';
import type { BarsPanel } from './types.ts';

const size = { height: 250, left: 58, right: 12, top: 26, bottom: 30 };

export function barsPanel(panel: BarsPanel): HTMLElement {
  const host = el('div', { class: 'bars' });
  const legend = el('ul', { class: 'keys' }, ...panel.series.map((s, k) => el('li', { class: `key series-${(k % 10) + 1}` }, s.name)));
  host.append(panel.series.length > 1 ? legend : '', draw(panel));
  return host;
}

function draw(panel: BarsPanel): SVGElement {
  const { categories, series } = panel;
  const all = series.flatMap((s) => [...s.values, ...(s.low ?? []), ...(s.high ?? [])]).filter((v): v is number => v !== null && Number.isFinite(v));
  const step = roundStep(Math.max((Math.max(0, ...all) - Math.min(0, ...all)) / 5, 1e-300) || 0.2);
  const low = Math.floor(Math.min(0, ...all) / step) * step;
  const high = Math.max(low + step, Math.ceil(Math.max(0, ...all) / step) * step);
  const long = Math.max(0, ...categories.map((c) => c.length)) > 9 && categories.length > 5;
  const bottom = long ? 84 : size.bottom;
  const width = Math.max(560, size.left + size.right + categories.length * Math.max(28, 16 * series.length + 14));
  const height = size.height + bottom - size.bottom;
  const y = (v: number): number => size.top + ((high - v) / (high - low)) * (height - size.top - bottom);
  const slot = (width - size.left - size.right) / Math.max(1, categories.length);
  const bar = Math.min(38, (slot * 0.72) / Math.max(1, series.length));
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${panel.title}: bars` });

  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, k) => low + k * step);
  formatTicks(ticks).forEach((text, k) => {
    picture.append(
      svg('line', { x1: size.left, x2: width - size.right, y1: y(ticks[k]), y2: y(ticks[k]), class: 'grid' }),
      svg('text', { x: size.left - 8, y: y(ticks[k]) + 4, 'text-anchor': 'end' }, text));
  });
  const unit = formatUnit(panel.unit);
  if (unit) picture.append(svg('text', { x: 8, y: 14 }, `[${unit}]`));
  categories.forEach((name, c) => {
    const middle = size.left + (c + 0.5) * slot;
    series.forEach((s, k) => {
      const v = s.values[c];
      if (v === null || v === undefined || !Number.isFinite(v)) return;
      const x = middle + (k - series.length / 2) * bar;
      const words = `${name}, ${s.name}: ${formatQuantity(v, panel.unit)}`;
      picture.append(svg('rect', {
        x: x + 1, width: bar - 2, y: Math.min(y(0), y(v)), height: Math.max(0.75, Math.abs(y(v) - y(0))), rx: 1.5,
        class: `series-${(k % 10) + 1}`,
      }, svg('title', {}, words)));
      const [a, b] = [s.low?.[c], s.high?.[c]];
      if (typeof a !== 'number' || typeof b !== 'number') return;
      const m = x + bar / 2;
      picture.append(svg('path', { class: 'whisker', d: `M${m} ${y(a)}V${y(b)}M${m - 4} ${y(a)}h8M${m - 4} ${y(b)}h8` }));
    });
    const foot = height - bottom + 16;
    picture.append(long
      ? svg('text', { x: middle, y: foot - 4, 'text-anchor': 'end', transform: `rotate(-40 ${middle} ${foot - 4})` }, name)
      : svg('text', { x: middle, y: foot, 'text-anchor': 'middle' }, name));
  });
  picture.append(svg('line', { x1: size.left, x2: width - size.right, y1: y(0), y2: y(0), class: 'zero' }));
  return picture;
}

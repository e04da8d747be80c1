// A matrix of numbers from 0 to 1 as coloured cells.
import { el } from './dom.ts';
import { formatNumber } from './format.ts';
import type { MatrixPanel } from './types.ts';

export function matrixPanel(panel: MatrixPanel): HTMLElement {
  const head = el('tr', {}, el('td', {}), ...panel.columns.map((c) => el('th', { scope: 'col' }, c)));
  const rows = panel.values.map((row, i) =>
    el('tr', {}, el('th', { scope: 'row' }, panel.rows[i]), ...row.map((v, j) => cell(v, `${panel.rows[i]} × ${panel.columns[j]}`))));
  return el('div', { class: 'scroll' }, el('table', { class: 'matrix' }, el('thead', {}, head), el('tbody', {}, ...rows)));
}

function cell(v: number | null, where: string): HTMLElement {
  if (v === null || !Number.isFinite(v)) return el('td', { title: where }, '–');
  const td = el('td', { title: `${where}: ${formatNumber(v)}` }, v.toFixed(2));
  const f = Math.min(1, Math.max(0, v));
  td.style.setProperty('--level', `${Math.round(100 * f)}%`);
  td.classList.toggle('high', f > 0.55);
  return td;
}

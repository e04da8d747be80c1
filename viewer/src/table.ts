// Tables of text and numbers.
import { el } from './dom.ts';
import { formatNumber, formatUnit } from './format.ts';
import type { Cell, TablePanel } from './types.ts';

export function tablePanel(panel: TablePanel): HTMLElement {
  const value = (c: Cell): string | number | null => (c !== null && typeof c === 'object' ? c.text : c);
  const numeric = panel.columns.map((_, k) => {
    const cells = panel.rows.map((r) => value(r[k] ?? null)).filter((v) => v !== null);
    return cells.length > 0 && cells.every((v) => typeof v === 'number');
  });
  const head = panel.columns.map((c, k) => {
    const unit = formatUnit(c.unit);
    return el('th', { scope: 'col', class: numeric[k] ? 'number' : undefined }, c.name, unit ? el('span', { class: 'unit' }, ` [${unit}]`) : null);
  });
  const body = panel.rows.map((row) => el('tr', {}, ...panel.columns.map((_, k) => {
    const c = row[k] ?? null;
    const v = value(c);
    const mark = c !== null && typeof c === 'object' ? c.mark : undefined;
    const number = typeof v === 'number';
    return el(
      'td', { class: [number ? 'number' : '', mark ? `mark ${mark}` : ''].join(' ').trim() || undefined, title: number ? String(v) : undefined },
      number ? formatNumber(v) : v ?? '');
  })));
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': panel.title || 'table' },
    el('table', { class: 'table' }, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)));
}

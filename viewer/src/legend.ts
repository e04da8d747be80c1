// Names of the curves of a plot: each a button that shows or hides its curve, with the value at the cursor.
import { el, svg } from './dom.ts';
import { cycle, colors, onThemeChange } from './theme.ts';

export interface LegendItem {
  name: string;
  color: number;
  dash: number[];
  mark: 'line' | 'dot' | 'cross' | 'circle';
  shown: boolean;
}

const ring = (r: number): string => `M${9 - r} 5a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
const marks = { line: 'M0 5h18', dot: ring(3), circle: ring(3.5), cross: 'M5.5 1.5l7 7M5.5 8.5l7-7' };

export class Legend {
  readonly element = el('div', { class: 'legend', role: 'group', 'aria-label': 'Curves' });
  private readonly buttons: HTMLButtonElement[];
  private readonly values: HTMLElement[];

  constructor(readonly items: LegendItem[], private readonly changed: () => void) {
    this.values = items.map(() => el('span', { class: 'value' }));
    this.buttons = items.map((item, k) => {
      const swatch = svg('path', { d: marks[item.mark], class: item.mark, 'stroke-dasharray': item.dash.join(' ') || undefined });
      const paint = (): void => swatch.style.setProperty('--swatch', cycle(colors().series, item.color));
      paint();
      onThemeChange(paint);
      return el('button', {
        type: 'button', 'aria-pressed': String(item.shown), title: 'Show or hide; with shift: show this one only',
        click: (e: MouseEvent) => this.toggle(k, e.shiftKey),
      },
      svg('svg', { viewBox: '0 0 18 10', class: 'swatch', 'aria-hidden': 'true' }, swatch),
      el('span', { class: 'name' }, item.name), this.values[k]);
    });
    this.element.append(...this.buttons);
  }

  setValue(k: number, text: string): void {
    if (this.values[k].textContent !== text) this.values[k].textContent = text;
  }

  private toggle(k: number, only: boolean): void {
    if (only) {
      const alone = this.items.every((item, i) => item.shown === (i === k));
      this.items.forEach((item, i) => (item.shown = alone || i === k));
    } else this.items[k].shown = !this.items[k].shown;
    this.items.forEach((item, i) => this.buttons[i].setAttribute('aria-pressed', String(item.shown)));
    this.changed();
  }
}

// Curves over an abscissa: time plots that share cursor and zoom, other plots, frequency responses.
import { axisTitle, Chart, type Range } from './chart.ts';
import { drawBand, drawCurve } from './curves.ts';
import { extent } from './decimate.ts';
import { el } from './dom.ts';
import { formatQuantity, labelled } from './format.ts';
import { valueAt } from './interpolate.ts';
import { Legend } from './legend.ts';
import { colors, cycle, onThemeChange } from './theme.ts';
import type { Axis, AxisScale, FrfPanel, Numbers, PlotPanel, PlotSeries } from './types.ts';

/** The visible stretch of an abscissa; time plots share one. */
export class Window1 {
  current: Range;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly full: Range) {
    this.current = full;
  }

  get zoomed(): boolean {
    return this.current !== this.full;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  set(range: Range): void {
    const [low, high] = [Math.max(this.full[0], range[0]), Math.min(this.full[1], range[1])];
    if (!(high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high)))) return;
    this.current = [low, high];
    for (const listener of this.listeners) listener();
  }

  reset(): void {
    this.current = this.full;
    for (const listener of this.listeners) listener();
  }
}

/** What all the abscissae cover; never empty. */
export function coverage(all: readonly Numbers[], scale: AxisScale): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const xs of all) {
    for (const x of scale === 'log' ? xs : [xs[0], xs[xs.length - 1]]) {
      if (!Number.isFinite(x) || (scale === 'log' && x <= 0)) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  }
  if (low < high) return [low, high];
  if (low === high) return scale === 'log' ? [low / 2, low * 2] : [low - 0.5, low + 0.5];
  return scale === 'log' ? [1, 10] : [0, 1];
}

interface Curve {
  series: PlotSeries;
  /** Number of the legend item that shows and hides it. */
  item: number;
}
interface Lane {
  axes: { title: string; scale: AxisScale; unit: string; steps?: number[] }[];
  /** Curves of each axis. */
  curves: Curve[][];
  height: number;
}

const height = { single: 214, stacked: 156, magnitude: 226 };
/** What the abscissae take, which only the lowest plot has. */
const foot = 34;

export class PlotView {
  readonly element: HTMLElement;
  private readonly charts: Chart[];
  private readonly legend: Legend;
  private readonly holder = el('div', { class: 'lanes' });
  private readonly reset = el('button', { type: 'button', class: 'reset', hidden: true, click: () => this.window1.reset() }, 'Reset zoom');
  private cursor: number | null = null;

  constructor(
    title: string, private readonly x: Axis, private readonly xScale: AxisScale, private readonly lanes: Lane[],
    items: { series: PlotSeries; name: string }[], readonly window1: Window1,
    private readonly value: (item: number, x: number) => string, private readonly seek: ((x: number, click: boolean) => void) | null,
  ) {
    this.legend = new Legend(
      items.map(({ series, name }, k) => ({
        name, color: colorOf(items.map((i) => i.series), k), dash: dashOf(series, k), mark: series.points ? 'dot' : 'line', shown: !series.hidden,
      })),
      () => this.refresh());
    this.charts = lanes.map((lane, k) => this.chart(title, lane, k));
    this.holder.append(...this.charts.map((c) => c.element));
    this.element = el('div', { class: 'plot' }, this.legend.element, this.reset, this.holder);
    window1.onChange(() => this.refresh());
    onThemeChange(() => this.refresh());
  }

  resize(): void {
    const width = Math.floor(this.holder.clientWidth);
    for (const chart of this.charts) chart.resize(width);
    this.setCursor(this.cursor);
  }

  setCursor(x: number | null): void {
    this.cursor = x;
    for (const chart of this.charts) chart.setCursor(x);
    this.legend.items.forEach((_, k) => this.legend.setValue(k, x === null ? '' : this.value(k, x)));
  }

  private refresh(): void {
    this.reset.hidden = !this.window1.zoomed;
    for (const chart of this.charts) chart.refresh();
    this.setCursor(this.cursor);
  }

  private chart(title: string, lane: Lane, k: number): Chart {
    const last = k === this.lanes.length - 1;
    const shown = (c: Curve): boolean => this.legend.items[c.item].shown;
    return new Chart({
      label: `${title}: ${lane.curves.flat().map((c) => c.series.name).join(', ')}`,
      height: lane.height - (last ? 0 : foot),
      xTitle: last ? labelled(this.x.name, this.x.unit) : null, xScale: this.xScale,
      xRange: () => this.window1.current,
      y: lane.axes.map((axis, a) => ({
        title: axis.title, scale: axis.scale, steps: axis.steps,
        range: (x) => rangeOf(lane.curves[a].filter(shown), x, axis.scale === 'log'),
      })),
      draw: (chart) => {
        const all = lane.curves.flatMap((curves, a) => curves.filter(shown).map((c) => ({ ...c, a })));
        const color = (item: number): string => cycle(colors().series, this.legend.items[item].color);
        const x = this.window1.current;
        for (const c of all) drawBand(chart, c.series, color(c.item), c.a, x, this.xScale);
        for (const c of all) drawCurve(chart, c.series, color(c.item), this.legend.items[c.item].dash, c.a, x, this.xScale);
      },
      hover: (x) => {
        if (!this.seek) this.setCursor(x);
        else if (x !== null) this.seek(x, false);
      },
      click: (x) => this.seek?.(x, true),
      zoom: (x) => this.window1.set(x),
      reset: () => this.window1.reset(),
    }, 480);
  }
}

function rangeOf(curves: Curve[], x: Range, positive: boolean): Range | null {
  let [low, high] = [Infinity, -Infinity];
  for (const { series: s } of curves) {
    for (const values of [s.data, s.low, s.high]) {
      const e = values && extent(s.x, values, x[0], x[1], positive);
      if (e) [low, high] = [Math.min(low, e[0]), Math.max(high, e[1])];
    }
  }
  return low <= high ? [low, high] : null;
}

/** A ghost's curve has the colour of the curve of the same name of the first motion. */
function colorOf(all: readonly PlotSeries[], k: number): number {
  if (!all[k].motion) return all.slice(0, k).filter((s) => !s.motion).length;
  const twin = all.findIndex((s) => !s.motion && s.name === all[k].name);
  return twin >= 0 ? colorOf(all, twin) : k;
}

const dashOf = (s: PlotSeries, k: number): number[] => (s.motion ? [6, 4] : k >= 20 ? [2, 3] : k >= 10 ? [9, 3] : []);

/** Names of the curves; curves of ghosts whose name is taken say whose they are. */
export function curveNames(series: readonly PlotSeries[], motions: readonly string[]): string[] {
  return series.map((s, k) =>
    s.motion && series.some((o, i) => i !== k && o.name === s.name) ? `${s.name} (${motions[s.motion] ?? `motion ${s.motion + 1}`})` : s.name);
}

function valueWithBand(s: PlotSeries, x: number): string {
  const text = formatQuantity(valueAt(s.x, s.data, x), s.unit);
  if (!s.low || !s.high || text === '–') return text;
  return `${text} (${formatQuantity(valueAt(s.x, s.low, x), '')} … ${formatQuantity(valueAt(s.x, s.high, x), '')})`;
}

/** Curves of one or two units share one plot; more units are stacked, one plot each. */
export function plotPanel(
  panel: PlotPanel, names: readonly string[], window1: Window1, seek: ((x: number, click: boolean) => void) | null,
): PlotView {
  const units = [...new Set(panel.series.map((s) => s.unit))];
  const of = (unit: string): Curve[] => panel.series.map((series, item) => ({ series, item })).filter((c) => c.series.unit === unit);
  const axis = (unit: string): Lane['axes'][number] => ({
    title: axisTitle([...new Set(of(unit).map((c) => c.series.name))], unit), scale: panel.yscale, unit,
  });
  const groups = units.length > 2 ? units.map((u) => [u]) : [units];
  const lanes = groups.filter((g) => g.length).map((g): Lane => ({
    axes: g.map(axis), curves: g.map(of), height: groups.length > 1 ? height.stacked : height.single,
  }));
  return new PlotView(
    panel.title, panel.x, panel.xscale, lanes, panel.series.map((series, k) => ({ series, name: names[k] })), window1,
    (item, x) => valueWithBand(panel.series[item], x), seek);
}

/** Magnitude above phase. */
export function frfPanel(panel: FrfPanel, names: readonly string[], window1: Window1): PlotView {
  const curves = (part: 'magnitude' | 'phase'): Curve[] => panel.series.map((s, item) => ({ series: s[part], item }));
  const units = [...new Set(panel.series.map((s) => s.magnitude.unit))];
  const magnitude = { title: axisTitle(['magnitude'], units.length === 1 ? units[0] : ''), scale: 'log' as const, unit: units[0] ?? '' };
  const phase = { title: axisTitle(['phase'], 'deg'), scale: 'linear' as const, unit: 'deg', steps: [15, 30, 45, 90, 180, 360, 720, 1440] };
  return new PlotView(
    panel.title, panel.x, 'log',
    [
      { axes: [magnitude], curves: [curves('magnitude')], height: height.magnitude },
      { axes: [phase], curves: [curves('phase')], height: height.stacked },
    ],
    panel.series.map((s, k) => ({ series: s.magnitude, name: names[k] })), window1,
    (item, x) => {
      const s = panel.series[item];
      return `${valueWithBand(s.magnitude, x)} ∠ ${formatQuantity(valueAt(s.phase.x, s.phase.data, x), 'deg')}`;
    }, null);
}

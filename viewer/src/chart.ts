// Axes, grid, zoom and hover of one plot (uPlot); what is drawn in it comes from the caller.
import uPlot from 'uplot';
import { formatTicks, formatUnit, logTicks } from './format.ts';
import { roundStep } from './math.ts';
import { colors } from './theme.ts';
import type { AxisScale } from './types.ts';

export type Range = readonly [number, number];

export interface YAxis {
  title: string;
  scale: AxisScale;
  /** Limits for the visible abscissae; null when nothing is visible. */
  range(x: Range): Range | null;
  /** Ticks at multiples of these only (degrees). */
  steps?: number[];
}
export interface ChartOptions {
  label: string;
  height: number;
  xTitle: string | null;
  xScale: AxisScale;
  xRange(): Range;
  y: YAxis[];
  draw(chart: Chart): void;
  /** The pointer is at x, y in axis units, or has left. */
  hover?(x: number | null, y: number | null): void;
  click?(x: number): void;
  /** A stretch was selected; y is given when the chart zooms in both directions. */
  zoom(x: Range, y: Range): void;
  reset(): void;
  zoomY?: boolean;
}

const gutter = { left: 58, right: 16, top: 22, bottom: 24, title: 16 };

/** Maps values to canvas pixels. */
export type Map1 = (value: number) => number;

export class Chart {
  readonly element = document.createElement('div');
  readonly u: uPlot;
  private readonly line = document.createElement('div');
  private width: number;

  constructor(private readonly options: ChartOptions, width: number) {
    const { y, xScale, xTitle } = options;
    this.width = width;
    this.element.className = 'chart';
    this.element.setAttribute('role', 'img');
    this.element.setAttribute('aria-label', options.label);
    const ink = (): string => colors().muted;
    const grid = { stroke: (): string => colors().grid, width: 1 };
    const common = { stroke: ink, grid, ticks: { ...grid, size: 4 }, font: '11px system-ui, sans-serif', labelFont: '11px system-ui, sans-serif' };
    const values = (scale: AxisScale) => (_u: uPlot, splits: number[]): string[] =>
      scale === 'log' ? logTicks(splits) : formatTicks(splits);
    const ticking = (scale: AxisScale): Partial<uPlot.Axis> =>
      scale === 'log' ? { splits: (_u, _axis, low, high) => logSplits(low, high), filter: (_u, splits) => splits } : {};
    const distr = (scale: AxisScale): 1 | 3 => (scale === 'log' ? 3 : 1);
    const scales: Record<string, uPlot.Scale> = {
      x: { time: false, distr: distr(xScale), range: () => [...options.xRange()] as [number, number] },
    };
    y.forEach((axis, k) => {
      scales[`y${k}`] = {
        distr: distr(axis.scale),
        range: () => padded(axis.range(options.xRange()), axis.scale, options.zoomY === true),
      };
    });
    const axes: uPlot.Axis[] = [
      {
        ...common, scale: 'x', space: 56, gap: 3, ...ticking(xScale),
        ...(xTitle === null
          ? { size: 6, values: (_u: uPlot, splits: number[]) => splits.map(() => '') }
          : { size: gutter.bottom, values: values(xScale), label: xTitle, labelSize: gutter.title, labelGap: 0 }),
      },
      ...y.map((axis, k): uPlot.Axis => ({
        ...common, scale: `y${k}`, side: k ? 1 : 3, size: gutter.left, gap: 4, space: 30, values: values(axis.scale),
        grid: { ...grid, show: k === 0 }, ...(axis.steps ? { incrs: axis.steps } : {}), ...ticking(axis.scale),
      })),
    ];
    this.u = new uPlot(
      {
        width, height: options.height, legend: { show: false }, scales, axes,
        padding: [gutter.top, y.length > 1 ? 0 : gutter.right, 2, 0],
        series: [{}, ...y.map((_, k) => ({ scale: `y${k}`, paths: () => null, points: { show: false } }))],
        cursor: {
          x: false, y: false, points: { show: false },
          drag: { x: true, y: options.zoomY === true, setScale: false, dist: 4 },
          bind: { dblclick: () => () => (options.reset(), null) },
        },
        hooks: {
          draw: [() => this.paint()],
          setSelect: [() => this.selected()],
        },
      },
      [[...options.xRange()], ...y.map(() => [1, 1])], this.element);
    this.line.className = 'cursor-line';
    this.line.hidden = true;
    this.u.over.append(this.line);
    this.listen();
  }

  /** Takes new limits and draws again. */
  refresh(): void {
    this.u.redraw(true, true);
  }

  resize(width: number): void {
    if (width === this.width || width < 80) return;
    this.width = width;
    this.u.setSize({ width, height: this.options.height });
  }

  setCursor(x: number | null): void {
    const [low, high] = this.options.xRange();
    const shown = x !== null && x >= low && x <= high;
    this.line.hidden = !shown;
    if (shown) this.line.style.transform = `translateX(${this.u.valToPos(x, 'x')}px)`;
  }

  /** Size of the field between the axes, in CSS pixels. */
  static field(width: number, height: number, axes: number): [number, number] {
    return [width - gutter.left - (axes > 1 ? gutter.left : gutter.right), height - gutter.top - gutter.bottom - gutter.title - 2];
  }

  mapX(): Map1 {
    const { left, width } = this.u.bbox;
    return mapping(this.options.xScale, this.options.xRange(), left, left + width);
  }

  mapY(k: number): Map1 {
    const { top, height } = this.u.bbox;
    const scale = this.u.scales[`y${k}`];
    return mapping(this.options.y[k].scale, [scale.min ?? 0, scale.max ?? 1], top + height, top);
  }

  private paint(): void {
    const { ctx, bbox } = this.u;
    const ratio = uPlot.pxRatio;
    ctx.save();
    ctx.fillStyle = colors().muted;
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = 'bottom';
    this.options.y.forEach((axis, k) => {
      ctx.textAlign = k ? 'right' : 'left';
      ctx.fillText(axis.title, k ? bbox.left + bbox.width + 54 * ratio : bbox.left - 50 * ratio, bbox.top - 7 * ratio);
    });
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.options.draw(this);
    ctx.restore();
  }

  private selected(): void {
    const { left, top, width, height } = this.u.select;
    if (width < 4) return;
    const x: Range = [this.u.posToVal(left, 'x'), this.u.posToVal(left + width, 'x')];
    const y: Range = [this.u.posToVal(top + height, 'y0'), this.u.posToVal(top, 'y0')];
    this.u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.options.zoom(x, y);
  }

  private listen(): void {
    const { hover, click } = this.options;
    const { over } = this.u;
    let pressed: [number, number] | null = null;
    over.addEventListener('mousedown', (e) => (pressed = [e.clientX, e.clientY]));
    over.addEventListener('mousemove', (e) => {
      if (e.buttons === 0) hover?.(this.u.posToVal(e.offsetX, 'x'), this.u.posToVal(e.offsetY, 'y0'));
    });
    over.addEventListener('mouseleave', () => hover?.(null, null));
    over.addEventListener('mouseup', (e) => {
      if (pressed && Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) < 4) click?.(this.u.posToVal(e.offsetX, 'x'));
      pressed = null;
    });
  }
}

function mapping(scale: AxisScale, [from, to]: Range, start: number, end: number): Map1 {
  if (scale === 'log') {
    const [a, b] = [Math.log10(from), Math.log10(to)];
    const k = (end - start) / (b - a);
    return (v) => (v > 0 ? start + (Math.log10(v) - a) * k : NaN);
  }
  const k = (end - start) / (to - from);
  return (v) => start + (v - from) * k;
}

/** Powers of ten, with 2 … 9 between them when they are few, or a linear scale within less than a decade. */
export function logSplits(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const stride = Math.max(1, Math.ceil((last - first) / 8));
  const factors = last - first < 4 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1];
  const splits: number[] = [];
  for (let power = first - 1; power <= last; power += factors.length > 1 ? 1 : stride) {
    // Written out, so that 10⁻⁵ is exactly that.
    for (const k of factors) {
      const v = Number(`${k}e${power}`);
      if (v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9)) splits.push(v);
    }
  }
  if (splits.length > 2) return splits;
  const step = roundStep((high - low) / 5);
  const start = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - start + 1) }, (_, k) => (start + k) * step);
}

/** Limits with air around the data, never empty. */
export function padded(range: Range | null, scale: AxisScale, exact = false): [number, number] {
  if (!range) return scale === 'log' ? [0.1, 10] : [0, 1];
  let [low, high] = range;
  if (exact) return [low, high];
  if (scale === 'log') {
    low = 10 ** Math.floor(Math.log10(low) + 1e-9);
    high = 10 ** Math.ceil(Math.log10(high) - 1e-9);
    return low < high ? [low, high] : [low / 10, high * 10];
  }
  const size = Math.max(Math.abs(low), Math.abs(high));
  // A constant, or one that differs by rounding only, is a flat line in the middle.
  if (high - low <= 1e-12 * size) {
    const half = size > 0 ? 0.5 * size : 1;
    return [low - half, high + half];
  }
  const air = 0.06 * (high - low);
  return [low - air, high + air];
}

/** "theta [rad]" for one curve, "[rad]" for several. */
export function axisTitle(names: readonly string[], unit: string): string {
  const u = formatUnit(unit);
  if (names.length === 1) return u ? `${names[0]} [${u}]` : names[0];
  return u ? `[${u}]` : '';
}

// Points in a plane: poles and zeros, parameter pairs.
import uPlot from 'uplot';
import { Chart, type Range } from './chart.ts';
import { el } from './dom.ts';
import { formatQuantity, labelled } from './format.ts';
import { Legend } from './legend.ts';
import { colors, cycle, fade, onThemeChange } from './theme.ts';
import type { ScatterPanel, ScatterSeries } from './types.ts';

const height = 340;

export class ScatterView {
  readonly element: HTMLElement;
  private readonly chart: Chart;
  private readonly legend: Legend;
  private readonly holder = el('div', { class: 'lanes' });
  private readonly readout = el('p', { class: 'readout', 'aria-live': 'off' }, ' ');
  private readonly reset = el('button', { type: 'button', class: 'reset', hidden: true, click: () => this.zoom(null) }, 'Reset zoom');
  private width = 480;
  private window2: { x: Range; y: Range } | null = null;
  private limits: { x: Range; y: Range };

  constructor(private readonly panel: ScatterPanel) {
    this.legend = new Legend(
      panel.series.map((s, k) => ({ name: s.name, color: k, dash: [], mark: s.mark, shown: true })), () => this.zoom(this.window2));
    this.limits = this.findLimits();
    this.chart = new Chart({
      label: panel.title, height, xTitle: labelled(panel.x.name, panel.x.unit), xScale: 'linear', zoomY: true,
      xRange: () => this.limits.x,
      y: [{ title: labelled(panel.y.name, panel.y.unit), scale: 'linear', range: () => this.limits.y }],
      draw: (chart) => this.draw(chart),
      hover: (x, y) => this.hover(x, y),
      zoom: (x, y) => this.zoom({ x, y }),
      reset: () => this.zoom(null),
    }, this.width);
    this.holder.append(this.chart.element);
    this.element = el('div', { class: panel.equal ? 'plot square' : 'plot' }, this.legend.element, this.reset, this.holder, this.readout);
    onThemeChange(() => this.chart.refresh());
  }

  resize(): void {
    this.width = Math.floor(this.holder.clientWidth);
    this.limits = this.findLimits();
    this.chart.resize(this.width);
    this.chart.refresh();
  }

  private zoom(to: { x: Range; y: Range } | null): void {
    this.window2 = to && to.x[1] > to.x[0] && to.y[1] > to.y[0] ? to : null;
    this.reset.hidden = this.window2 === null;
    this.limits = this.findLimits();
    this.chart.refresh();
  }

  private visible(): { s: ScatterSeries; k: number }[] {
    return this.panel.series.map((s, k) => ({ s, k })).filter(({ k }) => this.legend.items[k].shown);
  }

  private findLimits(): { x: Range; y: Range } {
    const span = (pick: 'x' | 'y'): [number, number] => {
      let [low, high] = [Infinity, -Infinity];
      for (const { s } of this.visible()) {
        for (const v of s[pick]) {
          if (!Number.isFinite(v)) continue;
          low = Math.min(low, v);
          high = Math.max(high, v);
        }
      }
      if (low > high) return [-1, 1];
      const air = 0.08 * (high - low) || 0.5 * Math.abs(low) || 1;
      return [low - air, high + air];
    };
    let [x, y] = this.window2 ? [[...this.window2.x], [...this.window2.y]] : [span('x'), span('y')];
    if (this.panel.equal) {
      const [w, h] = Chart.field(this.width, height, 1);
      const perPixel = Math.max((x[1] - x[0]) / w, (y[1] - y[0]) / h);
      const around = (r: number[], pixels: number): number[] => {
        const m = (r[0] + r[1]) / 2;
        return [m - (perPixel * pixels) / 2, m + (perPixel * pixels) / 2];
      };
      [x, y] = [around(x, w), around(y, h)];
    }
    return { x: [x[0], x[1]], y: [y[0], y[1]] };
  }

  private draw(chart: Chart): void {
    const { ctx, bbox } = chart.u;
    const [mx, my] = [chart.mapX(), chart.mapY(0)];
    const ratio = uPlot.pxRatio;
    ctx.strokeStyle = fade(colors().muted, 0.7);
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(mx(0), bbox.top);
    ctx.lineTo(mx(0), bbox.top + bbox.height);
    ctx.moveTo(bbox.left, my(0));
    ctx.lineTo(bbox.left + bbox.width, my(0));
    ctx.stroke();
    for (const { s, k } of this.visible()) {
      const r = (s.mark === 'dot' ? 2.5 : 4.5) * ratio;
      ctx.strokeStyle = cycle(colors().series, k);
      ctx.fillStyle = ctx.strokeStyle;
      ctx.lineWidth = 1.75 * ratio;
      ctx.beginPath();
      for (let i = 0; i < s.x.length; ++i) {
        const [x, y] = [mx(s.x[i]), my(s.y[i])];
        if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
        if (s.mark === 'cross') {
          ctx.moveTo(x - r, y - r);
          ctx.lineTo(x + r, y + r);
          ctx.moveTo(x - r, y + r);
          ctx.lineTo(x + r, y - r);
        } else {
          ctx.moveTo(x + r, y);
          ctx.arc(x, y, r, 0, 2 * Math.PI);
        }
      }
      if (s.mark === 'dot') ctx.fill();
      else ctx.stroke();
    }
  }

  /** Names the point nearest to the pointer. */
  private hover(x: number | null, y: number | null): void {
    if (x === null || y === null) {
      this.readout.textContent = ' ';
      return;
    }
    const [mx, my] = [this.chart.mapX(), this.chart.mapY(0)];
    const ratio = uPlot.pxRatio;
    let best = 24 * ratio;
    let words = ' ';
    for (const { s } of this.visible()) {
      for (let i = 0; i < s.x.length; ++i) {
        const d = Math.hypot(mx(s.x[i]) - mx(x), my(s.y[i]) - my(y));
        if (!(d < best)) continue;
        best = d;
        words = `${s.name}: ${formatQuantity(s.x[i], this.panel.x.unit)}, ${formatQuantity(s.y[i], this.panel.y.unit)}`;
      }
    }
    this.readout.textContent = words;
  }
}

// The panels of a report, in their order and groups.
import { barsPanel } from './bars.ts';
import { el } from './dom.ts';
import { valueAt } from './interpolate.ts';
import { matrixPanel } from './matrix.ts';
import type { Playback } from './playback.ts';
import { coverage, curveNames, frfPanel, plotPanel, Window1, type PlotView } from './plot.ts';
import { ScatterView } from './scatter.ts';
import { tablePanel } from './table.ts';
import type { Panel, PlotPanel, Report } from './types.ts';

export const timePanels = (report: Report): PlotPanel[] =>
  report.panels.filter((p): p is PlotPanel => p.kind === 'plot' && p.cursor);

export class Panels {
  readonly element = el('div', { class: 'panels' });
  private readonly sized: { resize(): void }[] = [];
  private readonly followers: PlotView[] = [];
  private readonly motions: string[];
  private readonly timeWindow: Window1;

  constructor(private readonly report: Report, private readonly clock: Playback) {
    this.motions = report.motions.map((m) => m.name);
    const abscissae = timePanels(report).flatMap((p) => p.series.map((s) => s.x));
    this.timeWindow = new Window1(coverage([...abscissae, ...report.motions.map((m) => m.t)], 'linear'));
    let group: string | undefined;
    for (const panel of report.panels) {
      if (panel.group !== group && panel.group) this.element.append(el('h2', { class: 'group' }, panel.group));
      group = panel.group;
      this.element.append(
        el('section', { class: `panel ${panel.kind}${panel.kind === 'table' && panel.columns.length > 6 ? ' wide' : ''}`, 'aria-label': panel.title || panel.kind },
          panel.title ? el('h3', {}, panel.title) : null,
          panel.note ? el('p', { class: 'note' }, panel.note) : null, this.body(panel)));
    }
    clock.onChange(() => this.follow());
  }

  /** Measures the page again. */
  resize(): void {
    for (const view of this.sized) view.resize();
    this.follow();
  }

  /** Values of all curves over time at the cursor; a name that is taken gets the title of its panel. */
  readout(): Record<string, number> {
    const result: Record<string, number> = {};
    for (const panel of timePanels(this.report)) {
      curveNames(panel.series, this.motions).forEach((name, k) => {
        const s = panel.series[k];
        result[name in result ? `${name} (${panel.title})` : name] = valueAt(s.x, s.data, this.clock.time);
      });
    }
    return result;
  }

  private follow(): void {
    for (const view of this.followers) view.setCursor(this.clock.time);
  }

  /** The pointer moves the cursor, unless the animation does; a click always does. */
  private readonly seek = (x: number, click: boolean): void => {
    if (click || !this.clock.playing) this.clock.setTime(x);
  };

  private body(panel: Panel): HTMLElement {
    switch (panel.kind) {
      case 'plot': {
        const names = curveNames(panel.series, this.motions);
        const window1 = panel.cursor ? this.timeWindow : new Window1(coverage(panel.series.map((s) => s.x), panel.xscale));
        const view = plotPanel(panel, names, window1, panel.cursor ? this.seek : null);
        if (panel.cursor) this.followers.push(view);
        this.sized.push(view);
        return view.element;
      }
      case 'frf': {
        const curves = panel.series.map((s) => s.magnitude);
        const view = frfPanel(panel, curveNames(curves, this.motions), new Window1(coverage(curves.map((s) => s.x), 'log')));
        this.sized.push(view);
        return view.element;
      }
      case 'scatter': {
        const view = new ScatterView(panel);
        this.sized.push(view);
        return view.element;
      }
      case 'matrix':
        return matrixPanel(panel);
      case 'table':
        return tablePanel(panel);
      case 'bars':
        return barsPanel(panel);
      case 'text':
        return el('div', { class: 'prose' }, ...panel.text.map((p) => el('p', {}, p)));
      case 'broken':
        return el('p', { class: 'problem', role: 'note' }, `This panel cannot be shown. ${panel.reason}`);
    }
  }
}

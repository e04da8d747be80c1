// Reads the data that the page carries and builds the page.
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { parsePages, ReportError, type Pages } from './data.ts';
import { el, icon } from './dom.ts';
import { Keyboard } from './keys.ts';
import { Panels, timePanels } from './panels.ts';
import { Playback } from './playback.ts';
import { coverage } from './plot.ts';
import { watchPrinting } from './print.ts';
import { Stage } from './stage.ts';
import { startTheme, toggleTheme } from './theme.ts';
import type { Report } from './types.ts';

declare global {
  interface Window {
    pantograph?: object;
  }
}

const icons = {
  theme: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18', help: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.01',
  print: 'M7 9V4h10v5M7 17H4v-7h16v7h-3M7 14h10v6H7z',
};

function start(): void {
  startTheme();
  const source = document.getElementById('report')?.textContent?.trim();
  if (!source) {
    message('No data in this page', 'This is the empty report page of Pantograph. Write one with data by: panto view RUN -o report.html');
    return;
  }
  try {
    const pages = parsePages(source);
    const chapter = chapterOf(location.hash, pages.chapters.length);
    show(pages.report(chapter), pages.chapters.length ? chapterList(pages, chapter) : null);
    if (pages.title) document.title = pages.title;
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    message('This report cannot be shown', error.message);
  }
}

/** "#chapter-3" is the third one; anything else the first. */
const chapterOf = (hash: string, count: number): number =>
  Math.min(Math.max(Number(/^#chapter-(\d+)$/.exec(hash)?.[1] ?? 1), 1), Math.max(count, 1)) - 1;

/** Links to the chapters. Another one is shown by a fresh start of the page: nothing of the one before is left. */
function chapterList(pages: Pages, shown: number): HTMLElement {
  window.addEventListener('hashchange', () => {
    if (chapterOf(location.hash, pages.chapters.length) !== shown) location.reload();
  });
  return el('nav', { class: 'chapters', 'aria-label': 'Chapters' },
    ...(pages.title ? [el('strong', {}, pages.title)] : []),
    el('ol', {}, ...pages.chapters.map((title, k) =>
      el('li', {}, el('a', { href: `#chapter-${k + 1}`, ...(k === shown ? { 'aria-current': 'page' } : {}) }, title)))));
}

function message(title: string, text: string): void {
  document.title = title;
  document.body.append(el('main', { class: 'message', role: 'alert' }, el('h1', {}, title), el('p', {}, text)));
}

/** The time of the motions, or of the plots over time when nothing moves. */
function makeClock(report: Report): Playback {
  const times = report.motions.length ? report.motions.map((m) => m.t) : timePanels(report).flatMap((p) => p.series.map((s) => s.x));
  if (times.every((t) => t.length === 0)) return new Playback(0, 0);
  const [first, last] = [Math.min(...times.map((t) => t[0])), Math.max(...times.map((t) => t[t.length - 1]))];
  return first < last ? new Playback(...coverage(times, 'linear')) : new Playback(first, first);
}

function show(report: Report, chapters: HTMLElement | null): void {
  document.title = report.title;
  const clock = makeClock(report);
  const stage = report.scene ? new Stage(report, report.scene, clock) : null;
  const panels = new Panels(report, clock);
  const keyboard = new Keyboard(stage, clock);
  const button = (name: string, path: string, click: () => void): HTMLElement =>
    el('button', { type: 'button', class: 'tool', title: name, 'aria-label': name, click }, icon(path));
  document.body.append(
    ...(chapters ? [chapters] : []),
    el('header', {},
      el('div', { class: 'titles' }, el('h1', {}, report.title), el('p', { class: 'model' }, report.model)),
      el('div', { class: 'controls' }, button('Print', icons.print, () => window.print()),
        button('Light or dark (T)', icons.theme, toggleTheme), button('Help (?)', icons.help, () => keyboard.toggleHelp()))),
    ...(report.notes.length ? [el('ul', { class: 'notes', role: 'note' }, ...report.notes.map((n) => el('li', {}, n)))] : []),
    el('main', { class: stage ? (report.panels.length ? 'both' : 'only-stage') : 'only-panels' },
      ...(stage ? [stage.element] : []), ...(report.panels.length || !stage ? [panels.element] : [])),
    el('footer', {},
      el('span', {}, report.generator || 'Pantograph'),
      report.ignored.length ? el('span', { class: 'ignored' }, `Not shown by this page: ${report.ignored.join('; ')}.`) : null),
    keyboard.help);

  const resize = (): void => {
    stage?.resize();
    panels.resize();
  };
  resize();
  stage?.drawNow();
  new ResizeObserver(resize).observe(document.body);
  if (stage) new ResizeObserver(() => stage.resize()).observe(stage.view.element);
  watchPrinting(() => {
    resize();
    stage?.drawNow();
  });

  const active = (): Playback => stage?.active ?? clock;
  const api = {
    ready: false,
    report,
    get time(): number {
      return active().time;
    },
    setTime: (t: number) => active().setTime(t),
    play: () => active().play(),
    pause: () => active().pause(),
    setSpeed: (s: number) => active().setSpeed(s),
    point: (name: string) => stage?.point(name) ?? null,
    readout: () => panels.readout(),
    mode: (k: number) => stage?.mode(k),
    amplitude: (a: number) => stage?.amplitude(a),
    get deformation(): number | null {
      return stage?.deformation ?? null;
    },
    setDeformation: (scale: number) => stage?.setDeformation(scale),
    trace: (name: string, on = true) => stage?.trace(name, on),
    camera: () => stage?.view.camera() ?? null,
    view: stage?.view.kind ?? null,
  };
  window.pantograph = api;
  requestAnimationFrame(() => {
    api.ready = true;
    performance.mark('pantograph-ready');
  });
}

// The data come after this script in the file, so that a file cut short still runs it.
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
else start();

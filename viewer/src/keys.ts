// The keyboard, and the overlay that explains it.
import { el } from './dom.ts';
import type { Playback } from './playback.ts';
import type { Stage } from './stage.ts';
import { toggleTheme } from './theme.ts';

interface Key {
  keys: string[];
  shown: string;
  what: string;
  act(event: KeyboardEvent): void;
}

export class Keyboard {
  readonly help: HTMLDialogElement;
  private readonly table: Key[];

  constructor(stage: Stage | null, clock: Playback) {
    const active = (): Playback => stage?.active ?? clock;
    const steps = (e: KeyboardEvent): number => (e.shiftKey ? 10 : 1);
    const step = (n: number): void => (stage ? stage.step(n) : active().setTime(active().time + (n * active().length) / 200));
    const moving: Key[] = [
      { keys: [' '], shown: 'Space', what: 'play or pause', act: () => active().toggle() },
      { keys: ['ArrowLeft'], shown: '←', what: 'one frame back (with shift: ten)', act: (e) => step(-steps(e)) },
      { keys: ['ArrowRight'], shown: '→', what: 'one frame on (with shift: ten)', act: (e) => step(steps(e)) },
      { keys: ['Home'], shown: 'Home', what: 'to the start', act: () => active().setTime(active().start) },
      { keys: ['End'], shown: 'End', what: 'to the end', act: () => active().setTime(active().end) },
      { keys: ['['], shown: '[', what: 'slower', act: () => active().changeSpeed(-1) },
      { keys: [']'], shown: ']', what: 'faster', act: () => active().changeSpeed(1) },
    ];
    const drawing: Key[] = stage
      ? [
          { keys: ['+', '='], shown: '+', what: 'larger', act: () => stage.view.zoomBy(1.25) },
          { keys: ['-', '_'], shown: '-', what: 'smaller', act: () => stage.view.zoomBy(0.8) },
          { keys: ['f', 'F'], shown: 'F', what: 'fit the drawing', act: () => stage.view.fit() },
          { keys: ['n', 'N'], shown: 'N', what: 'names on or off', act: () => stage.toggleLabels() },
          { keys: ['g', 'G'], shown: 'G', what: 'ghosts on or off', act: () => stage.toggleGhosts() },
        ]
      : [];
    this.table = [
      ...(stage || clock.length > 0 ? moving : []), ...drawing,
      { keys: ['t', 'T'], shown: 'T', what: 'light or dark', act: toggleTheme },
      { keys: ['?'], shown: '?', what: 'this help', act: () => this.toggleHelp() },
    ];
    this.help = this.overlay();
    document.addEventListener('keydown', (e) => this.press(e));
  }

  toggleHelp(): void {
    if (this.help.open) this.help.close();
    else this.help.showModal();
  }

  private press(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const target = e.target as HTMLElement;
    const tag = target.tagName;
    if (this.help.open && e.key !== '?') return;
    // A control that has the focus keeps the keys that it understands itself.
    const type = tag === 'INPUT' ? (target as HTMLInputElement).type : '';
    const moves = /^(Arrow|Home|End)/.test(e.key);
    if (tag === 'SELECT') return;
    if (e.key === ' ' && (tag === 'BUTTON' || tag === 'SUMMARY' || type === 'checkbox')) return;
    if (moves && type === 'range' && !target.classList.contains('scrub')) return;
    if (moves && target.classList.contains('scroll')) return;
    const key = this.table.find((k) => k.keys.includes(e.key));
    if (!key) return;
    e.preventDefault();
    key.act(e);
  }

  private overlay(): HTMLDialogElement {
    const pointer: [string, string][] = [
      ['over a plot', 'moves the time (when paused); over a curve name, click shows or hides it'],
      ['drag in a plot', 'zoom; double click shows all again'],
      ['drag in the drawing', 'moves or turns it; wheel zooms; double click fits'],
    ];
    const dialog = el('dialog', { class: 'help', 'aria-label': 'Help' },
      el('h2', {}, 'Keys'),
      el('dl', {}, ...this.table.flatMap((k) => [el('dt', {}, el('kbd', {}, k.shown)), el('dd', {}, k.what)])),
      el('h2', {}, 'Pointer'),
      el('dl', { class: 'wide' }, ...pointer.flatMap(([where, what]) => [el('dt', {}, where), el('dd', {}, what)])),
      el('form', { method: 'dialog' }, el('button', { class: 'close' }, 'Close')));
    dialog.addEventListener('click', (e) => {
      if (e.target === dialog) dialog.close();
    });
    return dialog;
  }
}

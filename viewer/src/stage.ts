// The moving mechanism with everything that steers it: transport, ghosts, paths, names, mode shapes.
import { el, icon } from './dom.ts';
import { travels, type Travel } from './layout.ts';
import { formatNumber, formatQuantity, formatTime } from './format.ts';
import { locate, lowerBound, upperBound } from './interpolate.ts';
import {
  boundingBox, displacementsOfFrame, groundPose, largestDeflection, namedPlaces, path, posesAt, posesOfFrame, sampledFrames,
  visibleDeformation, withSections, worldPlace, type Box,
} from './mechanism.ts';
import { roundStep, type Pose, type Vec3 } from './math.ts';
import { ModeShapes } from './modes.ts';
import { Playback, speeds } from './playback.ts';
import { onThemeChange } from './theme.ts';
import type { Motion, Place, Report, Scene } from './types.ts';
import type { Layer, Trace, View } from './view.ts';
import { View2d } from './view2d.ts';
import { hasWebGL, View3d } from './view3d.ts';

/** Seconds that one period of a mode shape takes on the screen at speed 1. */
const modePeriod = 2;
const largestAmplitude = 3;
const largestDeformation = 1e9;

const icons = {
  play: 'M7 4.5v15l12-7.5z', pause: 'M8 5v14M16 5v14', start: 'M6 5v14M19 5v14L9 12z', end: 'M18 5v14M5 5v14l10-7z',
  loop: 'M17 3l3 3-3 3M4 12V9a3 3 0 0 1 3-3h13M7 21l-3-3 3-3M20 12v3a3 3 0 0 1-3 3H4',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5', larger: 'M12 5v14M5 12h14', smaller: 'M5 12h14',
};

/** Spatial models with WebGL where the browser has it and can start it; everything else flat. */
function makeView(scene: Scene, box: Box, travel: Travel): View {
  if (scene.space === 'spatial' && hasWebGL()) {
    try {
      return new View3d(scene, box, travel);
    } catch {
      // The browser announced WebGL but does not give it.
    }
  }
  return new View2d(scene, box, travel);
}

export class Stage {
  readonly element = el('section', { class: 'stage', 'aria-label': 'Mechanism' });
  readonly view: View;
  /** Clock of the mode shapes. */
  readonly phase = new Playback(0, modePeriod);
  private readonly places: Map<string, Place>;
  private readonly shapes: ModeShapes | null;
  private readonly traced = new Map<string, number>();
  private readonly paths = new Map<string, Vec3[]>();
  private readonly ghostsShown: boolean[];
  private selectedMode = -1;
  private size = 1;
  /** Scale of elastic displacements in motions and in mode shapes, which are drawn to another scale anyway. */
  private readonly scales: { motions: number; modes: number };
  private labels = false;
  private waiting = false;
  private readonly updates: (() => void)[] = [];

  constructor(private readonly report: Report, private readonly scene: Scene, private readonly clock: Playback) {
    this.places = new Map(namedPlaces(scene).map(({ name, place }) => [name, place]));
    this.shapes = report.modes ? new ModeShapes(scene, report.modes) : null;
    this.ghostsShown = report.motions.map(() => true);
    const deflections = report.motions.flatMap((m) => sampledFrames(m).map((i) =>
      largestDeflection(scene, posesOfFrame(scene, m.poses, 1, i), displacementsOfFrame(scene, m.poses, i))));
    this.scales = {
      motions: report.deformation ?? visibleDeformation(scene, Math.max(0, ...deflections)),
      modes: report.deformation ?? visibleDeformation(scene, this.shapes?.deflection ?? 0),
    };
    const frames = (): Pose[][] => [
      ...report.motions.flatMap((m) => sampledFrames(m).map((i) => posesOfFrame(scene, m.poses, this.scales.motions, i))),
      ...(this.shapes ? [this.shapes.pose(this.scales.modes)] : []),
      ...(report.motions.length || this.shapes ? [] : [this.still()]),
    ];
    const all = frames();
    const [box, travel] = [boundingBox(scene, all), travels(scene, all)];
    this.view = makeView(scene, box, travel);
    if (this.shapes && report.motions.length === 0) this.selectedMode = 0;
    this.build();
    clock.onChange(() => this.invalidate());
    this.phase.onChange(() => this.invalidate());
    onThemeChange(() => this.invalidate());
  }

  /** The clock that the transport steers now. */
  get active(): Playback {
    return this.selectedMode >= 0 ? this.phase : this.clock;
  }

  mode(k: number): void {
    if (!this.shapes || k >= this.shapes.modes.list.length) return;
    if (k < 0 && this.report.motions.length === 0) return;
    this.active.pause();
    this.selectedMode = k < 0 ? -1 : Math.floor(k);
    this.invalidate();
  }

  amplitude(a: number): void {
    if (!Number.isFinite(a)) return;
    this.size = Math.min(largestAmplitude, Math.max(0, a));
    this.invalidate();
  }

  /** How many times larger than they are elastic displacements are drawn. */
  get deformation(): number {
    return this.selectedMode >= 0 ? this.scales.modes : this.scales.motions;
  }

  setDeformation(scale: number): void {
    if (!Number.isFinite(scale)) return;
    this.scales[this.selectedMode >= 0 ? 'modes' : 'motions'] = Math.min(largestDeformation, Math.max(0, scale));
    this.paths.clear();
    this.invalidate();
  }

  trace(name: string, on: boolean): void {
    if (!this.places.has(name)) return;
    if (!on) this.traced.delete(name);
    else if (!this.traced.has(name)) {
      const used = new Set(this.traced.values());
      this.traced.set(name, [...Array(used.size + 1).keys()].find((k) => !used.has(k))!);
    }
    this.invalidate();
  }

  toggleLabels(): void {
    this.labels = !this.labels;
    this.invalidate();
  }

  toggleGhosts(): void {
    const on = !this.ghostsShown.slice(1).some(Boolean);
    for (let k = 1; k < this.ghostsShown.length; ++k) this.ghostsShown[k] = on;
    this.invalidate();
  }

  /** By whole frames of the first motion; a sixtieth of a period for mode shapes. */
  step(frames: number): void {
    const { active } = this;
    active.pause();
    const first = this.report.motions[0];
    if (active === this.phase || !first) {
      const step = active.length / 60;
      active.setTime(active.time + frames * step);
      return;
    }
    const t = first.t;
    const here = frames > 0 ? upperBound(t, active.time) - 1 : lowerBound(t, active.time);
    active.setTime(t[Math.min(t.length - 1, Math.max(0, here + frames))]);
  }

  point(name: string): { world: [number, number, number]; screen: [number, number] } | null {
    const place = this.places.get(name);
    if (!place) return null;
    const world = worldPlace(this.currentPoses(), place);
    return { world: [...world], screen: this.view.project(world) };
  }

  resize(): void {
    this.view.resize();
  }

  /** Draws in the next frame of the browser. */
  invalidate(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow(): void {
    this.waiting = false;
    const layers: Layer[] = [{ poses: this.currentPoses(), ghost: 0 }];
    if (this.selectedMode >= 0) layers.push({ poses: this.shapes!.pose(this.deformation), ghost: 1 });
    else {
      this.report.motions.forEach((m, k) => {
        if (k > 0 && this.ghostsShown[k]) layers.push({ poses: posesAt(this.scene, m, this.clock.time, this.deformation), ghost: k });
      });
    }
    this.view.draw({ layers, traces: this.selectedMode >= 0 ? [] : this.traces(), labels: this.labels });
    for (const update of this.updates) update();
  }

  private still(): Pose[] {
    return withSections(this.scene, this.scene.bodies.map(() => groundPose), new Float64Array(3 * this.scene.nodes), 1);
  }

  private currentPoses(): Pose[] {
    if (this.selectedMode >= 0) {
      return this.shapes!.poses(this.selectedMode, this.size, (2 * Math.PI * this.phase.time) / modePeriod, this.deformation);
    }
    const first = this.report.motions[0];
    return first ? posesAt(this.scene, first, this.clock.time, this.deformation) : this.still();
  }

  private traces(): Trace[] {
    const result: Trace[] = [];
    for (const [name, color] of this.traced) {
      const place = this.places.get(name)!;
      this.report.motions.forEach((m: Motion, k) => {
        if (k > 0 && !this.ghostsShown[k]) return;
        const key = `${k} ${name}`;
        if (!this.paths.has(key)) this.paths.set(key, path(this.scene, m, place, this.deformation));
        const here = worldPlace(posesAt(this.scene, m, this.clock.time, this.deformation), place);
        result.push({ points: this.paths.get(key)!, here, passed: locate(m.t, this.clock.time).i + 1, color, ghost: k });
      });
    }
    return result;
  }

  private build(): void {
    const { view, scene } = this;
    const words = scene.space === 'planar'
      ? 'Drawing of the mechanism. Drag to move it, wheel or + and - to zoom, F to fit.'
      : 'Drawing of the mechanism. Drag to turn it, wheel or + and - to zoom, F to fit.';
    view.element.setAttribute('tabindex', '0');
    view.element.setAttribute('role', 'img');
    view.element.setAttribute('aria-label', words);
    const tool = (name: string, path: string, action: () => void): HTMLElement =>
      el('button', { type: 'button', class: 'tool', title: name, 'aria-label': name, click: action }, icon(path));
    const tools = el('div', { class: 'tools controls' },
      tool('Larger (+)', icons.larger, () => view.zoomBy(1.25)), tool('Smaller (-)', icons.smaller, () => view.zoomBy(0.8)),
      tool('Fit (F)', icons.fit, () => view.fit()));
    this.element.append(
      ...(this.report.motions.length && this.shapes ? [this.tabs()] : []),
      el('div', { class: 'frame' }, view.element, tools, this.ghostKey(), this.stamp(), this.deformationStamp()),
      this.transport(), this.options(), ...(this.shapes ? [this.modeList()] : []));
  }

  /** Names the instant or the mode of a printed frame. */
  private stamp(): HTMLElement {
    const stamp = el('p', { class: 'stamp' });
    this.updates.push(() => {
      const mode = this.shapes?.modes.list[this.selectedMode];
      const { time, length } = this.clock;
      stamp.textContent = mode
        ? `${mode.label}${mode.frequency_hz === undefined ? '' : `, ${formatQuantity(mode.frequency_hz, 'Hz')}`}`
        : length > 0 ? `t = ${formatTime(time, length)} s` : '';
    });
    return stamp;
  }

  /** Tells that beams are drawn more bent than they are. */
  private deformationStamp(): HTMLElement | null {
    if (this.scene.sections.length === 0) return null;
    const stamp = el('p', { class: 'deformed' });
    this.updates.push(() => (stamp.textContent = `deformation × ${formatNumber(this.deformation)}`));
    return stamp;
  }

  /** A slider in round steps to ten times what is chosen at first, and any number. */
  private deformationControl(): HTMLElement {
    const steps = [0, 1];
    while (steps[steps.length - 1] < 10 * Math.max(10, this.scales.motions, this.scales.modes)) steps.push(roundStep(1.5 * steps[steps.length - 1]));
    const slider = el('input', {
      type: 'range', min: 0, max: steps.length - 1, step: 1, 'aria-label': 'Deformation, in steps',
      input: () => this.setDeformation(steps[Number(slider.value)]),
    });
    const number = el('input', {
      type: 'number', min: 0, max: largestDeformation, step: 'any', 'aria-label': 'Deformation',
      input: () => number.value !== '' && this.setDeformation(Number(number.value)),
    });
    this.updates.push(() => {
      slider.value = String(steps.filter((s) => s <= this.deformation).length - 1);
      slider.setAttribute('aria-valuetext', `× ${formatNumber(this.deformation)}`);
      if (document.activeElement !== number) number.value = String(this.deformation);
    });
    return el('div', { class: 'deformation', title: 'How many times larger than they are elastic displacements are drawn' },
      'Deformation ×', number, slider);
  }

  private tabs(): HTMLElement {
    const tab = (name: string, modes: boolean): HTMLElement => {
      const button = el('button', { type: 'button', role: 'tab', click: () => this.mode(modes ? 0 : -1) }, name);
      this.updates.push(() => button.setAttribute('aria-selected', String(this.selectedMode >= 0 === modes)));
      return button;
    };
    return el('div', { class: 'tabs controls', role: 'tablist', 'aria-label': 'What moves' }, tab('Motion', false), tab('Mode shapes', true));
  }

  private transport(): HTMLElement {
    const button = (name: string, path: string, action: () => void): HTMLButtonElement =>
      el('button', { type: 'button', title: name, 'aria-label': name, click: action }, icon(path));
    const play = el('button', { type: 'button', class: 'play', click: () => this.active.toggle() });
    const loop = button('Repeat', icons.loop, () => {
      this.active.loop = !this.active.loop;
      this.invalidate();
    });
    const slider = el('input', {
      type: 'range', class: 'scrub', step: 'any', 'aria-label': 'Time',
      input: () => this.active.setTime(Number(slider.value)),
    });
    const time = el('output', { class: 'time', 'aria-live': 'off' });
    const speed = el('select', { 'aria-label': 'Speed', title: 'Speed ([ and ])', change: () => this.active.setSpeed(Number(speed.value)) });
    const bar = el('div', { class: 'transport controls' },
      play, button('To the start (Home)', icons.start, () => this.active.setTime(this.active.start)),
      button('To the end (End)', icons.end, () => this.active.setTime(this.active.end)), slider, time, loop, speed);
    let shown: boolean | null = null;
    this.updates.push(() => {
      const { active } = this;
      bar.hidden = !(active.length > 0);
      if (shown !== active.playing) {
        shown = active.playing;
        const name = shown ? 'Pause (space)' : 'Play (space)';
        play.replaceChildren(icon(shown ? icons.pause : icons.play));
        play.title = name;
        play.setAttribute('aria-label', name);
        play.classList.toggle('solid', !shown);
      }
      slider.min = String(active.start);
      slider.max = String(active.end);
      slider.value = String(active.time);
      const modes = this.selectedMode >= 0;
      const words = modes ? `${Math.round((360 * active.time) / modePeriod)}°` : `${formatTime(active.time, active.length)} s`;
      time.value = words;
      slider.setAttribute('aria-valuetext', words);
      slider.setAttribute('aria-label', modes ? 'Phase' : 'Time');
      loop.setAttribute('aria-pressed', String(active.loop));
      const offered = speeds.includes(active.speed as never) ? speeds : [...speeds, active.speed].sort((a, b) => a - b);
      if (speed.options.length !== offered.length || ![...speed.options].some((o) => Number(o.value) === active.speed)) {
        speed.replaceChildren(...offered.map((s) => el('option', { value: s }, `${formatNumber(s)}×`)));
      }
      speed.value = String(active.speed);
    });
    return bar;
  }

  private check(name: string, read: () => boolean, change: (on: boolean) => void, color?: string): HTMLElement {
    const box = el('input', { type: 'checkbox', change: () => change(box.checked) });
    this.updates.push(() => (box.checked = read()));
    return el('label', { class: 'check' }, box, color ? el('span', { class: `dot ${color}` }) : null, name);
  }

  private options(): HTMLElement {
    const bar = el('div', { class: 'options controls' }, this.check('Names', () => this.labels, () => this.toggleLabels()));
    if (this.scene.sections.length) bar.append(this.deformationControl());
    const names = [...this.places.keys()];
    if (names.length && this.report.motions.some((m) => m.t.length > 1)) {
      const menu = el('details', { class: 'menu' }, el('summary', {}, 'Paths'),
        el('div', { class: 'sheet' }, ...names.map((name) => this.check(name, () => this.traced.has(name), (on) => this.trace(name, on)))));
      document.addEventListener('pointerdown', (e) => {
        if (!menu.contains(e.target as Node)) menu.open = false;
      });
      menu.addEventListener('keydown', (e) => {
        if (e.key !== 'Escape') return;
        menu.open = false;
        menu.querySelector('summary')!.focus();
      });
      this.updates.push(() => (menu.hidden = this.selectedMode >= 0));
      bar.append(menu);
    }
    return bar;
  }

  /** Which motion is which; the later ones can be hidden. */
  private ghostKey(): HTMLElement {
    const key = el('div', { class: 'ghost-key' });
    if (this.report.motions.length < 2) return key;
    this.updates.push(() => (key.hidden = this.selectedMode >= 0));
    key.append(el('span', { class: 'check' }, el('span', { class: 'dot solid' }), this.report.motions[0].name));
    this.report.motions.forEach((m, k) => {
      if (k > 0) key.append(this.check(m.name, () => this.ghostsShown[k], (on) => {
        this.ghostsShown[k] = on;
        this.invalidate();
      }, `ghost-${((k - 1) % 4) + 1}`));
    });
    return key;
  }

  private modeList(): HTMLElement {
    const { list } = this.shapes!.modes;
    const buttons = list.map((m, k) =>
      el('button', { type: 'button', role: 'option', click: () => this.mode(k) },
        el('span', { class: 'name' }, m.label),
        el('span', { class: 'value' }, m.frequency_hz === undefined ? '' : formatQuantity(m.frequency_hz, 'Hz')),
        el('span', { class: 'value' }, m.damping === undefined ? '' : `ζ ${formatQuantity(100 * m.damping, '%')}`)));
    const slider = el('input', {
      type: 'range', min: 0, max: largestAmplitude, step: 0.01, 'aria-label': 'Amplitude', input: () => this.amplitude(Number(slider.value)),
    });
    const value = el('output', { class: 'value' });
    const box = el('div', { class: 'modes' },
      el('label', { class: 'amplitude controls' }, 'Amplitude', slider, value),
      el('div', { class: 'mode-list', role: 'listbox', 'aria-label': 'Modes' }, ...buttons));
    this.updates.push(() => {
      box.hidden = this.selectedMode < 0;
      buttons.forEach((b, k) => b.setAttribute('aria-selected', String(k === this.selectedMode)));
      slider.value = String(this.size);
      value.value = `${formatNumber(Number(this.size.toFixed(2)))}×`;
    });
    return box;
  }
}

// The flat drawing: planar models, and spatial ones in parallel projection where there is no WebGL.
import { Camera2d } from './camera2d.ts';
import { Drawing2d } from './draw2d.ts';
import type { Travel } from './layout.ts';
import { el } from './dom.ts';
import type { Box } from './mechanism.ts';
import type { Vec3 } from './math.ts';
import type { Scene } from './types.ts';
import type { Picture, View } from './view.ts';

export class View2d implements View {
  readonly kind = '2d';
  readonly element: HTMLElement;
  private readonly canvas = el('canvas', {});
  private readonly cam: Camera2d;
  private readonly drawing: Drawing2d;
  private picture: Picture | null = null;
  private ratio = 1;
  private untouched = true;

  constructor(private readonly scene: Scene, private readonly box: Box, travel: Travel) {
    this.element = el('div', { class: 'view' }, this.canvas);
    this.cam = new Camera2d(scene.space === 'spatial', scene.up);
    this.drawing = new Drawing2d(this.canvas.getContext('2d', { alpha: false })!, scene, this.cam, travel, box);
    this.listen();
  }

  draw(picture: Picture): void {
    this.picture = picture;
    this.drawing.draw(picture, this.ratio);
  }

  project(point: Vec3): [number, number] {
    return this.cam.project(point);
  }

  camera(): object {
    const { width, height, zoom, target, right, up } = this.cam;
    return { kind: 'parallel', width, height, zoom, target, right, up };
  }

  fit(): void {
    this.untouched = true;
    this.cam.fit(this.box, this.scene.size);
    this.redraw();
  }

  zoomBy(factor: number): void {
    this.zoomAt(factor, this.cam.width / 2, this.cam.height / 2);
  }

  resize(): boolean {
    const { clientWidth: width, clientHeight: height } = this.element;
    const ratio = Math.max(1, window.devicePixelRatio || 1);
    if (!width || !height || (width === this.cam.width && height === this.cam.height && ratio === this.ratio)) return false;
    Object.assign(this.cam, { width, height });
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (this.untouched) this.cam.fit(this.box, this.scene.size);
    this.redraw();
    return true;
  }

  private redraw(): void {
    if (this.picture) this.draw(this.picture);
  }

  private zoomAt(factor: number, x: number, y: number): void {
    this.untouched = false;
    this.cam.zoomAt(factor, x, y);
    this.redraw();
  }

  /** One pointer moves (or turns a spatial model; with shift or another button it moves), two pinch, the wheel zooms. */
  private listen(): void {
    const { canvas, cam } = this;
    const pointers = new Map<number, [number, number]>();
    const place = (e: MouseEvent): [number, number] => [e.offsetX, e.offsetY];
    canvas.addEventListener('pointerdown', (e) => {
      canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, place(e));
    });
    canvas.addEventListener('pointermove', (e) => {
      const before = pointers.get(e.pointerId);
      if (!before) return;
      const now = place(e);
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      if (pointers.size === 2) {
        const other = [...pointers.entries()].find(([id]) => id !== e.pointerId)![1];
        const gap = (p: readonly number[]): number => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        cam.pan(dx / 2, dy / 2);
        cam.zoomAt(gap(now) / gap(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      } else if (cam.spatial && !e.shiftKey && e.buttons === 1) cam.orbit(-dx * 0.008, dy * 0.008);
      else cam.pan(dx, dy);
      pointers.set(e.pointerId, now);
      this.untouched = false;
      this.redraw();
    });
    const release = (e: PointerEvent): void => void pointers.delete(e.pointerId);
    canvas.addEventListener('pointerup', release);
    canvas.addEventListener('pointercancel', release);
    canvas.addEventListener('contextmenu', (e) => e.preventDefault());
    canvas.addEventListener('dblclick', () => this.fit());
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      this.zoomAt(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), e.offsetX, e.offsetY);
    }, { passive: false });
  }
}

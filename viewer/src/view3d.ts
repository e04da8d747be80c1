// The spatial drawing: WebGL, with lines, signs and names on a flat canvas above it.
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, DirectionalLight, HemisphereLight, LineBasicMaterial, LineSegments,
  Mesh, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Scene as Stage, ShadowMaterial, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { el } from './dom.ts';
import { floorGrid, placedLabels, type Travel } from './layout.ts';
import { circle, desired, label, sensor, trail, triad } from './glyphs2d.ts';
import { worldPlace, type Box } from './mechanism.ts';
import { add, cross, dot, orthogonal, scale, sub, unit, type Vec3 } from './math.ts';
import { Mechanism3d } from './objects3d.ts';
import { colors, cycle, fade, isPrinting, onThemeChange } from './theme.ts';
import type { Scene } from './types.ts';
import type { Picture, View } from './view.ts';

/** Asks for a context in silence: three.js writes an error to the console when there is none. */
export function hasWebGL(): boolean {
  if (/nowebgl/.test(location.search + location.hash)) return false;
  try {
    const context = document.createElement('canvas').getContext('webgl2');
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

export class View3d implements View {
  readonly kind = '3d';
  readonly element: HTMLElement;
  private readonly renderer = new WebGLRenderer({ antialias: true });
  private readonly overlay = el('canvas', { class: 'overlay' });
  private readonly stage = new Stage();
  private readonly eye = new PerspectiveCamera(32, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly mechanisms = new Map<number, Mechanism3d>();
  private readonly floorMaterial = new LineBasicMaterial();
  private picture: Picture | null = null;
  private width = 1;
  private height = 1;
  private ratio = 1;
  private untouched = true;

  constructor(private readonly scene: Scene, private readonly box: Box, private readonly travel: Travel) {
    this.element = el('div', { class: 'view' }, this.renderer.domElement, this.overlay);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.eye.up.set(...unit(scene.up, [0, 0, 1]));
    this.controls = new OrbitControls(this.eye, this.renderer.domElement);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener('change', () => this.render());
    this.controls.addEventListener('start', () => (this.untouched = false));
    this.renderer.domElement.addEventListener('dblclick', () => this.fit());
    this.surroundings();
    onThemeChange(() => {
      for (const m of this.mechanisms.values()) {
        this.stage.remove(m.root);
        m.dispose();
      }
      this.mechanisms.clear();
      if (this.picture) this.draw(this.picture);
    });
  }

  draw(picture: Picture): void {
    this.picture = picture;
    for (const m of this.mechanisms.values()) m.root.visible = false;
    for (const layer of picture.layers) {
      let m = this.mechanisms.get(layer.ghost);
      if (!m) {
        m = new Mechanism3d(this.scene, layer.ghost, this.travel);
        this.mechanisms.set(layer.ghost, m);
        this.stage.add(m.root);
      }
      m.root.visible = true;
      m.update(layer.poses);
    }
    this.render();
  }

  project(point: Vec3): [number, number] {
    this.eye.updateMatrixWorld();
    const v = new Vector3(...point).project(this.eye);
    return [((v.x + 1) / 2) * this.width, ((1 - v.y) / 2) * this.height];
  }

  camera(): object {
    this.eye.updateMatrixWorld();
    return {
      kind: 'perspective', width: this.width, height: this.height,
      view: this.eye.matrixWorldInverse.toArray(), projection: this.eye.projectionMatrix.toArray(),
    };
  }

  fit(): void {
    this.untouched = true;
    const { low, high } = this.box;
    const centre = scale(add(low, high), 0.5);
    const vertical = unit(this.scene.up, [0, 0, 1]);
    const side = orthogonal(vertical);
    const toEye = unit(add(add(scale(side, 0.62), scale(cross(vertical, side), -0.72)), scale(vertical, 0.42)));
    const right = unit(cross(vertical, toEye));
    const up = cross(toEye, right);
    // As near as all corners of the box allow, with air for the signs.
    const tangent = 0.92 * Math.tan((this.eye.fov * Math.PI) / 360);
    let distance = (0.2 * this.scene.size) / tangent;
    for (let k = 0; k < 8; ++k) {
      const d = sub([(k & 1 ? low : high)[0], (k & 2 ? low : high)[1], (k & 4 ? low : high)[2]], centre);
      const spread = Math.max(Math.abs(dot(d, right)) / this.eye.aspect, Math.abs(dot(d, up)));
      distance = Math.max(distance, dot(d, toEye) + spread / tangent);
    }
    this.eye.near = distance / 100;
    this.eye.far = distance * 20;
    this.eye.position.set(...add(centre, scale(toEye, distance)));
    this.controls.target.set(...centre);
    this.eye.updateProjectionMatrix();
    this.controls.update();
    this.render();
  }

  zoomBy(factor: number): void {
    this.untouched = false;
    const offset = this.eye.position.clone().sub(this.controls.target).divideScalar(factor);
    this.eye.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.render();
  }

  resize(): boolean {
    const { clientWidth: width, clientHeight: height } = this.element;
    const ratio = Math.max(1, window.devicePixelRatio || 1);
    if (!width || !height || (width === this.width && height === this.height && ratio === this.ratio)) return false;
    Object.assign(this, { width, height, ratio });
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.overlay.width = Math.round(width * ratio);
    this.overlay.height = Math.round(height * ratio);
    this.eye.aspect = width / height;
    this.eye.updateProjectionMatrix();
    if (this.untouched) this.fit();
    else this.render();
    return true;
  }

  /** Floor, grid and lights. */
  private surroundings(): void {
    const grid = floorGrid(this.scene, this.box);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(grid.lines.flat(2)), 3));
    this.stage.add(new LineSegments(geometry, this.floorMaterial));
    const up = unit(this.scene.up, [0, 0, 1]);
    const floor = new Mesh(new PlaneGeometry(2 * grid.half, 2 * grid.half), new ShadowMaterial({ opacity: 0.14 }));
    floor.position.set(...grid.centre);
    floor.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...up));
    floor.receiveShadow = true;
    this.stage.add(floor);

    const side = orthogonal(up);
    const other = cross(up, side);
    const sky = new HemisphereLight(0xffffff, 0xa4adb8, 2);
    sky.position.set(...up);
    const sun = new DirectionalLight(0xffffff, 2.2);
    const reach = grid.half * 1.2;
    const centre = scale(add(this.box.low, this.box.high), 0.5);
    sun.position.set(...add(centre, scale(add(add(scale(up, 1.6), scale(side, 0.9)), scale(other, -0.35)), reach)));
    sun.target.position.set(...centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.002 * reach;
    sun.shadow.radius = 3;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.01 * reach, far: 6 * reach });
    this.stage.add(new AmbientLight(0xffffff, 0.7), sky, sun, sun.target);
  }

  private render(): void {
    if (!this.picture) return;
    const c = colors();
    this.stage.background = new Color(c.surface);
    this.floorMaterial.color.set(c.grid);
    this.renderer.render(this.stage, this.eye);
    this.drawOverlay(this.picture);
  }

  private drawOverlay(picture: Picture): void {
    const ctx = this.overlay.getContext('2d')!;
    const c = colors();
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    // Browsers print what WebGL showed last, or nothing; a flat canvas they print as it is.
    if (isPrinting()) ctx.drawImage(this.renderer.domElement, 0, 0, this.width, this.height);
    ctx.lineJoin = 'round';
    for (const p of this.scene.paths) desired(ctx, p.points.map((q) => this.project(q)), c);
    for (const trace of picture.traces) {
      const color = trace.ghost ? cycle(c.ghosts, trace.ghost - 1) : cycle(c.series, trace.color);
      const pixels = trace.points.map((p) => this.project(p));
      const here = this.project(trace.here);
      if (trace.ghost) ctx.setLineDash([5, 4]);
      trail(ctx, pixels);
      ctx.strokeStyle = fade(color, 0.3);
      ctx.lineWidth = 1.5;
      ctx.stroke();
      trail(ctx, [...pixels.slice(0, trace.passed), here]);
      ctx.strokeStyle = color;
      ctx.stroke();
      ctx.setLineDash([]);
      circle(ctx, here, 3.5, color, c.surface);
    }
    const axes = this.eye.matrixWorldInverse.elements;
    triad(ctx, [44, this.height - 44], [0, 4, 8].map((k) => [axes[k], -axes[k + 1], axes[k + 2]]), c);
    const solid = picture.layers.find((l) => l.ghost === 0);
    if (!solid) return;
    for (const s of this.scene.sensors) sensor(ctx, this.project(worldPlace(solid.poses, s)), s.type, 6, c);
    if (!picture.labels) return;
    ctx.textBaseline = 'middle';
    for (const { name, at, strong } of placedLabels(this.scene, solid.poses)) {
      const [x, y] = this.project(at);
      ctx.font = `${strong ? '600 12px' : '11px'} system-ui, sans-serif`;
      ctx.textAlign = strong ? 'center' : 'left';
      label(ctx, name, strong ? [x, y] : [x + 10, y + 10], strong ? c.text : c.muted, c.surface);
    }
  }
}

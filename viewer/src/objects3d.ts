// A mechanism as three.js objects: one group per body, joints and loads on them, springs that follow.
import {
  BoxGeometry, BufferGeometry, CapsuleGeometry, Color, ConeGeometry, CylinderGeometry, Curve, DoubleSide, ExtrudeGeometry,
  Group, Matrix4, Mesh, MeshStandardMaterial, Quaternion, Shape as Outline, SphereGeometry, TorusGeometry, TubeGeometry, Vector3,
} from 'three';
import { poseOf, shapePose, worldPlace } from './mechanism.ts';
import { norm, sub, unit, type Pose, type Vec3 } from './math.ts';
import { slides, type Travel } from './layout.ts';
import { colors, cycle, isColor, mix } from './theme.ts';
import type { Joint, Load, Scene, Shape, Spring } from './types.ts';

const v3 = (v: Vec3): Vector3 => new Vector3(v[0], v[1], v[2]);
const yAxis = new Vector3(0, 1, 0);

/** Turns the y axis (along which three.js makes cylinders) into a direction. */
const turnTo = (direction: Vec3): Quaternion => new Quaternion().setFromUnitVectors(yAxis, v3(unit(direction)).normalize());

function setPose(object: Group | Mesh, pose: Pose): void {
  const m = new Matrix4().set(
    pose.r[0], pose.r[3], pose.r[6], pose.p[0], pose.r[1], pose.r[4], pose.r[7], pose.p[1],
    pose.r[2], pose.r[5], pose.r[8], pose.p[2], 0, 0, 0, 1);
  m.decompose(object.position, object.quaternion, new Vector3());
}

/** A coil about y with straight ends. */
class Coil extends Curve<Vector3> {
  constructor(private readonly length: number, private readonly radius: number) {
    super();
  }

  override getPoint(t: number, target = new Vector3()): Vector3 {
    const f = Math.min(1, Math.max(0, (t - 0.08) / 0.84));
    const r = this.radius * (t < 0.08 ? Math.max(0, t - 0.06) / 0.02 : t > 0.92 ? Math.max(0, 0.94 - t) / 0.02 : 1);
    const angle = 2 * Math.PI * 8 * f;
    return target.set(r * Math.cos(angle), this.length * t, r * Math.sin(angle));
  }
}

export class Mechanism3d {
  readonly root = new Group();
  private readonly bodies: Group[];
  private readonly followers: ((poses: readonly Pose[]) => void)[] = [];
  private readonly materials = new Map<string, MeshStandardMaterial>();
  /** Size of the signs in metres. */
  private readonly g: number;

  constructor(private readonly scene: Scene, private readonly ghost: number, private readonly travel: Travel) {
    this.g = 0.014 * scene.size;
    this.bodies = scene.bodies.map((body, k) => {
      const group = new Group();
      for (const shape of body.shapes) {
        const holder = new Group();
        setPose(holder, shapePose(shape));
        for (const mesh of this.shape(shape, isColor(shape.color) ? shape.color : cycle(colors().bodies, k))) holder.add(mesh);
        group.add(holder);
      }
      return group;
    });
    this.root.add(...this.bodies);
    if (ghost > 0) return;
    for (const j of scene.joints) this.joint(j);
    for (const s of scene.springs) this.spring(s);
    for (const f of scene.forces) this.load(f);
  }

  update(poses: readonly Pose[]): void {
    this.bodies.forEach((group, k) => setPose(group, poses[k]));
    for (const follow of this.followers) follow(poses);
  }

  dispose(): void {
    this.root.traverse((o) => {
      if (o instanceof Mesh) (o.geometry as BufferGeometry).dispose();
    });
    for (const m of this.materials.values()) m.dispose();
  }

  private material(color: string): MeshStandardMaterial {
    const shown = this.ghost > 0 ? cycle(colors().ghosts, this.ghost - 1) : color;
    let m = this.materials.get(shown);
    if (!m) {
      m = new MeshStandardMaterial({
        color: new Color(shown), roughness: 0.55, metalness: 0.1,
        transparent: this.ghost > 0, opacity: this.ghost > 0 ? 0.32 : 1, depthWrite: this.ghost === 0, side: DoubleSide,
      });
      this.materials.set(shown, m);
    }
    return m;
  }

  private mesh(geometry: BufferGeometry, color: string): Mesh {
    const mesh = new Mesh(geometry, this.material(color));
    mesh.castShadow = this.ghost === 0;
    mesh.receiveShadow = this.ghost === 0;
    return mesh;
  }

  /** A rod with round ends from a to b. */
  private rod(a: Vec3, b: Vec3, radius: number, color: string): Mesh {
    const d = sub(b, a);
    const mesh = this.mesh(new CapsuleGeometry(radius, norm(d), 6, 20), color);
    mesh.position.copy(v3(a).add(v3(b)).multiplyScalar(0.5));
    mesh.quaternion.copy(turnTo(unit(d, [0, 1, 0])));
    return mesh;
  }

  private shape(shape: Shape, color: string): Mesh[] {
    const { g } = this;
    const length = shape.length ?? 0;
    const radius = shape.radius ?? 0;
    const points = (shape.points ?? []).map((p): Vec3 => [p[0], p[1], p[2] ?? 0]);
    switch (shape.kind) {
      case 'bar': {
        if (!shape.width) return [this.rod([0, 0, 0], [length, 0, 0], 1.3 * g, color)];
        const bar = this.mesh(new BoxGeometry(length, shape.width, shape.height ?? shape.width), color);
        bar.position.x = length / 2;
        return [bar];
      }
      case 'box':
        return [this.mesh(new BoxGeometry(...(shape.size ?? [0, 0, 0])), color)];
      case 'cylinder': {
        const mesh = this.mesh(new CylinderGeometry(radius, radius, length || 0.4 * radius, 40), color);
        mesh.quaternion.copy(turnTo([Number(shape.axis === 'x'), Number(shape.axis === 'y'), Number((shape.axis ?? 'z') === 'z')]));
        return [mesh];
      }
      case 'sphere':
        return [this.mesh(new SphereGeometry(radius, 36, 24), color)];
      case 'polygon': {
        if (points.length < 3) return [];
        const outline = new Outline();
        points.forEach((p, k) => (k ? outline.lineTo(p[0], p[1]) : outline.moveTo(p[0], p[1])));
        const plate = this.mesh(new ExtrudeGeometry(outline, { depth: 1.2 * g, bevelEnabled: false }), color);
        plate.position.z = -0.6 * g;
        return [plate];
      }
      case 'link':
        if (points.length === 1) {
          const ball = this.mesh(new SphereGeometry(2 * g, 24, 16), color);
          ball.position.copy(v3(points[0]));
          return [ball];
        }
        return points.slice(1).map((p, k) => this.rod(points[k], p, 1.3 * g, color));
      case 'beam':
        return []; // in planar models only
    }
  }

  private parent(body: number): Group {
    return body < 0 ? this.root : this.bodies[body];
  }

  private joint(j: Joint): void {
    const { g } = this;
    const c = colors();
    const pin = mix(c.pin, c.surface, 0.25);
    const axis = unit(j.axis ?? [0, 0, 1]);
    const put = (mesh: Mesh, direction: Vec3 = axis): void => {
      mesh.position.copy(v3(j.a.at));
      mesh.quaternion.copy(turnTo(direction));
      this.parent(j.a.body).add(mesh);
    };
    switch (j.type) {
      case 'revolute':
      case 'pin':
        put(this.mesh(new CylinderGeometry(1.9 * g, 1.9 * g, 5 * g, 28), pin));
        break;
      case 'prismatic':
      case 'slider':
      case 'cylindrical': {
        const [low, high] = this.travel.get(j) ?? [0, 0];
        const a: Vec3 = [0, 1, 2].map((k) => j.a.at[k] + axis[k] * (low - 4 * g)) as unknown as Vec3;
        const b: Vec3 = [0, 1, 2].map((k) => j.a.at[k] + axis[k] * (high + 4 * g)) as unknown as Vec3;
        this.parent(j.a.body).add(this.rod(a, b, 0.7 * g, j.a.body < 0 ? c.ground : pin));
        const sleeve = j.type === 'cylindrical' ? new CylinderGeometry(2 * g, 2 * g, 5 * g, 28) : new BoxGeometry(3.6 * g, 5 * g, 3.6 * g);
        const carriage = this.mesh(sleeve, pin);
        this.root.add(carriage);
        this.followers.push((poses) => {
          const r = poseOf(poses, j.a.body).r;
          carriage.position.copy(v3(worldPlace(poses, j.b)));
          const along: Vec3 = [
            r[0] * axis[0] + r[3] * axis[1] + r[6] * axis[2], r[1] * axis[0] + r[4] * axis[1] + r[7] * axis[2],
            r[2] * axis[0] + r[5] * axis[1] + r[8] * axis[2]];
          carriage.quaternion.copy(turnTo(along));
        });
        break;
      }
      case 'spherical':
        put(this.mesh(new SphereGeometry(2.2 * g, 28, 18), pin));
        break;
      case 'universal': {
        const other: Vec3 = Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
        put(this.mesh(new CylinderGeometry(0.9 * g, 0.9 * g, 5.4 * g, 20), pin));
        put(this.mesh(new CylinderGeometry(0.9 * g, 0.9 * g, 5.4 * g, 20), pin), other);
        break;
      }
      case 'weld':
        put(this.mesh(new BoxGeometry(2.8 * g, 2.8 * g, 2.8 * g), pin));
        break;
      case 'distance': {
        this.between(j, (length) => {
          const bar = this.mesh(new CylinderGeometry(0.45 * g, 0.45 * g, length, 12), c.pin);
          bar.position.y = length / 2;
          return [bar];
        });
        break;
      }
      default:
        return;
    }
    if (j.a.body < 0 && !slides(j) && j.type !== 'distance') this.pedestal(j.a.at);
    else if (j.b.body < 0 && !slides(j) && j.type !== 'distance') this.pedestal(j.b.at);
  }

  /** A foot that ends at a place of the ground. */
  private pedestal(at: Vec3): void {
    const { g } = this;
    const up = unit(this.scene.up, [0, 0, 1]);
    const foot = this.mesh(new ConeGeometry(3.4 * g, 5 * g, 4), colors().ground);
    foot.position.copy(v3(at)).addScaledVector(v3(up), -2.5 * g);
    const plate = this.mesh(new BoxGeometry(8.5 * g, 0.7 * g, 8.5 * g), colors().ground);
    plate.position.copy(v3(at)).addScaledVector(v3(up), -5.2 * g);
    for (const mesh of [foot, plate]) {
      mesh.quaternion.copy(turnTo(up));
      this.root.add(mesh);
    }
  }

  /** Keeps parts, made along y for the length at first, between two places. */
  private between(ends: { a: Spring['a']; b: Spring['b'] }, make: (length: number) => Mesh[]): void {
    const group = new Group();
    let made = 0;
    this.root.add(group);
    this.followers.push((poses) => {
      const a = worldPlace(poses, ends.a);
      const d = sub(worldPlace(poses, ends.b), a);
      const length = Math.max(norm(d), 1e-6 * this.scene.size);
      if (made === 0) {
        made = length;
        group.add(...make(length));
      }
      group.position.copy(v3(a));
      group.quaternion.copy(turnTo(unit(d, [0, 1, 0])));
      group.scale.set(1, length / made, 1);
    });
  }

  private spring(s: Spring): void {
    const { g } = this;
    const color = colors().spring;
    if (s.type === 'torsional') {
      const ring = new Group();
      for (const k of [0, 1, 2]) ring.add(this.mesh(new TorusGeometry((1.9 + 0.7 * k) * g, 0.25 * g, 10, 40), color));
      ring.position.copy(v3(s.a.at));
      this.parent(s.a.body).add(ring);
      return;
    }
    const parts = s.parts ?? 'spring';
    this.between(s, (length) => {
      const meshes: Mesh[] = [];
      if (parts !== 'damper') meshes.push(this.mesh(new TubeGeometry(new Coil(length, 1.7 * g), 400, 0.28 * g, 8), color));
      if (parts !== 'spring') {
        const cup = this.mesh(new CylinderGeometry(1.1 * g, 1.1 * g, 0.45 * length, 20), color);
        const stem = this.mesh(new CylinderGeometry(0.4 * g, 0.4 * g, length, 12), color);
        cup.position.y = 0.42 * length;
        stem.position.y = 0.5 * length;
        meshes.push(cup, stem);
      }
      return meshes;
    });
  }

  private load(f: Load): void {
    const { g } = this;
    const color = colors().force;
    const group = new Group();
    if (f.type === 'torque') {
      group.add(this.mesh(new TorusGeometry(4 * g, 0.4 * g, 12, 48, 1.6 * Math.PI), color));
      const head = this.mesh(new ConeGeometry(1.2 * g, 3 * g, 20), color);
      head.position.set(4 * g * Math.cos(1.6 * Math.PI), 4 * g * Math.sin(1.6 * Math.PI), 0);
      head.rotation.z = 1.6 * Math.PI;
      group.add(head);
      group.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), v3(unit(f.direction ?? [0, 0, 1], [0, 0, 1])));
    } else if (f.direction) {
      const shaft = this.mesh(new CylinderGeometry(0.45 * g, 0.45 * g, 12 * g, 14), color);
      shaft.position.y = 6 * g;
      const head = this.mesh(new ConeGeometry(1.3 * g, 3.4 * g, 20), color);
      head.position.y = 13 * g;
      group.add(shaft, head);
      group.quaternion.copy(turnTo(f.direction));
    } else group.add(this.mesh(new TorusGeometry(2.6 * g, 0.35 * g, 10, 36), color));
    this.root.add(group);
    this.followers.push((poses) => void group.position.copy(v3(worldPlace(poses, f))));
  }
}

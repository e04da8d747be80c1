// Mode shapes: poses displaced about one pose, and the scale at which they are drawn.
import { bending, bodyReach, displacementsOfFrame, largestDeflection, posesOfFrame, withSections } from './mechanism.ts';
import { add, cross, dot, multiply, rotate, rotationFromVector, scale, type Pose, type Vec3 } from './math.ts';
import type { Mode, Modes, Numbers, Scene } from './types.ts';

const three = (values: Numbers, offset: number): Vec3 => [values[offset], values[offset + 1], values[offset + 2]];

/** Displacements of the nodes of beams in a shape. */
const nodal = (scene: Scene, shape: Numbers): Numbers => shape.subarray(6 * scene.bodies.length);

/** Largest displacement of any point of any body or section over one period, to first order. */
export function largestDisplacement(scene: Scene, poses: readonly Pose[], mode: Mode): number {
  const reach = bodyReach(scene);
  let largest = 0;
  reach.bodies.forEach((points, k) => {
    const section = scene.sections[k - scene.bodies.length];
    const b = section?.body ?? k;
    for (const point of section ? [[section.x, 0, 0] as Vec3] : points) {
      const arm = rotate(poses[b].r, point);
      const elastic = (s: Numbers): Vec3 => {
        if (!section) return [0, 0, 0];
        const [dx, dy] = bending(section, poses[b].r, nodal(scene, s));
        return rotate(poses[b].r, [dx, dy, 0]);
      };
      const at = (s: Numbers | undefined): Vec3 =>
        s ? add(add(three(s, 6 * b), cross(three(s, 6 * b + 3), arm)), elastic(s)) : [0, 0, 0];
      const re = at(mode.shape);
      const im = at(mode.shape_imag);
      // The point runs on an ellipse; the square of its longer half axis:
      const [a, c, m] = [dot(re, re), dot(im, im), dot(re, im)];
      largest = Math.max(largest, (a + c) / 2 + Math.hypot((a - c) / 2, m));
    }
  });
  return Math.sqrt(largest);
}

export class ModeShapes {
  /** The largest elastic displacement at amplitude 1. */
  readonly deflection: number;
  private readonly bodies: Pose[];
  private readonly scales: number[];

  constructor(private readonly scene: Scene, readonly modes: Modes) {
    this.bodies = posesOfFrame(scene, modes.pose, 1).slice(0, scene.bodies.length);
    this.scales = modes.list.map((mode) => {
      const largest = largestDisplacement(scene, this.bodies, mode);
      return largest > 0 ? scene.size / 10 / largest : 0;
    });
    this.deflection = Math.max(0, ...modes.list.map((mode, k) => this.scales[k] * largestDeflection(scene, this.bodies, nodal(scene, mode.shape))));
  }

  /** Poses at rest. */
  pose(deformation: number): Pose[] {
    return posesOfFrame(this.scene, this.modes.pose, deformation);
  }

  /** Poses of mode k at a phase in radians; at amplitude 1 and deformation 1 the largest displacement is a tenth of the size. */
  poses(k: number, amplitude: number, phase: number, deformation: number): Pose[] {
    const { shape, shape_imag: imaginary } = this.modes.list[k];
    const factor = amplitude * this.scales[k];
    const c = factor * Math.cos(phase);
    const s = factor * Math.sin(phase);
    const rest = displacementsOfFrame(this.scene, this.modes.pose);
    const re = nodal(this.scene, shape);
    const im = imaginary && nodal(this.scene, imaginary);
    const u = Float64Array.from(rest, (x, i) => x + c * re[i] - (im ? s * im[i] : 0));
    const bodies = this.bodies.map((pose, b) => {
      const part = (offset: number): Vec3 => {
        const real = scale(three(shape, offset), c);
        return imaginary ? add(real, scale(three(imaginary, offset), -s)) : real;
      };
      const turn = part(6 * b + 3);
      const planar = this.scene.space === 'planar';
      return {
        p: add(pose.p, part(6 * b)),
        r: multiply(rotationFromVector(planar ? [0, 0, turn[2]] : turn), pose.r),
      };
    });
    return withSections(this.scene, bodies, u, deformation);
  }
}

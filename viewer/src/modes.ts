// Mode shapes: poses displaced about one pose, and the scale at which they are drawn.
import { bodyReach, posesOfFrame } from './mechanism.ts';
import { add, cross, dot, multiply, rotate, rotationFromVector, scale, type Pose, type Vec3 } from './math.ts';
import type { Mode, Modes, Numbers, Scene } from './types.ts';

const three = (values: Numbers, offset: number): Vec3 => [values[offset], values[offset + 1], values[offset + 2]];

/** Largest displacement of any point of any body over one period, to first order. */
export function largestDisplacement(scene: Scene, poses: readonly Pose[], mode: Mode): number {
  const reach = bodyReach(scene);
  let largest = 0;
  reach.bodies.forEach((points, b) => {
    for (const point of points) {
      const arm = rotate(poses[b].r, point);
      const at = (s: Numbers | undefined): Vec3 =>
        s ? add(three(s, 6 * b), cross(three(s, 6 * b + 3), arm)) : [0, 0, 0];
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
  readonly pose: Pose[];
  private readonly scales: number[];

  constructor(private readonly scene: Scene, readonly modes: Modes) {
    this.pose = posesOfFrame(scene, modes.pose);
    this.scales = modes.list.map((mode) => {
      const largest = largestDisplacement(scene, this.pose, mode);
      return largest > 0 ? scene.size / 10 / largest : 0;
    });
  }

  /** Poses of mode k at a phase in radians; at amplitude 1 the largest displacement is a tenth of the size. */
  poses(k: number, amplitude: number, phase: number): Pose[] {
    const { shape, shape_imag: imaginary } = this.modes.list[k];
    const factor = amplitude * this.scales[k];
    const c = factor * Math.cos(phase);
    const s = factor * Math.sin(phase);
    return this.pose.map((pose, b) => {
      const part = (offset: number): Vec3 => {
        const re = scale(three(shape, offset), c);
        return imaginary ? add(re, scale(three(imaginary, offset), -s)) : re;
      };
      const turn = part(6 * b + 3);
      const planar = this.scene.space === 'planar';
      return {
        p: add(pose.p, part(6 * b)),
        r: multiply(rotationFromVector(planar ? [0, 0, turn[2]] : turn), pose.r),
      };
    });
  }
}

"""Heavy top: Euler's equations about the fixed point in body axes and a quaternion, checked by its three constants of motion."""
import numpy as np

from common import L, both, grid, integrate, vec, write

m, g = L(15), L("9.81")
arm = vec(0, 1, 0)
J = vec("0.234375", "0.46875", "0.234375") + vec(15, 0, 15)  # about the fixed point


def rotation(p):
    w, x, y, z = p
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]], dtype=L)


def f(t, s):
    p, o = s[:4], s[4:]
    w, x, y, z = p
    pd = np.array([-x * o[0] - y * o[1] - z * o[2], w * o[0] + y * o[2] - z * o[1],
                   w * o[1] + z * o[0] - x * o[2], w * o[2] + x * o[1] - y * o[0]], dtype=L) / 2
    down = -m * g * rotation(p)[2]  # weight in body axes
    return np.concatenate([pd, (np.cross(arm, down) - np.cross(o, J * o)) / J])


def constants(s):
    r, o = rotation(s[:4]), s[4:]
    return np.array([o @ (J * o) / 2 + m * g * r[2] @ arm, (r @ (J * o))[2], o[1]], dtype=L)


times = grid(2)


def run(tol):
    y = integrate(f, np.concatenate([vec(1, 0, 0, 0), vec(0, 150, "-4.61538")]), times, tol)
    k = np.array([constants(s) for s in y])
    run.kept = float(np.max(np.abs(k / k[0] - 1)[:, [0, 2]])), float(np.max(np.abs(k[:, 1] - k[0, 1])))
    return np.array([np.concatenate([rotation(s[:4]) @ arm, s[4:]]) for s in y])


table, err = both(run, 1e-15, 1e-17)
write("heavy_top", ["cg_x", "cg_y", "cg_z", "wx", "wy", "wz"], times, table,
      "benchmark list (heavy top of the Lie-group integrator literature); angular velocity in body axes, starts with body axes = ground axes",
      "Euler's equations about the fixed point, quaternion, extrapolation in extended precision",
      f"{err:.1e} (tolerance 1e-15 against 1e-17)",
      [f"energy and spin kept to {run.kept[0]:.1e} relative, vertical angular momentum to {run.kept[1]:.1e} kg m^2/s"])

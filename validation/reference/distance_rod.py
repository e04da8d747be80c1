"""Bar on a massless rod: two unit vectors, d from the ground point to the body point and e from the mass centre to the body point.

c = A + 2 d - 2 e. The force acts on the bar's axis and the bar is axisymmetric, so it never spins about its axis and
2T = m |2 d' - 2 e'|^2 + J |e'|^2. Two multipliers keep the vectors of unit length (index 1).
"""
import numpy as np

from common import L, both, grid, integrate, solve, vec, write

A = vec(1, 2, 3)
m, J, l, a, g = vec(1, "0.1", 2, 2, "9.80665")
down = vec(0, 0, -m * g)
I3 = np.eye(3, dtype=L)


def f(t, y):
    d, e, dv, ev = y[:3], y[3:6], y[6:9], y[9:]
    k = np.zeros((8, 8), L)
    k[:3, :3], k[:3, 3:6] = m * l * l * I3, -m * l * a * I3
    k[3:6, :3], k[3:6, 3:6] = -m * l * a * I3, (m * a * a + J) * I3
    k[:3, 6], k[3:6, 7], k[6, :3], k[7, 3:6] = d, e, d, e
    x = solve(k, np.concatenate([l * down, -a * down, [-dv @ dv, -ev @ ev]]))
    return np.concatenate([dv, ev, x[:6]])


def energy(y):
    v, ev = l * y[6:9] - a * y[9:], y[9:]
    return m * v @ v / 2 + J * ev @ ev / 2 + m * g * (A + l * y[:3] - a * y[3:6])[2]


times = grid(5)


def run(tol):
    y = integrate(f, vec(0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0), times, tol)
    run.energy = float(max(energy(r) for r in y) - min(energy(r) for r in y))
    run.length = float(max(abs(r[i:i + 3] @ r[i:i + 3] - 1) for r in y for i in (0, 3)))
    return np.array([A + l * r[:3] - a * r[3:6] for r in y])


table, err = both(run, 1e-14, 1e-16)
write("distance_rod", ["cg_x", "cg_y", "cg_z"], times, table,
      "benchmark list: bar of revolute_tilted held by a constant distance of 2 m, from rest, g = 9.80665 m/s^2",
      "two unit vectors with multipliers, extrapolation in extended precision", f"{err:.1e} (tolerance 1e-14 against 1e-16)",
      [f"energy kept to {run.energy:.1e} J, unit lengths to {run.length:.1e}"])

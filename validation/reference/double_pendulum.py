"""Two uniform bars, 1 m and 1 kg each, hanging one from the other, released horizontal: Lagrange's equations in absolute angles.

Angles from the downward vertical: 2T = (4/3) a'^2 + (1/3) b'^2 + a' b' cos(a-b), V = -g (3/2 cos a + 1/2 cos b)  (m = l = 1).
"""
import numpy as np

from common import L, PI, both, grid, integrate, write

g = L("9.81")


def f(t, y):
    a, b, u, v = y
    c, s = np.cos(a - b) / 2, np.sin(a - b) / 2
    m1, m2 = L(4) / 3, L(1) / 3
    p, q = -s * v * v - 3 * g / 2 * np.sin(a), s * u * u - g / 2 * np.sin(b)
    det = m1 * m2 - c * c
    return np.array([u, v, (m2 * p - c * q) / det, (m1 * q - c * p) / det], dtype=L)


def energy(y):
    a, b, u, v = y
    return 2 * u * u / 3 + v * v / 6 + u * v * np.cos(a - b) / 2 - g * (3 * np.cos(a) / 2 + np.cos(b) / 2)


times = grid(5)


def run(tol):
    y = integrate(f, [PI / 2, PI / 2, 0, 0], times, tol)
    run.energy = float(max(abs(energy(r) - energy(y[0])) for r in y))
    a, b = y[:, 0], y[:, 1]
    return np.stack([a, b - a, np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b)], axis=1)


table, err = both(run, 1e-15, 2e-17)
write("double_pendulum", ["theta1", "theta2", "tip_x", "tip_y"], times, table,
      "own: two uniform bars 1 m, 1 kg, g = 9.81 m/s^2, from rest in the horizontal; theta1 from the downward vertical, theta2 relative",
      "Lagrange's equations in absolute angles, extrapolation in extended precision", f"{err:.1e} (tolerance 1e-15 against 2e-17)",
      [f"energy kept to {run.energy:.1e} J"])

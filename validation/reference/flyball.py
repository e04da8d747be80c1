"""Flyball governor in three coordinates: slider height s, rod angle beta below the horizontal (both rods alike), shaft angle.

The shaft angle is cyclic: its momentum p = J(beta) psi' is constant, two equations remain.
One rod (mass m, length 1, inertia It across, Ia along) with a point mass at its tip, hinged at radius r on the shaft's top:
  T = 1/2 ms s'^2 + (It + m/4 + mt) beta'^2 + 1/2 J psi'^2
  J = Jshaft + Jslider + 2 [It cos^2 + Ia sin^2 + m (r + cos/2)^2 + mt (r + cos)^2]
  V = g [ms s - (m + 2 mt) sin beta] + 2 * k/2 (l - l0)^2,  l^2 = cos^2/4 + (1 - sin/2 - s)^2, damper force c l'
"""
import numpy as np

from common import L, PI, both, grid, integrate, vec, write

rho, g, k, c, l0, r, mt = vec(3000, "9.81", "8e5", "4e4", "0.5", "0.05", 5)
w, cube = L("0.01"), L("0.1")
m, ms = rho * w * w, rho * cube**3
It, Ia = m * (1 + w * w) / 12, m * w * w / 6
Jfix = Ia + ms * cube**2 / 6  # the shaft has the rods' section and mass
I = It + m / 4 + mt


def J(cb, sb):
    return Jfix + 2 * (It * cb * cb + Ia * sb * sb + m * (r + cb / 2)**2 + mt * (r + cb)**2)


c0, s0 = np.cos(PI / 6), np.sin(PI / 6)
p = J(c0, s0) * 2 * PI


def f(t, y):
    s, b, sd, bd = y
    cb, sb = np.cos(b), np.sin(b)
    x, z = cb / 2, 1 - sb / 2 - s
    l = np.sqrt(x * x + z * z)
    ls, lb = -z / l, (-x * sb - z * cb) / (2 * l)
    force = 2 * (k * (l - l0) + c * (ls * sd + lb * bd))
    j = J(cb, sb)
    dj = 2 * (2 * (Ia - It) * cb * sb - m * (r + cb / 2) * sb - 2 * mt * (r + cb) * sb)
    return np.array([sd, bd, -g - force * ls / ms, (dj * (p / j)**2 / 2 + g * (m + 2 * mt) * cb - force * lb) / (2 * I)], dtype=L)


times = grid(10)


def run(tol):
    y = integrate(f, [L("0.5"), PI / 6, 0, 0], times, tol, h0=1e-5, columns=7)
    return np.stack([y[:, 0], y[:, 2], y[:, 1], p / J(np.cos(y[:, 1]), np.sin(y[:, 1]))], axis=1)


table, err = both(run, 1e-12, 1e-14)
write("flyball", ["s", "sdot", "beta", "shaft_speed"], times, table,
      "IFToMM multibody benchmark A05; conventions in models/flyball/README.md",
      "three minimal coordinates, cyclic shaft angle, extrapolation in extended precision", f"{err:.1e} (tolerance 1e-12 against 1e-14)")

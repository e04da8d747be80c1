"""Bar on a tilted hinge: a compound pendulum released 90 deg from equilibrium, closed form with Jacobi elliptic functions.

Hinge axis u = Rx(-45 deg) y = (0, 1, -1)/sqrt(2). Centre of mass: joint + 2 (cos(a) x + sin(a) u x x), u x x = (0, -1, -1)/sqrt(2).
I = 0.1 + 1 * 2^2, potential -m g sqrt(2) sin(a): a'' = (m g sqrt(2) / I) cos(a), a(0) = a'(0) = 0.
"""
import mpmath as mp

from common import grid, write

mp.mp.dps = 40
w = mp.sqrt(mp.mpf("9.80665") * mp.sqrt(2) / mp.mpf("4.1"))
m = mp.mpf(1) / 2
k = mp.sqrt(m)
times = grid(5)
rows = []
for i in range(len(times)):
    t = mp.mpf(i) / 4
    a = mp.pi / 2 + 2 * mp.asin(-k * mp.ellipfun("cd", w * t, m=m))
    s = mp.sqrt(2) * mp.sin(a)
    rows.append([1 + 2 * mp.cos(a), 2 - s, 3 - s])
write("revolute_tilted", ["cg_x", "cg_y", "cg_z"], times, rows,
      "benchmark list: 1 kg, inertia (0.04, 0.1, 0.1), hinge at (1, 2, 3) turned -45 deg about x, g = 9.80665 m/s^2",
      "closed form, Jacobi elliptic functions with 40 digits", "round-off of the printed digits")

"""Point pendulum released from the horizontal: closed form with Jacobi elliptic functions, 40 digits.

Angle theta from the downward vertical, amplitude 90 deg, k = sin(45 deg), u = sqrt(g/l) t:
sin(theta/2) = -k cd(u), theta' = 2 sqrt(g/l) k k' sd(u).
"""
import mpmath as mp

from common import grid, write

mp.mp.dps = 40
g, l = mp.mpf("9.81"), mp.mpf(1)
m = mp.mpf(1) / 2  # k^2
k, kc = mp.sqrt(m), mp.sqrt(1 - m)
w = mp.sqrt(g / l)


def state(t):
    u = w * t
    theta = 2 * mp.asin(-k * mp.ellipfun("cd", u, m=m))
    return theta, 2 * w * k * kc * mp.ellipfun("sd", u, m=m)


times = grid(10)
rows, worst = [], mp.mpf(0)
for i, _ in enumerate(times):
    t = mp.mpf(i) / 2
    th, om = state(t)
    worst = max(worst, abs(om * om / 2 - g / l * mp.cos(th)))  # energy: zero
    rows.append([l * mp.sin(th), -l * mp.cos(th), l * om * mp.cos(th), l * om * mp.sin(th)])
write("pendulum", ["x", "y", "vx", "vy"], times, rows,
      "IFToMM multibody benchmark A01 (m = 1 kg, l = 1 m, g = 9.81 m/s^2, from (-1, 0) at rest)",
      "closed form, Jacobi elliptic functions with 40 digits",
      f"round-off of the printed digits (energy residual {mp.nstr(worst, 2)})")

"""N-four-bar: one degree of freedom, theta = angle of the parallel vertical links from the upward vertical, clockwise.

All links 1 kg and 1 m. N + 1 links turn about their feet, N couplers translate with the tops:
2T = ((N+1)/3 + N) theta'^2,  V = g ((N+1)/2 + N) cos(theta)
=> theta'' = g (3N+1)/2 / ((4N+1)/3) sin(theta), theta(0) = 0, theta'(0) = 1. Exact beyond the singular position (parallel branch).
"""
import numpy as np

from common import L, both, grid, integrate, write

times = grid(10)
for n in (2, 5, 10, 40):
    c = L("9.81") * (L(3 * n + 1) / 2) / (L(4 * n + 1) / 3)

    def f(t, y):
        return np.array([y[1], c * np.sin(y[0])], dtype=L)

    def run(tol):
        y = integrate(f, [0, 1], times, tol)
        s, co = np.sin(y[:, 0]), np.cos(y[:, 0])
        return np.stack([s, co, y[:, 1] * co, -y[:, 1] * s], axis=1)

    table, err = both(run, 1e-15, 2e-17)
    write(f"n_four_bar_{n}", ["B0_x", "B0_y", "B0_vx", "B0_vy"], times, table,
          f"IFToMM multibody benchmark A02, N = {n} four-bars, g = 9.81 m/s^2, top of the first link starts at +1 m/s",
          "one-degree-of-freedom equation, extrapolation in extended precision", f"{err:.1e} (tolerance 1e-15 against 2e-17)")

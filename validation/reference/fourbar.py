"""Four-bars with one coordinate, the crank angle: kinematics in closed form (circle intersection and its first two derivatives).

I(theta) theta'' + I'(theta)/2 theta'^2 + V'(theta) = T, uniform slender bars.
Writes fourbar_f1, fourbar_f2 (g = 9.81) and fourbar_sanjurjo (g = 10, with coupler speed).
"""
import numpy as np

from common import L, PI, both, grid, integrate, vec, write


class FourBar:
    def __init__(self, a, b, c, ground, masses, g):
        self.a, self.b, self.c, self.d, self.g = L(a), L(b), L(c), L(ground), L(g)
        self.m = vec(*masses)

    def pose(self, th):
        """Pin P2 and the angles of coupler and rocker; the pin lies to the left of the line from P1 to the rocker's pivot."""
        x, y = self.a * np.cos(th), self.a * np.sin(th)
        dx, dy = self.d - x, -y
        r = np.sqrt(dx * dx + dy * dy)
        k = (self.b**2 - self.c**2 + r * r) / (2 * r)
        h = np.sqrt(self.b**2 - k * k)
        px, py = x + (k * dx - h * dy) / r, y + (k * dy + h * dx) / r
        return px, py, np.arctan2(py - y, px - x), np.arctan2(py, px - self.d)

    def rates(self, th):
        """Coupler and rocker angle, first and second derivatives with respect to theta."""
        _, _, ph, ps = self.pose(th)
        a, b, c = self.a, self.b, self.c
        s = np.sin(ph - ps)
        p1 = -a * np.sin(th - ps) / (b * s)
        r1 = a * np.sin(ph - th) / (c * s)
        # b n(ph) p2 - c n(ps) r2 = a e(th) + b p1^2 e(ph) - c r1^2 e(ps): take it along e(ps), then along e(ph)
        ex = a * np.cos(th) + b * p1**2 * np.cos(ph) - c * r1**2 * np.cos(ps)
        ey = a * np.sin(th) + b * p1**2 * np.sin(ph) - c * r1**2 * np.sin(ps)
        p2 = -(ex * np.cos(ps) + ey * np.sin(ps)) / (b * s)
        r2 = -(ex * np.cos(ph) + ey * np.sin(ph)) / (c * s)
        return ph, ps, p1, r1, p2, r2

    def accelerate(self, th, w):
        a, b, c, (m1, m2, m3) = self.a, self.b, self.c, self.m
        ph, ps, p1, r1, p2, r2 = self.rates(th)
        gx = -a * np.sin(th) - b / 2 * np.sin(ph) * p1
        gy = a * np.cos(th) + b / 2 * np.cos(ph) * p1
        hx = -a * np.cos(th) - b / 2 * (np.cos(ph) * p1**2 + np.sin(ph) * p2)
        hy = -a * np.sin(th) - b / 2 * (np.sin(ph) * p1**2 - np.cos(ph) * p2)
        inertia = m1 * a * a / 3 + m2 * (gx * gx + gy * gy) + m2 * b * b / 12 * p1**2 + m3 * c * c / 3 * r1**2
        half = m2 * (gx * hx + gy * hy) + m2 * b * b / 12 * p1 * p2 + m3 * c * c / 3 * r1 * r2
        slope = self.g * (m1 * a / 2 * np.cos(th) + m2 * gy + m3 * c / 2 * np.cos(ps) * r1)
        return -(half * w * w + slope) / inertia, inertia

    def energy(self, th, w):
        m1, m2, m3 = self.m
        _, py, _, _ = self.pose(th)
        y1 = self.a * np.sin(th)
        return self.accelerate(th, w)[1] * w * w / 2 + self.g * (m1 * y1 / 2 + m2 * (y1 + py) / 2 + m3 * py / 2)

    def f(self, t, y):
        return np.array([y[1], self.accelerate(y[0], y[1])[0]], dtype=L)


def make(key, bars, th0, columns, source, extra=None, until=10):
    times = grid(until)

    def run(tol):
        y = integrate(bars.f, [th0, 0], times, tol)
        e = [bars.energy(*r) for r in y]
        run.energy = float(max(e) - min(e)), float(e[0])
        run.state = y
        return np.array([columns[1](bars, r) for r in y], dtype=L)

    table, err = both(run, 1e-14, 1e-16)
    lines = [f"energy {run.energy[1]:.12g} J, kept to {run.energy[0]:.1e} J"] + (extra(bars, run.state) if extra else [])
    write(key, columns[0], times, table, source, "crank angle alone, closed-form kinematics, extrapolation in extended precision",
          f"{err:.1e} (tolerance 1e-14 against 1e-16)", lines)


def with_pin(b, r):
    px, py, _, _ = b.pose(r[0])
    return [r[0], r[1], px, py]


def with_speed(b, r):
    return [r[0], r[1], b.rates(r[0])[2] * r[1]]


def published(b, y):
    """Converged values of the publication, six printed digits."""
    a0 = float(b.accelerate(y[0, 0], y[0, 1])[0])
    assert abs(a0 + 1.0141031) < 1e-7 and abs(float(b.energy(*y[0])) - 394.785593) < 1e-6
    assert abs(float(y[2, 0]) + 0.041973) < 1e-6 and abs(float(y[20, 0]) + 4.905948) < 1e-6
    return ["published converged values met: theta(1 s) = -0.041973, theta(10 s) = -4.905948, theta''(0) = -1.0141031, energy 394.785593"]


make("fourbar_f1", FourBar(1, 2, np.sqrt(L(13)), 4, (1, 2, 4), "9.81"), 0, (["theta", "theta_dot", "pin_x", "pin_y"], with_pin),
     "benchmark list, crank 1 m, coupler 2 m, rocker sqrt(13) m, ground 4 m, masses 1, 2, 4 kg, g = 9.81 m/s^2")
make("fourbar_f2", FourBar(2, 8, 5, 10, (2, 8, 5), "9.81"), PI / 3, (["theta", "theta_dot"], lambda b, r: list(r)),
     "benchmark list, crank 2 m, coupler 8 m, rocker 5 m, ground 10 m, masses 2, 8, 5 kg, g = 9.81 m/s^2")
make("fourbar_sanjurjo", FourBar(2, 8, 5, 10, (2, 8, 5), 10), PI / 3, (["theta", "theta_dot", "coupler_speed"], with_speed),
     "Sanjurjo et al., Nonlinear Dynamics (2017): geometry of fourbar_f2, g = 10 m/s^2", published)

"""Five-bar with two coordinates, the crank angles: closed-form kinematics, equations by the principle of virtual power."""
import numpy as np

from common import L, PI, both, grid, integrate, vec, write

A, B = vec(0, 0), vec(3, 0)
a = d = L("0.5")
b, c = np.sqrt(L("4.25")), np.sqrt(L("10.25"))
ma, mb, mc, md, g = vec(3, 1, 2, 3, 10)


def e(x):
    return np.array([np.cos(x), np.sin(x)], dtype=L)


def n(x):
    return np.array([-np.sin(x), np.cos(x)], dtype=L)


def couplers(q):
    """Angles of P1 -> P2 and P3 -> P2, upper assembly (P2 to the left of the line from P1 to P3)."""
    p1, p3 = A + a * e(q[0]), B + d * e(q[1])
    s = p3 - p1
    r = np.sqrt(s @ s)
    k = (b * b - c * c + r * r) / (2 * r)
    h = np.sqrt(b * b - k * k)
    p2 = p1 + (k * s + h * np.array([-s[1], s[0]])) / r
    return np.arctan2(*(p2 - p1)[::-1]), np.arctan2(*(p2 - p3)[::-1])


def parts(q, v):
    """M, -(velocity terms) + gravity forces, coupler speeds."""
    f1, f2 = couplers(q)
    s = np.sin(f2 - f1)
    k1 = np.array([-a * np.sin(f2 - q[0]), d * np.sin(f2 - q[1])], dtype=L) / (b * s)
    k2 = np.array([-a * np.sin(f1 - q[0]), d * np.sin(f1 - q[1])], dtype=L) / (c * s)
    w1, w2 = k1 @ v, k2 @ v
    rest = a * e(q[0]) * v[0]**2 + b * e(f1) * w1**2 - d * e(q[1]) * v[1]**2 - c * e(f2) * w2**2
    a1, a2 = rest @ e(f2) / (b * s), rest @ e(f1) / (c * s)
    j1 = np.stack([a * n(q[0]), np.zeros(2, L)], axis=1) + b / 2 * np.outer(n(f1), k1)
    j2 = np.stack([np.zeros(2, L), d * n(q[1])], axis=1) + c / 2 * np.outer(n(f2), k2)
    z1 = -a * e(q[0]) * v[0]**2 + b / 2 * (n(f1) * a1 - e(f1) * w1**2)
    z2 = -d * e(q[1]) * v[1]**2 + c / 2 * (n(f2) * a2 - e(f2) * w2**2)
    mass = (np.diag([ma * a * a / 3, md * d * d / 3]) + mb * j1.T @ j1 + mc * j2.T @ j2
            + mb * b * b / 12 * np.outer(k1, k1) + mc * c * c / 12 * np.outer(k2, k2))
    down = vec(0, -g)
    force = (mb * j1.T @ (down - z1) + mc * j2.T @ (down - z2) - mb * b * b / 12 * k1 * a1 - mc * c * c / 12 * k2 * a2
             - g * np.array([ma * a / 2 * np.cos(q[0]), md * d / 2 * np.cos(q[1])], dtype=L))
    return mass, force, w1, w2


def acceleration(q, v):
    m, f, _, _ = parts(q, v)
    det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    return np.array([m[1, 1] * f[0] - m[0, 1] * f[1], m[0, 0] * f[1] - m[1, 0] * f[0]], dtype=L) / det


def energy(q, v):
    f1, f2 = couplers(q)
    y1, y3 = a * np.sin(q[0]), d * np.sin(q[1])
    return v @ parts(q, v)[0] @ v / 2 + g * (ma * y1 / 2 + md * y3 / 2 + mb * (y1 + b / 2 * np.sin(f1)) + mc * (y3 + c / 2 * np.sin(f2)))


times = grid(10)


def run(tol):
    y = integrate(lambda t, y: np.concatenate([y[2:], acceleration(y[:2], y[2:])]), [0, PI, 0, 0], times, tol)
    run.state = y
    en = [energy(r[:2], r[2:]) for r in y]
    run.energy = float(en[0]), float(max(en) - min(en))
    return np.array([[r[0], r[1], r[2], r[3], *parts(r[:2], r[2:])[2:]] for r in y], dtype=L)


table, err = both(run, 1e-14, 1e-16)
q1, q10, a0 = run.state[2].astype(float), run.state[20].astype(float), acceleration(run.state[0, :2], run.state[0, 2:]).astype(float)
assert np.allclose(a0, [-23.4408602, 25.1612903], rtol=0, atol=1e-7) and abs(run.energy[0] - 30) < 1e-12
assert np.allclose(q1[:2], [-2.913392, 5.627660], rtol=0, atol=1.1e-6), q1
assert np.allclose(q10[:2], [-3.649272, 6.009068], rtol=0, atol=1.1e-6), q10
write("five_bar", ["theta1", "theta2", "theta1_dot", "theta2_dot", "left_coupler_speed", "right_coupler_speed"], times, table,
      "Sanjurjo et al., Nonlinear Dynamics (2017), five-bar, g = 10 m/s^2",
      "two crank angles, closed-form kinematics, virtual power, extrapolation in extended precision",
      f"{err:.1e} (tolerance 1e-14 against 1e-16)",
      [f"energy {run.energy[0]:.12g} J, kept to {run.energy[1]:.1e} J",
       "published converged values met (six digits): theta(1 s), theta(10 s), theta''(0) = -23.4408602, 25.1612903, energy 30"])

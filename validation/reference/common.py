"""Shared by the reference scripts: an extrapolation integrator in 80-bit extended precision and the CSV writer.

Integrator: Gragg's modified midpoint rule extrapolated in h^2 (Bulirsch-Stoer) with the step numbers 2, 4, ..., 2K, order 2K,
step size controlled by the difference of the last two columns. Everything runs in numpy.longdouble (eps 1.1e-19 on x86), so that
round-off stays far below the last digit of the double-precision results that are compared with it.
"""
import os

import numpy as np

L = np.longdouble
PI = L("3.14159265358979323846264338327950288")


def vec(*items):
    return np.array([L(i) for i in items], dtype=L)


def solve(a, b):
    """Gaussian elimination with partial pivoting in extended precision."""
    a = np.array(a, dtype=L)
    b = np.array(b, dtype=L)
    n = len(b)
    for k in range(n):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[[k, p]] = b[[p, k]]
        m = a[k + 1:, k] / a[k, k]
        a[k + 1:, k:] -= np.outer(m, a[k, k:])
        b[k + 1:] -= m * b[k] if b.ndim == 1 else np.outer(m, b[k])
    x = np.zeros_like(b)
    for k in range(n - 1, -1, -1):
        x[k] = (b[k] - a[k, k + 1:] @ x[k + 1:]) / a[k, k]
    return x


def integrate(f, y0, times, tol, h0=1e-3, hmax=np.inf, columns=11, project=None):
    """Solution of y' = f(t, y) at the given increasing times (times[0] is the start). tol is relative and absolute, per step."""
    y = np.array(y0, dtype=L)
    t = L(times[0])
    out = [y.copy()]
    h = L(h0)
    counts = [2 * (k + 1) for k in range(columns)]
    for end in times[1:]:
        end = L(end)
        while t < end:
            last = t + h * L("1.0000001") >= end
            step = end - t if last else h
            f0 = f(t, y)
            rows = []
            for k, n in enumerate(counts):
                s = step / n
                a, b = y, y + s * f0
                for i in range(1, n):
                    a, b = b, a + 2 * s * f(t + i * s, b)
                row = [b]
                for j in range(1, k + 1):
                    r = L(counts[k]) / L(counts[k - j])
                    row.append(row[j - 1] + (row[j - 1] - rows[k - 1][j - 1]) / (r * r - 1))
                rows.append(row)
            new, err = rows[-1][-1], np.abs(rows[-1][-1] - rows[-1][-2])
            e = float(np.max(err / (tol * (1 + np.maximum(np.abs(y), np.abs(new))))))
            if not np.isfinite(e):
                h = step / 4
                continue
            factor = 0.9 * max(e, 1e-30) ** (-1.0 / (2 * columns - 1))
            factor = min(2.0, max(0.2, factor))
            if e <= 1:
                y = new if project is None else project(new)
                t = end if last else t + step
                if not last or factor < 1:
                    h = min(step * L(factor), L(hmax))
            else:
                h = step * L(factor)
                if h < 1e-12 * (1 + abs(end)):
                    raise ArithmeticError(f"step size too small at t = {float(t)}: tolerance below round-off")
        out.append(y.copy())
    return np.array(out, dtype=L)


def grid(until, rows=20):
    """rows + 1 times from 0 to until, each the exact decimal fraction."""
    return [L(i) * L(str(until)) / L(rows) for i in range(rows + 1)]


def both(solver, loose, tight):
    """Runs solver(tol) with two tolerances; returns the tight result and the largest difference between the two."""
    a, b = solver(loose), solver(tight)
    return b, float(np.max(np.abs(a - b)))


def write(key, names, times, table, source, method, error, extra=()):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, key + ".csv"), "w") as file:
        file.write(f"# {key}: reference solution, SI units, radians\n")
        file.write(f"# source: {source}\n# method: {method}\n# estimated error: {error}\n")
        for line in extra:
            file.write(f"# {line}\n")
        file.write(",".join(["t"] + list(names)) + "\n")
        for t, row in zip(times, table):
            file.write(",".join([f"{float(t):.10g}"] + [f"{float(x):.17g}" for x in row]) + "\n")
    print(f"{key}: {error}")

#!/usr/bin/env python3
"""Table and picture of the demo: reads FOLDER/run.h5 and run.json, writes FOLDER/fourbar.svg.

usage: demo_picture.py FOLDER
"""

import json
import pathlib
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402


def maxima(t, rate):
    """Times at which the rate falls through zero, from the cubic through the four samples around."""
    times = []
    for i in np.flatnonzero((rate[1:-2] > 0) & (rate[2:-1] <= 0)) + 1:
        roots = np.roots(np.polyfit(t[i - 1 : i + 3] - t[i], rate[i - 1 : i + 3], 3))
        inside = [r.real for r in roots if abs(r.imag) < 1e-12 and 0 <= r.real <= t[i + 1] - t[i]]
        times += [t[i] + r for r in inside[:1]]
    return np.array(times)


def draw(path, t, theta, pin, period):
    plt.rcParams.update({"svg.hashsalt": "pantograph", "font.size": 9})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1.2, 1])
    poses = 7
    for k in range(poses):
        i = int(np.searchsorted(t, 0.5 * period * k / (poses - 1)))
        x = [0, np.cos(theta[i]), pin[0][i], 4]
        y = [0, np.sin(theta[i]), pin[1][i], 0]
        shade = 0.15 + 0.85 * (1 - k / (poses - 1))
        left.plot(x, y, "-o", color=(0.1, 0.35, 0.6, shade), lw=2, ms=4, label="start" if k == 0 else None)
    left.plot([0, 4], [0, 0], "k^", ms=9, zorder=0)
    left.set(xlabel="x [m]", ylabel="y [m]", title="half a swing, from the start to the turn", aspect="equal")
    left.grid(alpha=0.3)
    right.plot(t, theta, color=(0.1, 0.35, 0.6))
    right.set(xlabel="t [s]", ylabel=r"crank angle $\theta$ [rad]", title=f"period {period:.6f} s")
    right.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0])
    report = json.loads((folder / "run.json").read_text())
    with h5py.File(folder / "run.h5", "r") as run:
        t = run["t"][:]
        theta, theta_dot, pin_x, pin_y = (
            run["outputs"][name][:] for name in ("theta", "theta_dot", "pin_x", "pin_y")
        )
    # Released at rest, the crank is at its first maximum at t = 0.
    times = np.concatenate([[t[0]], maxima(t, theta_dot)])
    periods = np.diff(times)
    if len(periods) == 0:
        print("demo: the crank does not come back within the run", file=sys.stderr)
        return 1
    draw(folder / "fourbar.svg", t, theta, (pin_x, pin_y), periods[0])
    violation = report["constraint_violation"]
    print("Four-bar released at rest under gravity, 10 s (panto simulate fourbar_f1)\n")
    print(f"  period                 {periods.mean():.9g} s ({len(periods)} swings, spread {np.ptp(periods):.1e} s)")
    print(f"  energy drift           {report['energy']['max_drift']:.1e} J of {report['energy']['initial']:.6g} J")
    print(f"  constraint violation   {violation['position']:.1e} m, {violation['velocity']:.1e} m/s")
    print(f"  real-time factor       {report['stats']['real_time_factor']:.0f} x faster than real time")
    print(f"\nWritten: {folder}/run.h5, {folder}/run.csv, {folder}/fourbar.svg (open it in a browser)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

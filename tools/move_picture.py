#!/usr/bin/env python3
"""Picture of example 12: what is left of a move on an aged machine, by feedforward, without and with feedback.

usage: move_picture.py FOLDER PICTURE.svg      FOLDER is where examples/12_flexible_link.py worked
"""

import pathlib
import sys
import tomllib

import h5py
import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

KINDS = {"rigid": ("as if rigid", "#c4622d"), "redefined": ("redefined output", "#3465a4"), "stable": ("stable inversion", "#2e8b57")}


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, picture = map(pathlib.Path, arguments)
    move = tomllib.loads((folder / "move.toml").read_text(encoding="utf-8"))
    end, goal, until = move["path"]["duration"], move["path"]["to"][0], move["until"]
    plt.rcParams.update({"svg.hashsalt": "pantograph", "svg.fonttype": "none", "font.size": 9})
    figure, grid = plt.subplots(2, 2, figsize=(9, 5.2), sharex=True, height_ratios=[1.1, 1], layout="constrained")
    begin = 0.0
    for name, (label, colour) in KINDS.items():
        with h5py.File(folder / f"{name}_loop.h5", "r") as run:
            every = slice(None, None, 8)
            t, torque = run["t"][every], run["T"][every]
            begin = min(begin, t[np.abs(torque) > 1e-3 * np.abs(torque).max()][0])
            grid[0, 0].plot(t, torque, color=colour, label=label, lw=1.2)
            grid[0, 1].plot(t, run["none.aged.tip"][every], color=colour, lw=1.2)
            for axes, law in zip(grid[1], ("none", "lqr")):
                axes.plot(t, 1e3 * (run[f"{law}.aged.tip"][every] - goal), color=colour, lw=1.2)
    with h5py.File(folder / "redefined_loop.h5", "r") as run:
        grid[0, 1].plot(run["t"][every], run["tip_desired"][every], "k--", lw=0.8, label="wanted")
    grid[0, 0].set(title="torque of the feedforward", ylabel="T [N m]")
    grid[0, 1].set(title="payload, machine aged, without feedback", ylabel="tip [rad]")
    grid[1, 0].set(title="left of the move, without feedback", ylabel="tip − goal [mrad]", xlabel="t [s]")
    grid[1, 1].set(title="left of the move, LQR on an observer's estimate", ylabel="tip − goal [mrad]", xlabel="t [s]")
    for axes in grid[1]:
        after = np.concatenate([line.get_ydata()[line.get_xdata() >= end] for line in axes.lines])
        low, high = min(after.min(), 0), max(after.max(), 0)
        axes.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
        axes.axhline(0, color="k", lw=0.6, ls="--")
    for axes in grid.flat:
        axes.axvspan(0, end, color="#888", alpha=0.12, lw=0)
        axes.grid(alpha=0.3)
        axes.set_xlim(begin, until)
    grid[0, 0].legend(loc="upper right", fontsize=8)
    grid[0, 1].legend(loc="lower right", fontsize=8)
    figure.savefig(picture, metadata={"Date": None})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Models that several tests use."""

import os
import signal
import subprocess
import sys
import time

import pytest

import pantograph as pg

os.environ["MPLBACKEND"] = "Agg"  # figures without a screen

FOURBAR = """\
space = "planar"
gravity = [0, -9.81]
parameters = { m_crank = "1 kg", L = 2 }
body = [
  { name = "crank",   bar = { length = 1, mass = "m_crank" } },
  { name = "coupler", bar = { length = "L", mass = 2 } },
  { name = "rocker",  bar = { length = "sqrt(13)", mass = 4 } },
]
joint = [
  { name = "theta", type = "revolute", parent = "ground", child = "crank" },
  { name = "beta",  type = "revolute", parent = "crank.end", child = "coupler" },
  { name = "gamma", type = "revolute", parent = { body = "ground", at = [4, 0] }, child = "rocker" },
]
loop = [{ name = "pin", type = "pin", between = ["coupler.end", "rocker.end"] }]
actuator = [{ name = "motor", type = "torque", on = "theta", input = "0.5*sin(t)" }]
initial = { theta = 0, guess = { beta = "90 deg", gamma = "146 deg" } }
output = [
  { name = "theta", type = "coordinate", of = "theta" },
  { name = "theta_dot", type = "speed", of = "theta" },
  { name = "pin_x", type = "position", of = "coupler.end", axis = "x" },
  { name = "rocker_y", type = "position", of = "rocker.end", axis = "y", in = "crank" },
]
"""

PENDULUM = """\
space = "planar"
gravity = [0, -9.81]
body = [{ name = "rod", point_mass = { mass = 1, at = [1, 0] } }]
joint = [{ name = "phi", type = "revolute", parent = "ground", child = "rod" }]
actuator = [{ name = "motor", type = "torque", on = "phi" }]
initial = { phi = 0 }
output = [{ name = "phi", type = "coordinate", of = "phi" }]
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models")
    (path / "fourbar.toml").write_text(FOURBAR)
    (path / "pendulum.toml").write_text(PENDULUM)
    return path


@pytest.fixture
def fourbar(folder):
    return pg.load(folder / "fourbar.toml")


@pytest.fixture
def pendulum(folder):
    return pg.load(folder / "pendulum.toml")


@pytest.fixture
def interrupted(folder):
    """Runs a line on the four-bar `m` in another process, interrupts it; answers the delay [s]."""

    def run(line):
        code = (
            "import numpy as np, pantograph as pg\n"
            f"m = pg.load({str(folder / 'fourbar.toml')!r})\n"
            "print('ready', flush=True)\n"
            "try:\n"
            f"    {line}\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', flush=True)\n"
        )
        child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        try:
            assert child.stdout.readline() == "ready\n"
            time.sleep(1)
            assert child.poll() is None
            start = time.monotonic()
            os.kill(child.pid, signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
            delay = time.monotonic() - start
            assert child.wait(10) == 0
            return delay
        finally:
            child.kill()
            child.wait()

    return run

"""05 Which torques move an arm along a given motion?"""

import pathlib

import numpy as np

import pantograph as pg

m = pg.load(pathlib.Path(__file__).with_suffix(".toml"))

# alpha = 0.6 sin 2t and beta = 0.4 (1 - cos 3t). Given rates and accelerations are taken as they
# are; left out, they would be differentiated from the samples.
t = 0.25 * np.arange(5)
motion = {
    "alpha": 0.6 * np.sin(2 * t),
    "alpha_dot": 1.2 * np.cos(2 * t),
    "alpha_ddot": -2.4 * np.sin(2 * t),
    "beta": 0.4 * (1 - np.cos(3 * t)),
    "beta_dot": 1.2 * np.sin(3 * t),
    "beta_ddot": 3.6 * np.cos(3 * t),
}

# The equations of motion hold for any motion, so they are solved for the inputs instead of the
# accelerations.
found = pg.inverse_motion(m, t, motion)
for i in range(len(t)):
    for name, torque in found.inputs.items():
        print(f"{name}_{i} {torque[i]:.15g} {m.inputs[name]}")

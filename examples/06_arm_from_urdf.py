"""06 Which torques hold an arm that is described in URDF, and what if it spins meanwhile?"""

import pathlib

import numpy as np

import pantograph as pg

# 06_arm.loops.toml beside it adds what URDF cannot say: motors, outputs, the initial pose.
m = pg.load(pathlib.Path(__file__).with_name("06_arm.urdf"))

# At rest (v = a = 0) the motors carry the weight alone.
q, _ = m.initial_state()
rest = np.zeros(len(m.speeds))
hold = pg.inverse_dynamics(m, q, rest, rest)
shoulder, elbow = hold["shoulder_motor"], hold["elbow_motor"]
print(f"hold_shoulder {shoulder:.15g} N m\nhold_elbow {elbow:.15g} N m")

# With these torques kept up, the spin about the waist (3 rad/s) lifts the arm.
m = m.with_parameters(shoulder_torque=shoulder, elbow_torque=elbow)
r = pg.simulate(m, until=0.5, tol=1e-10)
for name, series in r.items():
    print(f"{name} {series[-1]:.15g} {r.unit(name)}")

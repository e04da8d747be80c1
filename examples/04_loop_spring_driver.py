"""04 Which torque keeps a crank at constant speed while its slider works against a spring?"""

import pathlib

import pantograph as pg

# The driver prescribes the crank angle: no freedom is left, and the motor's torque is the
# multiplier that goes with this constraint. One turn takes 2 pi / (20 rad/s).
r = pg.simulate(pathlib.Path(__file__).with_suffix(".toml"), until=0.3, sample=0.05)

for i in range(len(r.t)):
    for name, series in r.items():
        print(f"{name}_{i} {series[i]:.15g} {r.unit(name)}")
# What the motor did so far is now kinetic energy and energy of the spring.
print(f"work_of_motor {r.energy.entered[-1]:.15g} J")

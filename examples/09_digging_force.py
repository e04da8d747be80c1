"""09 With which force does an excavator dig, as its angles, accelerations and cylinder forces tell?"""

import pathlib

import numpy as np

import pantograph as pg

# The machine: its sensors have noise, its pins dry friction.
run = pg.simulate("excavator", until=14, sample=0.002, seed=1)
readings = {name: (m.t, m.values) for name, m in run.measured.items()}

# The observer's model knows nothing of the friction.
model = pg.load("excavator", T_fr=0)
found = pg.observe(model, readings, settings=pathlib.Path(__file__).with_suffix(".toml"))
print(f"steps {found.counts.steps} 1")
print(f"nis {found.nis_mean:.6f} 1")

# Means while it digs with all its force, and with the load in the bucket at the end.
for what, begin, end in (("dig_x", 6.5, 7.5), ("dig_z", 6.5, 7.5), ("payload", 12, 14)):
    then = (found.t >= begin) & (found.t <= end)
    print(f"{what} {np.mean(found[f'force {what}'][then]):.3f} N")
    print(f"{what}_sigma {np.mean(found.sigma[f'force {what}'][then]):.3f} N")

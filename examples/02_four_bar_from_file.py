"""02 Where is a falling four-bar after ten seconds, and what changes with a heavier crank?"""

import pantograph as pg

m = pg.load("fourbar_f1")  # models/fourbar_f1/model.toml

# Only the end is wanted; the loop is closed in every evaluation and does not drift.
r = pg.simulate(m, tol=1e-12, at=[10])
for name, series in r.items():
    print(f"{name} {series[-1]:.15g} {r.unit(name)}")

# Every number of the file is a parameter, also one written in place. Nothing is compiled again:
# the numbers are an argument of everything that computes.
heavy = pg.simulate(m.with_parameters({"crank.bar.mass": 2}), tol=1e-12, at=[10])
print(f"theta_with_heavy_crank {heavy['theta'][-1]:.15g} rad")

"""01 How long is one swing of a pendulum that is let go at 90 degrees?"""

import pantograph as pg

# The bob starts at rest at x = -L. It passes the lowest point, x = 0, after a quarter of the
# period: an event ends the run exactly there, between two steps if need be.
r = pg.simulate("pendulum", tol=1e-12, stop="x>0")  # a model of the zoo; a path works as well

print(f"period {4 * r.t[-1]:.15g} s")
print(f"lowest_point_speed {r['vx'][-1]:.15g} {r.unit('vx')}")

"""03 Is a mechanism built in code the same as the one in the file?"""

import pantograph as pg

# Keys, values and units are those of the file, so one page (docs/model-file.md) describes both.
m = pg.Model(space="planar", gravity=[0, -9.81], independent=["theta"])
m.body("crank", bar=dict(length=1, mass=1))
m.body("coupler", bar=dict(length=2, mass=2))
m.body("rocker", bar=dict(length="sqrt(13)", mass=4))
m.joint("theta", "revolute", parent="ground", child="crank")
m.joint("beta", "revolute", parent="crank.end", child="coupler")
m.joint("gamma", "revolute", parent=dict(body="ground", at=[4, 0]), child="rocker")
# Coupler and rocker meet: this closes the loop. The guesses say which of the two poses is meant.
m.loop("pin", "pin", between=["coupler.end", "rocker.end"])
m.initial(theta=0, guess=dict(beta="90 deg", gamma="146 deg"))
m.output("theta", "coordinate", of="theta")

built = pg.simulate(m, until=2)
file = pg.simulate("fourbar_f1", until=2)
print(f"theta {built['theta'][-1]:.15g} rad")
print(f"difference_from_file {abs(built['theta'][-1] - file['theta'][-1]):.15g} rad")

"""07 In which pose do the frequencies of a three-link chain tell its joint stiffnesses apart?"""

import numpy as np

import pantograph as pg

# A thousand poses; in each of them a thousand sets of stiffnesses, and how the frequencies follow
# them.
right_angles = (-np.pi / 2, np.pi / 2)
ranges = {"theta_B": right_angles, "theta_C": right_angles}
study = pg.poses("three_link", "kA,kB,kC", ranges=ranges)

best = study.best
print(f"theta_B {np.degrees(best.q['theta_B']):.15g} deg")
print(f"theta_C {np.degrees(best.q['theta_C']):.15g} deg")
print(f"score {best.score:.15g} 1")
for i, feature in enumerate(study.features):
    for k, parameter in enumerate(study.parameters):
        print(f"correlation_{feature}_{parameter} {best.correlation[i, k]:.15g} 1")
        print(f"slope_{feature}_{parameter} {best.sensitivity[i, k]:.15g} 1")

# The same for the straight chain alone, where two of the frequencies depend on two stiffnesses.
straight = pg.poses("three_link", "kA,kB,kC", ranges={"theta_B": (0, 0), "theta_C": (0, 0)}, poses=1)
print(f"score_straight {straight.best.score:.15g} 1")

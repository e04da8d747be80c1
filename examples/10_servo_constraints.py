"""10 Which speeds of trolley and winch carry a load on a rope from here to there without swinging?"""

import pantograph as pg

# What kind of inverse it is: flat, nothing is left to swing by itself.
kind = pg.analyse("cable_robot_reduced")
print(f"zeros {len(kind.zeros)} 1")
print(f"index {kind.index} 1")
print(f"smoothness {kind.smoothness} 1")

# 4 m to the left and 3 m down in ten seconds.
found = pg.invert("cable_robot_reduced", to=[11, -7], duration=10, smooth=4)
print(f"fastest_trolley {abs(found['u_T']).max():.6f} m/s")
print(f"fastest_winch {abs(found['u_L']).max():.6f} m/s")
print(f"largest_sway {abs(found.q['phi']).max():.6f} rad")
print(f"sway_at_the_end {abs(found.q['phi'][-1]):.6f} rad")
print(f"follows_within_a_micrometre {int(max(found.tracking_max.values()) < 1e-6)} 1")

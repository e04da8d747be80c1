"""08 Which joint stiffnesses do measured frequencies tell, and are they the only ones?"""

import pathlib
import tomllib
import warnings

import pantograph as pg

path = pathlib.Path(__file__).with_suffix(".toml")
both = pg.identify(path)
print(f"explaining_both_poses {sum(s.explains for s in both.solutions)} sets")
for name, p in both.parameters.items():
    print(f"{name} {p.value:.9g} N m/rad")
    print(f"std_{name} {p.std:.9g} N m/rad")

# One pose gives as many frequencies as there are stiffnesses, and still does not tell them: the
# search is started from many points, and several of the minima fit exactly.
study = tomllib.loads(path.read_text(encoding="utf-8"))
study["pose"] = study["pose"][:1]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # "the answer is not unique", which is the point here
    one = pg.identify(study)
explaining = [s for s in one.solutions if s.explains]
print(f"explaining_straight_pose {len(explaining)} sets")
for i, solution in enumerate(explaining):
    for name, value in solution.values.items():
        print(f"{name}_{i} {value:.9g} N m/rad")

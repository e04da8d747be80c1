"""11 Which modulus and which mass at the tip does a hammer test of a rod tell, and what can it not tell?"""

import pathlib
import tomllib
import warnings

import pantograph as pg

path = pathlib.Path(__file__).with_suffix(".toml")
for method, by in (("quadratic", ""), ("sensitivity", "_by_sensitivities")):
    found = pg.update(path, method=method, penalty=0)  # three modes tell two parameters
    for name, unit in (("E", "Pa"), ("m_tip", "kg")):
        print(f"{name}{by} {found[name]:.9g} {unit}")
        print(f"std_{name}{by} {found.parameters[name].std:.9g} {unit}")
    print(f"mean_error_before{by} {100 * found.mean_error_before:.9g} %")
    print(f"mean_error_after{by} {100 * found.mean_error_after:.6f} %")

# With the density as well: frequencies tell ratios, so that the penalty decides how a change of all
# three is shared.
study = tomllib.loads(path.read_text(encoding="utf-8"))
study["model"] = str(path.with_name(study["model"]))
study["parameters"]["rho"] = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the tests do not tell, which is the point here
    more = pg.update(study)
for name, p in more.parameters.items():
    print(f"told_of_{name} {p.resolution:.6f} 1")

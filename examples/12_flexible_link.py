"""12 How does a flexible arm bring its tip to rest, when its modulus and its hub are known only roughly?

From one model file to a feedback loop: every step takes what the one before wrote.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time
import tomllib
import warnings

import numpy as np

import pantograph as pg

STUDIES = pathlib.Path(__file__).resolve().with_suffix("")
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="flexible_link_"))
folder.mkdir(parents=True, exist_ok=True)
for study in STUDIES.glob("*.toml"):
    shutil.copy(study, folder)
os.chdir(folder)
pages = {}
begin = time.perf_counter()


def step(title):
    print(f"{time.perf_counter() - begin:6.1f} s  {title}", file=sys.stderr)
    page = f"{len(pages) + 1}.html"
    pages[f"{len(pages) + 1} {title}"] = page
    return page


warnings.simplefilter("ignore", pg.ModelWarning)

# The machine that stands there: the file's, with a modulus and a hub that nobody has told us.
model = pg.load("flexible_link_on_motor")
machine = model.with_parameters(E=0.94 * model.parameters["E"], k_hub=0.82 * model.parameters["k_hub"])
machine.save("machine.toml")

page = step("It moves")
run = pg.simulate(machine)
pg.view(run, page)
print(f"energy_drift_below_microjoule {int(run.energy.max_drift < 1e-6)} 1")

page = step("How it vibrates, as the file has it")
modes = pg.modes(model, where="here", view=page)
print(f"mode_2_of_the_file {modes.frequencies_hz[1]:.6f} Hz")


def hammer_test(rig, name, page):
    """Modal table of a hammer test, as an analyser and a modal analysis would give it."""
    points = [f"link.n{node}:y" for node in (2, 3, 4, 5)]
    settings = {"rate": 1024, "record": 16, "window": 0.005, "peak": 20, "trigger": 2, "noise": 0.01}
    test = pg.impact(rig, points, ["link.n3:y", "link.n5:y"], **settings)
    test.save(f"{name}.uff")
    found = pg.ema(f"{name}.uff", band=(1, 120), order=20)
    found.save(f"{name}.modes.toml")
    found.view(page)
    return found


page = step("Hammer test, the motor free")
free = hammer_test(pg.load("machine.toml"), "free", page)
print(f"mode_2_of_the_machine {free.frequencies_hz[0]:.6f} Hz")

page = step("The modulus, from its frequency responses")
updated = pg.update("update.toml")
updated.save("updated.toml")
updated.view(page)
print(f"E_machine {machine.parameters['E']:.9g} Pa")
print(f"E_updated {updated['E']:.9g} Pa")
print(f"k_hub_updated {updated['k_hub']:.9g} N m/rad")

page = step("Hammer test, the brake closed")
hammer_test(pg.load("machine.toml", brake=1e5), "braked", page)

page = step("The stiffness of the hub, from frequencies")
identified = pg.identify("identify.toml")
identified.save("identified.toml")
identified.view(page)
print(f"k_hub_machine {machine.parameters['k_hub']:.9g} N m/rad")
print(f"k_hub_identified {identified['k_hub']:.9g} N m/rad")

page = step("A smaller model")
masters = ["theta", "twist", "link.n5.ux", "link.n5.uy", "link.n5.turn"]
whole = pg.load("identified.toml", brake=0)
reduced = pg.reduce(whole, masters, band=(0, 40), where="here")
reduced.save("reduced.toml")
reduced.view(page)
print(f"degrees_of_freedom {len(reduced.dofs)} 1")
print(f"degrees_of_freedom_reduced {reduced.size} 1")

page = step("Where the payload points, from encoder and strain gauge")
observed = pg.observe("observe.toml", series=True)
observed.view(page)
for cell in observed.cells:
    print(f"tip_error_from_{cell.sensors.replace(' ', '_')} {1e3 * cell.rmse_mean['tip']:.6f} mrad")

# The payload is turned by 1 rad. Its direction has no inverse that is stable forward in time. As if the link were rigid, the hub is turned instead; up to some share of the
# bending may be asked for besides; stable inversion follows the payload itself and begins before the path does. All take the path of the loop, with its `smooth`.
move = tomllib.loads(pathlib.Path("move.toml").read_text(encoding="utf-8"))
wanted = {key: move[key] for key in ("model", "until", "path", "method")}
stable = {"method": {"name": "stable", "step": move["method"]["step"], "tolerance": 1e-4}}
kinds = {
    "rigid": ("a rigid link", {"redefine": {"rigid": "hub_angle", "weight": 0}, "verify": False}),
    "redefined": ("a redefined output", {"redefine": {"rigid": "hub_angle"}, "verify": False}),
    "stable": ("stable inversion", stable),
}
for name, (what, how) in kinds.items():
    page = step(f"Inputs of {what}")
    inverse = pg.invert({**wanted, **how})
    inverse.save(f"{name}.h5")
    inverse.view(page)
    if name == "redefined":
        print(f"largest_share {inverse.redefined.limit:.6f} 1")
    if name == "stable":
        print(f"begins_before {inverse.stable.pre_actuation:.6f} s")


def vibration(loop):
    """Largest departure of the tip from a straight line over time, in the last half second [rad]."""
    late = loop.t >= loop.t[-1] - 0.5
    t, z = loop.t[late], loop.outputs["tip"][late]
    return np.abs(z - np.polyval(np.polyfit(t - t[0], z, 1), t - t[0])).max()


def overshoot(loop, path):
    """Largest distance of the tip from its goal after the path [rad]."""
    return np.abs(loop.outputs["tip"][loop.t >= path["duration"]] - path["to"][0]).max()


for name, (what, _) in kinds.items():
    page = step(f"The loop, with inputs of {what}")
    found = pg.invert({**move, "feedforward": f"{name}.h5"})
    found.save(f"{name}_loop.h5")
    found.view(page)
    for loop in found.feedback.loops:
        case = f"{name}_{loop.feedback}_{loop.plant}"
        print(f"vibrates_{case} {1e3 * vibration(loop):.6f} mrad")
        print(f"off_{case} {1e3 * overshoot(loop, move['path']):.6f} mrad")

pg.view(pages, "report.html", title="One flexible link, from a model file to a feedback loop")
print(f"{time.perf_counter() - begin:6.1f} s  {folder / 'report.html'}", file=sys.stderr)

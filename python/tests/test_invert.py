"""Inverse models from Python."""

import math
import threading
from fractions import Fraction

import numpy as np
import pantograph as pg
import pytest

CRANE = {
    "model": "cable_robot_reduced",
    "path": {"to": [11, -7], "duration": "10 s", "smooth": 4},
    "method": {"step": "20 ms"},
}


def transition(m):
    """From 0 to 1 over 0 … 1 with m derivatives that vanish at both ends: coefficients."""
    terms = [math.comb(m + k, k) * math.comb(2 * m + 1, m - k) * (-1) ** k for k in range(m + 1)]
    return [Fraction(0)] * (m + 1) + [Fraction(x) for x in terms]


def second_derivative(c):
    return [Fraction(k * (k - 1)) * x for k, x in enumerate(c)][2:] + [Fraction(0)] * 2


def combined(*parts):
    factors, lists = zip(*parts)
    return [sum(f * x for f, x in zip(factors, row)) for row in zip(*lists)]


def values(c, tau):
    """Without round-off, which polynomials of this degree have too much of."""
    out = []
    for x in tau:
        total, at = Fraction(0), Fraction(float(x))
        for coefficient in reversed(c):
            total = total * at + coefficient
        out.append(float(total))
    return np.array(out)


def test_three_disks_turn_by_the_exact_torque():
    inertia, k, duration = Fraction(3, 25), 2, 6
    # Flat: every disk tells the angle of the one before it. d²/dt² = (d²/dτ²) / duration².
    share = inertia / k / duration**2
    z = transition(9)
    second = combined((1, z), (share, second_derivative(z)))
    first = combined((2, second), (-1, z), (share, second_derivative(second)))
    torque = combined((inertia / duration**2, second_derivative(first)), (k, first), (-k, second))
    largest = []
    for step in (0.08, 0.04):
        found = pg.invert(
            "torsional_oscillator", to=2 * np.pi, duration=6, smooth=9, step=step, verify=False
        )
        inside = found.t <= 6
        tau = found.t[inside] / 6
        assert found.desired["z"][inside] == pytest.approx(2 * np.pi * values(z, tau), abs=1e-11)
        assert found.desired["z"][~inside] == pytest.approx(2 * np.pi, abs=1e-11)
        exact = np.zeros(len(found.t))
        exact[inside] = 2 * np.pi * values(torque, tau)
        largest.append(np.abs(found["u"] - exact).max())
    # BDF4: half the step, a sixteenth of the error. Measured 3.0e-3 and 2.0e-4 N m.
    assert largest[1] < 2.5e-4
    assert math.log2(largest[0] / largest[1]) == pytest.approx(4, abs=0.3)
    assert found.t[-1] == pytest.approx(7.5, abs=step / 2 + 1e-9)  # whole steps
    assert found.achieved == {} == found.tracking_max
    assert found.q["phi3"] == pytest.approx(found.desired["z"], abs=1e-9)


def test_the_plant_follows_and_everything_has_its_unit(tmp_path):
    with pytest.warns(pg.ModelWarning, match="W1034"):
        found = pg.invert("mass_on_car", to=4, duration=8, smooth=4)
    assert found.model == "mass_on_car" and found.complete
    assert found.tracking_max["z"] < 1e-4 and found.tracking_rms["z"] <= found.tracking_max["z"]
    assert found.desired["z"][0] == 1 and found.desired["z"][-1] == pytest.approx(4)
    for series in (found.inputs, found.desired, found.achieved, found.q, found.v, found.a):
        assert all(isinstance(x, np.ndarray) and x.shape == found.t.shape for x in series.values())
    assert found.units == {"u": "N", "z": "m", "x1": "m", "s1": "m", "s2": "m"}
    assert pg.invert("torsional_oscillator", to=1, until=0.1, verify=False).units["u"] == "N m"
    assert found.cycle.cycles == len(found.t) - 1 == 1000 and found.cycle.worst >= found.cycle.mean
    assert [item.id for item in found.warnings] == [1034]
    assert "u for z, 1000 steps" in repr(found) and "largest error" in found._repr_html_()
    found.save(tmp_path / "force.csv")
    text = (tmp_path / "force.csv").read_text()
    assert text.splitlines()[0].split(",")[1].startswith("u") and "x1_q" in text


@pytest.mark.filterwarnings("ignore::pantograph.ModelWarning")
def test_what_is_said_before_anything_is_solved():
    found = pg.analyse("mass_on_car")
    assert found.type == "marginal" and found.configuration == "tangential"
    # Drücker (2022), Table 5.1: ±i √(k2/m3) / sin α.
    assert np.sort(found.zeros.imag) == pytest.approx(np.array([-1, 1]) / np.sin(np.pi / 12))
    assert found.relative_degree == [4] and found.index == 5 and found.smoothness == 4
    assert len(found.poles) == 6
    assert found.zeros_second_order == pytest.approx(found.zeros, abs=1e-9)
    # Parameters of the model, by all ways: with dampers the internal motion decays.
    path = {"to": 4, "duration": 8}
    damped = pg.load("mass_on_car").with_parameters(d1=1, d2=1)
    for stable in (
        pg.analyse(damped),
        pg.analyse("mass_on_car", set={"d1": 1, "d2": "1 N s/m"}),
        pg.analyse({"model": damped, "path": path}),
        pg.analyse({"model": "mass_on_car", "set": {"d1": 1, "d2": 1}, "path": path}),
    ):
        assert stable.type == "minimum phase" and stable.relative_degree == [3]


def test_an_unstable_inverse_is_refused():
    with pytest.raises(pg.ModelError, match="E1031") as refused:
        pg.invert("manipulator_2d", output="z", by="u", to=0.5)
    assert [item.id for item in refused.value.items] == [1031]
    with pytest.warns(pg.ModelWarning, match="1031"):
        found = pg.analyse("manipulator_2d", output="z", by="u")
    assert found.type == "non-minimum phase"
    assert np.sort(found.zeros.real) == pytest.approx([-21.90, 21.92], rel=1e-3)
    with pytest.warns(pg.ModelWarning, match="W1031"):
        forced = pg.invert(
            "manipulator_2d", output="z", by="u", to=0.5, until=0.2, force=True, verify=False
        )
    assert np.isfinite(forced["u"]).all()


def test_a_study_and_what_stands_over_it(tmp_path):
    found = pg.invert(CRANE, verify=False)
    assert list(found.inputs) == ["u_T", "u_L"] and found.analysis.type == "flat"
    assert found.t[1] == pytest.approx(0.02) and found.unit("u_L") == "m/s"
    assert found.desired["z_P"][-1] == pytest.approx(-7)
    file = tmp_path / "crane.toml"
    file.write_text(
        'model = "cable_robot_reduced"\npath = { to = [11, -7], duration = "10 s", smooth = 4 }\n'
        'method = { name = "linear_euler" }\n'
    )
    other = pg.invert(file, step=0.02, method="bdf4", verify=False)
    assert other["u_T"] == pytest.approx(found["u_T"], abs=1e-12) and other.most_iterations > 1
    model = pg.load("cable_robot_reduced")
    same = pg.invert({**CRANE, "model": model}, verify=False)
    assert np.array_equal(same["u_L"], found["u_L"])
    down = pg.invert(CRANE, to=[15, -6], duration=4, until=6, verify=False)
    assert down.t[-1] == pytest.approx(6) and down.desired["x_P"] == pytest.approx(15)
    with pytest.warns(pg.ModelWarning, match='"u_T" exceeds its limit'):
        limited = pg.invert(CRANE, limits={"u_T": (-0.5, 0.5)}, verify=False)
    assert [item.id for item in limited.warnings] == [1041]


def test_what_cannot_be_is_named():
    def ids(**arguments):
        with pytest.raises(pg.ModelError) as refused:
            pg.invert("mass_on_car", **{"to": 4, **arguments})
        return [item.id for item in refused.value.items], str(refused.value)

    assert ids(output="zz")[0] == [1003] and "did you mean" in ids(output="zz")[1]
    assert ids(by=["uu"])[0] == [1003]
    assert ids(to=[4, 5])[0] == [1011]
    assert ids(step=-1)[0] == [1007]
    assert ids(duration=0)[0] == [1011]
    with pytest.raises(ValueError, match="method: expected euler, .* got \"bdf7\""):
        pg.invert("mass_on_car", to=4, method="bdf7")
    with pytest.raises(ValueError, match="form: expected original"):
        pg.invert("mass_on_car", to=4, form="implicit")
    with pytest.raises(ValueError, match="to: expected the outputs"):
        pg.invert("mass_on_car")
    with pytest.raises(ValueError, match="limits: expected the lower one first"):
        pg.invert("mass_on_car", to=4, limits={"u": (1, -1)})
    with pytest.raises(ValueError, match="set: belongs to a model"):
        pg.invert(CRANE, set={"g": 9})
    # The first output lies beyond the arm: a failure of the calculation, not of the input.
    arm = {"output": ["tip_x", "tip_y", "tip_z"], "by": ["u1", "u2", "u3"]}
    study = {"model": "arm_spatial", "path": {"from": [9, 0, 1], "to": [8, 0, 1], "duration": 1}}
    with pytest.raises(pg.NumericalError, match="E1021"):
        pg.invert({**study, "servo": [arm]})


@pytest.mark.filterwarnings("ignore::pantograph.ModelWarning")
def test_it_can_be_watched_and_stopped():
    seen = []

    def stop(fraction):
        seen.append(fraction)
        return False

    found = pg.invert("mass_on_car", to=4, duration=8, step=1e-4, progress=stop)
    assert not found.complete and len(seen) == 1 and 0 < seen[0] < 1
    assert len(found.t) < 100_001 and found.achieved == {}
    # Other threads run meanwhile.
    results = []
    thread = threading.Thread(
        target=lambda: results.append(pg.invert(CRANE, verify=False)["u_T"][-1])
    )
    thread.start()
    thread.join()
    assert len(results) == 1


def test_the_page_has_the_desired_path(tmp_path):
    found = pg.invert("cable_robot_reduced", to=[11, -7], duration=10, smooth=4, verify=False)
    page = found.view(tmp_path / "crane.html")
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert '"desired path of platform"' in text
    assert "Poles and zeros" in text


FEEDBACK = {
    "model": "torsional_oscillator",
    "set": {"n": 2},
    "until": "8 s",
    "path": {"to": [1], "duration": "3 s"},
    "feedback": [{"law": "none"}, {"law": "lqr", "q": 10, "r": 1, "at": "path", "samples": 3}],
    "limits": {"u": [-0.3, 0.3]},
    "loop": {"lag": {"u": "10 ms"}},
    "perturbed": [{"name": "stiff", "factor": {"k": 1.3}, "start": {"phi1": 0.2}}],
    "monte_carlo": {"draws": 4, "seed": 3, "factor": {"k": 0.1}, "start": {"phi3": 0.1}},
}


def test_feedback_is_tried_on_the_model_on_other_plants_and_on_draws(tmp_path):
    with pytest.warns(pg.ModelWarning, match="reaches its limit"):
        found = pg.invert(FEEDBACK)
    loops = found.feedback
    assert [(r.feedback, r.plant) for r in loops.loops] == [
        ("none", "nominal"),
        ("none", "stiff"),
        ("lqr", "nominal"),
        ("lqr", "stiff"),
    ]
    open_loop, closed = loops["none", "stiff"], loops["lqr", "stiff"]
    error = closed.outputs["z"] - found.desired["z"]
    assert closed.tracking["z"].rms == pytest.approx(np.sqrt(np.mean(error**2)))
    assert closed.tracking["z"].final == error[-1]
    assert abs(closed.tracking["z"].final) < 0.1 * abs(open_loop.tracking["z"].final)
    assert 0 < closed.use["u"].saturated < 0.5
    assert np.abs(closed.given["u"]).max() <= 0.3
    assert closed.use["u"].first_saturated == 0
    gains = loops.gains["lqr"]
    assert gains.F[0].shape == (1, 6) and len(gains.t) == 3
    assert all(p.real.max() < 0 for p in gains.poles)
    (free, law) = loops.monte_carlo
    assert (law.feedback, law.draws, law.failed) == ("lqr", 4, 0)
    assert law.max["z"].largest == law.max_by_draw["z"].max()
    assert law.final["z"].mean < free.final["z"].mean
    assert law.drawn["factor k"].shape == (4,)
    with pytest.raises(KeyError):
        loops["lqr", "soft"]
    found.save(tmp_path / "loops.csv")
    assert "lqr.stiff.z" in (tmp_path / "loops.csv").read_text().splitlines()[0]


def test_draws_depend_on_the_seed_and_not_on_threads():
    def largest(**changes):
        study = {**FEEDBACK, "monte_carlo": {**FEEDBACK["monte_carlo"], **changes}}
        with pytest.warns(pg.ModelWarning):
            return pg.invert(study).feedback.monte_carlo[1].max_by_draw["z"]

    one = largest(threads=1)
    assert np.array_equal(one, largest(threads=2))
    assert not np.array_equal(one, largest(seed=4))


def test_unknown_parameters_of_a_plant_are_refused():
    with pytest.raises(pg.ModelError) as caught:
        pg.invert({**FEEDBACK, "perturbed": [{"factor": {"kk": 2}}]})
    assert caught.value.items[0].id == 1057


def test_stable_inversion_acts_before_the_path_and_the_plant_follows():
    arm = dict(output="z", by="u", to=np.pi / 6, smooth=4)
    found = pg.invert("manipulator_2d", **arm, method="stable", step=0.005)
    stable = found.stable
    assert found.analysis.type == "non-minimum phase"
    assert stable.ends == "eigenspaces" and stable.clamped_begin == []
    # (6.52): (6 d +- sqrt(36 d^2 + 12 k m L^2)) / (m L^2).
    ml2, d = 0.05 * 0.25, 2.5e-5
    root = np.sqrt(36 * d**2 + 12 * 0.5 * ml2)
    assert stable.growing.real == pytest.approx([(6 * d + root) / ml2])
    assert stable.decaying.real == pytest.approx([(6 * d - root) / ml2])
    assert found.t[0] == pytest.approx(-stable.before, abs=0.005)
    assert stable.pre_actuation == pytest.approx(0.2, abs=0.02)
    assert found.tracking_max["z"] < 1e-6
    before = found.t < -1e-9
    # Inputs there are those of the growing internal motion alone.
    growth = np.polyfit(found.t[before], np.log(np.abs(found["u"][before])), 1)[0]
    assert growth == pytest.approx((6 * d + root) / ml2, rel=1e-3)
    assert found.desired["z"][before] == pytest.approx(0, abs=1e-14)
    clamped = pg.invert(
        "manipulator_2d",
        **arm,
        method="stable",
        step=0.005,
        ends="clamped",
        guess="linear",
        before=stable.before,
        after=stable.after,
        verify=False,
    )
    assert clamped.stable.clamped_begin == ["beta"]
    assert clamped["u"] == pytest.approx(found["u"], abs=1e-5 * np.abs(found["u"]).max())


def test_stable_inversion_refuses_what_cannot_be():
    arm = dict(output="z", by="u", to=np.pi / 6, method="stable")
    for change, number in [
        ({"clamp_begin": "gamma"}, 1072),
        ({"step": 0.2}, 1078),
        ({"set": {"k": 0}}, 1071),
    ]:
        with pytest.raises(pg.ModelError) as error:
            pg.invert("manipulator_2d", **arm, **change)
        assert error.value.items[0].id == number
    with pytest.raises(pg.NumericalError):
        pg.invert("manipulator_2d", **arm, tolerance=1e-15)
    with pytest.raises(ValueError, match="ends"):
        pg.invert("manipulator_2d", **arm, ends="sideways")
    with pytest.raises(ValueError, match="clamped beside coordinates to clamp"):
        pg.invert("manipulator_2d", **arm, ends="eigenspaces", clamp_begin="beta")
    with pytest.raises(ValueError, match='until: expected 2, .*, got "5"'):
        pg.invert("manipulator_2d", **arm, after=1, until=5)
    with pytest.raises(ValueError, match="guess"):
        pg.invert("manipulator_2d", **arm, guess="lucky")
    with pytest.raises(ValueError, match="before"):
        pg.invert("manipulator_2d", **arm, before=-1)
    with pytest.raises(ValueError, match="until"):
        pg.invert("manipulator_2d", **arm, until=-1)
    for method, option in [
        ("bdf2", {"ends": "clamped"}),
        ("bdf2", {"tolerance": 1e-3}),
        ("optimal", {"clamp_begin": "beta"}),
        ("stable", {"solver": "direct"}),
        ("stable", {"force": True}),
    ]:
        with pytest.raises(ValueError, match=f"{next(iter(option))}: expected"):
            pg.invert("manipulator_2d", **{**arm, "method": method}, **option)
    study = {
        "model": "manipulator_2d",
        "servo": [{"output": "z", "by": "u"}],
        "path": {"to": [0.5], "duration": 1},
        "method": {"name": "stable", "tolerance": 0},
    }
    with pytest.raises(pg.ModelError) as error:
        pg.invert(study)
    assert error.value.items[0].id == 304


def test_the_solver_of_the_optimal_motion_is_chosen():
    arm = dict(output="z", by="u", to=np.pi / 6, method="optimal", tolerance=1e-4, verify=False)
    direct = pg.invert("manipulator_2d", **arm)
    indirect = pg.invert("manipulator_2d", **arm, solver="indirect")
    assert indirect["u"] == pytest.approx(direct["u"], abs=1e-3 * np.abs(direct["u"]).max())


def test_a_redefined_output_is_followed_and_compared_with_the_true_one() -> None:
    found = pg.invert(
        "flexible_arm",
        output="atan2(tip_y, tip_x)",
        by="drive",
        redefine="theta",
        to=np.pi / 6,
        smooth=4,
        method="bdf2",
        form="original",
        until=2,
        verify=False,
    )
    r = found.redefined
    assert 0.75 < r.limit < 0.77 and abs(r.weight - 0.99 * r.limit) < 1e-12
    assert r.axial is None and len(r.weights) == len(r.zeros) == len(r.worst) == 21
    assert r.truth[0].mean_square < 1e-4 and r.truth[0].unit == "rad"
    assert len(r.truth[0].inverse) == len(found.t) and len(r.truth[0].plant) == 0


def test_a_redefined_output_is_analysed() -> None:
    arm = dict(output="z", by="u")
    assert pg.analyse("manipulator_2d", **arm, redefine="alpha").type == "minimum phase"
    found = pg.analyse("manipulator_2d", **arm, redefine="alpha", weight=0.3)
    assert found.type == "minimum phase" and found.redefined.weight == 0.3
    assert abs(found.redefined.limit - 0.8) < 1e-3 and len(found.redefined.zeros) == 21
    assert found.redefined.truth == []
    with pytest.warns(pg.ModelWarning, match="W1031"):
        assert pg.analyse("manipulator_2d", **arm).redefined is None


def test_a_redefined_output_that_would_diverge_is_refused() -> None:
    with pytest.raises(pg.ModelError) as error:
        pg.invert(
            "flexible_arm",
            output="atan2(tip_y, tip_x)",
            by="drive",
            redefine="theta",
            weight=1,
            to=0.5,
        )
    assert error.value.items[0].id == 1088

"""Poses and identification, against the three-link chain of Čepon et al. computed independently."""

import numpy as np
import pytest

import pantograph as pg

NAMES = ("kA", "kB", "kC")
TRUTH = (21.1, 13.9, 5.77)
# Natural frequencies [Hz] at the true stiffnesses: straight, and in the pose that tells most.
STRAIGHT = {"name": "straight", "frequencies": [16.946036, 83.064916, 229.156590]}
BENT = {
    "name": "bent",
    "at": {"theta_B": "89.11 deg", "theta_C": "-84.95 deg"},
    "frequencies": [22.675497, 58.489879, 101.195716],
}
# All stiffnesses [N m/rad] that give exactly these frequencies: the roots of one linear, one
# quadratic and one cubic equation in 1/k, to the digits given.
EXACT_STRAIGHT = [
    TRUTH,
    (20.0936, 17.5266, 4.8053),
    (45.564, 4.894, 7.589),
    (287.49, 3.940, 1.494),
]
EXACT_BENT = [
    TRUTH,
    (20.709, 46.349, 1.763),
    (74.286, 4.599, 4.953),
    (90.435, 35.484, 0.527),
    (113.05, 28.784, 0.520),
    (127.25, 4.411, 3.015),
]


# Share of each spring (columns) in the strain energy of each mode (rows).
SHARES_STRAIGHT = [[0.7618, 0.2114, 0.0268], [0.2073, 0.4181, 0.3746], [0.0308, 0.3705, 0.5986]]
SHARES_BENT = [[0.8058, 0.1616, 0.0326], [0.1560, 0.8384, 0.0056], [0.0381, 0.0000, 0.9618]]


def study(*poses, **keys):
    limits = {"low": 0.1, "high": 1000}
    return {
        "model": "three_link",
        "parameters": {name: {**limits, "start": start} for name, start in zip(NAMES, (30, 20, 10))},
        "pose": [{**pose, "sigma": 1e-3} for pose in poses],
        **keys,
    }


def matched(solutions, exact):
    """Whether the solutions are the exact ones, each once, to the digits of the latter."""
    values = np.array([[s.values[name] for name in NAMES] for s in solutions])
    distance = np.abs(values[:, None] / np.array(exact) - 1).max(axis=2)
    nearest = distance.argmin(axis=1)
    return sorted(nearest) == list(range(len(exact))) and distance.min(axis=1).max() < 1.5e-3


@pytest.mark.filterwarnings("ignore:.*W0714")
@pytest.mark.parametrize(
    ("pose", "exact", "method", "starts"),
    [
        (STRAIGHT, EXACT_STRAIGHT, "least_squares", 100),
        (BENT, EXACT_BENT, "least_squares", 100),
        (STRAIGHT, EXACT_STRAIGHT, "interior_point", 25),
    ],
)
def test_all_parameter_sets_that_explain_one_pose_are_found(pose, exact, method, starts):
    found = pg.identify(study(pose), method=method, starts=starts)
    explaining = [s for s in found.solutions if s.explains]
    assert not found.unique
    assert matched(explaining, exact)
    assert max(s.error_hz for s in explaining) < 1e-5
    assert any("W0714" in str(w) for w in found.warnings)


def test_two_poses_together_leave_the_true_parameters_alone():
    found = pg.identify(study(STRAIGHT, BENT))
    assert found.unique and not found.warnings
    assert [found[name] for name in NAMES] == pytest.approx(TRUTH, rel=1e-6)
    # Frequencies are given to 1e-6 Hz.
    assert found.error_hz < 1e-6
    # The next minimum of the plain sum of squared frequency errors.
    assert found.solutions[1].error_hz == pytest.approx(14, abs=0.5)
    assert found.converged == found.starts == 100 and 0 < found.unseen < 1


def test_uncertainty_follows_from_that_of_the_frequencies():
    # For 0.1 % of each frequency, from the strain energy shares P: Δf/f = ½ P Δk/k.
    for pose, shares in ((STRAIGHT, SHARES_STRAIGHT), (BENT, SHARES_BENT)):
        own = {**study(pose), "pose": [{**pose, "sigma": [1e-3 * f for f in pose["frequencies"]]}]}
        own["parameters"] = {n: {"low": v / 1.1, "high": v * 1.1} for n, v in zip(NAMES, TRUTH)}
        found = pg.identify(own)
        assert found.unique
        slopes = np.array(shares) / 2
        expected = 1e-3 * np.sqrt(np.diag(np.linalg.inv(slopes.T @ slopes)))
        for name, relative in zip(NAMES, expected):
            p = found.parameters[name]
            assert p.std / p.value == pytest.approx(relative, rel=2e-3)  # shares have four digits
            assert p.interval == pytest.approx((p.value - 1.96 * p.std, p.value + 1.96 * p.std))
            assert not p.bounds_hit and p.bounds[0] < p.value < p.bounds[1]


def test_identified_model_can_be_used_and_saved(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        'model = "three_link"\nset = { kA = 30, m3 = "36.4 g" }\n'
        "[parameters]\nkA = {}\nkB = { start = 20 }\nkC = { low = 3, high = 10 }\n"
        '[[pose]]\nname = "straight"\nfrequencies = [16.946036, "83.064916 Hz", 229.156590]\nsigma = 0.01\n'
        '[[pose]]\nat = { theta_B = "89.11 deg", theta_C = "-84.95 deg" }\n'
        "frequencies = [22.675497, 58.489879, 101.195716]\nsigma = 0.01\n",
        encoding="utf-8",
    )
    found = pg.identify(path, starts=20, seed=3, threads=1)
    assert found.starts == 20
    at = {"theta_B": np.radians(89.11), "theta_C": np.radians(-84.95)}
    assert pg.modes(found.model, at, "here").frequencies_hz == pytest.approx(BENT["frequencies"])
    found.save(tmp_path / "identified.toml")
    text = (tmp_path / "identified.toml").read_text(encoding="utf-8")
    assert "# No gravity." in text and 'm1 = "74.1 g"' in text
    again = pg.load(tmp_path / "identified.toml")
    assert [again.parameters[name] for name in NAMES] == [found[name] for name in NAMES]


def test_a_model_made_in_code_can_be_identified():
    m = pg.Model(space="planar")
    m.parameter("k", "2 N m/rad")
    m.body("b", point_mass={"mass": 2, "at": [1, 0]})
    m.joint("q", "revolute", parent="ground", child="b")
    m.force("s", "torsion_spring", on="q", stiffness="k")
    pose = {"frequencies": [1.0], "sigma": 0.01}
    found = pg.identify({"model": m, "parameters": {"k": {}}, "pose": [pose]})
    assert found["k"] == pytest.approx(2 * (2 * np.pi) ** 2, rel=1e-9)  # k = m l² ω²
    assert found.parameters["k"].std == pytest.approx(0.02 * found["k"], rel=1e-6)
    lighter = {"parameters": {"k": {}}, "pose": [pose], "set": {"b.point_mass.mass": 1}}
    assert pg.identify(lighter, model=m)["k"] == pytest.approx((2 * np.pi) ** 2, rel=1e-9)


def test_measurements_can_be_simulated():
    own = study({"name": "bent", "at": BENT["at"]}, simulate={"noise": 1e-3, "repeats": 2000})
    del own["pose"][0]["sigma"]
    own["parameters"] = {n: {"low": v / 1.5, "high": v * 1.5} for n, v in zip(NAMES, TRUTH)}
    found = pg.identify(own, starts=10)
    assert found.repeats == 2000
    for name, percent in zip(NAMES, (0.27, 0.25, 0.21)):
        # The standard deviation of 2000 readings is known to 1.6 %, the printed one to 0.005.
        assert 100 * found.errors[name].std == pytest.approx(percent, abs=0.02)


def test_bad_studies_are_refused_with_all_findings():
    bad = study({**STRAIGHT, "frequencies": [16.9, -1.0, 229.2]}, metod="least_squares")
    with pytest.raises(pg.ModelError, match="a measured frequency is positive") as caught:
        pg.identify(bad)
    assert {item.id for item in caught.value.items} == {110, 710}
    assert caught.value.items[0].file == __file__
    with pytest.raises(pg.ModelError, match="E0711"):
        pg.identify(study({**STRAIGHT, "frequencies": [16.9, 83.1]}))
    with pytest.raises(pg.ModelError, match="E0201"):
        pg.identify({**study(STRAIGHT), "model": "three_lynk"})
    with pytest.raises(pg.ModelError, match="E0105"):
        pg.identify("missing.toml")
    with pytest.raises(ValueError, match="method"):
        pg.identify(study(STRAIGHT), method="newton")


def fixed(theta_b, theta_c):
    b, c = np.radians([theta_b, theta_c])
    return {"theta_B": (b, b), "theta_C": (c, c)}


@pytest.mark.parametrize(
    ("ranges", "pearson", "shares"),
    [
        (
            fixed(0, 0),
            [[0.942, 0.292, 0.043], [0.333, 0.666, 0.636], [0.045, 0.539, 0.846]],
            SHARES_STRAIGHT,
        ),
        (
            fixed(89.11, -84.95),
            [[0.958, 0.233, 0.049], [0.190, 0.980, 0.028], [0.042, 0.016, 0.997]],
            SHARES_BENT,
        ),
    ],
)
def test_correlations_and_strain_shares_are_those_of_the_independent_computation(
    ranges, pearson, shares
):
    # Three standard errors of 1000 and of 20 000 sets.
    coarse = pg.poses("three_link", NAMES, ranges=ranges, poses=1)
    assert coarse.best.correlation == pytest.approx(np.array(pearson), abs=0.1)
    fine = pg.poses("three_link", NAMES, ranges=ranges, poses=1, samples=20000)
    assert fine.best.correlation == pytest.approx(np.array(pearson), abs=0.02)
    # Half the strain energy of a spring is how much its stiffness moves the frequency.
    assert 2 * fine.best.sensitivity == pytest.approx(np.array(shares), abs=1e-4)


@pytest.fixture(scope="module")
def chain_poses():
    return pg.poses("three_link", NAMES, together=2, threads=1)


def test_the_best_of_a_thousand_poses_is_near_the_corner_of_the_ranges(chain_poses):
    best = chain_poses.best
    b, c = np.degrees([best.q["theta_B"], best.q["theta_C"]])
    assert 75 < abs(b) <= 90 and 75 < abs(c) <= 90 and b * c < 0
    assert best.told_by == {"kA": "f1", "kB": "f2", "kC": "f3"}
    assert chain_poses.score[0] == chain_poses.score.max() == best.score > 0.85
    assert len(chain_poses) == 1000 and len(chain_poses[:3]) == 3 and chain_poses[-1].number >= 0
    with pytest.raises(IndexError):
        chain_poses[1000]


def test_results_do_not_depend_on_the_number_of_threads(chain_poses):
    other = pg.poses("three_link", NAMES, together=2, threads=2)
    assert np.array_equal(other.q, chain_poses.q)
    assert np.array_equal(other.correlation, chain_poses.correlation)
    assert other.chosen == chain_poses.chosen


def test_poses_measured_together_tell_more_than_one(chain_poses):
    first, second = chain_poses.together
    assert first.number != second.number
    assert chain_poses.together_information > max(first.information, second.information)
    s = np.vstack([first.sensitivity, second.sensitivity])
    deviation = np.sqrt(np.diag(np.linalg.inv(s.T @ s)))
    assert chain_poses.together_deviation == pytest.approx(deviation, rel=1e-9)


def test_small_spreads_give_the_local_correlations():
    ranges = fixed(30, 45)
    local = pg.poses("three_link", NAMES, ranges=ranges, poses=1, local=True).best.correlation
    small = pg.poses(
        "three_link", NAMES, ranges=ranges, poses=1, samples=20000, spread=1e-3
    ).best.correlation
    assert small == pytest.approx(local, abs=0.02)


@pytest.mark.filterwarnings("ignore:.*W0705")
def test_closed_loops_and_bad_arguments(fourbar):
    found = pg.poses(fourbar, "m_crank", ranges={"theta": (0, 1)}, poses=20, samples=50)
    assert len(found) == 20 and found.coordinates == list(fourbar.coordinates)
    for pose in found:
        assert np.abs(fourbar.residual(list(pose.q.values()))["phi"]).max() < 1e-9
    with pytest.raises(pg.ModelError, match="E0701.*did you mean"):
        pg.poses(fourbar, ["m_krank"])
    with pytest.raises(pg.ModelError, match="E0506"):
        pg.poses("three_link", "kA", ranges={"theta_X": (0, 1)})
    with pytest.raises(pg.ModelError, match="E0702"):
        pg.poses("three_link", "kA", ranges={"theta_B": (1, 0)})
    with pytest.raises(pg.ModelError, match="E0703"):
        pg.poses("three_link", "pose_B")


def test_a_wider_range_is_recommended_where_the_best_pose_is_at_its_border():
    with pytest.warns(pg.ModelWarning, match="W0705"):
        pg.poses("three_link", NAMES, ranges={"theta_B": (0, 0.2)}, poses=300, samples=50)


def test_progress_can_stop_and_ctrl_c_interrupts(interrupted):
    seen = []
    part = pg.poses("three_link", NAMES, poses=200000, progress=lambda f: seen.append(f) or False)
    assert not part.complete and len(seen) == 1 and 0 < len(part) < 200000
    # Half a minute of work each; 3 s leave room for what is put in order at the end, on a busy machine.
    assert interrupted("pg.poses('three_link', 'kA,kB,kC', poses=200000)") < 3
    assert interrupted(f"pg.identify({study(STRAIGHT, BENT)!r}, starts=10**5)") < 3


def test_figures_and_tables(chain_poses):
    axes = chain_poses.plot()
    assert [t.get_text() for t in axes.get_xticklabels()] == list(NAMES)
    assert [t.get_text() for t in axes.get_yticklabels()] == ["f1", "f2", "f3"]
    assert "theta_B" in repr(chain_poses) and "<table>" in chain_poses._repr_html_()
    found = pg.identify(study(STRAIGHT, BENT), starts=10)
    upper, lower = found.plot()
    assert [t.get_text() for t in upper.get_legend().get_texts()] == ["straight", "bent"]
    assert "Hz" in lower.get_xlabel() and len(found.plot([upper, lower])) == 2
    with pytest.raises(ValueError, match="axes"):
        found.plot(upper)
    assert "kA = 21.1" in repr(found) and "<table>" in found._repr_html_()

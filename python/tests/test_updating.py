"""Model updating from Python."""

import math
import pathlib

import pantograph as pg
import pytest

BELOTTI = pathlib.Path(__file__).resolve().parents[2] / "validation/papers/belotti2018"
STUDY = {
    "model": "three_link",
    "lambda": 0,
    "parameters": {name: {"range": 0.3} for name in ("kA", "kB", "kC")},
    "pose": [{"modes": [1, 2, 3]}],
    "simulate": {"truth": {"kA": 18.0, "kB": 15.0}, "points": [["link2", "y"], ["link3", "y"]]},
}


def quiet(*arguments, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pg.update(*arguments, **options)


def test_the_twin_of_the_manipulator_is_updated_as_on_the_command_line():
    found = quiet(BELOTTI / "twin.toml")
    assert len(found.parameters) == 29
    assert 100 * found.mean_error_before == pytest.approx(4.64, abs=0.01)
    assert 100 * found.mean_error_after == pytest.approx(0.003, abs=0.0005)
    assert found.parameters["m_A1"].unmovable
    assert found.kkt < 1e-10
    printed = quiet(BELOTTI / "twin.toml", as_printed=True)
    assert 100 * printed.mean_error_after == pytest.approx(0.066, abs=0.0005)


def test_the_saved_model_has_the_updated_values_and_keeps_its_comments(tmp_path):
    found = quiet(BELOTTI / "twin.toml")
    found.save(tmp_path / "new.toml")
    old = (BELOTTI / "manipulator.toml").read_text().splitlines()
    new = (tmp_path / "new.toml").read_text().splitlines()
    assert len(old) == len(new)
    changed = [a for a, b in zip(old, new) if a != b]
    assert changed and all("=" in line for line in changed)
    assert pg.load(tmp_path / "new.toml").parameters["E1"] == pytest.approx(found["E1"])


def test_a_dictionary_a_model_and_both_methods():
    for method in ("quadratic", "sensitivity"):
        found = quiet({**STUDY, "model": pg.load("three_link")}, method=method)
        assert found.mean_error_after < found.mean_error_before
        assert math.isnan(found.modes[0].left_out)
    assert "mean error" in repr(found)
    with pytest.raises(ValueError, match="quadratic"):
        quiet(STUDY, method="guess")


def test_modes_without_weight_do_not_count_in_the_mean_error():
    made = quiet({**STUDY, "pose": [{"modes": [1, 2, 3], "weights": [1, 0, 1]}]})
    assert [m.weight for m in made.modes] == [1, 0, 1]
    counted = [abs(m.before / m.measured - 1) for m in made.modes if m.weight > 0]
    assert made.mean_error_before == pytest.approx(sum(counted) / 2)


def test_one_measured_mode_at_one_point_is_a_test():
    lone = {"points": [["link3", "y"]], "frequencies": [1.0], "shapes": [[1.0]], "damping": [0.01]}
    study = {**STUDY, "pose": [lone]}
    del study["simulate"]
    found = quiet(study)
    assert len(found.modes) == 1 and found.modes[0].damping == 0.01
    with pytest.raises(pg.ModelError, match="1 values for 2 frequencies"):
        quiet({**study, "pose": [{**lone, "frequencies": [1.0, 2.0], "damping": [0.01, 0.01]}]})


def test_exact_and_linearised_link_coordinates_are_compared():
    differences = quiet(BELOTTI / "twin.toml").frame_differences
    assert list(differences) == ["measured"]
    assert 0 < differences["measured"] < 0.1  # first order in 1 mm over links of a metre, times the rotation of the shortest


def test_mistakes_are_told():
    with pytest.raises(pg.ModelError, match="link9"):
        quiet({**STUDY, "simulate": {"points": [["link9", "y"]]}})

"""Models from files and from code, parameters, errors and warnings."""

import os
import pickle
import warnings

import numpy as np
import pytest

import pantograph as pg

from conftest import FOURBAR


def fourbar_in_code():
    m = pg.Model(space="planar", gravity=[0, -9.81])
    m.parameter("m_crank", "1 kg")
    m.parameter("L", 2)
    m.body("crank", bar=dict(length=1, mass="m_crank"))
    m.body("coupler", bar=dict(length="L", mass=2))
    m.body("rocker", bar=dict(length="sqrt(13)", mass=4))
    m.joint("theta", "revolute", parent="ground", child="crank")
    m.joint("beta", "revolute", parent="crank.end", child="coupler")
    m.joint("gamma", "revolute", parent=dict(body="ground", at=(4, 0)), child="rocker")
    m.loop("pin", "pin", between=["coupler.end", "rocker.end"])
    m.actuator("motor", "torque", on="theta", input="0.5*sin(t)")
    m.initial(theta=0, guess=dict(beta="90 deg", gamma="146 deg"))
    m.output("theta", "coordinate", of="theta")
    m.output("theta_dot", "speed", of="theta")
    m.output("pin_x", "position", of="coupler.end", axis="x")
    m.output("rocker_y", "position", of="rocker.end", axis="y", in_="crank")
    return m


def broken_in_code():
    m = pg.Model(space="planar")
    m.body("crank", bar=dict(length=1, mass=1))
    m.body("rocker", bar=dict(length=1, mas=1))
    m.joint("theta", "revolute", parent="grund", child="crank")
    m.joint("gamma", "revolute", parent="ground", child="rocker")
    return m


def same_model(a, b):
    assert list(a.parameters.items()) == list(b.parameters.items())
    for names in ("coordinates", "speeds", "inputs", "outputs", "bodies", "joints"):
        assert getattr(a, names) == getattr(b, names)


def same_run(a, b):
    assert list(a) == list(b)
    assert np.array_equal(a.t, b.t)
    for name in a:
        assert np.array_equal(a[name], b[name])


def test_a_model_built_in_code_is_the_model_of_the_file(fourbar):
    built = fourbar_in_code()
    same_model(built, fourbar)
    assert built.parameters.units == fourbar.parameters.units
    assert built.description == fourbar.description
    same_run(pg.simulate(built, until=1), pg.simulate(fourbar, until=1))


def test_a_model_from_a_dictionary_is_the_model_of_the_file(fourbar):
    built = pg.Model.from_dict(fourbar.description)
    same_model(built, fourbar)
    same_run(pg.simulate(built, until=0.2), pg.simulate(fourbar, until=0.2))


def test_numpy_values_describe_a_model(fourbar):
    built = pg.Model("planar", gravity=np.array([0, -9.81]))
    built.body("rod", point_mass=dict(mass=np.float64(2), at=np.array([1, 0])))
    built.joint("phi", "revolute", parent="ground", child="rod")
    assert built.parameters["rod.point_mass.mass"] == 2
    assert built.mass_matrix(np.zeros(1)) == pytest.approx(np.array([[2]]), rel=1e-15)


def test_names_and_units_are_known(fourbar):
    assert fourbar.name == "fourbar"
    assert fourbar.space == "planar"
    assert list(fourbar.coordinates) == ["theta", "beta", "gamma"]
    assert fourbar.speeds == dict.fromkeys(("theta_dot", "beta_dot", "gamma_dot"), "rad/s")
    assert fourbar.inputs == {"motor": "N m"}
    assert list(fourbar.outputs) == ["theta", "theta_dot", "pin_x", "rocker_y"]
    assert (fourbar.outputs["theta_dot"], fourbar.outputs["pin_x"]) == ("rad/s", "m")
    assert fourbar.joints == dict.fromkeys(("theta", "beta", "gamma"), "revolute")
    assert fourbar.constraints == {"pin": "pin"}
    assert fourbar.forces == {}
    assert fourbar.bodies == ["crank", "coupler", "rocker"]
    assert fourbar.parameters["L"] == 2
    assert fourbar.parameters.units["m_crank"] == "kg"
    assert "sqrt(13)" not in fourbar.parameters
    assert "fourbar" in repr(fourbar)


def test_other_parameters_share_the_compiled_model(fourbar):
    heavy = fourbar.with_parameters(m_crank=2)
    assert heavy.parameters["m_crank"] == 2
    assert fourbar.parameters["m_crank"] == 1
    q = fourbar.initial_state()[0]
    gain = heavy.mass_matrix(q) - fourbar.mass_matrix(q)
    # One more kilogram on a uniform crank of 1 m; round-off.
    assert gain[0, 0] == pytest.approx(1 / 3, rel=1e-12)


def test_changed_and_compiled_parameters_give_the_same_motion(folder, fourbar):
    changed = fourbar.with_parameters({"m_crank": 1.7}, L=2.125)
    loaded = pg.load(folder / "fourbar.toml", m_crank=1.7, set={"L": 2.125})
    same_model(changed, loaded)
    same_run(pg.simulate(changed, until=0.2), pg.simulate(loaded, until=0.2))
    same_run(
        pg.simulate(fourbar, until=0.2, set={"L": 2.125, "m_crank": "1700 g"}),
        pg.simulate(loaded, until=0.2),
    )


def test_quantities_and_expressions_are_values_of_parameters(fourbar):
    assert fourbar.with_parameters(L="2100 mm").parameters["L"] == pytest.approx(2.1, rel=1e-15)
    double = fourbar.with_parameters(L="2*m_crank*1 m/(1 kg)")
    assert "L" not in double.parameters


def test_an_unknown_parameter_is_refused_with_a_suggestion(fourbar):
    with pytest.raises(pg.ModelError, match='did you mean "m_crank"') as caught:
        fourbar.with_parameters(m_crnk=2)
    assert [item.id for item in caught.value.items] == [203]
    with pytest.raises(ValueError, match="finite"):
        fourbar.with_parameters(L=float("nan"))
    with pytest.raises(TypeError, match="L"):
        fourbar.with_parameters(L=[2])


def test_editing_a_model_leaves_its_copies_alone(fourbar):
    copy = fourbar.with_parameters(L=2.1)
    copy.output("gamma", "coordinate", of="gamma")
    assert list(copy.outputs) == [*fourbar.outputs, "gamma"]
    assert copy.parameters["L"] == 2.1
    assert "gamma" not in fourbar.outputs


def test_a_saved_model_reads_back_as_it_is(fourbar, tmp_path):
    assert fourbar.to_toml() == FOURBAR
    changed = fourbar.with_parameters({"rocker.bar.mass": 4.25}, m_crank=1.1)
    changed.save(tmp_path / "copy.toml")
    text = (tmp_path / "copy.toml").read_text()
    assert text == FOURBAR.replace('"1 kg"', '"1.1 kg"').replace("mass = 4 }", "mass = 4.25 }")
    same_model(pg.load(tmp_path / "copy.toml"), changed)
    changed.output("gamma", "coordinate", of="gamma")
    changed.save(tmp_path / "copy.toml")
    same_model(pg.load(tmp_path / "copy.toml"), changed)
    built = fourbar_in_code()
    built.save(tmp_path / "copy.toml")
    same_model(pg.load(tmp_path / "copy.toml"), built)
    with pytest.raises(OSError):
        built.save(tmp_path / "nowhere" / "copy.toml")
    assert os.listdir(tmp_path) == ["copy.toml"]


def test_sizes_of_repeats_are_parameters_of_load():
    if "n_four_bar" not in pg.models():
        pytest.skip("the zoo has no n_four_bar")
    small, large = pg.load("n_four_bar", N=2), pg.load("n_four_bar", N=4)
    assert len(large.bodies) - len(small.bodies) == 4


def test_all_errors_are_reported_with_their_places(folder):
    path = folder / "broken.toml"
    path.write_text('space = "planar"\nbody = [{ name = "a", mas = 1 }]\ngravty = [0, 1]\n')
    with pytest.raises(pg.ModelError) as caught:
        pg.load(path)
    items = {item.line: item for item in caught.value.items if item.severity == "error"}
    assert {2, 3} <= set(items)
    assert items[3].file.endswith("broken.toml")
    assert items[3].column == 1
    assert items[3].id == 110
    assert 'did you mean "gravity"' in items[3].message
    assert items[3].hint == 'did you mean "gravity"?'
    assert str(items[3]) in str(caught.value)
    assert str(items[3]).startswith(f"{path}:3:1: error[E0")
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.items == caught.value.items


def test_errors_of_a_model_in_code_name_the_python_statement():
    m = broken_in_code()
    with pytest.raises(pg.ModelError) as caught:
        m.compile()
    first = broken_in_code.__code__.co_firstlineno
    places = {(item.file, item.line - first) for item in caught.value.items}
    assert {(__file__, 3), (__file__, 4)} <= places


def test_values_that_no_file_could_hold_are_refused():
    with pytest.raises(TypeError, match=r"body.bar.mass: a complex cannot be part of a model"):
        pg.Model("planar").body("rod", bar=dict(mass=1j))
    with pytest.raises(TypeError, match="keys of a table are text"):
        pg.Model.from_dict({1: 2})
    inside = []
    inside.append(inside)
    with pytest.raises(ValueError, match="nested"):
        pg.Model("planar", body=inside)


def test_a_missing_file_is_a_model_error():
    with pytest.raises(pg.ModelError):
        pg.load("./no_such_file.toml")
    with pytest.raises(pg.ModelError):
        pg.load("no_such_model")


def test_warnings_go_through_python():
    m = pg.Model("planar")
    m.body("light")
    m.joint("phi", "revolute", parent="ground", child="light")
    with pytest.warns(pg.ModelWarning, match="mass") as caught:
        m.compile()
    assert caught[0].filename == __file__
    assert m.warnings[0].severity == "warning"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.compile()

"""Kinematic and two-stage observers from Python."""

import numpy as np
import pytest

import pantograph as pg

SETTINGS = {"kinematic": {}, "forces": {"unknown": [{"name": "F", "walk": 100}]}}


@pytest.fixture(scope="module")
def machine():
    """A simulated slider-crank: the run, and its readings by sensor."""
    run = pg.simulate("slider_crank", until=1, at=np.arange(0, 1.0001, 0.002), seed=1)
    return run, {name: (m.t, m.values) for name, m in run.measured.items()}


def test_a_log_gives_motion_and_forces_with_their_uncertainty(machine, tmp_path):
    run, readings = machine
    found = pg.observe("slider_crank", readings, settings=SETTINGS, outputs=["slider_x"])
    assert isinstance(found, pg.KinematicEstimates) and len(found.t) == 500 and found.complete
    assert list(found.values) == ["theta", "theta_dot", "theta_ddot", "force F", "slider_x"]
    assert found.units["force F"] == "N" and found.units["theta_ddot"] == "rad/s^2"
    error = found["theta"] - np.interp(found.t, run.t, run["theta"])
    assert np.mean(np.abs(error) < 1.96 * found.sigma["theta"]) > 0.9
    assert 0.7 < found.nis_mean < 1.2
    assert found.zone.dtype == bool and 0 < found.zone.mean() < 0.2
    assert found.counts.steps == 500 and found.counts.crossings > 0
    assert found.channels["torque_meter"].role == "force"
    assert set(found.readings["crank_encoder"]) == {"used"}
    # The same from files, of readings and of settings.
    run.save(tmp_path / "run.h5")
    (tmp_path / "kkf.toml").write_text(
        '[kinematic]\n[forces]\nunknown = [{ name = "F", walk = 100 }]\n', encoding="utf-8"
    )
    again = pg.observe("slider_crank", tmp_path / "run.h5", settings=tmp_path / "kkf.toml")
    assert np.array_equal(again["theta"], found["theta"])
    assert np.allclose(again["force F"], found["force F"], rtol=0, atol=1e-6)
    with pytest.raises(KeyError, match="slider_v"):
        found["slider_v"]


def test_readings_one_by_one_are_those_of_the_log(machine):
    _, readings = machine
    observer = pg.TwoStageObserver("slider_crank", settings=SETTINGS)
    for k in range(200):
        at = readings["crank_encoder"][0][k]
        estimate = observer.step(at, {name: y[k] for name, (_, y) in readings.items()})
    head = {name: (t[:200], y[:200]) for name, (t, y) in readings.items()}
    log = pg.observe("slider_crank", head, settings=SETTINGS)
    for name in ("theta", "theta_dot", "force F"):
        assert estimate[name] == log[name][-1]
        assert estimate.sigma[name] == log.sigma[name][-1]
    assert observer.q[0] == estimate["theta"] and observer.v[0] == estimate["theta_dot"]
    assert observer.a[0] == estimate["theta_ddot"] and observer.forces[0] == estimate["force F"]
    assert estimate.stamp == "good" and estimate.readings["crank_encoder"] == "used"
    assert observer.counts.steps == 199 and observer.channels["crank_encoder"].used == 199
    again = observer.step(0.1, {"crank_encoder": 1.0})
    assert again.stamp == "backward" and again["theta"] == estimate["theta"]
    assert observer.counts.backward == 1
    with pytest.raises(ValueError, match="no channel in use"):
        observer.step(1, {"slider_x": 1})


def test_it_starts_anywhere():
    settings = {"kinematic": {"enter": 0.01, "fallback_noise": {"speed": 1}, "sigma_top": 10}}
    observer = pg.KinematicObserver("slider_crank", settings=settings)
    q, _ = pg.load("slider_crank", set={"initial.theta": 0.5}).initial_state()
    first = observer.start(3.0, {"slider_accelerometer": 0.0}, q=q, v=[2.0, 0, 0])
    assert first.t == 3 and first["theta"] == pytest.approx(0.5) and first["theta_dot"] == 2
    with pytest.raises(ValueError, match="TwoStageObserver"):
        pg.KinematicObserver("slider_crank", settings=SETTINGS)
    with pytest.raises(ValueError, match=r"needs \[forces\]"):
        pg.TwoStageObserver("slider_crank", settings=settings)


def test_a_force_follows_a_law_of_the_user(machine):
    _, readings = machine
    asked = []

    def stay(t, dt, force):
        asked.append((t, dt))
        return force

    forces = {"unknown": [{"name": "F", "law": stay, "walk": 100}]}
    found = pg.observe("slider_crank", readings, settings={"kinematic": {}, "forces": forces})
    assert len(asked) > 500 and asked[0][1] == pytest.approx(0.002)
    walk = pg.observe("slider_crank", readings, settings=SETTINGS)
    assert np.array_equal(found["theta"], walk["theta"])
    assert np.array_equal(found["force F"], walk["force F"])

    forces["unknown"][0]["law"] = lambda t, dt, force: force * np.exp(-10 * dt)
    other = pg.observe("slider_crank", readings, settings={"kinematic": {}, "forces": forces})
    assert np.array_equal(other["theta"], walk["theta"])  # nothing goes back
    assert not np.array_equal(other["force F"], walk["force F"])

    def broken(t, dt, force):
        raise RuntimeError("no law")

    forces["unknown"][0]["law"] = broken
    with pytest.raises(RuntimeError, match="no law"):
        pg.observe("slider_crank", readings, settings={"kinematic": {}, "forces": forces})


def test_advice_checks_and_ranks():
    advice = pg.advise(
        "slider_crank_inline",
        settings={"kinematic": {"dt": 0.001}},
        candidates={"slider_accelerometer": 0.03, "theta1_ddot": 0.5, "theta1": 0.003},
    )
    assert advice.degrees_of_freedom == 1 and "1 independent sensor" in advice.needed
    assert not advice.check.exists and advice.check.observable
    # Dead centres: crank and rod in line, the crank upright.
    for poses in advice.check.failing:
        assert abs(np.cos(poses.pose["theta1"])) < 0.3 and poses.begin <= poses.worst <= poses.end
    best, other = advice.sets
    assert best.inputs == ["theta1_ddot"] and best.exists
    assert other.inputs == ["slider_accelerometer"] and "places" in other.words
    assert other.deviations["theta1"] > 0


def test_wrong_settings_and_arguments_say_what_is_wrong(machine):
    _, readings = machine
    with pytest.raises(pg.ModelError, match="E0110.*did you mean \"top\""):
        pg.observe("slider_crank", readings, settings={"kinematic": {"toop": "none"}})
    with pytest.raises(pg.ModelError, match="E0801"):
        pg.observe("slider_crank", readings, settings={"kinematic": {}}, filter="dekf")
    with pytest.raises(pg.ModelError, match="E0805"):
        pg.observe("slider_crank", readings, settings={"kinematic": {}}, outputs=["torque"])
    with pytest.raises(ValueError, match="smooth"):
        pg.observe("slider_crank", readings, settings={"kinematic": {}}, smooth=True)
    with pytest.raises(ValueError, match="largest"):
        pg.advise("slider_crank", settings={"kinematic": {}}, largest=2)
    with pytest.raises(ValueError, match="spare"):
        pg.advise("slider_crank", spare=1)
    with pytest.raises(ValueError, match="gate"):
        pg.KinematicObserver("slider_crank", settings={"kinematic": {}}, gate=2)

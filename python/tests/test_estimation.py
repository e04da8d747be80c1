"""Twin studies from Python."""

import numpy as np
import pytest

import pantograph as pg

STUDY = {
    "model": "fourbar_sanjurjo",
    "truth": {"integrator": "trapezoidal"},
    "until": 10,
    "dt": 0.005,
    "noise": "splitmix64",
    "seeds": [1],
    "channels": ["theta"],
    "rates": ["200 Hz", "10 Hz"],
    "error": [{"name": "high", "set": {"g": 9, "initial.theta": "pi/3 + pi/16"}}],
    "sensors": [{"name": "encoder", "use": ["crank_encoder"]}],
    "filter": [{"filter": "dekf", "acceleration_noise": "5.25*pi/180"}],
}


def test_a_given_noise_sequence_gives_the_published_error():
    result = pg.observe(STUDY)
    at = {run.rate_hz: run.rmse["theta"] for run in result.rows}
    # Measured with the authors' implementation of Sanjurjo et al. (2017) on this sequence.
    assert at[200] == pytest.approx(5.283e-3, rel=1e-3)
    assert at[10] == pytest.approx(25.496e-3, rel=1e-3)
    assert result.complete and result.units == ["rad"]


def test_series_hold_truth_estimate_and_band():
    result = pg.observe(STUDY, series=True)
    series = result.series[0]
    truth, estimate, sigma = series.channels["theta"]
    assert len(series.t) == len(truth) == 2000
    rms = np.sqrt(np.mean((truth - estimate) ** 2))
    assert rms == pytest.approx(result.rows[0].rmse["theta"], rel=1e-12)
    inside = np.mean(np.abs(truth - estimate) <= 1.9599639845400545 * sigma)
    assert inside == pytest.approx(result.rows[0].coverage95, abs=1e-12)
    t, innovation, spread = series.innovations["crank_encoder"]
    nis = np.mean((innovation / spread) ** 2)
    assert nis == pytest.approx(result.rows[0].nis_mean, rel=1e-9)


def test_results_do_not_depend_on_threads():
    one = pg.observe(STUDY, seeds=3, threads=1)
    two = pg.observe(STUDY, seeds=3, threads=2)
    assert [r.rmse for r in one.rows] == [r.rmse for r in two.rows]
    assert one.cells[0].runs == 3


def test_wrong_studies_say_what_is_wrong():
    with pytest.raises(pg.ModelError, match="E0801.*did you mean"):
        pg.observe({**STUDY, "filter": ["dekff"]})
    with pytest.raises(pg.ModelError, match="E0802"):
        pg.observe({**STUDY, "sensors": [{"name": "x", "use": ["crank_encodr"]}]})
    with pytest.raises(pg.ModelError, match="E0804"):
        pg.observe({**STUDY, "filter": [{"filter": "ukf", "sigma_coordinates": 0}]})
    with pytest.raises(pg.ModelError, match="E0807"):
        pg.observe({**STUDY, "rates": ["333 Hz"]})
    with pytest.raises(pg.ModelError, match="E0809"):
        pg.observe({**STUDY, "channels": ["nothing"]})


def test_the_list_of_filters():
    assert {"dekf", "ukf", "ss_ukf", "particle"} <= set(pg.filters())


@pytest.fixture(scope="module")
def machine():
    """A simulated machine: the run, and its readings by sensor."""
    run = pg.simulate("fourbar_sanjurjo", until=3, at=np.arange(0, 3.0001, 0.005), seed=1)
    return run, {name: (m.t, m.values) for name, m in run.measured.items()}


def error(run, estimates, name):
    truth = np.interp(estimates.t, run.t, run[name])
    return np.sqrt(np.mean((estimates[name] - truth) ** 2))


def test_a_log_gives_estimates_with_their_uncertainty(machine, tmp_path):
    run, readings = machine
    found = pg.observe("fourbar_sanjurjo", readings, filter="error_ekf_ej", outputs=["pin_x"])
    assert found.units["theta"] == "rad" and found.complete and len(found.t) == 601
    assert set(found.values) == {"theta", "theta_dot", "pin_x"}
    assert error(run, found, "theta") < 0.01
    assert 0.5 < found.nis_mean < 1.2
    assert found.sensors["crank_encoder"].readings == 601
    # The file of the same readings gives the same numbers.
    run.save(tmp_path / "run.h5")
    again = pg.observe(
        "fourbar_sanjurjo", tmp_path / "run.h5", filter="error_ekf_ej", outputs=["pin_x"]
    )
    assert np.array_equal(again["theta"], found["theta"])
    with pytest.raises(KeyError, match="pin_y"):
        found["pin_y"]


def test_later_readings_make_estimates_better(machine):
    run, readings = machine
    encoder = {"crank_encoder": readings["crank_encoder"]}
    filtered = pg.observe("fourbar_sanjurjo", encoder)
    lagged = pg.observe("fourbar_sanjurjo", encoder, smooth=0.05)
    smoothed = pg.observe("fourbar_sanjurjo", encoder, smooth=True)
    assert error(run, smoothed, "theta") < 0.7 * error(run, filtered, "theta")
    middle = len(filtered.t) // 2
    sigmas = [e.sigma["theta"][middle] for e in (smoothed, lagged, filtered)]
    assert sigmas == sorted(sigmas) and sigmas[0] < sigmas[2]
    with pytest.raises(pg.ModelError, match="E0805"):
        pg.observe("fourbar_sanjurjo", encoder, smooth=True, filter="particle")


def test_readings_one_by_one_are_those_of_the_log(machine):
    _, readings = machine
    t, y = readings["crank_encoder"]
    observer = pg.Observer("fourbar_sanjurjo", filter="ukf", sensors=["crank_encoder"], dt=0.005)
    for k in range(200):
        estimate = observer.step(t[k], {"crank_encoder": y[k]})
    log = pg.observe("fourbar_sanjurjo", {"t": t[:200], "crank_encoder": y[:200]}, filter="ukf")
    assert estimate["theta"] == log["theta"][-1]
    assert estimate.sigma["theta"] == log.sigma["theta"][-1]
    assert estimate.nis == log.nis[-1]
    assert observer.units["theta_dot"] == "rad/s" and observer.restarts == 0
    assert observer.sensors["crank_encoder"].readings == 200
    with pytest.raises(ValueError, match="older than the lag"):
        observer.step(0, {"crank_encoder": 1})
    with pytest.raises(ValueError, match="too far ahead"):
        observer.step(1e9, {"crank_encoder": 1})
    with pytest.raises(ValueError, match="no sensor in use"):
        observer.step(1, {"crank_gyro": 1})


def test_noise_is_found_from_a_log_and_its_settings_are_taken_again(machine):
    _, readings = machine
    used = {name: readings[name] for name in ("crank_encoder", "crank_gyro")}
    with pytest.warns(pg.ModelWarning, match="W0833"):  # the simulated machine has no disturbance
        tuning = pg.tune("fourbar_sanjurjo", used, filter="error_ekf_ej", tune_sensors=True)
    assert tuning.chosen.log_likelihood > tuning.start.log_likelihood
    assert tuning.noise["theta_dot"] < tuning.points[0].noise["theta_dot"]
    assert tuning.sigma["crank_encoder"] == pytest.approx(np.pi / 180, rel=0.2)
    assert tuning.chosen.p_value > 0.01 and len(tuning.chosen.autocorrelation) == 20
    again = pg.observe("fourbar_sanjurjo", used, settings=tuning.settings)
    assert again.filter == "error_ekf_ej"
    assert again.nis_mean == pytest.approx(tuning.chosen.nis, rel=1e-9)


def test_the_filters_of_a_study_are_tuned():
    study = {**STUDY, "until": 5, "filter": [{"filter": "dekf", "acceleration_noise": 1e-4}]}
    (tuning,) = pg.tune(study)
    assert (tuning.filter, tuning.sensors, tuning.error_level) == ("dekf", "encoder", "high")
    assert tuning.rate_hz == 200
    better = pg.observe({**study, "filter": [tuning.settings]})
    assert better.rows[0].rmse["theta"] < pg.observe(study).rows[0].rmse["theta"]


def test_lost_filters_are_noticed_and_restarted():
    study = {
        **STUDY,
        "rates": ["200 Hz"],
        "error": [{"name": "gravity", "set": {"g": 9}}],
        "filter": [{"filter": "dekf_exact", "acceleration_noise": 1e-6}],
    }
    never = pg.observe(study)
    present = pg.observe({**study, "restart": "present"})
    assert never.rows[0].lost >= 1 and never.cells[0].lost == 1 and never.rows[0].restarts == 0
    assert present.rows[0].restarts >= 1
    assert present.rows[0].rmse["theta"] < 0.6 * never.rows[0].rmse["theta"]
    assert np.isnan(pg.observe(STUDY).rows[0].lost_at)


def test_sensors_are_ranked_and_what_they_hide_is_named():
    advice = pg.advise("fourbar_sanjurjo", filter="dekf")
    assert [s.sensors for s in advice.sets][0] == ["crank_encoder"]
    worst = advice.sets[-1]
    assert not worst.observable and worst.seen_least == {"theta": "theta (crank angle)"}
    pairs = pg.advise("fourbar_sanjurjo", candidates={"theta": 0.01, "theta_dot": 0.1}, largest=2)
    assert len(pairs.sets) == 3
    with pytest.raises(pg.ModelError, match="E0832"):
        pg.advise("pendulum")


def test_wrong_logs_and_settings_say_what_is_wrong(machine):
    _, readings = machine
    with pytest.raises(pg.ModelError, match="E0801.*did you mean"):
        pg.observe("fourbar_sanjurjo", readings, filter="ukff")
    with pytest.raises(pg.ModelError, match="E0110.*gatee"):
        pg.observe("fourbar_sanjurjo", readings, settings={"gatee": 5})
    with pytest.raises(pg.ModelError, match="E0802"):
        pg.observe("fourbar_sanjurjo", readings, outputs=["pin_z"])
    with pytest.raises(ValueError, match="no output or input"):
        pg.observe("fourbar_sanjurjo", {"t": [0, 1], "crank_encodr": [1, 1]})
    with pytest.raises(ValueError, match="finite time"):
        pg.observe("fourbar_sanjurjo", {"t": [0], "crank_encoder": [1, 1]})
    with pytest.raises(ValueError, match="gate"):
        pg.observe("fourbar_sanjurjo", readings, gate=2)
    with pytest.raises(ValueError, match="restart"):
        pg.observe("fourbar_sanjurjo", readings, restart="always")
    with pytest.raises(ValueError, match="missing"):
        pg.observe(pg.load("fourbar_sanjurjo"))

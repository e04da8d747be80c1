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

"""Simulated hammer tests and modal analysis from Python."""

import warnings

import numpy as np
import pantograph as pg
import pytest

POINTS = ["link.n2:y", "link.n3:y", "link.n4:y", "link.end:y"]
SETTINGS = dict(damping=0.01, rate=512, record=12, pulse=0.006, band=(3, 60))


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def test_the_modes_of_a_model_are_found_in_its_hammer_test(tmp_path):
    test = quiet(pg.impact, "single_flexible_link", POINTS, ["link.end:y"], noise=0.01, **SETTINGS)
    assert test.data.h.shape == (len(test.data.frequency_hz), 4, 1) == test.exact.shape
    assert test.data.coherence.max() <= 1 + 1e-12
    assert test.error < 0.05 and len(test.time) == 512 * 12
    found = quiet(pg.ema, test, order=20)
    # Modes along the link do not move these points.
    known = [m for m in test.modes if abs(m[2]).max() > 0 and any(abs(m[0] / f - 1) < 0.01 for f in found.frequencies_hz)]
    assert len(known) == len(found.modes) >= 3
    for mode, (frequency, damping, shape) in zip(found.modes, known):
        assert mode.frequency_hz == pytest.approx(frequency, rel=1e-3)
        assert mode.damping == pytest.approx(damping, rel=0.05)
        assert abs(np.vdot(mode.shape, shape)) ** 2 > 0.99 * np.vdot(shape, shape).real * np.vdot(mode.shape, mode.shape).real
    assert found.diagram.shape[1] == 4 and found.correlation.shape == (4, 1)
    found.save(tmp_path / "modes.toml")
    assert "frequency" in (tmp_path / "modes.toml").read_text()


def test_files_hold_the_responses(tmp_path):
    test = quiet(pg.impact, "single_flexible_link", POINTS[-2:], **SETTINGS)
    for name in ("frf.uff", "frf.csv", "frf.h5"):
        test.save(tmp_path / name)
        back = pg.read_responses(tmp_path / name)
        assert back.responses == test.data.responses and back.motion == "acceleration"
        assert np.array_equal(back["link.end:y", "link.n4:y"], test.data["link.end:y", "link.n4:y"])
        assert back.window_decay == pytest.approx(-np.log(0.9) / 12)
    back = pg.read_responses(tmp_path / "frf.uff")  # the only format with positions
    back.save(tmp_path / "again.uff")
    for again in (back, pg.read_responses(tmp_path / "again.uff")):
        assert set(again.positions) == {"link.n4", "link.end"}
        assert again.positions["link.end"] == pytest.approx(test.data.positions["link.end"], abs=1e-5)  # six digits


def test_mistakes_are_told():
    with pytest.raises(pg.ModelError, match="link.tip"):
        pg.impact("single_flexible_link", ["link.tip:y"])
    with pytest.raises(ValueError, match="tip:y"):
        pg.impact("single_flexible_link", ["link.end"])
    with pytest.raises(ValueError, match="axes"):
        pg.impact("single_flexible_link", POINTS, axes="sky")
    lines = np.linspace(1, 10, 100)
    data = pg.FrequencyResponses(["a:y"], ["a:y"], lines, np.ones((100, 1, 1), dtype=complex))
    with pytest.raises(pg.NumericalError, match="no pole is stable"):
        pg.ema(data)
    with pytest.raises(ValueError, match="lines x responses"):
        pg.ema(pg.FrequencyResponses(["a:y"], ["a:y"], lines, np.ones((100, 2, 2), dtype=complex)))

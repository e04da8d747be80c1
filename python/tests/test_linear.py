"""Linearisation and modes."""

import numpy as np
import pantograph as pg
import pytest


def test_modes_of_the_three_link_chain_are_those_of_the_independent_computation():
    m = pg.modes("three_link", {"theta_B": np.pi / 2, "theta_C": -np.pi / 2}, "here")
    assert m.frequencies_hz == pytest.approx([22.999028, 58.742953, 99.181812], rel=1e-7)
    assert m.strain.sum(axis=0) == pytest.approx(np.ones(3))
    assert m.stable and m.elements == ["spring_A", "spring_B", "spring_C"]


def test_state_matrix_and_minimal_form_have_the_same_frequencies():
    s = pg.linearize("fourbar_f1")
    w = np.sqrt(s.K_z[0, 0] / s.M_z[0, 0])
    assert np.abs(np.linalg.eigvals(s.A).imag).max() == pytest.approx(w, rel=1e-12)
    assert np.abs(s.G @ s.R).max() < 1e-12


def test_unknown_coordinates_are_refused_with_a_suggestion():
    with pytest.raises(pg.ModelError, match="did you mean"):
        pg.modes("three_link", {"theta_X": 0.0})
    with pytest.raises(ValueError, match="where"):
        pg.modes("three_link", where="there")


def test_along_a_motion_the_matrices_come_stacked_over_time():
    s = pg.linearize_along("fourbar_f1", until=0.5, sample=0.1)
    assert s.time == pytest.approx(np.linspace(0, 0.5, 6))
    assert s.A.shape == (6, 2, 2) and s.C_x.shape == (6, len(s.outputs), 2)
    assert s.states == ["theta", "theta_dot"]
    assert s.q.shape == (6, 3) and s.B_x.shape == (6, 2, 0)
    run = pg.simulate("fourbar_f1", until=0.5, sample=0.1)
    again = pg.linearize_along("fourbar_f1", run)
    assert np.allclose(again.A, s.A, rtol=1e-6)
    moving = pg.linearize_along("fourbar_f1", at={"theta_dot": 3.0}, until=0.1, sample=0.1)
    assert moving.v[0, 0] == pytest.approx(3)


def test_along_a_motion_at_rest_is_the_linear_model_of_the_equilibrium():
    rest = pg.linearize("pendulum")
    along = pg.linearize_along("pendulum", pg.simulate("pendulum", until=1, sample=0.5, q=rest.q, v=rest.v))
    for a in along.A:
        assert a == pytest.approx(rest.A, abs=1e-7)


def test_a_motion_of_another_model_or_two_motions_are_refused():
    run = pg.simulate("pendulum", until=0.1)
    with pytest.raises(pg.ModelError, match="double_pendulum"):
        pg.linearize_along("double_pendulum", run)
    with pytest.raises(ValueError, match="not both"):
        pg.linearize_along("pendulum", run, until=1)
    with pytest.raises(pg.ModelError, match="until"):
        pg.linearize_along("pendulum", until=-1)

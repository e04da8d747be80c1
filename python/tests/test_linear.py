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

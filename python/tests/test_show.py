"""What models and runs look like: plots, notebooks, tables."""

import html
import re
import sys
import types

import matplotlib.pyplot as plt
import numpy as np
import pytest

import pantograph as pg


@pytest.fixture
def run(fourbar):
    return pg.simulate(fourbar, until=0.5)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def cells(page):
    """Rows of all tables as lists of text."""
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    return [[html.unescape(c) for c in re.findall(r"<t[hd]>(.*?)</t[hd]>", row)] for row in rows]


def test_a_plot_has_one_axes_for_each_unit(run):
    axes = run.plot("theta", "beta", "theta_dot", "pin_x")
    assert [ax.get_ylabel() for ax in axes] == ["[rad]", "theta_dot [rad/s]", "pin_x [m]"]
    assert [len(ax.lines) for ax in axes] == [2, 1, 1]
    assert axes[-1].get_xlabel() == "t [s]"
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == ["theta", "beta"]
    assert np.array_equal(axes[0].lines[1].get_ydata(), run.q["beta"])
    axes[0].figure.canvas.draw()


def test_a_plot_without_names_shows_all_outputs(run):
    assert sum(len(ax.lines) for ax in run.plot()) == len(run)


def test_angles_are_drawn_in_degrees_where_asked(run):
    angle, rate = run.plot("theta", "theta_dot", degrees=True)
    assert (angle.get_ylabel(), rate.get_ylabel()) == ("theta [deg]", "theta_dot [deg/s]")
    assert angle.lines[0].get_ydata() == pytest.approx(np.degrees(run["theta"]))
    (position,) = run.plot("pin_x", degrees=True)
    assert np.array_equal(position.lines[0].get_ydata(), run["pin_x"])


def test_a_second_run_is_drawn_over_the_first(run, fourbar):
    axes = run.plot("theta", label="light")
    other = pg.simulate(fourbar.with_parameters(m_crank=2), until=0.5)
    assert other.plot("theta", label="heavy", axes=axes) == axes
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert texts == ["theta, light", "theta, heavy"]
    assert other.plot("theta", axes=axes[0]) == axes
    assert len(axes[0].lines) == 3
    with pytest.raises(ValueError, match="expected 2"):
        other.plot("theta", "pin_x", axes=axes)


def test_an_unknown_name_is_refused_with_those_that_exist(run):
    with pytest.raises(KeyError, match="has no 'thet'; it has .*theta"):
        run.plot("thet")
    with pytest.raises(KeyError, match="has no 'thet'"):
        run.unit("thet")


def test_a_notebook_shows_outputs_with_their_ranges_and_the_audit(run):
    rows = cells(run._repr_html_())
    assert ["output", "unit", "min", "max", "last"] in rows
    x = run["pin_x"]
    assert ["pin_x", "m", f"{x.min():.6g}", f"{x.max():.6g}", f"{x[-1]:.6g}"] in rows
    assert ["largest drift of energy", f"{run.energy.max_drift:.6g}", "J"] in rows
    position = f"{run.constraint_violation.position:.6g}"
    assert ["constraints, positions", position, "m, rad"] in rows


def test_a_notebook_shows_the_report_where_there_is_one(run):
    class WithReport(pg.Run):
        def to_html(self):
            return '<p class="a">1 < 2</p>'

    page = WithReport(run._core)._repr_html_()
    (inside,) = re.findall(r'<iframe srcdoc="([^"]*)"', page)
    assert html.unescape(inside) == '<p class="a">1 < 2</p>'


def test_an_empty_run_can_be_shown(fourbar):
    r = pg.simulate(fourbar, until=1e5, sample=1e4, progress=lambda _: False)
    assert "energy at the start" in r._repr_html_()


def test_a_notebook_shows_the_parts_of_a_model(fourbar):
    rows = cells(fourbar._repr_html_())
    for row in (
        ["crank"],
        ["theta", "revolute"],
        ["pin", "pin"],
        ["gamma", "rad"],
        ["motor", "N m"],
        ["pin_x", "m"],
        ["m_crank", "1", "kg"],
        ["coupler.bar.mass", "2", "kg"],
    ):
        assert row in rows
    assert "fourbar: planar, 3 joints" in repr(fourbar)


def test_a_notebook_shows_what_is_wrong_with_a_model():
    m = pg.Model("planar")
    m.joint("theta", "revolute", parent="ground", child="<rod>")
    assert "&lt;rod&gt;" in m._repr_html_()


def test_a_run_becomes_a_data_frame_where_pandas_is_installed(run, monkeypatch):
    # The stand-in keeps what it is given: pandas is no requirement of the package or its tests.
    stand_in = types.SimpleNamespace(
        DataFrame=lambda data, index: types.SimpleNamespace(data=data, index=index, attrs={}),
        Index=lambda data, name: (name, data),
    )
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    frame = run.to_dataframe()
    assert frame.index[0] == "t" and np.array_equal(frame.index[1], run.t)
    assert list(frame.data) == list(run)
    assert frame.attrs["units"]["pin_x"] == "m"
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas"):
        run.to_dataframe()

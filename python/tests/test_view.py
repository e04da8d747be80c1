"""Report pages."""

import json
import re

import pytest

import pantograph as pg
from pantograph import _core

needs_page = pytest.mark.skipif(not _core.has_page(), reason="built without the report page")


def report_in(html):
    return json.loads(re.search(r'id="report">(.*?)</script>', html, re.DOTALL).group(1))


@needs_page
def test_a_run_becomes_a_page(fourbar, tmp_path):
    r = pg.simulate(fourbar, until=0.5)
    path = pg.view(r, tmp_path / "run.html")
    report = report_in(open(path, encoding="utf-8").read())
    assert [m["name"] for m in report["motions"]] == ["run"]
    assert [b["name"] for b in report["scene"]["bodies"]] == ["crank", "coupler", "rocker"]
    assert report["panels"][0]["series"][0]["name"] == "theta"


@needs_page
def test_pages_are_bound(fourbar, tmp_path):
    one = pg.view(fourbar, tmp_path / "one.html")
    two = pg.view("pendulum", tmp_path / "two.html")
    for pages, title in (([one, two], "Simple pendulum"), ({"First": one, "Second": two}, "Second")):
        path = pg.view(pages, tmp_path / "all.html", title="Both")
        report = report_in(open(path, encoding="utf-8").read())
        assert report["title"] == "Both"
        assert len(report["chapters"]) == 2
        assert (report["chapters"][1]["title"] == title) == isinstance(pages, dict)
    with pytest.raises(ValueError, match="path"):
        pg.view([one])
    (tmp_path / "bad.html").write_text("<html></html>")
    with pytest.raises(pg.ModelError) as refused:
        pg.view([tmp_path / "bad.html"], tmp_path / "all.html")
    assert refused.value.items[0].id == 1104


@needs_page
def test_a_second_run_is_a_ghost(fourbar, tmp_path):
    r = pg.simulate(fourbar, until=0.5)
    other = pg.simulate(fourbar, until=0.5, set={"m_crank": 3})
    other.save(tmp_path / "other.h5")
    report = report_in(r.to_html(other))
    assert len(report["motions"]) == 2
    path = pg.view(r, tmp_path / "both.html", with_=tmp_path / "other.h5")
    assert len(report_in(open(path, encoding="utf-8").read())["motions"]) == 2


@needs_page
def test_models_and_files_become_pages(fourbar, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert pg.view(fourbar) == "fourbar.html"
    assert pg.view("pendulum", set={"g": 1}) == "pendulum.html"
    pg.simulate(fourbar, until=0.1).save("run.h5")
    assert report_in(open(pg.view("run.h5", "a.html"), encoding="utf-8").read())["motions"]
    pg.read_run("run.h5").save("run.csv")
    with pytest.warns(pg.ModelWarning, match="no animation"):
        report = report_in(open(pg.view("run.csv", "b.html"), encoding="utf-8").read())
    assert report["motions"] == [] and report["panels"] and report["notes"]


def test_a_program_without_the_page_says_so(fourbar):
    if _core.has_page():
        pytest.skip("built with the page")
    with pytest.raises(pg.ModelError, match="E0640"):
        pg.view(fourbar)


def test_wrong_combinations_are_refused(fourbar, tmp_path):
    r = pg.simulate(fourbar, until=0.1)
    with pytest.raises(ValueError):
        pg.view(fourbar, tmp_path / "x.html", with_=r)
    with pytest.raises(ValueError):
        pg.view(r, tmp_path / "x.html", set={"L": 1})


@needs_page
def test_the_scale_of_deformation_is_in_the_page(tmp_path):
    def shown(path):
        return report_in(open(path, encoding="utf-8").read())

    beam, path = pg.load("single_flexible_link"), tmp_path / "beam.html"
    assert shown(pg.view(beam, path, deformation=50))["deformation"] == 50
    assert "deformation" not in shown(pg.view(beam, path))
    r = pg.simulate(beam, until=0.01)
    assert shown(pg.view(r, path, deformation=20))["deformation"] == 20
    assert report_in(r.to_html(deformation=0))["deformation"] == 0
    pg.modes(beam, where="here", count=2, view=path, deformation=3)
    report = shown(path)
    assert report["deformation"] == 3 and len(report["modes"]["list"]) == 2


def test_a_scale_of_deformation_that_is_none_is_refused(fourbar, tmp_path):
    for scale in (-1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="scale"):
            pg.view(fourbar, tmp_path / "x.html", deformation=scale)
    with pytest.raises(ValueError, match="view"):
        pg.modes(fourbar, where="here", deformation=2)

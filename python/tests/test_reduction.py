"""Model reduction from Python."""


import numpy as np
import pantograph as pg
import pytest

FRAME = {
    "masters": ["tray.1.y", "tray.5.y", "exciter"],
    "frame": {
        "beam": [
            {
                "name": "tray",
                "x": [0, 0.2, 0.4, 0.6, 0.8],
                "mass_per_length": 20,
                "bending_stiffness": 6e4,
            }
        ],
        "mass": [{"name": "exciter", "mass": 6}],
        "spring": [
            {"between": ["exciter", "tray.5"], "stiffness": 1.2e6},
            {"between": ["tray.2", "ground"], "stiffness": 2e5},
            {"between": ["tray.4", "ground"], "stiffness": 2e5},
        ],
    },
    "force": [{"at": ["exciter"], "frequency": 50, "amplitude": 1}],
}


def chain(n=60, k=1e4):
    stiffness = k * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    stiffness[-1, -1] = k
    return np.eye(n), stiffness


def test_a_chain_keeps_the_modes_asked_for():
    mass, stiffness = chain()
    found = pg.reduce((mass, stiffness), "d60", modes=[1, 2, 3], tolerance=1e-3)
    # Held at its start, free at its end: ω = 2 √(k/m) sin((2 i - 1) π / (2 (2 n + 1))).
    for i, mode in enumerate(found.modes, start=1):
        exact = 2 * 100 * np.sin((2 * i - 1) * np.pi / (2 * 121)) / (2 * np.pi)
        assert mode.mode == i
        assert mode.frequency == pytest.approx(exact, rel=1e-9)
        assert mode.frequency_error < 1e-3 and mode.nco > 0.999
    assert found.rigid == 0 and found.masters == ["d60"]
    assert found.size == found.M.shape[0] == 1 + len(found.kept) == found.rankings["imr"].needed
    # The reduced matrices are those of the basis.
    assert found.basis.T @ mass @ found.basis == pytest.approx(found.M, abs=1e-9)
    assert found.basis.T @ stiffness @ found.basis == pytest.approx(found.K, abs=1e-6)
    assert found.expand(np.eye(found.size)[0])[59] == 1


def test_forces_given_stand_over_those_of_a_study():
    elsewhere = {**FRAME, "force": [{"at": ["tray.3.y"], "frequency": 50}]}
    with pytest.raises(pg.ModelError, match="not a master"):
        pg.reduce(elsewhere)
    found = pg.reduce(elsewhere, forces=FRAME["force"])
    assert found.size == pg.reduce(FRAME).size


def test_all_interior_modes_are_exact():
    mass, stiffness = chain(12)
    found = pg.reduce((mass, stiffness, 0.1 * mass), ["d6", "d12"], keep=10)
    values = np.linalg.eigvals(np.linalg.solve(found.M, found.K))
    assert np.sort(values.real) == pytest.approx(np.linalg.eigvalsh(stiffness), rel=1e-9)
    assert found.C == pytest.approx(0.1 * found.M, abs=1e-12)


def test_a_study_and_options_that_stand_over_it(tmp_path):
    found = pg.reduce(FRAME)
    ebr = found.rankings["ebr"]
    assert list(found.rankings) == ["ebr", "sbe"]
    at = list(ebr.size).index(ebr.needed)
    assert ebr.mac[at] >= 0.999 and ebr.gain_error[at] <= 0.01
    assert np.isnan(ebr.epsilon).all()
    modes = pg.reduce(FRAME, modes=[3, 4], rank="imr")
    assert [m.mode for m in modes.modes] == [3, 4]
    assert modes.rankings["imr"].epsilon[-1] < modes.rankings["imr"].epsilon[0]
    forced = pg.reduce(
        {**FRAME, "force": []},
        forces=[{"at": "exciter", "frequency": 50.0}],
    )
    assert forced.kept == found.kept
    assert "degrees of freedom" in repr(found) and "size needed" in found._repr_html_()
    found.save(tmp_path / "reduced.h5")
    assert (tmp_path / "reduced.M.mtx").exists()


def test_a_model_is_linearised_at_a_pose():
    found = pg.reduce("flexible_pendulum", ["beam.n9"], modes=[2, 3], where="here")
    exact = pg.modes("flexible_pendulum", where="here").frequencies_hz
    for mode in found.modes:
        assert mode.frequency == pytest.approx(exact[mode.mode - 1], rel=1e-6)
    study = {"model": pg.load("flexible_pendulum"), "masters": ["beam.n9"], "modes": [2, 3]}
    same = pg.reduce(study, where="here")
    assert same.M == pytest.approx(found.M)


def test_a_study_with_a_model_object_is_that_of_a_file(tmp_path):
    study = {
        "masters": ["phi", "rod.n5"],
        "keep": 2,
        "where": "here",
        "at": {"phi": -1.2},
        "set": {"L": "0.8 m"},
    }
    text = """space = "planar"
gravity = [0, -9.81]
parameters = { L = "0.5 m" }
body = [{ name = "rod", beam = { length = "L", circle = "12 mm", E = 7e10, density = 2700, elements = 4 } }]
joint = [{ name = "phi", type = "revolute", parent = "ground", child = "rod" }]
"""
    (tmp_path / "arm.toml").write_text(text)
    file = pg.reduce({**study, "model": str(tmp_path / "arm.toml")})
    model = pg.load(tmp_path / "arm.toml")
    found = pg.reduce({**study, "model": model})
    assert found.M[0, 0] == pytest.approx(file.M[0, 0], rel=1e-9)  # set
    assert found.K[0, 0] == pytest.approx(file.K[0, 0], rel=1e-6)  # at: weight
    # What is given beside the dictionary stands over it.
    turned = pg.reduce({**study, "model": model}, at={"phi": -1.6})
    assert turned.K[0, 0] > 1.05 * found.K[0, 0]


@pytest.mark.parametrize("given", [{"at": {"phi": 1.0}}, {"where": "here"}])
def test_poses_of_what_has_none_are_refused(tmp_path, given):
    (tmp_path / "study.toml").write_text('masters = ["b"]\n')
    files = (tmp_path / "M.mtx", tmp_path / "K.mtx")
    for system in (chain(5), files, FRAME, tmp_path / "study.toml", tmp_path / "job.inp"):
        with pytest.raises(ValueError, match="at and where are for a model"):
            pg.reduce(system, "d5", keep=1, **given)


def test_names_of_rows_are_refused_where_there_are_no_arrays(tmp_path):
    files = (tmp_path / "M.mtx", tmp_path / "K.mtx")
    for system in ("flexible_pendulum", FRAME, files, tmp_path / "job.inp"):
        with pytest.raises(ValueError, match="dofs are names"):
            pg.reduce(system, "a", keep=1, dofs=["a"])


def test_complex_matrices_are_refused():
    mass, stiffness = chain(5)
    with pytest.raises(ValueError, match="complex"):
        pg.reduce((mass, stiffness * (1 + 0.02j)), "d5", keep=1)


def test_files_give_what_the_program_gives(tmp_path):
    mass, stiffness = chain(30)
    for name, matrix in (("M", mass), ("K", stiffness)):
        rows, columns = np.nonzero(matrix)
        lines = [f"{i + 1} {j + 1} {matrix[i, j]!r}" for i, j in zip(rows, columns)]
        text = "%%MatrixMarket matrix coordinate real general\n" + f"30 30 {len(lines)}\n"
        (tmp_path / f"{name}.mtx").write_text(text + "\n".join(lines) + "\n")
    found = pg.reduce((tmp_path / "M.mtx", tmp_path / "K.mtx"), ["d30"], modes=[1, 2])
    assert found.M == pytest.approx(pg.reduce((mass, stiffness), ["d30"], modes=[1, 2]).M)


def test_the_report_has_a_curve_per_ranking(tmp_path):
    if not pg._core.has_page():
        pytest.skip("built without the page")
    path = pg.reduce(FRAME).view(tmp_path / "reduction.html")
    text = open(path).read()
    assert "Gain error" in text and "EBR" in text and "SBE" in text


def test_mistakes_are_told():
    mass, stiffness = chain(5)
    with pytest.raises(pg.ModelError, match="d9"):
        pg.reduce((mass, stiffness), ["d9"], keep=1)
    with pytest.raises(pg.ModelError, match="not symmetric"):
        pg.reduce((mass, stiffness + np.triu(stiffness)), ["d1"], keep=1)
    with pytest.raises(pg.ModelError, match="not positive definite"):
        pg.reduce((np.diag([1.0, 1, 0, 1, 1]), stiffness), ["d1"], keep=1)
    with pytest.raises(ValueError, match="imr"):
        pg.reduce((mass, stiffness), ["d1"], rank="eim", keep=1)
    with pytest.raises(ValueError, match="square"):
        pg.reduce((mass[:3], stiffness), ["d1"], keep=1)
    with pytest.raises(ValueError, match=r"\(M, K\)"):
        pg.reduce((mass,), ["d1"], keep=1)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"modes": [1], "band": (9, 12)}, r"E0913.*not both"),
        ({"modes": [1.5]}, r"E0112.*modes"),
        ({"modes": [1, 1], "weights": [1, 2]}, r"E0913.*mode 1 is given twice"),
        ({"modes": [1, 2], "weights": [1]}, r"E0913.*1 weights for 2 modes"),
        ({"band": (0, 5), "weights": [1, 2]}, r"E0913.*weights are of modes by number"),
        ({"band": (0, 5, 6)}, r"E0113.*band"),
        ({"band": (0, "5 mm")}, r"E0302.*band"),
        ({"modes": [1], "tolerance": "little"}, r"E0112.*tolerance"),
        ({"modes": [1], "tolerance": "200%"}, r"E0913.*tolerance 2"),
        ({"modes": ["first"]}, r"E0112.*modes"),
        ({"keep": 1.5}, r"E0112.*keep"),
        ({"keep": 1, "damping": 0.01}, r"E0913.*damping is for forced responses"),
        ({"keep": 1, "mac": 0.99}, r"E0913.*mac is for forced responses"),
        ({"keep": 1, "sample": "d5"}, r"E0913.*sample is for forced responses"),
        ({"forces": [{"at": "d5", "frequency": 1, "phas": 2}]}, r'"phas".*"phase"'),
        ({"forces": [{"at": "d5"}]}, r'E0111.*"frequency"'),
        ({"forces": [{"frequency": 1}]}, r'E0111.*"at"'),
        ({"forces": {"at": "d5", "frequency": 1}}, r"E0112.*list"),
    ],
)
def test_options_that_are_wrong_are_told_with_their_place(options, words):
    with pytest.raises(pg.ModelError, match=words) as told:
        pg.reduce(chain(5), ["d5"], **options)
    assert all(item.file in (__file__, "") for item in told.value.items)


def test_a_tolerance_can_be_a_percentage_and_numbers_quantities():
    found = pg.reduce(chain(), "d60", modes=range(1, 4), tolerance="0.1%")
    assert found.kept == pg.reduce(chain(), "d60", modes=np.arange(1, 4), tolerance=1e-3).kept
    found = pg.reduce(chain(), "d60", band=("0 Hz", "1.5 Hz"))
    assert found.kept == pg.reduce(chain(), "d60", band=(0, 1.5)).kept
    given = {"at": ["exciter"], "frequency": "50 Hz", "phase": "30 deg"}
    assert pg.reduce(FRAME, forces=[given]).size == pg.reduce(FRAME).size


def test_modes_given_stand_over_modes_and_weights_of_a_study():
    study = {**FRAME, "modes": [3, 4, 5], "weights": [1, 2, 3]}
    assert [m.mode for m in pg.reduce(study, modes=[3]).modes] == [3]
    assert pg.reduce(study, band=(0, 1e4)).modes
    with pytest.raises(pg.ModelError, match="2 weights for 3 modes"):
        pg.reduce(study, weights=[1, 2])


def test_what_saving_finds_is_a_warning(tmp_path):
    mass, stiffness = chain(12)
    coupled = np.zeros_like(mass)
    coupled[0, 0] = 1
    found = pg.reduce((mass, stiffness, coupled), ["d6", "d12"], keep=2)
    with pytest.warns(pg.ModelWarning, match="W0920"):
        found.save(tmp_path / "coupled.h5")
    assert (tmp_path / "coupled.C.mtx").exists()


@pytest.mark.parametrize("name", ["reduced.csv", "reduced", "reduced.H5"])
def test_names_that_say_another_format_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"saved as \.h5, \.hdf5 or \.toml"):
        pg.reduce(chain(12), ["d12"], keep=2).save(tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_a_sample_that_does_not_move_is_told():
    mass = np.eye(4)
    stiffness = np.kron(np.eye(2), [[100.0, -50], [-50, 100]])
    forces = [{"at": "d1", "frequency": 1}]
    with pytest.raises(pg.ModelError, match=r"E0913.*d3.*does not move"):
        pg.reduce((mass, stiffness), ["d1", "d3"], forces=forces, sample="d3")


def test_sections_between_the_planes_of_a_prism_are_a_warning():
    bar = {
        "masters": ["z_min"],
        "keep": 1,
        "prism": {
            "section": [{"z": z, "width": w, "height": w} for z, w in ((0, 2), (0.3, 2), (1, 1))],
            "across": [1, 1],
            "along": 4,
            "youngs_modulus": 7e10,
            "density": 2700,
        },
    }
    with pytest.warns(pg.ModelWarning, match=r"W0922.*z = 0\.3"):
        found = pg.reduce(bar)
    assert [note.id for note in found.warnings] == [922]


def test_a_stop_is_told():
    bar = {
        "masters": ["z_min"],
        "keep": 60,
        "prism": {
            "section": [{"z": z, "width": 0.1, "height": 0.1} for z in (0, 1)],
            "across": [5, 5],
            "along": 30,
            "youngs_modulus": 7e10,
            "poisson": 0.3,
            "density": 2700,
        },
    }
    with pytest.raises((pg.ModelError, pg.NumericalError), match="stopped"):
        pg.reduce(bar, progress=lambda fraction: False)


def test_a_reduced_model_is_a_mechanism(tmp_path):
    masters = ["theta", "link.n5.ux", "link.n5.uy"]
    found = pg.reduce("single_flexible_link", masters, modes=[2, 3], where="here")
    found.save(tmp_path / "small.toml")
    small = pg.load(tmp_path / "small.toml")
    assert len(small.coordinates) == found.size
    full, kept = (pg.modes(m, where="here").frequencies_hz for m in ("single_flexible_link", small))
    assert kept[2] == pytest.approx(full[2], rel=0.01)
    with pytest.raises(ValueError, match="only the reduction of a model"):
        pg.reduce(chain(), ["d60"], modes=[1]).save(tmp_path / "chain.toml")
    with pytest.raises(pg.ModelError):
        pg.reduce(small, masters, keep=0, modes=[2], where="here").save(tmp_path / "again.toml")

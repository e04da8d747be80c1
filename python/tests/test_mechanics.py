"""Equations of motion, check, equilibrium, inverse dynamics."""

import gc

import numpy as np
import pytest

import pantograph as pg


def test_the_initial_state_closes_the_loop(fourbar):
    q, v = fourbar.initial_state()
    out = fourbar.residual(q, v)
    # Closed to the tolerance of assembly.
    assert np.abs(out["phi"]).max() < 1e-10
    assert out["y"][list(fourbar.outputs).index("pin_x")] == pytest.approx(1, abs=1e-9)
    q2, _ = fourbar.initial_state(guess=q)
    assert q2 == pytest.approx(q, abs=1e-10)


def test_forward_dynamics_solves_the_equations_of_motion(fourbar):
    q, v = fourbar.initial_state()
    a, lam = fourbar.forward_dynamics(q, v, t=0.3)
    out = fourbar.residual(q, v, a, lam, t=0.3)
    # Round-off of forces of order 100 N.
    assert np.abs(out["r"]).max() < 1e-10
    assert np.abs(out["phi_ddot"]).max() < 1e-10


def test_inputs_are_the_models_own_unless_given(pendulum, fourbar):
    a, _ = pendulum.forward_dynamics([0.0], [0.0])
    assert a == pytest.approx([-9.81])
    a, _ = pendulum.forward_dynamics([0.0], [0.0], u=[9.81])
    assert a == pytest.approx([0], abs=1e-12)
    q, v = fourbar.initial_state()
    own = fourbar.residual(q, v, t=2.0)["r"]
    assert own == pytest.approx(fourbar.residual(q, v, u=[0.5 * np.sin(2.0)])["r"])


def test_the_tangent_is_the_derivative_of_the_residual(fourbar):
    q, v = fourbar.initial_state()
    rng = np.random.default_rng(1)
    v, a, lam = rng.normal(size=3), rng.normal(size=3), rng.normal(size=2)
    d = fourbar.tangent(q, v, a, lam, by=["q", "a", "u"], parameters=["L"], outputs=True)
    assert set(d) == {
        *("r_q", "phi_q", "phi_dot_q", "phi_ddot_q", "y_q"),
        *("r_a", "phi_ddot_a", "y_a", "r_u", "phi_dot_u", "phi_ddot_u", "y_u"),
        *("r_theta", "phi_theta", "phi_dot_theta", "phi_ddot_theta", "y_theta"),
    }
    assert d["r_a"] == pytest.approx(fourbar.mass_matrix(q), rel=1e-12)
    assert d["phi_q"] == pytest.approx(fourbar.constraint_jacobian(q), rel=1e-12)
    h = 1e-6
    up = fourbar.with_parameters(L=2 + h).residual(q, v, a, lam)
    down = fourbar.with_parameters(L=2 - h).residual(q, v, a, lam)
    for part in ("r", "phi", "phi_ddot", "y"):
        difference = (up[part] - down[part]) / (2 * h)
        # Central difference: truncation h², round-off 1e-16 / h.
        assert d[f"{part}_theta"][:, 0] == pytest.approx(difference, rel=1e-7, abs=1e-7)
    assert fourbar.tangent(q, by=["theta"])["r_theta"].shape == (3, len(fourbar.parameters))
    with pytest.raises(ValueError, match="'x' is none of"):
        fourbar.tangent(q, by=["x"])
    with pytest.raises(KeyError, match="no parameter 'M'"):
        fourbar.tangent(q, parameters=["M"])


def test_wrong_sizes_are_refused_by_name(fourbar):
    with pytest.raises(ValueError, match=r"q: expected 3 numbers, got an array of shape \(2,\)"):
        fourbar.mass_matrix([0, 0])
    with pytest.raises(ValueError, match="lam: expected 2"):
        fourbar.residual([0, 0, 0], lam=[1, 2, 3])
    with pytest.raises(ValueError, match="guess: expected 3"):
        fourbar.initial_state(guess=[1])


def test_energy_and_reactions_of_a_pendulum(pendulum):
    kinetic, potential = pendulum.energy([np.pi / 2], [3.0])
    assert kinetic == pytest.approx(4.5)
    assert potential - pendulum.energy([0.0], [0.0])[1] == pytest.approx(9.81)
    force, torque = pendulum.reactions([-np.pi / 2], [2.0])["phi"]
    # Hanging down and swinging through: m g + m ω² L upward.
    assert force == pytest.approx([0, 9.81 + 4, 0], abs=1e-12)
    assert torque == pytest.approx([0, 0, 0], abs=1e-12)


def test_check_counts_the_degrees_of_freedom(fourbar, folder):
    report = pg.check(fourbar)
    assert (report.bodies, report.joints, report.loops) == (3, 3, 1)
    assert report.degrees_of_freedom == report.mobility == 1
    assert len(report.independent) == 1
    assert report.redundant == []
    assert not report.singular_pose
    assert pg.check(folder / "pendulum.toml").degrees_of_freedom == 1


def test_a_loop_that_cannot_close_is_named(fourbar):
    with pytest.raises(pg.ModelError, match="pin") as caught:
        fourbar.with_parameters(L=0.1).initial_state()
    assert caught.value.items


def test_equilibrium_of_a_pendulum(pendulum):
    found = pg.equilibrium(pendulum, guess=[-1.0])
    assert found.q == pytest.approx([-np.pi / 2], abs=1e-9)
    assert found.stable
    assert np.abs(found.eigenvalues.imag).max() == pytest.approx(np.sqrt(9.81), rel=1e-9)
    assert not pg.equilibrium(pendulum, guess=[1.5]).stable


def test_inverse_dynamics_inverts_forward_dynamics(fourbar):
    q, v = fourbar.initial_state()
    a, lam = fourbar.forward_dynamics(q, v, u=[7.5])
    found = pg.inverse_dynamics(fourbar, q, v, a, actuators=["motor"])
    # Round-off of torques of order 10 N m through a well-conditioned solve.
    assert found["motor"] == pytest.approx(7.5, abs=1e-9)
    assert found.u.shape == (1,)
    assert found.lam == pytest.approx(lam, abs=1e-9)


def test_inverse_dynamics_of_a_whole_motion(pendulum):
    t = np.linspace(0, 1, 5)
    q, v, a = (f[:, np.newaxis] for f in (np.sin(t), np.cos(t), -np.sin(t)))
    found = pg.inverse_dynamics(pendulum, q, v, a, t=t)
    assert found["motor"] == pytest.approx(-np.sin(t) + 9.81 * np.cos(np.sin(t)), rel=1e-12)
    assert found.residual.shape == (5,)
    with pytest.raises(ValueError, match=r"v: expected shape \(5, 1\)"):
        pg.inverse_dynamics(pendulum, q, v[:3], a, t=t)


def test_a_motion_out_of_reach_is_not_passed_over(pendulum):
    with pytest.raises(pg.NumericalError, match="cannot produce"):
        pg.inverse_dynamics(pendulum, [0.0], [0.0], [1.0], actuators=[])
    nearest = pg.inverse_dynamics(
        pendulum, [0.0], [0.0], [1.0], actuators=[], least_squares=True
    )
    assert nearest.residual == pytest.approx(10.81)


def test_inverse_motion_follows_a_run(fourbar):
    r = pg.simulate(fourbar, until=1, sample=0.01, tol=1e-10)
    motion = {"theta": r["theta"], "theta_dot": r["theta_dot"], "theta_ddot": r.a["theta_dot"]}
    found = pg.inverse_motion(fourbar, r.t, motion, actuators=["motor"])
    # The motion is exact to 1e-10, the torque of order 1 N m through inertias of order 10.
    assert found.inputs["motor"] == pytest.approx(0.5 * np.sin(r.t), abs=1e-6)
    assert found.q["gamma"] == pytest.approx(r.q["gamma"], abs=1e-8)
    assert found.max_residual < 1e-6
    with pytest.raises(pg.ModelError) as caught:
        pg.inverse_motion(fourbar, r.t, {"thta": r["theta"]})
    assert caught.value.items[0].id == 631


def test_the_inputs_found_along_a_motion_stop_on_ctrl_c(interrupted):
    n = 1_000_000
    motion = f"dict.fromkeys(('theta', 'theta_dot', 'theta_ddot'), np.zeros({n}))"
    assert interrupted(f"pg.inverse_motion(m, np.arange({n}), {motion})") < 1


def test_the_inputs_along_a_motion_are_views_that_outlive_the_answer(pendulum):
    t = np.linspace(0, 1, 50)
    found = pg.inverse_motion(pendulum, t, {"phi": np.sin(t)})
    torque = found.inputs["motor"]
    assert torque.base is not None and not torque.flags.writeable
    copy = torque.copy()
    del found
    gc.collect()
    assert np.array_equal(torque, copy)


def test_a_failed_computation_is_a_numerical_error():
    m = pg.Model("planar", gravity=[0, -9.81])
    m.body("rod", point_mass=dict(mass=1, at=[1, 0]))
    m.joint("x", "prismatic", parent="ground", child="rod", axis="y")
    with pytest.raises(pg.NumericalError) as caught:
        pg.equilibrium(m)
    assert [item.id for item in caught.value.items] == [505]

"""Simulation: runs as numpy views, options, files, signals."""

import gc
import os
import signal
import threading
import time

import h5py
import numpy as np
import pytest

import pantograph as pg


def test_a_run_is_a_mapping_of_outputs(fourbar):
    r = pg.simulate(fourbar, until=0.5)
    assert list(r) == list(fourbar.outputs)
    assert len(r["theta"]) == len(r.t)
    assert r.t[0] == 0 and r.t[-1] == pytest.approx(0.5)
    assert {name: r.units[name] for name in r} == {
        "theta": "rad",
        "theta_dot": "rad/s",
        "pin_x": "m",
        "rocker_y": "m",
    }
    assert (r.units["beta"], r.units["beta_dot"]) == ("rad", "rad/s")
    assert np.array_equal(r.q["theta"], r["theta"])
    assert np.array_equal(r.v["theta_dot"], r["theta_dot"])
    assert set(r.a) == set(fourbar.speeds)
    assert len(r.lam) == 2
    assert (r.unit("pin_x"), r.unit("beta_dot"), r.unit("pin[0]")) == ("m", "rad/s", "N")
    assert r.complete and r.stopped_by == ""
    assert "fourbar" in repr(r)
    with pytest.raises(KeyError, match="has no 'thet'; it has theta, "):
        r["thet"]


def test_energy_and_constraints_are_audited(fourbar):
    r = pg.simulate(fourbar, until=2, tol=1e-8)
    balance = r.energy.kinetic + r.energy.potential - r.energy.entered + r.energy.taken
    drift = np.abs(balance - balance[0]).max()
    assert r.energy.max_drift >= 0.99 * drift
    # Energies of order 100 J at a relative tolerance of 1e-8.
    assert r.energy.max_drift < 1e-4
    assert r.constraint_violation.position < 1e-8
    assert r.constraint_violation.velocity < 1e-8
    assert r.stats.steps > 10
    assert r.stats.evaluations >= r.stats.steps
    assert r.stats.wall_seconds > 0


def test_series_are_views_that_keep_the_run_alive(fourbar):
    r = pg.simulate(fourbar, until=0.5)
    series, t = r["theta"], r.t
    assert np.shares_memory(series, r["theta"])
    assert np.shares_memory(t, r.t)
    assert not series.flags.owndata and series.base is not None
    assert not series.flags.writeable
    copy = series.copy()
    core = series.base
    del r
    gc.collect()
    for _ in range(20):
        pg.simulate(fourbar, until=0.1)
    assert np.array_equal(series, copy)
    assert core is series.base


def test_outputs_are_given_exactly_where_asked(fourbar):
    at = [0.1, 0.25, 1.0]
    r = pg.simulate(fourbar, at=at)
    assert r.t.tolist() == at
    fine = pg.simulate(fourbar, until=1, tol=1e-11, at=np.array(at))
    assert r["theta"] == pytest.approx(fine["theta"], abs=1e-6)


def test_fixed_steps_and_integrators(fourbar):
    r = pg.simulate(fourbar, until=0.1, dt=1e-3, integrator="rk4")
    assert len(r.t) == 101
    assert r.integrator == "rk4"
    fine = pg.simulate(fourbar, until=0.1, tol=1e-11, at=[0.1])
    # Fourth order with h = 1e-3.
    assert r["theta"][-1] == pytest.approx(fine["theta"][-1], abs=1e-9)
    assert pg.integrators()["rk4"].order == 4
    with pytest.raises(pg.ModelError, match="rk5"):
        pg.simulate(fourbar, integrator="rk5")
    with pytest.raises(ValueError, match="not both"):
        pg.simulate(fourbar, dt=1e-3, tol=1e-8)
    with pytest.raises(pg.ModelError, match="E0525.*4668 Hz.*largest stable dt is 9.644e-05 s"):
        pg.simulate("flexible_manipulator", dt=1e-4)


def test_a_run_starts_where_told_and_stops_at_an_event(pendulum):
    r = pg.simulate(pendulum, until=10, q=[-0.5], v=[0.0], stop="phi < -1.0")
    assert r["phi"][0] == -0.5
    assert r["phi"][-1] == pytest.approx(-1.0, abs=1e-6)
    assert r.t[-1] < 1
    assert r.stopped_by
    with pytest.raises(ValueError):
        pg.simulate(pendulum, q=[1.0, 2.0])
    for wrong in ("phi", "phi>x", ">1"):
        with pytest.raises(ValueError, match="stop: expected"):
            pg.simulate(pendulum, stop=wrong)


def test_sensors_read_with_noise_from_a_seed(pendulum):
    pendulum.sensor("encoder", "encoder", of="phi", rate=100, noise=0.01, bias=0.5)
    assert not pg.simulate(pendulum, until=1).measured
    r = pg.simulate(pendulum, until=1, seed=1)
    reading = r.measured["encoder"]
    assert reading.unit == "rad"
    assert len(reading.t) == len(reading.values) == 101
    error = reading.values - np.interp(reading.t, r.t, r["encoder"]) - 0.5
    # 101 samples: the mean scatters by 0.001, the deviation by 0.0007; four times that.
    assert abs(error.mean()) < 0.004
    assert 0.007 < error.std() < 0.013
    again = pg.simulate(pendulum, until=1, seed=1).measured["encoder"]
    assert np.array_equal(again.values, reading.values)


def test_runs_go_through_files(fourbar, tmp_path):
    r = pg.simulate(fourbar, until=0.5)
    r.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert np.array_equal(file["t"], r.t)
        assert np.array_equal(file["outputs/theta"], r["theta"])
        assert file["outputs/theta"].attrs["unit"] in ("rad", b"rad")
    again = pg.read_run(tmp_path / "run.h5")
    assert again.units == r.units
    for name in r:
        assert np.array_equal(again[name], r[name])
    r.save(tmp_path / "run.csv")
    assert np.array_equal(pg.read_run(tmp_path / "run.csv")["pin_x"], r["pin_x"])
    with pytest.raises(ValueError, match="saved as"):
        r.save(tmp_path / "run.mat")
    with pytest.raises(pg.ModelError):
        pg.read_run(tmp_path / "none.h5")


def test_progress_is_reported_and_can_stop_the_run(fourbar):
    seen = []
    r = pg.simulate(
        fourbar, until=1e5, sample=0.1, progress=lambda x: seen.append(x) or len(seen) < 3
    )
    assert len(seen) == 3
    assert seen == sorted(seen)
    assert not r.complete
    assert 0 < r.t[-1] < 1e5


def test_an_error_in_the_progress_function_ends_the_call(fourbar):
    with pytest.raises(ZeroDivisionError):
        pg.simulate(fourbar, until=1e6, sample=100, progress=lambda _: 1 / 0)


def test_other_threads_run_during_a_simulation(fourbar):
    stop = threading.Event()
    thread = threading.Thread(
        target=lambda: pg.simulate(
            fourbar, until=1e6, sample=100, progress=lambda _: not stop.is_set()
        )
    )
    thread.start()
    count, end = 0, time.monotonic() + 0.5
    while time.monotonic() < end:
        pg.simulate(fourbar, until=0.01)
        count += 1
    alive = thread.is_alive()
    stop.set()
    thread.join(10)
    assert alive and not thread.is_alive()
    assert count > 5


def test_a_thread_counts_while_a_simulation_computes(fourbar):
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    # No progress function: the lock is taken every 50 ms for the signals only.
    r = pg.simulate(fourbar, until=300, tol=1e-10, sample=1)
    end = time.monotonic()
    done.set()
    thread.join()
    assert r.complete
    inside = [t for t in ticks if start < t < end]
    # Some 900 a second; a tenth of that where other programs compete. A held lock lets none pass.
    assert len(inside) > 100 * (end - start)


def test_ctrl_c_interrupts_a_simulation_at_once(interrupted):
    assert interrupted("pg.simulate(m, until=1e7, sample=1000)") < 1


def test_a_program_that_interrupts_itself_gets_a_keyboard_interrupt(fourbar):
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            pg.simulate(fourbar, until=1e7, sample=1000)
    finally:
        timer.cancel()
    assert pg.simulate(fourbar, until=0.1).complete

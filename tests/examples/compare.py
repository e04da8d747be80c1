#!/usr/bin/env python3
"""Compares what the twins of an example print, and both with values from elsewhere.

usage: compare.py PROGRAM SCRIPT.py

Lines are `name value unit`. The twins run the same code beneath, so their numbers agree to
round-off. `expected` knows each example's numbers from closed forms or the reference solutions.
"""

import cmath
import csv
import math
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROUND_OFF = {"rel_tol": 1e-9, "abs_tol": 1e-12}  # the latter for numbers that are zero


def pendulum(_):
    """Let go at 90°, L = 1 m: T = 4 K(sin 45°) √(L/g), K by the arithmetic-geometric mean."""
    a, b = 1.0, math.cos(math.pi / 4)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    period = 4 * math.pi / (2 * a) * math.sqrt(1 / 9.81)
    # Variable step of tolerance 1e-12 over a quarter of a swing; the event is located to 1e-10.
    return {"period": (period, 1e-9), "lowest_point_speed": (math.sqrt(2 * 9.81), 1e-9)}


def four_bar(_):
    """Reference solution at 10 s: its error is 1.3e-11, ours (tolerance 1e-12) some 1e-10."""
    text = (ROOT / "validation/reference/fourbar_f1.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))
    names = [name.split()[0] for name in rows[0]]
    at_end = dict(zip(names, map(float, rows[-1])))
    return {name: (at_end[name], 1e-8) for name in ("theta", "theta_dot", "pin_x", "pin_y")}


def in_code(_):
    """The same equations with the same numbers: no difference at all."""
    return {"difference_from_file": (0.0, 0.0)}


def slider_crank(_):
    """Closed-form kinematics; torque = d(energy)/dt / ω, the derivative by a complex step."""
    r, l, k, omega, m_crank, m_rod, m_slider = 0.05, 0.15, 2000.0, 20.0, 0.5, 0.3, 0.8

    def motion(t):
        c, s = cmath.cos(omega * t), cmath.sin(omega * t)
        sin_rod = -r * s / l  # angle of the rod against x
        cos_rod = cmath.sqrt(1 - sin_rod**2)
        rate_rod = -r * omega * c / (l * cos_rod)
        x, x_dot = r * c + l * cos_rod, -r * omega * s - l * sin_rod * rate_rod
        x_mid, y_mid = x_dot + l / 2 * sin_rod * rate_rod, r * omega * c / 2
        kinetic = m_crank * (r * omega) ** 2 / 6 + m_slider * x_dot**2 / 2
        kinetic += m_rod * (x_mid**2 + y_mid**2 + (l * rate_rod) ** 2 / 12) / 2
        return x, x_dot, kinetic + k * (0.3 - x - 0.15) ** 2 / 2

    found = {}
    for i in range(7):
        t = 0.05 * i
        x, x_dot, _ = motion(t)
        torque = motion(complex(t, 1e-20))[2].imag / 1e-20 / omega
        # Loops are closed to 1e-10 or better.
        found[f"slider_{i}"] = (x.real, 1e-9)
        found[f"slider_speed_{i}"] = (x_dot.real, 1e-8)
        found[f"torque_{i}"] = (torque, 1e-7)
    # The work is integrated with the motion, to a tolerance of 1e-8.
    found["work_of_motor"] = ((motion(0.3)[2] - motion(0)[2]).real, 1e-6)
    return found


def two_link_arm(_):
    """The textbook's equations of a planar arm with two uniform links."""
    l1, m1, l2, m2, g = 0.4, 2.0, 0.3, 1.0, 9.81
    found = {}
    for i in range(5):
        t = 0.25 * i
        a, da, dda = 0.6 * math.sin(2 * t), 1.2 * math.cos(2 * t), -2.4 * math.sin(2 * t)
        b, db, ddb = 0.4 * (1 - math.cos(3 * t)), 1.2 * math.sin(3 * t), 3.6 * math.cos(3 * t)
        cross = m2 * l1 * l2 / 2
        m22 = m2 * l2**2 / 3
        m12 = m22 + cross * math.cos(b)
        m11 = m1 * l1**2 / 3 + m2 * l1**2 + m22 + 2 * cross * math.cos(b)
        h = cross * math.sin(b)
        weight2 = m2 * g * l2 / 2 * math.cos(a + b)
        weight1 = (m1 / 2 + m2) * g * l1 * math.cos(a) + weight2
        shoulder = m11 * dda + m12 * ddb - h * (2 * da * db + db**2) + weight1
        elbow = m12 * dda + m22 * ddb + h * da**2 + weight2
        found[f"shoulder_{i}"], found[f"elbow_{i}"] = (shoulder, 1e-9), (elbow, 1e-9)
    return found


def arm(numbers):
    """Levers of the weights (rotations about y point downward); the spin about z is kept."""
    g, l1, l2 = 9.81, 0.3, 0.25

    def inertia(shoulder, elbow):  # of the whole arm about the vertical
        c1, c2 = math.cos(shoulder), math.cos(shoulder + elbow)
        upper = 2 * (0.15 * c1) ** 2 + 0.002 * (1 - c1**2) + 0.016 * c1**2
        fore = 1 * (l1 * c1 + 0.1 * c2) ** 2 + 0.001 * (1 - c2**2) + 0.004 * c2**2
        return 0.02 + upper + fore

    shoulder, elbow = math.radians(-30), math.radians(60)
    at_elbow = -1 * g * 0.1 * math.cos(shoulder + elbow)
    at_shoulder = at_elbow - g * (2 * 0.15 + 1 * l1) * math.cos(shoulder)
    # Angles at the end from where the tip is; the elbow has swung to the other side by then.
    out, down = math.hypot(numbers["tip_x"], numbers["tip_y"]), 0.4 - numbers["tip_z"]
    elbow_end = -math.acos((out**2 + down**2 - l1**2 - l2**2) / (2 * l1 * l2))
    shoulder_end = math.atan2(down, out) - math.atan2(
        l2 * math.sin(elbow_end), l1 + l2 * math.cos(elbow_end)
    )
    spin = 3 * inertia(shoulder, elbow) / inertia(shoulder_end, elbow_end)
    # Statics to round-off; the motion has a tolerance of 1e-10.
    return {
        "hold_shoulder": (at_shoulder, 1e-9),
        "hold_elbow": (at_elbow, 1e-9),
        "waist_dot": (spin, 1e-7),
    }


def chain_modes(k, theta_b, theta_c):
    """Frequencies [Hz] and strain energy shares of the springs of the three-link chain.

    Mass matrix in absolute angles, from the masses [kg], inertias [kg m²], distances from joint to
    mass centre and from joint to joint [m]; relative angles are their differences.
    """
    m, j = (0.0741, 0.0543, 0.0364), (15.8e-6, 8.3e-6, 3.8e-6)
    (a1, a2, a3), (d1, d2) = (0.036, 0.028, 0.0231), (0.069, 0.0561)
    a12 = d1 * (m[1] * a2 + m[2] * d2) * math.cos(theta_b)
    a13, a23 = m[2] * a3 * d1 * math.cos(theta_b + theta_c), m[2] * a3 * d2 * math.cos(theta_c)
    absolute = np.array(
        [
            [j[0] + m[0] * a1**2 + (m[1] + m[2]) * d1**2, a12, a13],
            [a12, j[1] + m[1] * a2**2 + m[2] * d2**2, a23],
            [a13, a23, j[2] + m[2] * a3**2],
        ]
    )
    sums = np.tril(np.ones((3, 3)))
    root = np.diag(np.sqrt(k))
    flexibility = root @ np.linalg.inv(sums.T @ absolute @ sums) @ root  # √K M⁻¹ √K
    square, vectors = np.linalg.eigh(flexibility)
    return np.sqrt(square) / (2 * math.pi), vectors.T**2


def chain_poses(numbers):
    """Slopes are half the strain energy shares; correlations of other random numbers."""
    b, c = math.radians(numbers["theta_B"]), math.radians(numbers["theta_C"])
    nominal = np.array([21.1, 13.9, 5.77])
    sets = nominal * np.random.default_rng(7).uniform(0.5, 1.5, (4000, 3))
    table = np.array([chain_modes(k, b, c)[0] for k in sets])
    rho = np.corrcoef(table.T, sets.T)[:3, 3:]
    shares = chain_modes(nominal, b, c)[1]
    found = {}
    for i in range(3):
        for k, name in enumerate(("kA", "kB", "kC")):
            found[f"slope_f{i + 1}_{name}"] = (shares[i, k] / 2, 1e-9)
            # Three standard errors of 1000 sets.
            found[f"correlation_f{i + 1}_{name}"] = (rho[i, k], 0.1)
    # The best of 1000 random poses is near the corner of the ranges.
    found["theta_B"] = (math.copysign(82, b), 8)
    found["theta_C"] = (math.copysign(82, -b), 8)
    size = np.abs(rho)
    found["score"] = (np.trace(size) / 3 - (size.sum() - np.trace(size)) / 6, 0.05)
    return found


def chain_stiffnesses(numbers):
    """The true set; sets that give the measured frequencies; deviations from the slopes."""
    truth = np.array([21.1, 13.9, 5.77])
    names = ("kA", "kB", "kC")
    poses = ((0, 0), (math.radians(89.11), math.radians(-84.95)))
    slopes = []
    for pose in poses:
        hz, shares = chain_modes(truth, *pose)
        slopes.append(shares * hz[:, None] / (2 * truth) / 0.05)
    deviations = np.sqrt(np.diag(np.linalg.inv(sum(s.T @ s for s in slopes))))
    found = {"explaining_both_poses": (1, 0), "explaining_straight_pose": (4, 0)}
    for k, name in enumerate(names):
        # Frequencies are written to 1e-6 Hz, which moves the answer by some 1e-6.
        found[name] = (truth[k], 1e-5)
        found[f"std_{name}"] = (deviations[k], 1e-6)
    straight = chain_modes(truth, 0, 0)[0]
    for i in range(4):
        k = [numbers[f"{name}_{i}"] for name in names]
        if np.abs(chain_modes(k, 0, 0)[0] - straight).max() > 1e-5:
            found[f"kA_{i}"] = (math.nan, 0)  # no solution
    # The set printed by Čepon et al., as polished from the exact frequencies.
    others = [numbers[f"kB_{i}"] for i in range(4)]
    nearest = min(range(4), key=lambda i: abs(others[i] - 17.53))
    for name, value in zip(names, (20.0936, 17.5266, 4.8053)):
        found[f"{name}_{nearest}"] = (value, 1e-4)
    return found


def load_on_a_rope(_):
    """Exact inverse: tan φ = ẍ / (z̈ - g), trolley x - z tan φ, rope z / cos φ, drives of order 1."""
    g, steps = 9.81, np.arange(1001) / 1000
    law = np.polynomial.Polynomial([0] * 5 + [126, -420, 540, -315, 70])
    s = [law.deriv(k)(steps) / 10**k if k else law(steps) for k in range(5)]
    x, z = [15 * (k == 0) - 4 * s[k] for k in range(5)], [4 * (k == 0) + 3 * s[k] for k in range(5)]
    b = z[2] - g
    w = x[2] / b
    dw = (x[3] - w * z[3]) / b
    ddw = (x[4] - w * z[4] - 2 * dw * z[3]) / b
    out = [z[0] * w, z[1] * w + z[0] * dw, z[2] * w + 2 * z[1] * dw + z[0] * ddw]
    rope = np.hypot(z[0], out[0])
    drope = (z[0] * z[1] + out[0] * out[1]) / rope
    ddrope = (z[1] ** 2 + z[0] * z[2] + out[1] ** 2 + out[0] * out[2] - drope**2) / rope
    trolley = 0.03 * (x[2] - out[2]) + x[1] - out[1]
    winch = 0.02 * ddrope + drope
    # Six digits are printed; BDF4 at 10 ms is off by 1e-8.
    return {
        "zeros": (0, 0),
        "index": (5, 0),
        "smoothness": (4, 0),
        "fastest_trolley": (np.abs(trolley).max(), 1e-6),
        "fastest_winch": (np.abs(winch).max(), 1e-6),
        "largest_sway": (np.abs(np.arctan(w)).max(), 1e-6),
        "sway_at_the_end": (0, 1e-6),
        "follows_within_a_micrometre": (1, 0),
    }


def digging_forces(numbers):
    """The forces of the model file, to two of the observer's standard deviations."""
    truth = {"dig_x": 20e3, "dig_z": 8e3, "payload": -6e3}
    found = {name: (value, 2 * numbers[f"{name}_sigma"]) for name, value in truth.items()}
    # 21000 readings: the mean of their squares is within five standard errors of 1.
    return {**found, "nis": (1, 5 * math.sqrt(2 / 21000)), "steps": (7000, 0)}


def hammer_test(numbers):
    """The closed-form clamped rod with a mass at its tip that the table was made from, 66 GPa and 20 g; its nominal frequencies."""
    length, density, modulus = 0.8, 2700 * math.pi * 0.01**2 / 4, 70e9
    measured, errors = (8.895, 58.668, 169.141), []
    for root, hz in zip((1.8751040687, 4.6940911330, 7.8547574382), measured):
        bending = math.sqrt(modulus * math.pi * 0.01**4 / 64 / density)
        errors.append(abs((root / length) ** 2 * bending / (2 * math.pi) / hz - 1))
    # Eight cubic elements: the third frequency is (βh)⁴/1440 = 6e-4 high, a third of that counts.
    found = {"mean_error_before": (100 * np.mean(errors), 0.03)}
    for by in ("", "_by_sensitivities"):
        for name, truth in (("E", 66e9), ("m_tip", 0.020)):
            found[name + by] = (truth, 2 * numbers[f"std_{name}{by}"])
        found[f"mean_error_after{by}"] = (0, 0.05)
    # Three times the same factor changes no frequency: two of three are told.
    found["told_of_rho"] = (2 - numbers["told_of_E"] - numbers["told_of_m_tip"], 0.1)
    return found


def link_on_motor(e, k_hub):
    """Second mode [Hz] of the link on its motor: cubic beam elements in absolute coordinates, a spring to the rotor."""
    length, width, height, rho, n = 0.7, 0.04, 0.012, 1410.0, 4
    h, area, bending = length / n, width * height, e * width * height**3 / 12
    stiffness = bending / h**3 * np.array(
        [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h], [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]
    )  # fmt: skip
    mass = rho * area * h / 420 * np.array(
        [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h], [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]]
    )  # fmt: skip
    size = 2 * (n + 1) + 1  # deflection and slope of the nodes, the rotor last
    m, k = np.zeros((size, size)), np.zeros((size, size))
    for i in range(n):
        m[2 * i : 2 * i + 4, 2 * i : 2 * i + 4] += mass
        k[2 * i : 2 * i + 4, 2 * i : 2 * i + 4] += stiffness
    m[1, 1] += 2e-3
    m[-3, -3] += 0.3
    m[-2, -2] += 1.2e-4
    m[-1, -1] += 0.05
    for i, a in ((1, 1.0), (size - 1, -1.0)):
        for j, b in ((1, 1.0), (size - 1, -1.0)):
            k[i, j] += k_hub * a * b
    squares = np.linalg.eigvals(np.linalg.solve(m[1:, 1:], k[1:, 1:]))  # the hub does not move
    return math.sqrt(np.sort(squares.real)[1]) / (2 * math.pi)


def flexible_link(numbers):
    """Numbers of the machine are found; inputs that know of bending leave less of the move."""
    e, k_hub = 0.94 * 2.8e9, 0.82 * 100
    left = {name[9:]: value for name, value in numbers.items() if name.startswith("vibrates_")}
    found = {
        "mode_2_of_the_file": (link_on_motor(2.8e9, 100), 1e-6),  # six digits are printed
        # Responses with 1 % noise, H1 over three hits; the damping that couples the modes is left out by the rig.
        "mode_2_of_the_machine": (link_on_motor(e, k_hub), 1e-3),
        "E_machine": (e, 1e-3),
        "E_updated": (e, 1e-3 * e),
        "k_hub_machine": (k_hub, 1e-9),
        "k_hub_identified": (k_hub, 2e-3 * k_hub),
        "energy_drift_below_microjoule": (1, 0),
        "degrees_of_freedom": (14, 0),
        "degrees_of_freedom_reduced": (6, 0),
    }
    # Stable inversion leaves nothing on its own model, little of the vibration on another one.
    for case in ("none_nominal", "none_aged", "lqr_nominal", "lqr_aged"):
        found[f"vibrates_redefined_{case}"] = (0, left[f"rigid_{case}"])
        found[f"vibrates_stable_{case}"] = (0, left[f"redefined_{case}"] / 10)
    # Feedback keeps the payload of the aged machine near the goal of 1 rad, which inputs alone miss by some 5 %.
    for name in ("rigid", "redefined", "stable"):
        found[f"off_{name}_lqr_aged"] = (0, numbers[f"off_{name}_none_aged"] / 3)
    return found


EXPECTED = {
    "01_pendulum": pendulum,
    "02_four_bar_from_file": four_bar,
    "03_mechanism_in_code": in_code,
    "04_loop_spring_driver": slider_crank,
    "05_inverse_dynamics": two_link_arm,
    "06_arm_from_urdf": arm,
    "07_poses": chain_poses,
    "08_identify": chain_stiffnesses,
    "09_digging_force": digging_forces,
    "10_servo_constraints": load_on_a_rope,
    "11_hammer_test": hammer_test,
    "12_flexible_link": flexible_link,
}


def printed(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{command}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    lines = (line.split(" ", 2) for line in result.stdout.splitlines())
    return {name: (float(value), unit) for name, value, unit in lines}


def main():
    program, script = sys.argv[1:3]
    cpp, python = printed([program]), printed([sys.executable, script])
    failures = []
    if list(cpp) != list(python):
        failures.append(f"names: C++ {list(cpp)}, Python {list(python)}")
    for name in cpp.keys() & python.keys():
        (a, unit), (b, other) = cpp[name], python[name]
        if unit != other or not math.isclose(a, b, **ROUND_OFF):
            failures.append(f"{name}: C++ {a!r} {unit}, Python {b!r} {other}")
    numbers = {name: value for name, (value, _) in cpp.items()}
    expected = EXPECTED[pathlib.Path(script).stem](numbers)
    for name, (value, tolerance) in expected.items():
        if not abs(numbers[name] - value) <= tolerance:
            failures.append(f"{name}: printed {numbers[name]!r}, expected {value!r} ± {tolerance}")
    print("\n".join(failures) or f"{len(cpp)} numbers agree, {len(expected)} of them known otherwise")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

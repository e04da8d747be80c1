// What the thesis does not print and the reproductions take: see README.md of this folder for reasons.
#pragma once

namespace panto::validation::palomba {

inline constexpr const char* kHornAssumed[] = {
    "mesh lines over the width: 0, 10.5, 21, 31.5, 35, 38.5, 49, 59.5, 70 mm",
    "mesh lines over the length: 0, 8, 16 mm, 14 equal steps to 88 mm, 96, 104 mm",
    "plane strain",
    "masters: the nodes at widths 31.5, 35 and 38.5 mm of one face",
    "these were chosen as the nearest to the printed values of those tried",
};
inline constexpr const char* kSonotrodeAssumed[] = {
    "shape: a stepped bar, 136 mm long, 40 x 40 mm up to 64 mm and 22 x 30 mm from 72 mm on",
    "mesh: 10 x 10 x 23 bricks, 8712 degrees of freedom",
    "masters: seven nodes of a face: its middle, four around it and the middles of two sides",
    "forces: unit longitudinal ones on these nodes, in phase",
    "damping ratio 0.01",
    "800 interior modes to choose from",
};
inline constexpr const char* kFeederAssumed[] = {
    "beams: 1.6 m with 9 nodes each; tray 20 kg/m, 6e4 N m2; base 60 kg/m, 3e5 N m2",
    "springs between tray and base: 2e6 N/m at nodes 1, 2, 4, 6, 8, 9",
    "springs between base and ground: 5e4 N/m at nodes 2 and 8",
    "exciters: 6 kg on 1.2e6 N/m at tray nodes 2, 5, 8",
    "masters: deflections of tray nodes 2, 5, 8 and of the exciters",
    "forces: 1 N on each master, opposite on tray and exciters, at 50 and at 100 Hz",
    "no damping",
};
inline constexpr const char* kManipulatorAssumed[] = {
    "which node stands where, read from the numbering of its degrees of freedom",
    "node H at mid-length of AD, inner nodes of BC and DE at mid-length",
    "D on CE, 0.5 m from C: ABCD is a parallelogram",
};
inline constexpr const char* kReducedAssumed[] = {
    "which node stands where, read from the numbering of its degrees of freedom",
    "node H at mid-length of AD, inner nodes of BC and DE at mid-length",
    "D on CE, 0.5 m from C: ABCD is a parallelogram",
    "interior modes 1, 2, 4, 7",
    "column printed: an independent computation, rounded; the thesis shows surfaces",
};
inline constexpr const char* kObserverAssumed[] = {
    "which node stands where, read from the numbering of its degrees of freedom",
    "node H at mid-length of AD, inner nodes of BC and DE at mid-length",
    "D on CE, 0.5 m from C: ABCD is a parallelogram",
    "interior modes 1, 2, 4, 7",
    "damping: alpha = 0.57 1/s, beta = 8.8e-5 s (Belotti et al.)",
    "start: rest at the reference pose",
    "the reaction of motor 3 acts on link CE",
    "plant: trapezoidal rule in steps of 0.05 ms",
    "readings every 0.1 ms; the observer in steps of 0.1 ms by Runge-Kutta",
    "encoders: 4096 steps on all three angles, quantised, used at their edges",
    "variance of an edge: that of a passage at 1 rad/s within a step",
    "strain gauges: at mid-length of AB and AD and 0.6 m from C on CE, 2e-5 1/m",
    "torque sensors: 0.2 % of full scale (15, 60, 2 N m), 24 bits, mean of two readings",
    "process noise: that of the torques, and 1e-10 (rad/s)2 or (m/s)2 per step on all speeds",
    "deviations at the start: 1e-4 rad or m, 1e-3 rad/s or m/s",
    "column printed: 0 for errors, the plant's for lines; the thesis shows curves",
};

}  // namespace panto::validation::palomba

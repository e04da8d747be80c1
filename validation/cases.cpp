#include "validation/cases.hpp"

#include <array>

#include "validation/papers/palomba/assumed.hpp"

namespace panto::validation {

using Rows = Result<std::vector<Row>>;

namespace belotti2018 {
Rows table3();
Rows table4();
Rows table4_updated();
Rows table5();
}  // namespace belotti2018
namespace cepon {
Rows figures_5_6();
Rows table2();
Rows table3();
}  // namespace cepon
namespace drucker2022 {
Rows cable_robot();
Rows fig4_2();
Rows fig4_11();
Rows fig5_5();
Rows fig5_10();
Rows fig6_10();
Rows fig6_13();
Rows fig6_4();
Rows fig6_8();
Rows fig6_9();
Rows manipulator_2d();
Rows mass_on_car();
Rows table3_3();
Rows table6();
}  // namespace drucker2022
namespace iftomm {
Rows a01();
Rows a02();
Rows a03();
Rows a04();
Rows a05();
}  // namespace iftomm
namespace palomba {
Rows fig2_3();
Rows fig3_14();
Rows fig5_11();
Rows fig6();
Rows fig6_ukf();
Rows kinematic_observer();
Rows slider_crank();
Rows table3_4();
Rows table3_5();
Rows table5_1();
Rows table5_2();
Rows table5_3();
Rows table5_4();
Rows table5_5();
Rows table6_1();
}  // namespace palomba
namespace sanjurjo2017 {
Rows fig3();
Rows fig4();
Rows fig5();
Rows fig6();
Rows fig7();
Rows fig8();
Rows fig9();
Rows fig10();
Rows fig11();
Rows fig12();
Rows fig13();
Rows fig14();
Rows fig15();
Rows fig16();
Rows fig17();
Rows fig18();
Rows mechanisms();
}  // namespace sanjurjo2017

std::span<const Case> cases() {
  static constexpr std::array kCases{
      Case{"belotti2018", "table3", "Updated parameters of the flexible manipulator",
           belotti2018::table3},
      Case{"belotti2018", "table4", "Nominal natural frequencies of the flexible manipulator",
           belotti2018::table4},
      Case{"belotti2018", "table4-updated", "Updated natural frequencies of the manipulator",
           belotti2018::table4_updated},
      Case{"belotti2018", "table5", "Rayleigh damping of the flexible manipulator",
           belotti2018::table5},
      Case{"cepon", "fig5-6", "Which frequency tells about which joint, and the best poses",
           cepon::figures_5_6},
      Case{"cepon", "table2", "Natural frequencies of the three-link chain", cepon::table2},
      Case{"cepon", "table3", "Joint stiffnesses identified in one pose, and how many fit",
           cepon::table3},
      Case{"drucker2022", "cable_robot", "Equations (2.69) of the reduced cable robot",
           drucker2022::cable_robot},
      Case{"drucker2022", "fig4.11", "Reduced cable robot by Radau: order, Broyden's updates",
           drucker2022::fig4_11},
      Case{"drucker2022", "fig4.2", "Torsional oscillator: smallest errors of implicit Euler",
           drucker2022::fig4_2},
      Case{"drucker2022", "fig5.10", "Error of the spatial arm's tip over step and order",
           drucker2022::fig5_10},
      Case{"drucker2022", "fig5.5", "Error of the force on the mass-on-car system",
           drucker2022::fig5_5},
      Case{"drucker2022", "fig6.10", "Vibration of the flexible link after the move",
           drucker2022::fig6_10},
      Case{"drucker2022", "fig6.13", "Redefined outputs of flexible arms: limits and errors",
           drucker2022::fig6_13},
      Case{"drucker2022", "fig6.4", "Stable inversion of the planar manipulator: order, error",
           drucker2022::fig6_4},
      Case{"drucker2022", "fig6.8", "Flexible link: four elements beside fifteen",
           drucker2022::fig6_8},
      Case{"drucker2022", "fig6.9", "Jacobian of the flexible link by differences",
           drucker2022::fig6_9},
      Case{"drucker2022", "manipulator_2d", "Equations (2.90)-(2.93) of the planar manipulator",
           drucker2022::manipulator_2d},
      Case{"drucker2022", "mass_on_car",
           "Mass matrix and equations (5.3) of the mass-on-car system", drucker2022::mass_on_car},
      Case{"drucker2022", "table3.3", "Classes and relative degrees of the example systems",
           drucker2022::table3_3},
      Case{"drucker2022", "table6", "Relative degrees of the flexible link's four cases",
           drucker2022::table6},
      Case{"iftomm", "A01", "Simple pendulum, closed form", iftomm::a01},
      Case{"iftomm", "A02", "N-four-bar, N = 2, 5, 10, 40, through its singular position",
           iftomm::a02},
      Case{"iftomm", "A03", "Andrews' squeezing mechanism, with the IVP test set", iftomm::a03},
      Case{"iftomm", "A04", "Bricard's mechanism, overconstrained", iftomm::a04},
      Case{"iftomm", "A05", "Flyball governor, stiff", iftomm::a05},
      Case{"palomba", "fig2.3", "Slider-crank by kinematics alone, through its dead centres",
           palomba::fig2_3},
      Case{"palomba", "fig3.14", "Digging forces and payload of an excavator arm",
           palomba::fig3_14},
      Case{"palomba", "fig5.11-5.16",
           "Reduced manipulator: frequencies and shapes over half a radian", palomba::fig5_11,
           palomba::kReducedAssumed},
      Case{"palomba", "fig6", "Observer of the flexible manipulator on its reduced model",
           palomba::fig6, palomba::kObserverAssumed},
      Case{"palomba", "fig6-ukf", "A minute of that observer by the SS-UKF (takes some minutes)",
           palomba::fig6_ukf, palomba::kObserverAssumed, true},
      Case{"palomba", "kinematic_observer", "Slider-crank kinematics (2.23) of test KKF-I",
           palomba::kinematic_observer},
      Case{"palomba", "slider_crank",
           "One-coordinate equation of the offset slider-crank, test TS-I", palomba::slider_crank},
      Case{"palomba", "table3.4", "RMS errors of the two-stage observer and its benchmark",
           palomba::table3_4},
      Case{"palomba", "table3.5", "Computing times of the two-stage observer and its benchmark",
           palomba::table3_5},
      Case{"palomba", "table5.1", "Bar horn: truncation error by size, IMR", palomba::table5_1,
           palomba::kHornAssumed},
      Case{"palomba", "table5.2", "Bar horn: frequencies and shapes of reduced models",
           palomba::table5_2, palomba::kHornAssumed},
      Case{"palomba", "table5.3", "Sonotrode: size for a forced response, by ranking",
           palomba::table5_3, palomba::kSonotrodeAssumed},
      Case{"palomba", "table5.4", "Vibratory feeder: size for a forced response, by ranking",
           palomba::table5_4, palomba::kFeederAssumed},
      Case{"palomba", "table5.5", "Natural frequencies of the flexible manipulator, horizontal",
           palomba::table5_5, palomba::kManipulatorAssumed},
      Case{"palomba", "table6.1", "Operations of the full and of the reduced manipulator (6.9)",
           palomba::table6_1},
      Case{"sanjurjo2017", "fig10", "RMS error, five-bar, gyros on the couplers",
           sanjurjo2017::fig10},
      Case{"sanjurjo2017", "fig11", "RMS error, five-bar, gyros on the couplers, 5 rad/s",
           sanjurjo2017::fig11},
      Case{"sanjurjo2017", "fig12", "RMS error, four-bar, gyro on the crank", sanjurjo2017::fig12},
      Case{"sanjurjo2017", "fig13", "RMS error, five-bar, gyros on the cranks",
           sanjurjo2017::fig13},
      Case{"sanjurjo2017", "fig14", "Error and 95 % interval of the UKF, gyro on the crank",
           sanjurjo2017::fig14},
      Case{"sanjurjo2017", "fig15", "Cost per step", sanjurjo2017::fig15},
      Case{"sanjurjo2017", "fig16", "Observability, encoder on the crank", sanjurjo2017::fig16},
      Case{"sanjurjo2017", "fig17", "Observability, gyro on the coupler", sanjurjo2017::fig17},
      Case{"sanjurjo2017", "fig18", "Observability, gyro on the crank", sanjurjo2017::fig18},
      Case{"sanjurjo2017", "fig3", "RMS error, four-bar, encoder on the crank", sanjurjo2017::fig3},
      Case{"sanjurjo2017", "fig4", "RMS error, five-bar, encoders on the cranks",
           sanjurjo2017::fig4},
      Case{"sanjurjo2017", "fig5", "RMS error, four-bar, gyro on the coupler", sanjurjo2017::fig5},
      Case{"sanjurjo2017", "fig6", "Transient of the DEKF at three rates, gyro on the coupler",
           sanjurjo2017::fig6},
      Case{"sanjurjo2017", "fig7", "Crank angle: mechanism, model alone, observer",
           sanjurjo2017::fig7},
      Case{"sanjurjo2017", "fig8", "Error and 95 % interval of the DEKF, gyro on the coupler",
           sanjurjo2017::fig8},
      Case{"sanjurjo2017", "fig9", "RMS error, four-bar, gyro on the coupler, 5 rad/s",
           sanjurjo2017::fig9},
      Case{"sanjurjo2017", "mechanisms", "Four-bar and five-bar: start, accelerations, motion",
           sanjurjo2017::mechanisms},
  };
  return kCases;
}

Result<std::vector<const Case*>> cases_of(const std::string& what) {
  std::vector<const Case*> found;
  std::vector<std::string> names;
  for (const Case& c : cases()) {
    if (what == c.key || what == name_of(c)) found.push_back(&c);
    names.push_back(name_of(c));
    names.emplace_back(c.key);
  }
  if (!found.empty()) return found;
  Diagnostics d;
  d.error(201, {}, "there is no case \"" + what + "\"" + did_you_mean(what, names));
  return d;
}

}  // namespace panto::validation

// One report: what moves, how, and what to read off it. Every verb that has something to show adds panels to this one page; the
// structs mirror viewer/DATA.md. Values are in SI units; NaN means "no value".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/scene/scene.hpp"

namespace panto::scene {

// What every panel has: a note is one line under the title, a group is a heading that gathers panels.
struct PanelHead {
  std::string title, note, group;
};

struct Axis {
  std::string name, unit;
};

struct Series {
  std::string name, unit;
  std::vector<double> values;
  std::vector<double> x;          // own abscissae; empty: those of the panel
  std::vector<double> low, high;  // band; empty: none
  bool ghost = false;             // belongs to the second motion
  bool hidden = false;            // toggled off at first
  bool points = false;            // markers, no line
};

struct PlotPanel : PanelHead {
  Axis x{"t", "s"};
  std::vector<double> x_values;
  std::vector<Series> series;
  bool x_log = false, y_log = false;
  bool cursor = false;  // x is the time of the motions
};

struct FrequencyResponse {
  std::string name, unit;
  std::vector<double> magnitude, phase_deg;
  bool ghost = false, hidden = false, points = false;
};
struct FrfPanel : PanelHead {
  std::vector<double> frequency_hz;
  std::vector<FrequencyResponse> series;
};

struct MatrixPanel : PanelHead {
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // 0 … 1
};

enum class Mark : std::uint8_t { kNone, kGood, kWarn, kBad };
struct MarkedText {
  std::string text;
  Mark mark = Mark::kNone;
};
using Cell = std::variant<std::monostate, double, std::string, MarkedText>;
struct TablePanel : PanelHead {
  std::vector<Axis> columns;
  std::vector<std::vector<Cell>> rows;
};

enum class Marker : std::uint8_t { kCross, kCircle, kDot };
struct PointSet {
  std::string name;
  std::vector<double> x, y;
  Marker marker = Marker::kDot;
};
struct ScatterPanel : PanelHead {
  Axis x, y;
  std::vector<PointSet> series;
  bool equal = false;  // equal axes
};

struct BarSet {
  std::string name;
  std::vector<double> values, low, high;  // low, high: whiskers; empty: none
};
struct BarsPanel : PanelHead {
  std::string unit;
  std::vector<std::string> categories;
  std::vector<BarSet> series;
};

struct TextPanel : PanelHead {
  std::string text;  // paragraphs separated by empty lines
};

using Panel =
    std::variant<PlotPanel, FrfPanel, MatrixPanel, TablePanel, ScatterPanel, BarsPanel, TextPanel>;

struct Mode {
  double frequency_hz = 0, damping = 0;
  std::string label;
  // Per body dx dy dz rx ry rz in world axes, then per node of a beam the displacements x y turn in ground axes.
  std::vector<double> shape, shape_imag;
};
struct Modes {
  std::vector<double> pose;  // one frame of a Motion
  std::vector<Mode> list;
};

struct Report {
  std::string title, model;
  std::vector<std::string> notes;  // shown on top
  std::optional<Scene> scene;
  std::vector<Motion> motions;  // the first solid, later ones ghosts
  std::optional<Modes> modes;
  std::optional<double> deformation;  // scale of elastic displacements; absent: the page chooses it
  std::vector<Panel> panels;
};

// Warnings as notes of a report.
void add_notes(const Diagnostics& diagnostics, Report& report);

// The data of the page as JSON.
std::string to_json(const Report& report);

// Where a page takes its report.
inline constexpr std::string_view kPageMarker = "<!--PANTOGRAPH-REPORT-->";
// The page that the program was built with; empty when it was built without (PANTO_VIEWER=OFF).
std::string_view page();
// One self-contained HTML file: the report in the built page, or in one given. E0640 when there is no page or no marker in it.
Result<std::string> to_html(const Report& report);
Result<std::string> to_html(const Report& report, std::string_view page);

// One page of several: each becomes a chapter that keeps its own animation and panels, called as `title` says or, where that is empty, as it was.
// E1104: a page that is none of these (`name` says which).
struct BoundPage {
  std::string name, title, html;
};
Result<std::string> bind_pages(const std::string& title, const std::vector<BoundPage>& pages,
                               std::string_view built = page());

}  // namespace panto::scene

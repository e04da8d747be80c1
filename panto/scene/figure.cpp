#include "panto/scene/figure.hpp"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include "panto/base/contract.hpp"

namespace panto::scene {
namespace {

// All in points (1/72 inch).
constexpr double kWidth = 482, kLeft = 58, kRight = 12, kPlot = 130, kGap = 14, kTop = 6,
                 kBottom = 34, kLegend = 13, kFont = 9;
constexpr double kDotsPerInch = 240;

struct Style {
  std::array<double, 3> color;
  std::vector<double> dashes;
};
// Colours that people with any colour vision tell apart (Okabe and Ito); dashes that grey print keeps.
const std::vector<Style>& styles() {
  static const std::vector<Style> kStyles{
      {{0.00, 0.25, 0.55}, {}},         {{0.84, 0.37, 0.00}, {6, 2.5}},
      {{0.00, 0.50, 0.37}, {1.6, 1.6}}, {{0.60, 0.25, 0.50}, {8, 2, 1.6, 2}},
      {{0.25, 0.60, 0.85}, {12, 3}},    {{0.75, 0.52, 0.00}, {8, 2, 1.6, 2, 1.6, 2}},
      {{0.20, 0.20, 0.20}, {3.5, 1.5}}, {{0.45, 0.45, 0.45}, {}},
  };
  return kStyles;
}

std::string superscript(int number) {
  static const std::array<std::string, 10> kDigits{"⁰", "¹", "²", "³", "⁴",
                                                   "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string out;
  for (const char c : std::to_string(number))
    out += c == '-' ? std::string("⁻") : kDigits[static_cast<size_t>(c - '0')];
  return out;
}

// "m/s^2" becomes "m/s²".
std::string typeset(std::string unit) {
  for (size_t p = unit.find('^'); p != std::string::npos; p = unit.find('^')) {
    const size_t end = std::min(unit.find_first_not_of("-0123456789", p + 1), unit.size());
    int power = 0;
    std::from_chars(unit.data() + p + 1, unit.data() + end, power);
    unit.replace(p, end - p, superscript(power));
  }
  return unit;
}

std::string labelled(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} [{}]", name, typeset(unit));
}

// One axis: from values to [0, 1], its ticks and their texts.
struct Scale {
  double low = 0, high = 1;
  bool log = false;
  int exponent = 0;  // ticks show value / 10^exponent
  std::vector<double> marks;

  [[nodiscard]] double place(double value) const {
    const double x = log ? std::log10(value) : value;
    return (x - low) / (high - low);
  }
  [[nodiscard]] std::string text(double mark) const {
    if (log) return "10" + superscript(static_cast<int>(std::lround(mark)));
    const double step = marks.size() > 1 ? marks[1] - marks[0] : 1;
    const double unit = std::pow(10.0, exponent);
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step / unit) + 1e-9)));
    double shown = mark / unit;
    if (std::abs(shown) < 1e-9 * step / unit) shown = 0;
    std::string out = fmt::format("{:.{}f}", std::abs(shown), decimals);
    return shown < 0 ? "−" + out : out;
  }
};

// From the smallest to the largest finite value, with a margin.
Scale scale_of(double low, double high, bool log, double margin, int wanted) {
  Scale s;
  s.log = log;
  if (!(low <= high)) low = log ? 1 : 0, high = log ? 10 : 1;
  s.low = log ? std::log10(low) : low;
  s.high = log ? std::log10(high) : high;
  const double size = std::max(std::abs(s.low), std::abs(s.high));
  if (s.high - s.low <= 1e-12 * size || s.high == s.low) {
    const double half = size > 0 ? 0.5 * size : 0.5;
    s.low -= half;
    s.high += half;
  } else {
    const double more = margin * (s.high - s.low);
    s.low -= more;
    s.high += more;
  }
  s.marks = ticks(s.low, s.high, wanted);
  if (log) {
    std::erase_if(s.marks, [](double m) { return m != std::round(m); });
  } else {
    const double largest = std::max(std::abs(s.low), std::abs(s.high));
    if (largest >= 1e5 || largest < 0.01)
      s.exponent = 3 * static_cast<int>(std::floor(std::log10(largest) / 3));
  }
  return s;
}

struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(const std::vector<double>& values, bool log) {
    for (const double x : values) {
      if (!std::isfinite(x) || (log && x <= 0)) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
};

class Painter {
 public:
  Painter(cairo_t* c, std::span<const PlotPanel> plots) : c_(c), plots_(plots) {
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, kFont);
  }

  // Lines of the legend of a plot: entries side by side as long as they fit.
  std::vector<std::vector<size_t>> legend(const PlotPanel& p) {
    if (p.series.size() < 2) return {};  // named by the axis
    std::vector<std::vector<size_t>> lines{{}};
    double used = 0;
    for (size_t k = 0; k < p.series.size(); ++k) {
      const double wide = 30 + width(entry(p.series[k]));
      if (used + wide > kWidth - kLeft - kRight && !lines.back().empty()) {
        lines.emplace_back();
        used = 0;
      }
      lines.back().push_back(k);
      used += wide;
    }
    return lines;
  }
  double height() {
    double y = kTop + kBottom - kGap;
    for (const PlotPanel& p : plots_)
      y += kPlot + kGap + kLegend * static_cast<double>(legend(p).size());
    return y;
  }

  void paint() {
    cairo_set_source_rgb(c_, 1, 1, 1);
    cairo_paint(c_);
    double y = kTop;
    for (size_t i = 0; i < plots_.size(); ++i) {
      y += kLegend * static_cast<double>(legend(plots_[i]).size());
      plot(plots_[i], y, i + 1 == plots_.size());
      y += kPlot + kGap;
    }
  }

 private:
  static std::string entry(const Series& s) { return s.ghost ? s.name + " (second run)" : s.name; }
  double width(const std::string& text) {
    cairo_text_extents_t e;
    cairo_text_extents(c_, text.c_str(), &e);
    return e.x_advance;
  }
  // align: 0 left, 0.5 centred, 1 right.
  void write(double x, double y, const std::string& text, double align) {
    cairo_move_to(c_, x - align * width(text), y);
    cairo_show_text(c_, text.c_str());
  }
  void grey(double level) { cairo_set_source_rgb(c_, level, level, level); }
  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(c_, x0, y0);
    cairo_line_to(c_, x1, y1);
    cairo_stroke(c_);
  }
  void apply(const Style& s, double thickness) {
    cairo_set_source_rgb(c_, s.color[0], s.color[1], s.color[2]);
    cairo_set_line_width(c_, thickness);
    cairo_set_dash(c_, s.dashes.data(), static_cast<int>(s.dashes.size()), 0);
  }
  void solid() { cairo_set_dash(c_, nullptr, 0, 0); }

  void plot(const PlotPanel& p, double top, bool last) {
    Extent across, up;
    const auto x_of = [&p](const Series& s) -> const std::vector<double>& {
      return s.x.empty() ? p.x_values : s.x;
    };
    for (const Series& s : p.series) {
      across.include(x_of(s), p.x_log);
      for (const auto* v : {&s.values, &s.low, &s.high}) up.include(*v, p.y_log);
    }
    const Scale x = scale_of(across.low, across.high, p.x_log, 0, 8);
    const Scale y = scale_of(up.low, up.high, p.y_log, 0.05, 5);
    const double wide = kWidth - kLeft - kRight, bottom = top + kPlot;
    const auto px = [&](double v) { return kLeft + wide * x.place(v); };
    const auto py = [&](double v) { return bottom - kPlot * y.place(v); };
    axes(p, x, y, top, last);

    cairo_save(c_);
    cairo_rectangle(c_, kLeft, top, wide, kPlot);
    cairo_clip(c_);
    for (const bool points : {true, false})  // lines on top of points
      for (size_t k = 0; k < p.series.size(); ++k) {
        const Series& s = p.series[k];
        if (s.points != points) continue;
        const Style& style = styles()[k % styles().size()];
        band(s, x_of(s), px, py, style);
        apply(style, 1.2);
        if (points) {
          markers(s, x_of(s), px, py);
        } else {
          curve(s, x_of(s), px, py);
        }
      }
    solid();
    cairo_restore(c_);
    keys(p, top);
  }

  void axes(const PlotPanel& p, const Scale& x, const Scale& y, double top, bool last) {
    const double wide = kWidth - kLeft - kRight, bottom = top + kPlot;
    const auto along = [](const Scale& s, double m) { return (m - s.low) / (s.high - s.low); };
    cairo_set_line_width(c_, 0.4);
    for (const double m : x.marks) {
      const double at = kLeft + wide * along(x, m);
      grey(0.88);
      line(at, top, at, bottom);
      grey(0);
      line(at, bottom, at, bottom - 3);
      if (last) write(at, bottom + 11, x.text(m), 0.5);
    }
    for (const double m : y.marks) {
      const double at = bottom - kPlot * along(y, m);
      grey(0.88);
      line(kLeft, at, kLeft + wide, at);
      grey(0);
      line(kLeft, at, kLeft + 3, at);
      write(kLeft - 4, at + 0.33 * kFont, y.text(m), 1);
    }
    grey(0);
    cairo_set_line_width(c_, 0.7);
    cairo_rectangle(c_, kLeft, top, wide, kPlot);
    cairo_stroke(c_);
    if (last) write(kLeft + wide / 2, bottom + 25, x_label(p, x), 0.5);
    const std::string label = y_label(p, y);
    cairo_save(c_);
    cairo_translate(c_, 11, top + kPlot / 2);
    cairo_rotate(c_, -M_PI / 2);
    write(0, 0, label, 0.5);
    cairo_restore(c_);
  }

 public:
  static std::string scaled(const std::string& label, const Scale& s) {
    return s.exponent == 0 ? label : fmt::format("{} ×10{}", label, superscript(s.exponent));
  }
  static std::string x_label(const PlotPanel& p, const Scale& s) {
    return scaled(labelled(p.x.name, p.x.unit), s);
  }
  static std::string y_label(const PlotPanel& p, const Scale& s) {
    const std::string name = p.series.size() == 1 ? p.series[0].name : p.title;
    return scaled(labelled(name, p.series.empty() ? "" : p.series[0].unit), s);
  }

 private:
  template <class X, class Y>
  void band(const Series& s, const std::vector<double>& xs, const X& px, const Y& py,
            const Style& style) {
    const size_t n = std::min({xs.size(), s.low.size(), s.high.size()});
    if (n == 0) return;
    for (size_t i = 0; i < n; ++i) cairo_line_to(c_, px(xs[i]), py(s.low[i]));
    for (size_t i = n; i-- > 0;) cairo_line_to(c_, px(xs[i]), py(s.high[i]));
    cairo_close_path(c_);
    cairo_set_source_rgba(c_, style.color[0], style.color[1], style.color[2], 0.2);
    cairo_fill(c_);
  }

  template <class X, class Y>
  void markers(const Series& s, const std::vector<double>& xs, const X& px, const Y& py) {
    const size_t n = std::min(xs.size(), s.values.size());
    for (size_t i = 0; i < n; ++i) {
      const double x = px(xs[i]), y = py(s.values[i]);
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      cairo_new_sub_path(c_);
      cairo_arc(c_, x, y, 0.9, 0, 2 * M_PI);
    }
    cairo_fill(c_);
  }

  // Points that fall into one quarter of a point on paper are drawn by their smallest and largest value.
  template <class X, class Y>
  void curve(const Series& s, const std::vector<double>& xs, const X& px, const Y& py) {
    const size_t n = std::min(xs.size(), s.values.size());
    bool begun = false;
    const auto to = [&](double x, double y) {
      if (begun) {
        cairo_line_to(c_, x, y);
      } else {
        cairo_move_to(c_, x, y);
      }
      begun = true;
    };
    for (size_t i = 0; i < n;) {
      const double x = px(xs[i]), y = py(s.values[i]);
      if (!std::isfinite(x) || !std::isfinite(y)) {
        begun = false;
        ++i;
        continue;
      }
      size_t end = i + 1;
      double low = y, high = y, last = y;
      while (end < n && std::abs(px(xs[end]) - x) < 0.25 && std::isfinite(py(s.values[end]))) {
        last = py(s.values[end]);
        low = std::min(low, last);
        high = std::max(high, last);
        ++end;
      }
      to(x, y);
      // A peak between the ends.
      if (low < std::min(y, last)) to(x, low);
      if (high > std::max(y, last)) to(x, high);
      if (end > i + 1) to(px(xs[end - 1]), last);
      i = end;
    }
    cairo_stroke(c_);
  }

  void keys(const PlotPanel& p, double top) {
    const auto lines = legend(p);
    double y = top + kLegend - 4 - kLegend * static_cast<double>(lines.size());
    for (const auto& entries : lines) {
      double x = kLeft;
      for (const size_t k : entries) {
        const Series& s = p.series[k];
        apply(styles()[k % styles().size()], 1.2);
        if (s.points) {
          cairo_arc(c_, x + 9, y - 3, 1.2, 0, 2 * M_PI);
          cairo_fill(c_);
        } else {
          line(x, y - 3, x + 18, y - 3);
        }
        solid();
        grey(0);
        write(x + 21, y, entry(s), 0);
        x += 30 + width(entry(s));
      }
      y += kLegend;
    }
  }

  cairo_t* c_;
  std::span<const PlotPanel> plots_;
};

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

cairo_status_t append(void* text, const unsigned char* bytes, unsigned int size) {
  static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(bytes), size);  // NOLINT
  return CAIRO_STATUS_SUCCESS;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out;
}

// Cairo writes letters as outlines, which look the same everywhere but cannot be searched or read aloud.
std::string described(std::string svg, std::span<const PlotPanel> plots) {
  std::string title, text;
  for (const PlotPanel& p : plots) {
    title += (title.empty() ? "" : ", ") + p.title;
    text += fmt::format("{} over {}:", p.title, labelled(p.x.name, p.x.unit));
    for (const Series& s : p.series) text += " " + labelled(s.name, s.unit);
    text += ". ";
  }
  // Cairo counts its surfaces; without the number equal data give equal bytes.
  const std::string counted = "id=\"surface";
  if (const size_t id = svg.find(counted); id != std::string::npos) {
    const size_t digits = id + counted.size();
    svg.erase(digits, svg.find('"', digits) - digits);
  }
  const size_t root = svg.find("<svg");
  const size_t end = svg.find('>', root);
  if (root == std::string::npos || end == std::string::npos) return svg;
  return svg.insert(
      end + 1, fmt::format("\n<title>{}</title>\n<desc>{}</desc>", escaped(title), escaped(text)));
}

}  // namespace

std::vector<double> ticks(double low, double high, int wanted) {
  std::vector<double> out;
  const double rough = (high - low) / wanted;
  if (!(rough > 0) || !std::isfinite(rough)) return out;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
  const double slack = 1e-9 * step;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k)
    out.push_back(k * step);
  return out;
}

Result<std::vector<PlotPanel>> plots_of(const Report& report,
                                        const std::vector<std::string>& names) {
  std::vector<PlotPanel> out;
  Diagnostics errors;
  std::vector<std::string> known;
  std::vector<bool> used(names.size(), false);
  for (const Panel& panel : report.panels) {
    const auto* plot = std::get_if<PlotPanel>(&panel);
    if (plot == nullptr) continue;
    PlotPanel chosen = *plot;
    chosen.series.clear();
    for (const Series& s : plot->series) {
      known.push_back(s.name);
      const auto found = std::find(names.begin(), names.end(), s.name);
      if (found != names.end()) used[static_cast<size_t>(found - names.begin())] = true;
      const bool wanted =
          names.empty() ? plot->group == "Outputs" && !s.hidden : found != names.end();
      if (wanted) chosen.series.push_back(s);
    }
    if (!chosen.series.empty()) out.push_back(std::move(chosen));
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (!used[i])
      errors.error(641, {},
                   fmt::format("there is no output \"{}\" to plot{}", names[i],
                               did_you_mean(names[i], known)));
  if (names.empty() && out.empty()) errors.error(641, {}, "there is nothing to plot");
  if (!errors.ok()) return errors;
  return out;
}

std::string figure(std::span<const PlotPanel> plots, FigureFormat format) {
  PANTO_EXPECT(!plots.empty(), "a figure shows at least one plot");
  std::string bytes;
  // The height follows from the legends, whose texts a context must measure.
  const Surface trial(cairo_recording_surface_create(CAIRO_CONTENT_COLOR, nullptr),
                      cairo_surface_destroy);
  const Context measure(cairo_create(trial.get()), cairo_destroy);
  const double height = Painter(measure.get(), plots).height();
  if (format == FigureFormat::kSvg) {
    Surface surface(cairo_svg_surface_create_for_stream(append, &bytes, kWidth, height),
                    cairo_surface_destroy);
    {
      const Context context(cairo_create(surface.get()), cairo_destroy);
      Painter(context.get(), plots).paint();
    }
    cairo_surface_finish(surface.get());
    return described(std::move(bytes), plots);
  }
  const double zoom = kDotsPerInch / 72;
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::ceil(zoom * kWidth)),
                                 static_cast<int>(std::ceil(zoom * height))),
      cairo_surface_destroy);
  {
    const Context context(cairo_create(surface.get()), cairo_destroy);
    cairo_scale(context.get(), zoom, zoom);
    Painter(context.get(), plots).paint();
  }
  cairo_surface_write_to_png_stream(surface.get(), append, &bytes);
  return bytes;
}

}  // namespace panto::scene

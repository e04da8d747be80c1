// Plots of a report as a figure for papers: vector graphics or an image, without a browser.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "panto/scene/report.hpp"

namespace panto::scene {

enum class FigureFormat : std::uint8_t { kSvg, kPng };

// The plots that show the named series, one per unit, in the order of the report; no names: all outputs that are shown at first.
// E0641 for a name that no plot has, or when there is nothing to plot.
Result<std::vector<PlotPanel>> plots_of(const Report& report,
                                        const std::vector<std::string>& names);

// The bytes of the file: plots stacked, abscissae labelled at the lowest, lines told apart by their dashes as well as their colours.
// 170 mm wide; the image has 240 dots per inch. The SVG holds its labels as <title> and <desc> too. Requires a plot.
std::string figure(std::span<const PlotPanel> plots, FigureFormat format);

// Round numbers (1, 2, 5 times a power of ten) inside [low, high], about `wanted` of them.
std::vector<double> ticks(double low, double high, int wanted);

}  // namespace panto::scene

#include "apps/cli/progress.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT: sigaction is POSIX
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/cli/report.hpp"

namespace panto::cli {
namespace {

volatile sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

std::string duration_text(double seconds) {
  const long s = std::lround(std::ceil(seconds));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() { ::signal(SIGINT, SIG_DFL); }

bool Interrupt::requested() { return interrupted != 0; }

Progress::Progress(std::string title)
    : title_(std::move(title)),
      began_(Clock::now()),
      drawn_(began_),
      terminal_(::isatty(STDERR_FILENO) == 1 && !voice().quiet) {}

Progress::~Progress() { wipe(); }

void Progress::show(double fraction) {
  using std::chrono::duration;
  const auto now = Clock::now();
  const double passed = duration<double>(now - began_).count();
  if (!terminal_ || passed < 1 || (visible_ && duration<double>(now - drawn_).count() < 0.1))
    return;
  drawn_ = now;
  visible_ = true;
  const double share = std::clamp(fraction, 0.0, 1.0);
  const std::string left =
      share > 0 ? duration_text(passed * (1 - share) / share) + " left" : "starting";
  fmt::print(stderr, "\r\x1b[K{} {:3.0f} %, {}", title_, 100 * share, left);
  std::fflush(stderr);
}

void Progress::wipe() {
  if (visible_) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

}  // namespace panto::cli

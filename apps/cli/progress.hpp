// The progress line of long calculations and Ctrl-C.
#pragma once

#include <chrono>
#include <string>

namespace panto::cli {

// While one exists, Ctrl-C only raises a flag; a second Ctrl-C ends the program at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  [[nodiscard]] static bool requested();
};

// "simulate 42 %, 3 s left" on standard error: from one second on, on a terminal only, wiped at the end.
class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(double fraction);
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  Clock::time_point began_, drawn_;
  bool terminal_ = false, visible_ = false;
};

}  // namespace panto::cli

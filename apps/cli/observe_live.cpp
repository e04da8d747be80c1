#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/cli/json.hpp"
#include "apps/cli/observe.hpp"
#include "apps/cli/observe_kinematic.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"

namespace panto::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kLongestLine = 65536;
constexpr int kWait = 100;  // ms between looks at Ctrl-C

std::string error_line(const std::string& message) {
  JsonWriter json;
  json.begin_object().member("error", message).end_object();
  return json.text() + "\n";
}

// An observer behind the lines: what can be read, and what it makes of it.
class Station {
 public:
  explicit Station(std::vector<std::string> names)
      : names_(std::move(names)), values_(names_.size()) {}
  virtual ~Station() = default;
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  // The answer to a line; empty: none.
  std::string answer(std::string_view line, Clock::time_point arrived) {
    if (line.find_first_not_of(" \t\r\n") == std::string_view::npos) return {};
    const std::string wrong = take(line);
    if (end_) return {};
    if (!wrong.empty()) {
      ++errors_;
      return error_line(wrong);
    }
    JsonWriter json;
    json.begin_object();
    write(json);
    const double latency = 1e6 * std::chrono::duration<double>(Clock::now() - arrived).count();
    latencies_.push_back(static_cast<float>(latency));
    json.member("latency_us", latency).end_object();
    return json.text() + "\n";
  }

  [[nodiscard]] bool ended() const { return end_; }

  [[nodiscard]] std::string report() {
    std::string text = fmt::format("{} lines answered, {} refused", latencies_.size(), errors_);
    if (!latencies_.empty()) {
      std::sort(latencies_.begin(), latencies_.end());
      const auto share = [&](double p) {
        return latencies_[static_cast<size_t>(p * static_cast<double>(latencies_.size() - 1))];
      };
      text += fmt::format("; latency {:.1f} µs median, {:.1f} µs at 99 %, {:.1f} µs at most",
                          share(0.5), share(0.99), latencies_.back());
    }
    return text + "\n" + records();
  }

 protected:
  // Readings in the order of the names, NaN: none. Empty, or what is wrong with them.
  virtual std::string push(double t, View readings) = 0;
  // The estimate after them.
  virtual void write(JsonWriter& json) = 0;
  virtual std::string records() = 0;

  static void write(JsonWriter& json, const Estimate& e,
                    const std::vector<EstimatedQuantity>& quantities) {
    json.member("t", e.t);
    for (size_t i = 0; i < quantities.size(); ++i) {
      const std::string& name = quantities[i].name;
      json.member(name, e.value[i]).member(name + "_sigma", e.sigma[i]);
    }
    json.member("nis", e.used > 0 ? e.nis : std::numeric_limits<double>::quiet_NaN());
  }

 private:
  // Empty, or what is wrong with the line.
  std::string take(std::string_view line) {
    const nlohmann::json j = nlohmann::json::parse(line, nullptr, false);
    if (!j.is_object()) return "expected one JSON object per line, like {\"t\": 0.005, ...}";
    if (const auto end = j.find("end"); end != j.end() && end->is_boolean() && end->get<bool>()) {
      end_ = true;
      return {};
    }
    const auto t = j.find("t");
    if (t == j.end() || !t->is_number()) return "the time \"t\" is missing or no number";
    const double time = t->get<double>();
    if (!std::isfinite(time)) return "the time \"t\" is not finite";
    std::fill(values_.begin(), values_.end(), std::numeric_limits<double>::quiet_NaN());
    bool any = false;
    for (const auto& [key, value] : j.items()) {
      if (key == "t") continue;
      const auto found = std::find(names_.begin(), names_.end(), key);
      if (found == names_.end())
        return fmt::format("\"{}\" is neither a sensor in use nor an input{}", key,
                           did_you_mean(key, names_));
      if (value.is_null()) continue;
      if (!value.is_number()) return fmt::format("\"{}\" is no number", key);
      double& place = values_[static_cast<size_t>(found - names_.begin())];
      place = value.get<double>();
      if (!std::isfinite(place)) return fmt::format("\"{}\" is not finite", key);
      any = true;
    }
    if (!any) return "neither a reading nor an input";
    return push(time, values_);
  }

  std::vector<std::string> names_;
  std::vector<double> values_;
  std::vector<float> latencies_;
  long errors_ = 0;
  bool end_ = false;
};

class FilterStation final : public Station {
 public:
  FilterStation(const Model& model, Observer& observer, const TrackerOptions& options)
      : Station(names_of(model, observer)),
        sensors_(static_cast<size_t>(observer.mechanism().sensors())),
        tracker_(observer, options),
        estimate_(tracker_.estimate()) {}

 private:
  // Sensors, then inputs of the model.
  static std::vector<std::string> names_of(const Model& model, Observer& observer) {
    std::vector<std::string> names;
    names.reserve(static_cast<size_t>(observer.mechanism().sensors()) + model.inputs.size());
    for (int i = 0; i < observer.mechanism().sensors(); ++i)
      names.push_back(
          model.outputs[static_cast<size_t>(observer.mechanism().sensor(i).output)].name);
    for (const Input& u : model.inputs) names.push_back(u.name);
    return names;
  }

  std::string push(double t, View readings) override {
    switch (tracker_.push(t, readings.first(sensors_), readings.subspan(sensors_))) {
      case Arrival::kTooOld:
        return fmt::format("t = {:.9g} s is older than the lag", t);
      case Arrival::kJump:
        return fmt::format("t = {:.9g} s is too far ahead of {:.9g} s", t, tracker_.time());
      case Arrival::kFailed:
        return fmt::format("the filter failed: {}", to_string(tracker_.status()));
      default:
        break;
    }
    tracker_.present(estimate_);
    return {};
  }

  void write(JsonWriter& json) override { Station::write(json, estimate_, tracker_.quantities()); }

  std::string records() override {
    tracker_.finish();
    std::string text;
    for (const SensorRecord& r : tracker_.sensors())
      text += fmt::format("{}: {} readings, {} rejected, {} late, {} dropped, {} repeated\n",
                          r.name, r.readings, r.rejected, r.late, r.dropped, r.repeated);
    if (tracker_.restarts() > 0) text += fmt::format("restarted {} times\n", tracker_.restarts());
    return text;
  }

  size_t sensors_;
  Tracker tracker_;
  Estimate estimate_;
};

class KinematicStation final : public Station {
 public:
  explicit KinematicStation(KinematicTracker& tracker)
      : Station(names_of(tracker)), tracker_(tracker), estimate_(tracker.estimate()) {}

 private:
  static std::vector<std::string> names_of(const KinematicTracker& tracker) {
    std::vector<std::string> names;
    names.reserve(tracker.channels().size());
    for (const ChannelRecord& r : tracker.channels()) names.push_back(r.name);
    return names;
  }

  std::string push(double t, View readings) override {
    if (!tracker_.started()) {
      const Status status = tracker_.start(t, readings);
      if (status != Status::kOk)
        return fmt::format("the filter cannot be started: {}", to_string(status));
    } else {
      switch (tracker_.push(t, readings)) {
        case Stamp::kRepeated:
        case Stamp::kBackward:
          return fmt::format("t = {:.9g} s is not after {:.9g} s", t, tracker_.time());
        case Stamp::kJump:
          return fmt::format("t = {:.9g} s is too far ahead of {:.9g} s", t, tracker_.time());
        case Stamp::kGood:
          break;
      }
    }
    tracker_.present(estimate_);
    return {};
  }

  void write(JsonWriter& json) override {
    Station::write(json, estimate_, tracker_.quantities());
    json.member("zone", estimate_.zone)
        .member("restarted", estimate_.restarted)
        .key("readings")
        .begin_object();
    for (size_t i = 0; i < estimate_.readings.size(); ++i)
      json.member(tracker_.channels()[i].name, name_of(estimate_.readings[i]));
    json.end_object();
  }

  std::string records() override { return kinematic_table(tracker_.records(), tracker_.counts()); }

  KinematicTracker& tracker_;
  KinematicEstimate estimate_;
};

// False: nothing yet, look at Ctrl-C and come back.
bool readable(int descriptor) {
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, kWait) > 0;
}

void serve_input(Station& station) {
  std::string pending;
  char buffer[4096];
  while (!station.ended() && !Interrupt::requested()) {
    if (!readable(STDIN_FILENO)) continue;
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    const auto arrived = Clock::now();
    if (n > 0) pending.append(buffer, static_cast<size_t>(n));
    if (n <= 0 && !pending.empty()) pending += '\n';  // a last line without its end
    size_t start = 0;
    for (size_t end; !station.ended() && (end = pending.find('\n', start)) != std::string::npos;
         start = end + 1)
      out(station.answer(std::string_view(pending).substr(start, end - start), arrived));
    pending.erase(0, start);
    if (pending.size() > kLongestLine) {
      out(error_line("a line is longer than 64 kB"));
      pending.clear();
    }
    if (n <= 0) break;
  }
}

// Empty, or why there is no socket.
std::string serve_udp(Station& station, const ObserveArguments& a) {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(static_cast<std::uint16_t>(a.udp));
  if (::inet_pton(AF_INET, a.bind.c_str(), &here.sin_addr) != 1)
    return fmt::format("--bind {}: expected an address like 127.0.0.1", a.bind);
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0 || ::bind(socket, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0) {
    const std::string reason = std::strerror(errno);
    if (socket >= 0) ::close(socket);
    return fmt::format("cannot listen at {}:{}: {}", a.bind, a.udp, reason);
  }
  note(fmt::format("listening at {}:{}", a.bind, a.udp));
  std::vector<char> buffer(kLongestLine);
  while (!station.ended() && !Interrupt::requested()) {
    if (!readable(socket)) continue;
    sockaddr_in sender{};
    socklen_t size = sizeof sender;
    const ssize_t n = ::recvfrom(socket, buffer.data(), buffer.size(), 0,
                                 reinterpret_cast<sockaddr*>(&sender), &size);
    if (n < 0) continue;
    const auto arrived = Clock::now();
    const std::string_view text(buffer.data(), static_cast<size_t>(n));
    for (size_t start = 0; start < text.size() && !station.ended();) {
      const size_t end = std::min(text.find('\n', start), text.size());
      const std::string answer = station.answer(text.substr(start, end - start), arrived);
      if (!answer.empty())
        (void)::sendto(socket, answer.data(), answer.size(), 0,
                       reinterpret_cast<const sockaddr*>(&sender), size);
      start = end + 1;
    }
  }
  ::close(socket);
  return {};
}

int serve(Station& station, const ObserveArguments& a) {
  const Interrupt interrupt;
  if (a.udp > 0) {
    const std::string failed = serve_udp(station, a);
    if (!failed.empty()) {
      Diagnostics errors;
      errors.error(817, {}, failed);
      return fail(errors, a.json);
    }
  } else {
    serve_input(station);
  }
  const std::string report = station.report();
  if (!voice().quiet) fmt::print(stderr, "{}", report);
  return kOk;
}

}  // namespace

int observe_live(const ObserveArguments& a) {
  Asked asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  const Model& model = asked.model;
  TrackerOptions options;
  options.lag = a.lag;
  // A machine that runs cannot wait for a person.
  options.restart = a.restart == "initial" ? Restart::kInitial : Restart::kPresent;
  options.outputs = asked.outputs;
  if (asked.setup.sensors.empty()) asked.setup.sensors = sensors_of(model);
  Result<std::unique_ptr<Observer>> observer =
      Observer::create(model, nominal(model), asked.setup.settings, asked.setup.sensors);
  notes.append(observer.diagnostics());
  if (!observer.ok()) return fail(notes, a.json);
  options.dt = a.dt;
  print(notes);
  FilterStation station(model, **observer, options);
  return serve(station, a);
}

int observe_kinematic_live(const ObserveArguments& a) {
  AskedKinematic asked;
  Diagnostics notes;
  if (const int refused = ask(a, asked, notes); refused != kOk) return refused;
  const Params params = nominal(asked.model);
  const Result<KinematicSetup> setup = complete(std::move(asked.setup), asked.model, params);
  notes.append(setup.diagnostics());
  if (!setup.ok()) return fail(notes, a.json);
  const auto tracker = KinematicTracker::create(asked.model, params, *setup, asked.outputs);
  notes.append(tracker.diagnostics());
  if (!tracker.ok()) return fail(notes, a.json);
  print(notes);
  KinematicStation station(**tracker);
  return serve(station, a);
}

}  // namespace panto::cli

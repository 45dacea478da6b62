// A window may span midnight; it is compared in minutes of local time, so that a clock change moves it with the
// people it is meant for.
#include "stabd/engine/machine/gates.h"

#include <ctime>
#include <sstream>

#include "base/number_text.h"

namespace stab::engine {
namespace {

// "22:00-06:00" -> 1320 and 360. pre: the plan's parser has seen it
std::pair<int, int> minutes_of(const std::string& window) {
  const auto minutes = [&](size_t at) { return std::stoi(window.substr(at, 2)) * 60 + std::stoi(window.substr(at + 3, 2)); };
  return {minutes(0), minutes(6)};
}

bool inside(int minute, std::pair<int, int> window) {
  const auto [from, to] = window;
  if (from < to) return minute >= from && minute < to;
  return minute >= from || minute < to;
}

}  // namespace

bool has_gates(const plan::Gates& gates) { return gates.load || gates.temperature_c || !gates.window.empty(); }

std::string closed_gate(const plan::Gates& gates, const GateView& view) {
  if (!gates.window.empty() && !inside(view.minute_of_day, minutes_of(gates.window)))
    return "outside the window " + gates.window;
  if (gates.load && (!view.load_1min || *view.load_1min >= *gates.load))
    return view.load_1min ? "load " + number_text(*view.load_1min) + ", wanted below " + number_text(*gates.load)
                          : "the machine does not tell its load";
  if (gates.temperature_c && (!view.hottest_c || *view.hottest_c >= *gates.temperature_c))
    return !view.hottest_c ? "the machine does not tell its temperature"
                           : "temperature " + number_text(*view.hottest_c) + " C, wanted below " +
                                 number_text(*gates.temperature_c);
  return {};
}

GateView look_at_gates(const host::Roots& roots, std::chrono::nanoseconds realtime) {
  GateView view;
  if (const auto load = host::read_small_file(roots.proc + "/loadavg")) {
    std::istringstream words(*load);
    double value = 0;
    if (words >> value) view.load_1min = value;
  }
  for (int zone = 0; zone < 64; ++zone) {
    const auto text = host::read_small_file(roots.sys + "/class/thermal/thermal_zone" + std::to_string(zone) + "/temp");
    if (!text) break;
    const auto milli = host::to_integer(*text);
    if (milli && (!view.hottest_c || static_cast<double>(*milli) / 1000 > *view.hottest_c))
      view.hottest_c = static_cast<double>(*milli) / 1000;
  }
  const time_t seconds = static_cast<time_t>(realtime.count() / 1'000'000'000);
  tm local{};
  ::localtime_r(&seconds, &local);
  view.minute_of_day = local.tm_hour * 60 + local.tm_min;
  return view;
}

}  // namespace stab::engine

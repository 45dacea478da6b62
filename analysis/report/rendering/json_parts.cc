#include "analysis/report/rendering/json_parts.h"

namespace stab::report {

void write_interval(text::JsonWriter& json, std::string_view key, const Interval& interval) {
  json.begin_object(key);
  json.value("estimate", interval.estimate).value("conf_low", interval.low).value("conf_high", interval.high);
  json.end();
}

std::string_view scale_name(Scale scale) { return scale == Scale::kLog ? "log" : "linear"; }

}  // namespace stab::report

// What every JSON of this folder writes the same way.
#pragma once

#include <string_view>

#include "analysis/report/report_data/report.h"
#include "analysis/text/json_writer.h"

namespace stab::report {

// {"estimate", "conf_low", "conf_high"}
void write_interval(text::JsonWriter& json, std::string_view key, const Interval& interval);
// "log" or "linear"
std::string_view scale_name(Scale scale);

}  // namespace stab::report

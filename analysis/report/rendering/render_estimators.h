// The declared estimators and shift functions of a report, for people and as JSON. Both say nothing where none was declared.
#pragma once

#include <string>

#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"
#include "analysis/text/json_writer.h"

namespace stab::report {

std::string estimators_text(const Pen& pen, const Report& report);
void estimators_json(text::JsonWriter& json, const Report& report);

}  // namespace stab::report

// Evidence in a page: "stab-evidence", version 1. What is of each trial is among the columns.
#pragma once

#include <string>

#include "analysis/report/experiment/evidence_of_trials.h"

namespace stab::page {

// r_script: what `report --format r` prints, so that the page carries it.
std::string evidence_json(const report::Evidence& evidence, const std::string& r_script);

}  // namespace stab::page

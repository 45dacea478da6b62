// What looking early costs: how much of alpha each declared look spends, and at which level a single test is judged there; of a
// confidence sequence the level at each number of replicates.
#pragma once

#include "analysis/report/experiment/samples.h"
#include "analysis/text/json_writer.h"

namespace stab::page {

// The member `looks` of figures; absent for plans without looks. pre: within an object
void write_looks(text::JsonWriter& json, const report::Samples& samples);

}  // namespace stab::page

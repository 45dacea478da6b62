// What layout files do, measured: the experiment that a verification is, and what came of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plan/advice/layout_file.h"
#include "plan/plan.h"
#include "store/store.h"

namespace stab::engine {

struct VerificationRequest {
  std::vector<std::pair<std::string, advice::LayoutFile>> files;  // with their names
  int links = 10, runs = 2, draw = 1;
  bool simulate = false;
};

// The text of a plan that measures what the files do to the program of `plan`. All files are of one workload.
// `name`: of the experiment or the plan. pre: there is a file
Result<std::string> verification_plan(const plan::Plan& plan, const std::string& name, const VerificationRequest& request);
// The asking user's newest experiment of the name that a file's line 'experiment' has, or another user's where nobody else uses
// that name.
Result<store::ExperimentRow> experiment_of(store::Store& store, const advice::LayoutFile& file, const std::string& path,
                                           int64_t asker);

// What a verification says, for people and for programs. kBadInput where the experiment is none.
Result<std::string> verified_text(store::Store& store, store::Id experiment, int width);
Result<std::string> verified_json(store::Store& store, store::Id experiment);
bool is_verification(const store::ExperimentRow& row);

}  // namespace stab::engine

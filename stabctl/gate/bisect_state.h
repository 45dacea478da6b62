// What a search for a commit has found so far, kept below the repository's .git, so that an interrupted search goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/commands/bisect/bisect.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace stab::ctl {

// A comparison whose experiment was submitted, and whose answer is not there yet.
struct BegunComparison {
  size_t position = 0, against = 0;  // as BisectStep has them
  std::string database;              // absolute path; the experiment is one of its
  int64_t experiment = 0;
  int64_t submitted_at_ns = 0;       // the experiment: another database at that path has another one of that number
};

class BisectState {
 public:
  // Of the search of `good`..`bad`; `question`: whatever else has to be the same for a step to count, such as the text of
  // stab-gate.toml. `folder` is made where it is missing. kBusy: another process has it.
  static Result<BisectState> open(std::string folder, std::string good, std::string bad, std::string question);

  // Steps of a search of the same commits and the same question; nothing of another search, or where there is none.
  const std::vector<commands::BisectStep>& steps() const { return steps_; }
  // An unfinished search of other commits or of another question that lies here, as "GOOD..BAD"; empty: there is none.
  const std::string& other() const { return other_; }
  // The step's answer; no comparison is begun any more.
  Status add(const commands::BisectStep& step);
  // What explain has said of the ends' places; empty: it was not asked, or did not end.
  const std::vector<commands::BisectPlace>& places() const { return places_; }
  Status add_places(std::vector<commands::BisectPlace> places);
  // What a run was at when it ended before its time.
  const std::optional<BegunComparison>& begun() const { return begun_; }
  Status begin(BegunComparison comparison);
  // Whether blocks are sliced, as the first comparison has chosen; absent: it hasn't. All comparisons measure the same time.
  std::optional<bool> is_sliced() const { return is_sliced_; }
  // `clock`: which time is compared, and why.
  Status choose(bool is_sliced, std::string clock);
  const std::string& clock() const { return clock_; }
  // The folder, with the database that the steps' trials are in.
  const std::string& folder() const { return folder_; }
  // Removes all of it: the search is over.
  void remove();

 private:
  BisectState(UniqueFd held, std::string folder, std::string good, std::string bad, std::string question)
      : held_(std::move(held)), folder_(std::move(folder)), good_(std::move(good)), bad_(std::move(bad)),
        question_(std::move(question)) {}
  std::string file() const { return folder_ + "/steps.json"; }
  Status write() const;

  UniqueFd held_;  // the folder, locked
  std::string folder_, good_, bad_, question_, other_, clock_;
  std::optional<bool> is_sliced_;
  std::vector<commands::BisectStep> steps_;
  std::vector<commands::BisectPlace> places_;
  std::optional<BegunComparison> begun_;
};

}  // namespace stab::ctl

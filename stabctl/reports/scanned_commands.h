// Scanned commands: which results of hyperfine's --parameter-list are of one command, and what that command was.
//
// hyperfine writes "sort -n 8" with size 8, and "sort -n 64" with size 64; it was told "sort -n {size}". That is the text, with
// places for parameters, from which each result follows by its own values. A value may also stand in the text by chance, as in
// "sort8 -n 8", and two parameters may have one value, as in "run 8 8". So a place is a parameter's only if results need it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/metrics/metrics.h"

namespace stab::ctl {

struct ScannedResult {
  std::string text;
  std::vector<metrics::Parameter> parameters;
  bool operator==(const ScannedResult&) const = default;
};

// The text of which all results are instances, with "{size}" where a parameter stands; nothing: there is none, or they have other
// parameters. pre: at least one
std::optional<std::string> scanned_text(const std::vector<ScannedResult>& results);

// The command of each result: those of one text, with each combination of values once. Results without parameters are commands of
// their own.
std::vector<std::string> scanned_commands(const std::vector<ScannedResult>& results);

}  // namespace stab::ctl

#include "analysis/commands/answers/side_differences.h"

namespace stab::commands {

std::vector<std::string> difference_sentences(const SideDifferences& sides, const std::string& workload) {
  return difference_sentences_of(sides, "the two sides" + (workload.empty() ? std::string() : " of " + workload));
}

std::vector<std::string> difference_sentences_of(const SideDifferences& sides, const std::string& who) {
  const std::string why = "; times compare programs that do the same";
  std::vector<std::string> out;
  if (!sides.outputs.empty()) out.push_back(who + " print something else, " + sides.outputs + why);
  if (!sides.ends.empty()) out.push_back(who + " end with different exit statuses, " + sides.ends + why);
  if (sides.same_file)
    out.push_back(who +
                  " run the same file, byte for byte; if what it reads and starts is the same, too, a difference is chance");
  return out;
}

}  // namespace stab::commands

#include "stabctl/command_line/hyperfine_options.h"

namespace stab::ctl {
namespace {

// Of hyperfine 1.15, Debian 12's, and of 1.19.
struct Habit {
  std::string_view names;  // between blanks
  const char* instead;
};
constexpr Habit kHabits[] = {
    {" -w ", "write --warmup N"},
    {" -r --runs -m --min-runs -M --max-runs ",
     "it runs as often as an answer needs: --at-most TIME says how long it may take, a plan's 'replicates' (--save) how often"},
    {" -p ", "write --prepare COMMAND"},
    {" -s --setup ", "run that before stabctl; what runs before each run is --prepare COMMAND"},
    {" -c --cleanup -C --conclude ", "a plan has 'cleanup': write it with --save, and 'stabctl run' it"},
    {" -i --ignore-failure ", "write which statuses are right: --exit 1, or --exit 0,1"},
    {" -N ", "nothing is run by a shell here, unless --shell is given"},
    {" -S ", "--shell has commands run by /bin/sh; without it there is no shell"},
    {" --output --show-output ", "what runs print is compared and not shown; a shell can write it: --shell './prog > FILE'"},
    {" --export-csv --export-markdown --export-asciidoc --export-orgmode ",
     "--markdown prints a table, --export-json FILE writes the times"},
    {" -P --parameter-scan -D --parameter-step-size -L --parameter-list ",
     "name each command: stabctl compare './prog -j1' './prog -j2' './prog -j4'; for more than eight, or several parameters, "
     "'stabctl init' writes a plan"},
    {" -n --command-name ", "sides are called as they are typed; a plan gives its levels names: --save"},
    {" --reference --reference-name ", "the first side is what the others are compared with"},
    {" --style --sort -u --time-unit --debug-mode ", "leave it out; --json has seconds, --quiet no progress"},
    {" --min-benchmarking-time ", "it runs as often as an answer needs, within --at-most TIME"},
};

}  // namespace

std::string instead_of_hyperfine(std::string_view option) {
  if (option.size() < 2) return {};
  const std::string framed = " " + std::string(option) + " ";
  for (const Habit& habit : kHabits)
    if (habit.names.find(framed) != habit.names.npos) return habit.instead;
  return {};
}

}  // namespace stab::ctl

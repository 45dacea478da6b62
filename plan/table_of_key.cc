#include "plan/table_of_key.h"

namespace stab::plan {
namespace {

// Each table's keys between blanks. Left out are keys of several tables; the tests hold the others against what the tables take.
struct Table {
  std::string_view name, keys;
};
constexpr Table kTables[] = {
    {"[experiment]",
     " series seed runs_per_seed blocks slice alone response margin alpha order replicates layouts about preflight record_epochs "
     "record_samples "},
    {"[factors]", " randomize code stack stack_range heap epoch env_size load link baseline nested exclude fraction "},
    {"[stopping]", " rule looks spending first max half_width until "},
    {"[counters]", " events sharing per_pass kernel simulate "},
    {"[machine]", " cpus housekeeping ipc tmp knobs gates require "},
    {"[limits]", " memory processes "},
    {"[exclusions]", " rules "},
    {"[analysis]", " estimators shift "},
    {"[layout]", " map long_loops confirmation verification "},
    {"[[program]]",
     " shell source build build_timeout inputs prepare cleanup preload_heap preload_libraries stack_limit output_limit "
     "layout_script run stdin cwd env warmup timeout expect metrics workload "},
    {"[[program.workload]]", " args "},
};

}  // namespace

std::string_view table_of_key(std::string_view key) {
  if (key.empty() || key.find(' ') != key.npos) return {};
  for (const Table& table : kTables)
    for (size_t at = table.keys.find(key); at != table.keys.npos; at = table.keys.find(key, at + 1))
      if (table.keys[at - 1] == ' ' && table.keys[at + key.size()] == ' ') return table.name;
  return {};
}

}  // namespace stab::plan

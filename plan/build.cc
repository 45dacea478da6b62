// Builds: what {placeholders} and link seeds make of the programs' commands, each distinct one once.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/rng.h"
#include "plan/design.h"
#include "plan/placeholder.h"
#include "plan/verification_plan.h"

namespace stab::plan {
namespace {

// "lua opt=-O2 link=3": the factors that the build and its source name, and the link layout.
std::string build_name(const Plan& plan, const Program& program, const Cell& cell, int link) {
  std::string texts;
  for (const std::string& word : program.build.argv) texts += word + "\n";
  texts += program.source.dir + "\n" + program.source.git + "\n" + program.source.revision + "\n";
  for (const std::string& patch : program.source.patches) texts += patch + "\n";
  std::string name = program.name;
  for (size_t f = 0; f < plan.factors.size(); ++f) {
    const Factor& factor = plan.factors[f];
    const bool is_arm = plan.layout.verification && factor.name == kArmFactor;
    if (!is_arm && texts.find("{" + factor.name + "}") == std::string::npos) continue;
    name += " " + factor.name + "=" + factor.levels[static_cast<size_t>(cell.levels[f])].name;
  }
  if (link > 0) name += " link=" + std::to_string(link);
  return name;
}

// What builds of this cell obey; empty: no layout file.
std::string layout_file_of(const Plan& plan, const Cell& cell) {
  if (!plan.layout.verification) return {};
  const int factor = plan.factor_index(kArmFactor);
  const int level = factor < 0 ? 0 : cell.levels[static_cast<size_t>(factor)];
  return level == 0 ? std::string() : plan.layout.verification->arms[static_cast<size_t>(level) - 1].text;
}

// Adds `name` to names with `separator` between them, unless it is there.
void add_name(std::string& names, char separator, std::string_view name) {
  const std::string framed = separator + names + separator;
  if (framed.find(separator + std::string(name) + separator) != std::string::npos) return;
  if (!names.empty()) names += separator;
  names += name;
}

// What a build has to give, so that this cell's trials can be what the cell says. What is preloaded needs nothing.
void add_demands(const Plan& plan, const Program& program, const Cell& cell, int link, Build& build) {
  const Layout& layout = cell.layout;
  if (layout.code != abi::CodeMode::kOff && !program.preload_libraries) add_name(build.strict, ',', "code");
  if (layout.stack == abi::StackMode::kOn || layout.stack == abi::StackMode::kRecursive) add_name(build.strict, ',', "stack");
  const bool brings_heap = program.preload_heap || program.preload_libraries;
  if (layout.heap != abi::HeapMode::kOff && !brings_heap) add_name(build.strict, ',', "heap");
  for (const Workload& workload : program.workloads) {
    const std::string path = substitute(workload.run, plan, cell, link).argv[0];
    add_name(build.measured, ':', std::string_view(path).substr(path.rfind('/') + 1));
  }
}

}  // namespace

uint32_t link_seed(const Plan& plan, int link) {
  if (link == 0) return 0;
  // 1 to 2^31 - 1: never 0, which means "as linked", and positive in any 32-bit type.
  return static_cast<uint32_t>(
      1 + Rng::stream(plan.experiment.seed, "link seed", static_cast<uint64_t>(link)).below(0x7fffffff));
}

std::string substitute(std::string_view text, const Plan& plan, const Cell& cell, int link) {
  const Result<std::vector<Piece>> pieces = split_placeholders(text);
  if (!pieces) return std::string(text);  // not from a parsed plan
  std::string out;
  for (const Piece& piece : *pieces) {
    if (!piece.is_placeholder) {
      out += piece.text;
      continue;
    }
    if (piece.text == "link") {
      out += std::to_string(link_seed(plan, link));
      continue;
    }
    const int factor = plan.factor_index(piece.text);
    if (factor < 0) continue;
    const size_t f = static_cast<size_t>(factor);
    out += plan.factors[f].levels[static_cast<size_t>(cell.levels[f])].value;
  }
  return out;
}

Command substitute(const Command& command, const Plan& plan, const Cell& cell, int link) {
  Command out;
  for (size_t i = 0; i < command.argv.size(); ++i) {
    // A level that is a list of words; a word of the user's has no such byte.
    const std::string words = substitute(command.argv[i], plan, cell, link);
    if (words.empty() && std::find(command.bare.begin(), command.bare.end(), i) != command.bare.end()) continue;
    for (size_t at = 0; at <= words.size();) {
      const size_t end = std::min(words.find(kBetweenWords, at), words.size());
      out.argv.push_back(words.substr(at, end - at));
      at = end + 1;
    }
  }
  if (out.argv.empty() && !command.argv.empty()) out.argv.emplace_back();  // what runs nothing is refused by its name
  return out;
}

int BuildSet::of(int program, int cell, int link) const {
  return index_[(static_cast<size_t>(program) * static_cast<size_t>(cells_) + static_cast<size_t>(cell)) *
                    static_cast<size_t>(links_) +
                static_cast<size_t>(link)];
}

namespace {

// What tells builds apart.
auto key_of(const Build& build) {
  return std::tie(build.program, build.link, build.command.argv, build.source.dir, build.source.git, build.source.revision,
                  build.source.patches, build.source.submodules, build.layout_file);
}

}  // namespace

int BuildSet::same_as(const Build& other) const {
  for (const Build& build : builds_)
    if (key_of(build) == key_of(other)) return build.index;
  return -1;
}

BuildSet make_builds(const Plan& plan, const Design& design) {
  BuildSet set;
  set.cells_ = static_cast<int>(design.cells.size());
  set.links_ = plan.link.seeds + 1;
  using Key = std::tuple<int, int, Command, Source, std::string>;
  std::map<Key, int, bool (*)(const Key&, const Key&)>
      known([](const Key& a, const Key& b) {
        const auto key = [](const Key& t) {
          const auto& [program, link, command, source, layout] = t;
          return std::tie(program, link, command.argv, source.dir, source.git, source.revision, source.patches, layout);
        };
        return key(a) < key(b);
      });
  for (int p = 0; p < static_cast<int>(plan.programs.size()); ++p) {
    const Program& program = plan.programs[static_cast<size_t>(p)];
    for (const Cell& cell : design.cells) {
      for (int link = 0; link < set.links_; ++link) {
        // Only cells of fixed code have link layouts, and they have no link 0 then.
        const bool needed = link == 0 ? !(cell.fixed_code && plan.link.seeds > 0) || plan.link.as_linked : cell.fixed_code;
        if (!needed) {
          set.index_.push_back(-1);
          continue;
        }
        Source source;
        source.dir = substitute(program.source.dir, plan, cell, link);
        source.git = substitute(program.source.git, plan, cell, link);
        source.revision = substitute(program.source.revision, plan, cell, link);
        source.submodules = program.source.submodules;
        for (const std::string& patch : program.source.patches)
          if (std::string path = substitute(patch, plan, cell, link); !path.empty())
            source.patches.push_back(std::move(path));
        Command command = substitute(program.build, plan, cell, link);
        std::string layout = layout_file_of(plan, cell);
        const auto [at, is_new] =
            known.emplace(Key(p, link, command, source, layout), static_cast<int>(set.builds_.size()));
        if (is_new)
          set.builds_.push_back({at->second, p, cell.index, link, link_seed(plan, link),
                                 build_name(plan, program, cell, link), std::move(command), std::move(source),
                                 std::move(layout), {}, {}});
        add_demands(plan, program, cell, link, set.builds_[static_cast<size_t>(at->second)]);
        set.index_.push_back(at->second);
      }
    }
  }
  return set;
}

}  // namespace stab::plan

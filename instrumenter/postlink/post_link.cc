// The order of the steps. Each one reads only what earlier ones produced:
//   symbols -> functions -> fields -> references -> jump tables -> movability -> call graph -> metadata.
#include "instrumenter/postlink/post_link.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "instrumenter/postlink/archive.h"
#include "instrumenter/postlink/call_graph.h"
#include "instrumenter/postlink/callees.h"
#include "instrumenter/postlink/code_metadata.h"
#include "instrumenter/postlink/constant_lists.h"
#include "instrumenter/postlink/elf_writer.h"
#include "instrumenter/postlink/executable_stack.h"
#include "instrumenter/postlink/foreign.h"
#include "instrumenter/postlink/lead_points.h"
#include "instrumenter/postlink/movability.h"
#include "instrumenter/postlink/pads.h"
#include "instrumenter/postlink/placed.h"
#include "instrumenter/postlink/probes.h"
#include "instrumenter/postlink/references.h"
#include "instrumenter/postlink/shortfalls.h"
#include "instrumenter/postlink/stack_record.h"
#include "runtime/code_abi.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

Status check_usable(const ElfImage& image) {
  const std::string name = "'" + image.path() + "'";
  if (image.text().empty()) return bad_input(name + " has no code");
  if (image.find_section(abi::kCodeSection) != nullptr)
    return bad_input(name + " already has " + abi::kCodeSection + "; link it again to process it again");
  if (!image.has_kept_relocations())
    return bad_input(name + " has no relocations; link it with -Wl,--emit-relocs");
  if (image.symbols().empty()) return bad_input(name + " has no symbol table; link it without -s");
  return {};
}

// Needed only where no list tells what stays.
Result<std::vector<std::string>> read_runtime_names(const ElfImage& image, const Options& options) {
  const bool is_listed = options.only_listed || image.find_section(abi::kFunctionsSection) != nullptr;
  if (is_listed && !options.move_all) return std::vector<std::string>();
  return functions_of_archives(options.runtime_archives);
}

Status hold_to_layout(const ElfImage& image, const Options& options) {
  if (options.layout_file.empty()) return {};
  STAB_TRY(const advice::LayoutFile file, advice::read_layout_file(options.layout_file));
  STAB_TRY(const std::vector<std::string> warnings, check_placed(image, file, options.layout_file));
  if (options.warnings) options.warnings->insert(options.warnings->end(), warnings.begin(), warnings.end());
  return {};
}

Shares shares_of(const FunctionTable& functions) {
  Shares shares;
  for (const Function& function : functions.all()) shares.count(function.immovable);
  return shares;
}

// Strict or not, nobody is to measure what stays and take it for what moves.
Status hold_to_factors(const ElfImage& image, const FunctionTable& functions, const Options& options) {
  const Shortfalls lacking = find_shortfalls(image, shares_of(functions));
  const std::string name = "'" + image.path() + "': ";
  if (const std::string text = lacking.text(options.strict); !text.empty())
    return bad_input(name + text + "; --stab-strict or STAB_LINK_STRICT asks for " + text_of(options.strict));
  if (options.warnings == nullptr || image.is_shared_library()) return {};
  if (!lacking.code.empty()) options.warnings->push_back(name + lacking.code);
  const auto moves = [&functions](uint64_t address) {
    const auto found = functions.holding(address);
    return found && functions[*found].immovable == abi::Immovable::kNo;
  };
  if (const std::string probes = moving_probes(image, moves); !probes.empty())
    options.warnings->push_back(name + probes + ", in code that moves: a tracer's breakpoint there is never reached while "
                                "STAB_CODE is on");
  return {};
}

}  // namespace

Result<Analysis> analyze(const ElfImage& image, const Options& options) {
  STAB_CHECK_OK(check_usable(image));
  STAB_TRY(const auto runtime_names, read_runtime_names(image, options));
  Analysis analysis;
  analysis.functions = FunctionTable::read(image, options.only_listed || options.move_all, runtime_names);
  analysis.disassembly = disassemble(image, analysis.functions);
  const References references = References::collect(image, analysis.functions, analysis.disassembly);
  analysis.tables = find_jump_tables(image, analysis.functions, analysis.disassembly, references);

  // Functions, fields and tables are final; from here on only judgements are added.
  const Callees callees(image);
  const ForeignRules rules(image, analysis.functions, analysis.disassembly, callees, references);
  analysis.is_walked = rules.is_walked() && (options.move_all || !analysis.functions.has_compiled_list());
  decide_movability(image, callees, analysis.disassembly, references, analysis.tables, rules, options.move_all,
                    analysis.functions);
  // Coroutines on one stack have the room that the program's arrays leave between them, and others that of an array.
  analysis.holds_pads = switches_by_jumps(image, callees, analysis.disassembly, analysis.functions) ||
                        switches_to_arrays(image, analysis.disassembly, analysis.functions);
  analysis.switches_stacks = analysis.holds_pads || switches_stacks(image, callees, analysis.disassembly, analysis.functions);
  const std::vector<bool> recursive =
      recursive_functions(callees, analysis.disassembly, analysis.functions);
  analysis.recursive_pads = recursive_pads(image, analysis.functions, analysis.disassembly, recursive);
  return analysis;
}

Status post_link(const std::string& input, const std::string& output, const Options& options) {
  struct stat status{};
  if (stat(input.c_str(), &status) != 0) return system_error("open '" + input + "'", errno);
  STAB_TRY(auto bytes, read_file(input));
  STAB_TRY(auto image, ElfImage::parse(std::move(bytes), input));
  if (image.text().empty()) {
    STAB_TRY(const auto file, without_metadata(image, {options.strip, options.keep_relocations}));
    return write_atomically(output, file, status.st_mode);
  }
  STAB_TRY(const auto analysis, analyze(image, options));
  STAB_CHECK_OK(hold_to_layout(image, options));
  // Before the text is hashed: some linkers put read-only data into the same segment.
  if (analysis.holds_pads)
    for (const uint64_t offset : all_pads(image)) image.set_word(offset, abi::kPadHeld);
  else
    for (const uint64_t offset : analysis.recursive_pads) image.set_word(offset, abi::kPadRecursive);
  STAB_CHECK_OK(hold_to_factors(image, analysis.functions, options));
  if (image.is_shared_library()) leave_record_to_program(image);
  allow_code_on_stack(image);
  const auto metadata = encode_code_metadata(image, analysis.functions, analysis.disassembly,
                                             analysis.tables, analysis.switches_stacks, analysis.is_walked,
                                             find_long_loops(image, analysis.functions, analysis.disassembly, analysis.tables));
  const auto constants = encode_constant_lists(image, analysis.functions);
  std::vector<AddedSection> added = {{abi::kCodeSection, metadata}};
  if (!constants.empty()) added.push_back({abi::kContentsSection, constants});
  STAB_TRY(const auto file, with_metadata(image, added, {options.strip, options.keep_relocations}));
  return write_atomically(output, file, status.st_mode);
}

Result<std::vector<std::string>> functions_of_archives(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  for (const std::string& path : paths) {
    if (access(path.c_str(), R_OK) != 0) continue;
    STAB_TRY(const auto bytes, read_file(path));
    STAB_TRY(const auto names, functions_of_archive(bytes, path));
    all.insert(all.end(), names.begin(), names.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return system_error("open '" + path + "'", errno);
  if (!S_ISREG(status.st_mode)) return bad_input("'" + path + "' is not a regular file");
  std::vector<uint8_t> bytes(static_cast<size_t>(status.st_size));
  for (size_t have = 0; have < bytes.size();) {
    const ssize_t count = read(file.get(), bytes.data() + have, bytes.size() - have);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("read '" + path + "'", errno);
    if (count == 0) return bad_input("'" + path + "' shrank while it was read");
    have += static_cast<size_t>(count);
  }
  return bytes;
}

}  // namespace stab::postlink

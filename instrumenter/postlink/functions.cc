// Finding functions by their symbols: aliases and identical code folding give one range several
// names, hand-written assembly gives ranges without size or with other symbols inside. One entry comes out
// for each disjoint range; whatever is irregular is kept and marked, so that it is counted and stays put.
// Where symbols were left out, the list of what our pass compiled has the same ranges.
#include "instrumenter/postlink/functions.h"

#include <algorithm>
#include <string>

#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

// An entry of stab_funcs: the distance to a function, and its size. The distance has 64 bits in objects of the medium and the
// large model (LLVM's AsmPrinter::emitPCSections), and a linker puts entries of both kinds one behind the other.
constexpr size_t kNarrow = sizeof(int32_t), kWide = sizeof(int64_t);  // distances

// pre: an entry of this kind lies there
Listed listed_at(const Section& section, size_t at, size_t distance) {
  const uint8_t* const entry = section.bytes.data() + at;
  const int64_t to = distance == kWide ? read_as<int64_t>(entry) : read_as<int32_t>(entry);
  return {section.header.sh_addr + at + static_cast<uint64_t>(to), read_as<uint32_t>(entry + distance)};
}

// Entries as relocations tell them apart; empty where these don't tell of the whole section, as of a processed file.
std::vector<Listed> listed_by_relocations(const ElfImage& image, const Section& section) {
  std::vector<Listed> listed;
  size_t at = 0;
  for (const Relocation& relocation : image.kept_relocations(section)) {
    const size_t distance = relocation.type == R_X86_64_PC64 ? kWide : kNarrow;
    if (relocation.place != section.header.sh_addr + at || section.bytes.size() - at < distance + sizeof(uint32_t)) return {};
    listed.push_back(listed_at(section, at, distance));
    at += distance + sizeof(uint32_t);
  }
  return at == section.bytes.size() ? listed : std::vector<Listed>();
}

std::vector<Listed> listed_alike(const Section& section, size_t distance) {
  std::vector<Listed> listed;
  const size_t step = distance + sizeof(uint32_t);
  for (size_t at = 0; at + step <= section.bytes.size(); at += step) listed.push_back(listed_at(section, at, distance));
  return listed;
}

std::vector<Listed> listed_functions(const ElfImage& image) {
  const Section* section = image.find_section(abi::kFunctionsSection);
  if (section == nullptr) return {};
  if (std::vector<Listed> listed = listed_by_relocations(image, *section); !listed.empty()) return listed;
  const auto is_in_text = [&image](const Listed& one) { return image.in_text(one.start); };
  std::vector<Listed> narrow = listed_alike(*section, kNarrow), wide = listed_alike(*section, kWide);
  const bool is_wide =
      !std::all_of(narrow.begin(), narrow.end(), is_in_text) && std::all_of(wide.begin(), wide.end(), is_in_text);
  return is_wide ? wide : narrow;
}

bool is_code(const ElfImage& image, const Symbol& symbol) {
  if (symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) return false;
  if (symbol.section == SHN_UNDEF || symbol.section >= image.sections().size()) return false;
  return image.sections()[symbol.section].executable() && image.in_text(symbol.value) &&
         symbol.bytes <= image.text_end() - symbol.value;
}

}  // namespace

std::string_view Function::parent_of_cold_part() const {
  const size_t at = name.rfind(".cold");
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}

FunctionTable FunctionTable::read(const ElfImage& image, bool only_listed, const std::vector<std::string>& runtime_names) {
  std::vector<const Symbol*> symbols;
  for (const Symbol& symbol : image.symbols())
    if (is_code(image, symbol)) symbols.push_back(&symbol);
  std::stable_sort(symbols.begin(), symbols.end(), [](const Symbol* a, const Symbol* b) {
    if (a->value != b->value) return a->value < b->value;
    if (a->bytes != b->bytes) return a->bytes > b->bytes;
    return a->binding > b->binding;
  });

  FunctionTable table;
  for (const Symbol* symbol : symbols) {
    Function* last = table.functions_.empty() ? nullptr : &table.functions_.back();
    if (last != nullptr && symbol->value == last->start && (symbol->bytes == last->bytes || symbol->bytes == 0))
      continue;  // an alias
    if (last != nullptr && last->contains(symbol->value)) {
      last->overlaps = true;
      last->bytes = std::max(last->end(), symbol->value + symbol->bytes) - last->start;
      continue;
    }
    table.functions_.push_back({.start = symbol->value, .bytes = symbol->bytes, .name = symbol->name});
  }
  const std::vector<Listed> listed = listed_functions(image);
  table.add_nameless(image, listed);
  table.mark_foreign(image, only_listed, listed);
  table.mark_runtime(runtime_names);
  return table;
}

void FunctionTable::add_nameless(const ElfImage& image, const std::vector<Listed>& listed) {
  std::vector<Function> nameless;
  for (const auto& [start, bytes] : listed) {
    if (bytes == 0 || !image.in_text(start) || bytes > image.text_end() - start || holding(start)) continue;
    const auto next = std::lower_bound(functions_.begin(), functions_.end(), start,
                                       [](const Function& function, uint64_t value) { return function.start < value; });
    if (next != functions_.end() && next->start < start + bytes) continue;
    nameless.push_back({.start = start, .bytes = bytes, .name = {}});
  }
  std::sort(nameless.begin(), nameless.end(), [](const Function& a, const Function& b) { return a.start < b.start; });
  uint64_t end = 0;
  for (const Function& function : nameless) {
    if (function.start < end) continue;  // listed twice, as identical code is
    end = function.end();
    functions_.push_back(function);
    has_nameless_ = true;
  }
  std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) { return a.start < b.start; });
}

void FunctionTable::mark_foreign(const ElfImage& image, bool only_listed, const std::vector<Listed>& ours) {
  has_compiled_list_ = only_listed || image.find_section(abi::kFunctionsSection) != nullptr;
  if (!has_compiled_list_) return;
  std::vector<uint64_t> listed;
  for (const Listed& one : ours) listed.push_back(one.start);
  std::sort(listed.begin(), listed.end());
  const auto is_listed = [&listed](uint64_t start) { return std::binary_search(listed.begin(), listed.end(), start); };
  std::vector<std::string_view> compiled;
  for (Function& function : functions_) {
    function.foreign = !is_listed(function.start);
    if (!function.foreign) compiled.push_back(function.name);
  }
  std::sort(compiled.begin(), compiled.end());
  for (Function& function : functions_) {
    // It has no entry of its own in stab_funcs.
    const std::string_view parent = function.parent_of_cold_part();
    if (function.foreign && !parent.empty() && std::binary_search(compiled.begin(), compiled.end(), parent))
      function.foreign = false;
  }
}

// The runtime starts and publishes the copies, and must not run in one. Its namespace tells most of it; what it
// puts in front of libc, and its static functions outside the namespace, only the names in its archive. Where there is
// a list of compiled functions the runtime isn't on it, and a program's own functions of such names may move.
void FunctionTable::mark_runtime(const std::vector<std::string>& names) {
  for (Function& function : functions_) {
    const bool in_namespace = function.name.starts_with("_Z") && function.name.find("4stab") != std::string_view::npos;
    const bool could_be = function.foreign || !has_compiled_list_;
    function.runtime = could_be && (in_namespace || function.name.starts_with("stab_rt_") ||
                                    std::binary_search(names.begin(), names.end(), function.name));
  }
}

std::optional<uint32_t> FunctionTable::holding(uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](uint64_t value, const Function& function) { return value < function.start; });
  if (after == functions_.begin()) return std::nullopt;
  const auto found = after - 1;
  if (!found->contains(address)) return std::nullopt;
  return static_cast<uint32_t>(found - functions_.begin());
}

std::optional<uint32_t> FunctionTable::starting_at(uint64_t address) const {
  const auto found = std::lower_bound(functions_.begin(), functions_.end(), address,
                                      [](const Function& function, uint64_t value) { return function.start < value; });
  if (found == functions_.end() || found->start != address) return std::nullopt;
  return static_cast<uint32_t>(found - functions_.begin());
}

uint64_t FunctionTable::next_sized_after(uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t value, const Function& function) { return value < function.start; });
  while (after != functions_.end() && after->bytes == 0) ++after;
  return after == functions_.end() ? UINT64_MAX : after->start;
}

std::vector<uint64_t> self_relative_list(const ElfImage& image, std::string_view section_name, size_t entry_bytes) {
  std::vector<uint64_t> addresses;
  const Section* section = image.find_section(section_name);
  if (section == nullptr) return addresses;
  for (size_t at = 0; at + entry_bytes <= section->bytes.size(); at += entry_bytes)
    addresses.push_back(section->header.sh_addr + at +
                        static_cast<uint64_t>(int64_t{read_as<int32_t>(section->bytes.data() + at)}));
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

}  // namespace stab::postlink

// A layout file may be obeyed in part without anybody's having done wrong: a function was inlined by an edit, an object is older
// than the file, another compiler made it. A build that looked advised and was not would be worse than one that fails, so the
// result is looked at.
#include "instrumenter/postlink/placed.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/wording.h"

namespace stab::postlink {
namespace {

using advice::FixedPlace;
using advice::LayoutFile;

// All functions of a name: static ones of several sources may share one.
std::map<std::string_view, std::vector<const Symbol*>> functions_by_name(const ElfImage& image) {
  std::map<std::string_view, std::vector<const Symbol*>> out;
  for (const Symbol& symbol : image.symbols())
    if (symbol.type == STT_FUNC && symbol.section != SHN_UNDEF) out[symbol.name].push_back(&symbol);
  return out;
}

// libtool links "lt-NAME" first, to be run where it lies.
bool is_the_program(const std::string& path, const std::string& program) {
  std::string_view name(path);
  name.remove_prefix(name.rfind('/') + 1);
  return name == program || (name.starts_with("lt-") && name.substr(3) == program);
}

std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Status check_place(const ElfImage& image, const FixedPlace& place, const Symbol& symbol, const std::string& name) {
  if (symbol.value % place.modulus == place.remainder) return {};
  return bad_input(
      "'" + name + "' wants " + in_quotes(place.function) + " at " + std::to_string(place.remainder) + " mod " +
      std::to_string(place.modulus) + ", and in '" + image.path() + "' it is at " + hex(symbol.value) + ", which is " +
      std::to_string(symbol.value % place.modulus) +
      ": only what szc compiles with --stab-layout is placed; compile its source again with the file, or take the line out");
}

// Of several functions of one name the file doesn't say which was measured.
void check_size(const FixedPlace& place, const std::vector<const Symbol*>& symbols, const std::string& name,
                std::vector<std::string>& warnings) {
  const auto is_same = [&](const Symbol* symbol) { return symbol->bytes == place.bytes; };
  if (place.bytes == 0 || std::any_of(symbols.begin(), symbols.end(), is_same)) return;
  warnings.push_back(in_quotes(place.function) + " has " + std::to_string(symbols.front()->bytes) + " bytes, and when '" + name +
                     "' was measured it had " + std::to_string(place.bytes) +
                     ": its source, the compiler or its options are others, so what its place does is not known; 'stabctl layout "
                     "verify' measures it");
}

Status check_order(const ElfImage& image, const LayoutFile& file,
                   const std::map<std::string_view, std::vector<const Symbol*>>& functions, const std::string& name) {
  const Symbol* last = nullptr;
  for (const std::string& function : file.order) {
    const auto at = functions.find(function);
    if (at == functions.end()) continue;
    const Symbol* here = at->second.front();
    if (last && here->value < last->value)
      return bad_input("'" + name + "' wants " + in_quotes(function) + " behind " + in_quotes(last->name) + ", and in '" +
                       image.path() +
                       "' it lies before: functions are ordered by lld alone, and only those that have sections of their own");
    last = here;
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> check_placed(const ElfImage& image, const LayoutFile& file, const std::string& name) {
  const auto functions = functions_by_name(image);
  std::vector<std::string> warnings;
  std::string missing;
  size_t found = 0;
  const auto look_for = [&](const std::string& function) {
    const auto at = functions.find(function);
    if (at == functions.end())
      missing += (missing.empty() ? "" : ", ") + in_quotes(function);
    else ++found;
    return at;
  };
  for (const FixedPlace& place : file.places) {
    const auto at = look_for(place.function);
    if (at == functions.end()) continue;
    for (const Symbol* symbol : at->second) STAB_CHECK_OK(check_place(image, place, *symbol, name));
    check_size(place, at->second, name, warnings);
  }
  for (const std::string& function : file.order) look_for(function);
  STAB_CHECK_OK(check_order(image, file, functions, name));
  if (missing.empty()) return warnings;
  const std::string what = "'" + image.path() + "' has no " + missing + ", which '" + name + "' places";
  if (is_the_program(image.path(), file.program))
    return bad_input(what + ": inlined, renamed or removed since the program was mapped; map it again, or take the line out");
  if (found > 0) warnings.push_back(what + "; it is not held to that, as the file is of '" + file.program + "'");
  return warnings;
}

}  // namespace stab::postlink

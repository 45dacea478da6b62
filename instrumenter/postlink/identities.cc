// A build with one changed function is another binary: everything behind the change lies elsewhere, has another index, and
// tools number what they make anew. What lasts is the name that the source gives a function. Two builds that are compared need
// not agree on more: what has no counterpart is drawn alone.
//
//   - A local name that other functions of the program have as well is told apart by its source file. One that nothing else has
//     is not: the file may be called otherwise in the other build (old.c and new.c, a file that was moved), or be none
//     (full link-time optimization). So a function loses its counterpart where one build alone has a namesake of it.
//   - Of several names of one range (aliases, identical code folding) the one that sorts first counts, global ones before
//     local ones: the order of a symbol table is the linker's.
//   - Suffixes that are hashes or mere numbers go (lasting_name). Link-time optimization promotes local functions
//     ("f.llvm.HASH") and numbers namesakes ("f.17"); which hash and number, the rest of the program decides.
//   - Functions of one name and file (headers' statics, anonymous namespaces, full link-time optimization, which has one file
//     for all) are told apart by their order in the text.
#include "instrumenter/postlink/identities.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "instrumenter/postlink/lasting_name.h"
#include "runtime/code_abi.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

// A function's name as identities see it.
struct Name {
  bool is_local = true;
  std::string name, file;

  friend auto operator<=>(const Name&, const Name&) = default;
};

// The name of each start that has one, with the files of all local ones.
std::map<uint64_t, Name> named_starts(const ElfImage& image) {
  std::map<uint64_t, Name> names;
  std::string_view file;
  for (const Symbol& symbol : image.symbols()) {
    if (symbol.type == STT_FILE) file = symbol.name;
    if ((symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) || !image.in_text(symbol.value)) continue;
    const bool is_local = symbol.binding == STB_LOCAL;
    Name name{is_local, lasting_name(symbol.name), is_local ? std::string(file) : std::string()};
    const auto [at, is_first] = names.try_emplace(symbol.value, name);
    if (!is_first && name < at->second) at->second = std::move(name);
  }
  return names;
}

// By function.
std::vector<Name> names_of(const ElfImage& image, const FunctionTable& functions) {
  const std::map<uint64_t, Name> starts = named_starts(image);
  std::vector<Name> names;
  std::map<std::string, size_t> namesakes;
  for (const Function& function : functions.all()) {
    const auto found = starts.find(function.start);
    names.push_back(found != starts.end() ? found->second : Name{true, lasting_name(function.name), ""});
    ++namesakes[names.back().name];
  }
  for (Name& name : names)
    if (namesakes[name.name] == 1) name.file.clear();
  return names;
}

uint64_t hash_of(const Name& name, uint32_t number) {
  std::string text = name.name;
  text += '\0';
  text += name.file;
  text += '\0';
  text += std::to_string(number);
  return abi::hash64(text.data(), text.size());
}

std::vector<uint32_t> find_pads(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly) {
  std::vector<uint32_t> pads(functions.size(), abi::kNoPad);
  const Section* section = image.find_section(abi::kPadsSection);
  if (section == nullptr) return pads;
  for (uint32_t function = 0; function < functions.size(); ++function) {
    for (const Field& field : disassembly.fields_of(function)) {
      const uint64_t at = field.target - section->header.sh_addr;
      if (!section->contains(field.target) || at % sizeof(uint32_t) != 0) continue;
      pads[function] = static_cast<uint32_t>(at / sizeof(uint32_t));
      break;
    }
  }
  return pads;
}

}  // namespace

Identities find_identities(const ElfImage& image, const FunctionTable& functions, const Disassembly& disassembly) {
  Identities identities;
  identities.pads = find_pads(image, functions, disassembly);
  identities.of.reserve(functions.size());
  std::map<Name, uint32_t> namesakes;
  std::unordered_set<uint64_t> taken;
  for (const Name& name : names_of(image, functions)) {
    uint64_t identity = hash_of(name, namesakes[name]++);
    while (!taken.insert(identity).second) identity = hash_of(name, namesakes[name]++);
    identities.of.push_back(identity);
  }
  return identities;
}

}  // namespace stab::postlink

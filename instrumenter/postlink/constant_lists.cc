// Several objects may have a list of one name: an inline function's, of which the linker keeps one and doesn't say which, or
// static functions of files that are called alike. Where they disagree nothing is known.
#include "instrumenter/postlink/constant_lists.h"

#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/code_abi.h"
#include "runtime/sections_abi.h"

namespace stab::postlink {
namespace {

using Hashes = std::vector<uint32_t>;

const Hashes kNotKnown = {0};

// `into` becomes what both say.
void agree(Hashes& into, const Hashes& other) {
  if (into.size() != other.size()) {
    into = kNotKnown;
    return;
  }
  for (size_t i = 0; i < into.size(); ++i)
    if (into[i] != other[i]) into[i] = 0;
}

// By key. What comes behind an entry that doesn't fit is left out.
std::unordered_map<uint64_t, Hashes> read_lists(const Section& section) {
  constexpr size_t kHeadBytes = sizeof(uint64_t) + sizeof(uint32_t);
  std::unordered_map<uint64_t, Hashes> lists;
  std::span<const uint8_t> rest = section.bytes;
  while (rest.size() >= kHeadBytes) {
    const auto key = read_as<uint64_t>(rest.data());
    const auto count = read_as<uint32_t>(rest.data() + sizeof key);
    rest = rest.subspan(kHeadBytes);
    if (count > rest.size() / sizeof(uint32_t)) break;
    Hashes hashes(count);
    for (size_t i = 0; i < count; ++i) hashes[i] = read_as<uint32_t>(rest.data() + i * sizeof(uint32_t));
    rest = rest.subspan(count * sizeof(uint32_t));
    const auto [known, is_new] = lists.try_emplace(key, hashes);
    if (!is_new) agree(known->second, hashes);
  }
  return lists;
}

uint64_t key_of(std::string_view name, std::string_view file) {
  std::string text(name);
  if (!file.empty()) {
    text += '\0';
    text += file;
  }
  return abi::hash64(text.data(), text.size());
}

template <typename T>
void append_words(std::vector<uint8_t>& out, const std::vector<T>& words) {
  const auto* const begin = reinterpret_cast<const uint8_t*>(words.data());
  out.insert(out.end(), begin, begin + words.size() * sizeof(T));
}

}  // namespace

std::vector<uint8_t> encode_constant_lists(const ElfImage& image, const FunctionTable& functions) {
  const Section* const section = image.find_section(abi::kConstantsSection);
  if (section == nullptr) return {};
  const std::unordered_map<uint64_t, Hashes> lists = read_lists(*section);
  std::vector<std::optional<Hashes>> of(functions.size());
  std::string_view file;
  for (const Symbol& symbol : image.symbols()) {
    if (symbol.type == STT_FILE) file = symbol.name;
    const auto function = symbol.type == STT_FUNC ? functions.starting_at(symbol.value) : std::nullopt;
    if (!function) continue;
    auto list = lists.find(key_of(symbol.name, symbol.binding == STB_LOCAL ? file : std::string_view()));
    // A hidden function is global in its object, and local in what is linked.
    if (list == lists.end() && symbol.binding == STB_LOCAL) list = lists.find(key_of(symbol.name, {}));
    if (list == lists.end()) continue;
    if (of[*function])
      agree(*of[*function], list->second);
    else
      of[*function] = list->second;
  }
  std::vector<uint32_t> ends, hashes;
  for (const std::optional<Hashes>& one : of) {
    const Hashes& own = one ? *one : kNotKnown;
    hashes.insert(hashes.end(), own.begin(), own.end());
    ends.push_back(static_cast<uint32_t>(hashes.size()));
  }
  std::vector<uint8_t> out;
  append_words(out, std::vector<uint32_t>{abi::kContentsVersion, static_cast<uint32_t>(ends.size()),
                                          static_cast<uint32_t>(hashes.size())});
  append_words(out, ends);
  append_words(out, hashes);
  return out;
}

}  // namespace stab::postlink

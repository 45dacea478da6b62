// Levels of a factor as small numbers: most rows of a table name one that is known already.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stab::commands {

// Text of levels to their codes in order of appearance.
class LevelTable {
 public:
  // readable_end: bytes up to here may be read, though they lie beyond the text.
  uint32_t code(std::string_view text, const char* readable_end) {
    // Short levels are told apart by one word: their bytes, zero filled. No level holds a zero byte and ends in
    // one, so the word and the length say it all.
    uint64_t word = 0;
    const size_t length = text.size();
    if (length > 8) return insert(text);
    if (readable_end - text.data() >= 8) {
      std::memcpy(&word, text.data(), 8);
      if (length < 8) word &= (uint64_t{1} << (8 * length)) - 1;
    } else {
      std::memcpy(&word, text.data(), length);
    }
    const size_t slot = ((word ^ length) * 0x9e3779b97f4a7c15u) >> 54;
    if (cache_[slot].length == length && cache_[slot].word == word) return cache_[slot].code;
    const uint32_t code = insert(text);
    cache_[slot] = {word, length, code};
    return code;
  }

  // Sorts the levels; returns the new code of each old one.
  std::vector<uint32_t> finish(std::vector<std::string>& levels) const;

 private:
  uint32_t insert(std::string_view text) {
    return codes_.try_emplace(std::string(text), static_cast<uint32_t>(codes_.size())).first->second;
  }

  struct Cached {
    uint64_t word = 0;
    size_t length = SIZE_MAX;  // no text
    uint32_t code = 0;
  };
  Cached cache_[1024];  // direct-mapped: most rows end here
  std::unordered_map<std::string, uint32_t> codes_;
};

// Takes away levels that no code has any more.
void drop_unused_levels(std::vector<std::string>& levels, std::vector<uint32_t>& codes);

}  // namespace stab::commands

// Wording: how messages name what somebody wrote, and what was probably meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stab {

// 'seeed'. Of a text with more bytes than `most` its beginning, cut between two characters of UTF-8: 'see...'.
std::string in_quotes(std::string_view text, size_t most = std::string_view::npos);

// "1 trial", "3 trials"
std::string plural(uint64_t count, std::string_view noun);

// The candidate that is fewest edits away from `word`: a third of its length at most, one in a short word, and never all of
// it. An edit replaces, adds or removes a character or swaps two neighbours; case makes no difference. Ties go to the first.
// Empty: none is near.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

// "did you mean 'seed'?", or empty where none of the candidates is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace stab

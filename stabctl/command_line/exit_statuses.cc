// A plan says the same of its list (plan/parse_program.cc): statuses from 0 to 255, each once.
#include "stabctl/command_line/exit_statuses.h"

#include <algorithm>
#include <charconv>

#include "base/split.h"
#include "base/wording.h"

namespace stab::ctl {
namespace {

constexpr int kMostStatus = 255;

std::string joined(const std::vector<int>& statuses, const char* between) {
  std::string out;
  for (const int status : statuses) out += (out.empty() ? "" : between) + std::to_string(status);
  return out;
}

}  // namespace

Result<std::vector<int>> exit_statuses(std::string_view text) {
  std::vector<int> out;
  if (text.empty()) return std::vector<int>{0};
  for (const std::string_view word : split(text, ',')) {
    int status = -1;
    const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), status);
    if (fault != std::errc() || stop != word.data() + word.size() || status < 0 || status > kMostStatus)
      return bad_input("takes exit statuses from 0 to 255, such as 1 or 0,1, and " + in_quotes(word) + " is none");
    if (std::find(out.begin(), out.end(), status) != out.end())
      return bad_input("has " + std::to_string(status) + " twice; write each status once");
    out.push_back(status);
  }
  return out;
}

std::string exit_words(const std::vector<int>& statuses) {
  return joined(statuses, ",");
}

std::string exit_value(const std::vector<int>& statuses) {
  return statuses.size() == 1 ? std::to_string(statuses[0]) : "[" + joined(statuses, ", ") + "]";
}

}  // namespace stab::ctl

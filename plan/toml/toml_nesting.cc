// toml++ bounds the nesting of values but not the parts of a dotted key, and goes down both by recursion, as does
// whatever walks or frees its tree: a key of 40,000 parts overflows the stack. So the text is looked at before it is
// parsed: strings and comments are skipped, brackets counted, and so are the dots between two separators.
#include "plan/toml/toml_nesting.h"

#include "plan/toml/text_limits.h"

namespace stab::toml {
namespace {

class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  std::optional<NestingFault> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_comment();
        continue;
      }
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '.' && ++dots_ >= kMaxKeyParts)
        return NestingFault{line_, "a key has more than " + std::to_string(kMaxKeyParts) + " parts"};
      if (c == '=' || c == ',' || c == '[' || c == ']' || c == '{' || c == '}' || c == '\n') dots_ = 0;
      if ((c == '[' || c == '{') && ++depth_ > kMaxTomlNesting)
        return NestingFault{line_, "values nest deeper than " + std::to_string(kMaxTomlNesting) + " levels"};
      if ((c == ']' || c == '}') && depth_ > 0) --depth_;
      if (c == '\n') ++line_;
      ++at_;
    }
    return {};
  }

 private:
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  // How many of `quote` stand here, up to `most`.
  size_t quotes(char quote, size_t most) const {
    size_t count = 0;
    while (count < most && at_ + count < text_.size() && text_[at_ + count] == quote) ++count;
    return count;
  }

  // A string of one line ends with its line at the latest: a parser ends there, too, with an error.
  void skip_string(char quote) {
    const size_t opening = quotes(quote, 3);
    at_ += opening;
    if (opening == 2) return;  // an empty one
    const bool many_lines = opening == 3;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!many_lines) return;
        ++line_;
      }
      if (c == '\\' && quote == '"') {
        ++at_;
        if (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      if (c == quote && !many_lines) {
        ++at_;
        return;
      }
      if (c == quote) {
        // Two quotes may stand before the three that end it.
        const size_t count = quotes(quote, 5);
        at_ += count;
        if (count >= 3) return;
        continue;
      }
      ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1, depth_ = 0, dots_ = 0;
};

}  // namespace

std::optional<NestingFault> nests_too_deep(std::string_view text) { return Scan(text).run(); }

}  // namespace stab::toml

// At most ten updates a second: with short trials the display must not become the work.
#include "stabctl/terminal/one_line_progress.h"

#include <cstdio>

#include "base/printable.h"
#include "stabctl/terminal/cut_line.h"
#include "stabctl/terminal/terminal.h"

namespace stab::ctl {
namespace {

constexpr std::chrono::milliseconds kEvery{100};

std::string minutes(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(seconds / 60), static_cast<long long>(seconds % 60));
  return text;
}

}  // namespace

OneLineProgress::OneLineProgress(bool quiet, const Clock& clock, std::chrono::nanoseconds start, std::chrono::nanoseconds most)
    : is_shown_(!quiet && rewrites_lines()), clock_(&clock), start_(start), most_(most) {}

void OneLineProgress::phase(std::string_view text) {
  show(one_line(text));
}

void OneLineProgress::trial_done(const engine::TrialNews& news) {
  if (news.state != store::TrialState::kRecorded && !news.failure.empty()) failure_ = news.cell + ": " + news.failure;
  const std::chrono::nanoseconds now = clock_->monotonic_raw();
  if (now - last_ < kEvery) return;
  last_ = now;
  show(news.kind == store::TrialKind::kMain
           ? std::to_string(news.done) + " of at most " + std::to_string(news.planned) + " runs, "
           : "trying each side once, ");
}

void OneLineProgress::show(const std::string& what) {
  if (!is_shown_) return;
  std::string line = what;
  if (what.ends_with(", ")) line += minutes(clock_->monotonic_raw() - start_) + " of at most " + minutes(most_);
  line = printable(line);
  const std::string_view shown = cut_line(line, static_cast<size_t>(progress_width()));
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(shown.size()), shown.data());
  std::fflush(stderr);
}

void OneLineProgress::finish() {
  if (is_shown_) std::fprintf(stderr, "\r\033[K");
}

}  // namespace stab::ctl

// Written to stderr, so that the report on stdout can be piped. Terminal updates are at most ten a second: with
// short trials the display must not become the work.
#include "stabctl/terminal/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/line_ends.h"
#include "base/printable.h"
#include "stabctl/terminal/complain.h"
#include "stabctl/terminal/cut_line.h"
#include "stabctl/terminal/terminal.h"

namespace stab::ctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr milliseconds kBarEvery{100};
constexpr seconds kLineEvery{10};

// How well the least known cell's mean is known; nothing is compared, so it is no look at the result.
std::string precision_text(double widest) {
  char text[32];
  std::snprintf(text, sizeof text, widest < 1 ? "\u00b1%.2g%%" : "\u00b1%.0f%%", widest * 100);
  return text;
}

// "0:01:05"
std::string clock_text(seconds duration) {
  char text[32];
  const long long total = duration.count();
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", total / 3600, total / 60 % 60, total % 60);
  return text;
}

// What is known so far, each behind `before`: how fast it goes and how long it still takes once two trials are over, how well
// means are known once a cell has some.
std::string known_figures(const Pace& pace, std::optional<double> widest, const std::string& before) {
  std::string text;
  if (const double rate = pace.per_second(); rate > 0) {
    char figure[32];
    std::snprintf(figure, sizeof figure, "%.1f/s", rate);
    text += before + figure;
    if (const auto left = pace.left(); left && pace.done() < pace.planned()) text += before + clock_text(*left) + " left";
  }
  if (widest) text += before + precision_text(*widest);
  return text;
}

// "1234 block, 5 flush"
std::string visits_text(const std::vector<engine::PointVisits>& points) {
  std::string text;
  for (const engine::PointVisits& point : points)
    text += (text.empty() ? "" : ", ") + std::to_string(point.visits) + " " + point.name;
  return text;
}

}  // namespace

Error without_told(Error error, const ToldNotes& told) {
  const std::string message = without_line_ends(error.message);
  for (const std::string& note : told.notes) {
    const std::string shown = without_line_ends(note), printed = printable(shown);
    for (const std::string& text : {shown, printed}) {
      if (message.starts_with(text)) {
        std::string rest = message.substr(text.size());
        rest.erase(0, rest.find_first_not_of('\n'));
        error.message = "no answer: the note above says why" + (rest.empty() ? "" : "\n" + rest);
        return error;
      }
      if (!message.ends_with(": " + text)) continue;
      error.message = message.substr(0, message.size() - text.size()) + "the note above says why";
      return error;
    }
  }
  return error;
}

void Pace::trial_done(int64_t done, int64_t planned) {
  if (first_ < 0) {
    first_ = done;  // the first one only starts the clock
    start_ = clock_->monotonic_raw();
  }
  done_ = done;
  planned_ = planned;
}

double Pace::per_second() const {
  const double elapsed = std::chrono::duration<double>(clock_->monotonic_raw() - start_).count();
  return first_ >= 0 && elapsed > 0 ? static_cast<double>(done_ - first_) / elapsed : 0;
}

std::optional<seconds> Pace::left() const {
  const double rate = per_second();
  if (rate <= 0 && done_ < planned_) return {};
  return seconds(rate > 0 ? static_cast<int64_t>(static_cast<double>(planned_ - done_) / rate + 0.5) : 0);
}

std::string progress_bar(const Pace& pace, std::optional<double> widest, const std::string& what, int width) {
  constexpr int kCells = 20;
  const int64_t full = pace.planned() > 0 ? kCells * pace.done() / pace.planned() : 0;
  std::string text = "[" + std::string(static_cast<size_t>(full), '#') +
                     std::string(static_cast<size_t>(kCells - full), '-') + "] ";
  text += std::to_string(pace.done()) + "/" + std::to_string(pace.planned()) + known_figures(pace, widest, "  ") + "  " + what;
  return std::string(cut_line(text, static_cast<size_t>(width)));
}

void ProgressDisplay::phase(std::string_view text) {
  if (style_ == ProgressStyle::kQuiet || (told_ && !told_->phases.emplace(text).second)) return;
  clear_bar();
  std::fprintf(stderr, "%s\n", printable(text).c_str());
}

void ProgressDisplay::note(std::string_view text) {
  if (!told_ || told_->notes.emplace(text).second) show_note(text);
}

void ProgressDisplay::show_note(std::string_view text) {
  clear_bar();
  std::fprintf(stderr, "note: %s\n", printable(text).c_str());
}

void ProgressDisplay::trial_done(const engine::TrialNews& news) {
  const std::string what = news.subject + " " + news.cell;
  const bool failed = news.state != store::TrialState::kRecorded;
  if (failed && news.kind == store::TrialKind::kMain)
    show_note(what + ": " + std::string(store::name(news.state)) + ": " + news.failure);
  if (news.kind != store::TrialKind::kMain || style_ == ProgressStyle::kQuiet) return;
  pace_.trial_done(news.done, news.planned);
  if (!failed && news.wall_ns && news.layout) precision_.add(news.subject, news.cell, *news.wall_ns, *news.layout);
  const nanoseconds now = clock_->monotonic_raw();
  const bool last = news.done == news.planned;
  const nanoseconds every = style_ == ProgressStyle::kBar ? nanoseconds(kBarEvery) : nanoseconds(kLineEvery);
  if (!last && now - last_shown_ < every) return;
  last_shown_ = now;
  if (style_ == ProgressStyle::kBar) return show_bar(what);
  std::fprintf(stderr, "%lld/%lld trials%s\n", static_cast<long long>(news.done), static_cast<long long>(news.planned),
               known_figures(pace_, precision_.widest(), ", ").c_str());
}

// In the bar alone: lines are for logs, and a trial that is under way is no news there.
void ProgressDisplay::trial_progress(const engine::ProgressNews& news) {
  if (style_ == ProgressStyle::kBar) show_bar(news.subject + ": " + visits_text(news.points) + " so far");
}

void ProgressDisplay::show_bar(const std::string& what) {
  std::fprintf(stderr, "\r\033[K%s", printable(progress_bar(pace_, precision_.widest(), what, progress_width())).c_str());
  std::fflush(stderr);
  bar_shown_ = true;
}

void ProgressDisplay::clear_bar() {
  if (!bar_shown_) return;
  std::fprintf(stderr, "\r\033[K");
  bar_shown_ = false;
}

void ProgressDisplay::finish() {
  if (bar_shown_) std::fputc('\n', stderr);
  bar_shown_ = false;
}

}  // namespace stab::ctl

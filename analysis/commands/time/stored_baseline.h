// A stored baseline: what `stabctl time` has measured of a program in earlier sessions, for machines that can't run that program
// any more. Two sessions, such as two nights, differ even for one program. How far is estimated from the stored sessions
// themselves, and the answer's interval is that of one new session (a prediction interval), not that of its runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report_data/worse.h"
#include "base/result.h"

namespace stab::commands {

// One measurement. A session is one boot on one day; measurements of the same session are averaged.
struct StoredTiming {
  std::string day, boot;  // "2026-11-27", and the kernel's boot_id
  std::string cpu;        // the model; others are left out
  std::string arguments;  // behind the program, as a shell reads them
  bool randomized = false;
  double log_cpu_s = 0;  // mean of the logarithms of its runs' CPU time in seconds
  uint64_t runs = 0;
};

// One line of JSON ("stab-baseline", docs/reference/report-json.md) with its end: a file grows by appending, and two are joined
// by cat.
std::string baseline_line(const StoredTiming& timing);
// kBadInput names the line that is none, and what to do.
Result<std::vector<StoredTiming>> read_baseline(std::string_view text, const std::string& path);
// Whether `now` may be added to them or compared with them: the same arguments, and layouts random in all or in none.
Status check_comparable(const std::vector<StoredTiming>& stored, const StoredTiming& now, const std::string& path);

struct BaselineAnswer {
  report::Worse worse = report::Worse::kUnsure;
  uint64_t sessions = 0;  // of this CPU model
  uint64_t left_out = 0;  // measurements on others
  double margin = 0;
  double before_s = 0, now_s = 0;  // geometric means; before_s 0: no session
  // Of two sessions and more: now / before, its 95 % interval, and the standard deviation of a session's logarithm.
  std::optional<double> ratio{}, low{}, high{}, between_sd{};
  const char* word() const;  // "not slower", "slower", "unsure"
};
// pre: check_comparable. Geisser, Predictive Inference (1993), section 2.3: mean +- t(k - 1) s sqrt(1 + 1 / k) of k sessions.
Result<BaselineAnswer> against_baseline(const std::vector<StoredTiming>& stored, const StoredTiming& now, double margin);

std::string baseline_text(const BaselineAnswer& answer, const std::string& path, int width);

}  // namespace stab::commands

// The report in a few sentences: what a reader takes away who reads nothing else. Each says what was compared, the
// verdict, the size and its interval, then how far it holds: program by program, and for other programs.
#include <algorithm>

#include "analysis/report/report_data/correction.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

// The population whose contrasts answer for the whole experiment: of the one workload, of these programs, or, where
// they have no errors of their own (one value a cell), of programs like these.
Population answering_population(const Report& report) {
  if (report.workloads.size() == 1) return Population::kOneWorkload;
  for (const Contrast& contrast : report.contrasts)
    if (contrast.population == Population::kThese) return contrast.population;
  return Population::kLikeThese;
}

}  // namespace

std::string beyond(const Report& report, const Contrast& contrast, const std::string& of_workloads) {
  const std::string workloads = report.workload_word + "s";
  uint64_t counts[4] = {}, all = 0;
  std::string others;
  for (const Contrast& other : report.contrasts) {
    if (other.response != contrast.response || other.factor != contrast.factor || other.level != contrast.level) continue;
    if (!other.workload.empty()) {
      ++counts[static_cast<int>(other.verdict)];
      ++all;
    }
    if (other.population == Population::kLikeThese && contrast.population != other.population && other.refused.empty())
      others = "; other " + report.program_word + "s like these: " + verdict_word(response_of(report, other.response), other);
  }
  std::string out;
  const char* words[] = {"changed", "equivalent", "unsure"};
  for (size_t v = 0; v < 3; ++v)
    if (counts[v] > 0) out += (out.empty() ? "" : ", ") + std::to_string(counts[v]) + " " + words[v];
  if (all < 2 || out.empty()) return others;
  return "; of " + std::to_string(all) + " " + workloads + " " + out + of_workloads + others;
}

std::vector<const Contrast*> answering(const Report& report, const std::string& response) {
  // A benchmark is measured of one workload, however many there are.
  const bool benchmark = response_of(report, response).is_benchmark();
  const Population population = benchmark ? Population::kOneWorkload : answering_population(report);
  std::vector<const Contrast*> out;
  for (const Verdict verdict : {Verdict::kChanged, Verdict::kEquivalent, Verdict::kUnsure, Verdict::kWithheld})
    for (const Contrast& contrast : report.contrasts)
      if (contrast.response == response && contrast.verdict == verdict && contrast.population == population &&
          contrast.workload.empty() == (report.workloads.size() > 1 && !benchmark))
        out.push_back(&contrast);
  return out;
}

namespace {

// `is_named`: several responses have sentences, so each says whose it is
std::string sentence(const Report& report, const Contrast& contrast, bool is_named) {
  const Response& response = response_of(report, contrast.response);
  const std::string start = (is_named ? contrast.response + ", " : "") + contrast.factor + "=" + contrast.level + " against " +
                            contrast.baseline + ": ";
  if (!contrast.refused.empty()) return start + "no answer, " + contrast.refused;
  const std::string interval = interval_text(response, contrast.interval);
  const std::string size = difference_text(response, contrast.interval.estimate);
  switch (contrast.verdict) {
    case Verdict::kChanged:
      return start + change_text(response, contrast.interval.estimate) + ", " + plain(100 * (1 - report.alpha)) + " % interval " +
             interval + beyond(report, contrast);
    case Verdict::kEquivalent:
      return start + "the same within the margin, " + plain(100 * (1 - 2 * report.alpha)) + " % interval " +
             interval_text(response, contrast.equivalence) + beyond(report, contrast);
    case Verdict::kUnsure:
      return start + "unsure, " + size + ", " + plain(100 * (1 - report.alpha)) + " % interval " + interval +
             "; " + unsure_text(report, contrast) + beyond(report, contrast);
    case Verdict::kWithheld: return start + "no verdict before the experiment is at a declared look; so far " + interval;
  }
  return start;
}

// The primary one, and those that the plan or the files asked about as well.
std::vector<const Response*> answered_responses(const Report& report) {
  std::vector<const Response*> out;
  for (const Response& response : report.responses)
    if (out.empty() || (response.declared && !response.is_benchmark())) out.push_back(&response);
  return out;
}

}  // namespace

Answers answers_of(const Report& report) {
  const bool benchmark = report.responses[0].is_benchmark();  // of one workload, however many there are
  Answers answers{benchmark ? Population::kOneWorkload : answering_population(report), {}};
  const std::vector<const Response*> responses = answered_responses(report);
  for (const Response* response : responses)
    for (const Contrast* contrast : answering(report, response->name))
      answers.sentences.push_back({contrast, sentence(report, *contrast, responses.size() > 1) +
                                                 (contrast->by_alone ? "; of the blocks alone, as slicing changes it" : "")});
  std::stable_sort(answers.sentences.begin(), answers.sentences.end(),
                   [](const auto& a, const auto& b) { return a.contrast->verdict < b.contrast->verdict; });
  return answers;
}

std::string answer(const Pen& pen, const Report& report) {
  constexpr size_t kMostSentences = 8;
  const auto [population, sentences] = answers_of(report);
  std::string replayed;
  if (report.replay) {
    replayed = pen.heading(replay_title(*report.replay));
    for (const std::string& sentence : report.replay->sentences) replayed += pen.item(sentence);
  }
  if (sentences.empty()) return replayed;
  std::string out =
      replayed + pen.heading("In short" + (population == Population::kOneWorkload ? ""
                                : population == Population::kThese     ? ", for these " + report.workload_word + "s"
                                                                       : ", for " + report.program_word + "s like these"));
  for (size_t i = 0; i < std::min(sentences.size(), kMostSentences); ++i) out += pen.item(sentences[i].text);
  if (sentences.size() > kMostSentences)
    out += pen.item(std::to_string(sentences.size() - kMostSentences) + " more are in the tables");
  return out;
}

}  // namespace stab::report

// nights_table BLOCKS [ROUNDS [ROW [SESSIONS]]]: recorded blocks of equal programs, replayed as gates of many sessions.
// BLOCKS is what tests/bench/nights_blocks prints; docs/evaluation/records/many-nights.md says how a replay is made, and what
// is asked of it. The rows: ROUNDS (9,500) gates of commits without effect, and 2,000 of those that are 2 % slower, for each
// error between sessions; then a stream of ROUNDS pairs of commits, of which one in twenty is slower, and what is suspected
// is gated in a second session and in a third. ROW, from 0 on: that row alone, so that several processes share the work.
// SESSIONS: with A/A controls, 10 otherwise.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/commands/gate/gate.h"
#include "analysis/report/contrasts/stopping_decision.h"
#include "analysis/statistics/two_samples/proportion.h"
#include "tests/unit/analysis/lab_samples.h"
#include "tests/unit/analysis/made_layouts.h"

namespace {

using namespace stab;
using namespace stab::analysis;
using namespace stab::commands;
using namespace stab::report;

constexpr double kMargin = 0.02;
constexpr int kControlBlocks = 40;
int sessions_known = 10;
const std::vector<uint32_t> kLooks = {10, 20, 40};

struct Pair {
  std::string name;
  std::vector<double> blocks;
};

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "nights_table: %s\n", message.c_str());
  std::exit(1);
}

std::vector<Pair> pairs_of(const char* path) {
  std::ifstream file(path);
  std::vector<Pair> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Pair pair;
    words >> pair.name;
    for (double value = 0; words >> value;) pair.blocks.push_back(value);
    if (pair.blocks.size() > 1) out.push_back(std::move(pair));
  }
  if (out.empty()) stop(std::string("no pairs in '") + path + "'; tests/bench/nights_blocks prints them");
  return out;
}

// Blocks of one session.
std::vector<double> session(Rng& rng, const Pair& pair, double truth, double between, int blocks) {
  const double shift = truth + between * standard_normal(rng);
  std::vector<double> out;
  for (int i = 0; i < blocks; ++i) {
    const double seen = pair.blocks[rng.below(pair.blocks.size())];
    out.push_back(shift + (rng.below(2) == 0 ? seen : -seen));
  }
  return out;
}

SessionFinding control(Rng& rng, const Pair& pair, double between, int64_t number) {
  const auto blocks = session(rng, pair, 0, between, kControlBlocks);
  const auto seen = statistics::moments(blocks);
  return {number,
          "program",
          "cpu_time",
          {seen.mean, std::sqrt(seen.variance() / kControlBlocks), kControlBlocks - 1.0},
          kControlBlocks};
}

Samples samples_of(Rng& rng, const std::vector<double>& blocks) {
  Samples samples;
  samples.factors = {{"code", {"shuffle"}, true, 0}, {kGateFactor, {kGateBase, kGateHead}, false, 0}};
  samples.responses = {{.name = "cpu_time", .unit = "s", .scale = Scale::kLog, .margin = kMargin}};
  samples.stopping.rule = StoppingRule::kLooks;
  samples.stopping.looks = kLooks;
  samples.stopping.until_worse = true;
  samples.workloads = {"program"};
  for (uint32_t block = 0; block < blocks.size(); ++block)
    for (uint16_t level = 0; level < 2; ++level) {
      Trial trial;
      trial.levels = {0, level};
      trial.block = block;
      trial.order = 2 * block + level;
      trial.seed = rng.next();
      trial.values = {std::exp(level > 0 ? blocks[block] : 0)};
      samples.trials.push_back(std::move(trial));
    }
  return with_layouts(std::move(samples));
}

GateOutput gate(Rng& rng, const Pair& pair, double truth, double between, const GateFacts& facts,
                bool* alone_is_worse = nullptr) {
  const Samples all = samples_of(rng, session(rng, pair, truth, between, static_cast<int>(kLooks.back())));
  for (const uint32_t at : kLooks) {
    const Samples seen = first_blocks(all, at);
    if (at != kLooks.back()) {
      const auto outcome = look(seen, at);
      if (!outcome) stop(outcome.error().message);
      if (!outcome->stop) continue;
    }
    auto answer = run_gate(seen, facts);
    if (!answer) stop(answer.error().message);
    if (alone_is_worse != nullptr) {
      const std::string within = answer->json.substr(answer->json.find("\"within_session\""));
      const auto number = [&](const char* key) {
        return std::strtod(within.c_str() + within.find(key) + std::strlen(key), nullptr);
      };
      *alone_is_worse = number("\"conf_low\": ") > 1 && number("\"p_value\": ") < 0.05;
    }
    return *std::move(answer);
  }
  stop("no look ends it");
}

std::string share(int part, int of) {
  const auto exact = statistics::exact_binomial(static_cast<uint64_t>(part), static_cast<uint64_t>(of), 0.05,
                                                statistics::Alternative::kTwoSided, 0.95);
  if (!exact) stop(exact.error().message);
  char text[80];
  std::snprintf(text, sizeof text, "%.2f %% [%.2f, %.2f]", 100 * exact->estimate, 100 * exact->conf_low, 100 * exact->conf_high);
  return text;
}

void alone(const std::vector<Pair>& pairs, int rounds, double slower, double between) {
  Rng rng = Rng::stream(91, "alone", static_cast<uint64_t>(between * 1e4) * 1000 + static_cast<uint64_t>(slower * 1e4));
  int answers[4] = {}, blocks_alone = 0;
  for (int round = 0; round < rounds; ++round) {
    const Pair& pair = pairs[rng.below(pairs.size())];
    GateFacts facts{"base", "head", "stabctl gate base..head", {}};
    facts.sessions.command = "stabctl selftest --nightly";
    for (int i = 1; i <= sessions_known; ++i) facts.sessions.controls.push_back(control(rng, pair, between, i));
    bool worse = false;
    ++answers[gate(rng, pair, std::log1p(slower), between, facts, &worse).exit_code];
    blocks_alone += worse;
  }
  std::printf("| %+.0f %% | %.1f %% | %d | %s | %s | %s | %s |\n", 100 * slower, 100 * between, rounds,
              share(blocks_alone, rounds).c_str(), share(answers[1], rounds).c_str(), share(answers[0], rounds).c_str(),
              share(answers[3], rounds).c_str());
  std::fflush(stdout);
}

void stream(const std::vector<Pair>& pairs, int rounds, double between) {
  constexpr int kMostSessions = 3, kOneSlowIn = 20;
  Rng rng = Rng::stream(91, "stream", static_cast<uint64_t>(between * 1e4));
  uint64_t called = 0;
  int falsely = 0, slow = 0, found[kMostSessions] = {}, gates = 0;
  for (int number = 1; number <= rounds; ++number) {
    const Pair& pair = pairs[rng.below(pairs.size())];
    const bool is_slow = rng.below(kOneSlowIn) == 0;
    slow += is_slow;
    GateFacts facts{"base", "head", "stabctl gate base..head", {}};
    facts.sessions.command = "stabctl selftest --nightly";
    for (int i = 1; i <= sessions_known; ++i) facts.sessions.controls.push_back(control(rng, pair, between, i));
    GateStream state;
    state.name = "replayed";
    state.number = static_cast<uint64_t>(number);
    state.called_before = called;
    for (int asked = 0; asked < kMostSessions; ++asked) {
      ++gates;
      state.session = sessions_known + 1 + asked;
      facts.stream = state;
      GateOutput answer = gate(rng, pair, is_slow ? std::log1p(0.02) : 0, between, facts);
      if (answer.stream->called) {
        ++called;
        falsely += !is_slow;
        if (is_slow) for (int k = asked; k < kMostSessions; ++k) ++found[k];
        break;
      }
      if (answer.text.find("suspected") == std::string::npos) break;
      for (SessionFinding& one : answer.findings) {
        one.session = state.session;
        state.earlier.push_back(one);
      }
    }
  }
  std::printf("| %.1f %% | %d | %d | %d | %s | %s | %s | %s |\n", 100 * between, rounds, gates, static_cast<int>(called),
              called > 0 ? share(falsely, static_cast<int>(called)).c_str() : "-", share(found[0], slow).c_str(),
              share(found[1], slow).c_str(), share(found[2], slow).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9500;
  if (argc < 2 || rounds < 1) {
    std::fprintf(stderr, "nights_table BLOCKS [ROUNDS [ROW [SESSIONS]]]\n");
    return 2;
  }
  const std::vector<Pair> pairs = pairs_of(argv[1]);
  const int only = argc > 3 ? std::atoi(argv[3]) : -1;
  if (argc > 4) sessions_known = std::atoi(argv[4]);
  int row = 0;
  const auto is_asked = [&] { return only < 0 || only == row++; };
  if (only < 0)
    std::puts("| head is | between sessions (sd) | gates | worse by the blocks alone | worse | not worse | unsure |\n"
              "|---:|---:|---:|---:|---:|---:|---:|");
  for (const double slower : {0.0, 0.02})
    for (const double between : {0.0, 0.002, 0.005})
      if (is_asked()) alone(pairs, slower > 0 ? std::min(rounds, 2000) : rounds, slower, between);
  if (only < 0)
    std::puts(
        "\n| between sessions (sd) | pairs of commits | gates | called worse | of these not slower | 2 % slower: called at once "
        "| "
        "within two sessions | within three |\n|---:|---:|---:|---:|---:|---:|---:|---:|");
  for (const double between : {0.0, 0.002})
    if (is_asked()) stream(pairs, rounds, between);
}

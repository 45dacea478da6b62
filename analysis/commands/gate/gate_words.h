// What a gate says, as sentences: for terminals, summaries and test results alike.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/commands/gate/gate_judged.h"
#include "analysis/report/caveats/caveats.h"

namespace stab::commands {

// Of each kind that a table shows.
inline constexpr size_t kMostRows = 100;

// Of which response and workload: "lua", "lua cpu_time"
std::string subject(const report::Report& report, const JudgedQuestion& question);
// What the base or the head measured, "440.5 ms"; "-": it has no value, or the answer is of other runs.
std::string base_value(const report::Report& report, const JudgedQuestion& question);
std::string head_value(const report::Report& report, const JudgedQuestion& question);
// "+2.10 %"; "-": it has no answer
std::string change(const JudgedQuestion& question);
std::string interval(const JudgedQuestion& question);
// "not worse", "worse", "unsure", "suspected", "no answer: " and why
std::string verdict(const JudgedQuestion& question);
// The same for a table in a terminal: of why the first words, as the sentence has the whole.
std::string short_verdict(const JudgedQuestion& question);

// The answer. Where its place decides, that is said first.
std::string sentence(const report::Report& report, const JudgedGate& judged, const GateFacts& facts);
// What a stream has said: evidence, its bound, and what it takes.
std::string stream_text(const StreamAnswer& answer, const GateStream& stream);
// Of what lies between sessions: that it is in the interval and how large it is, or that it isn't. Of several questions the one
// where it is largest. Empty: sessions were not asked.
std::string sessions_text(const report::Report& report, const JudgedGate& judged, const GateFacts& facts);
// A sentence of each workload whose place was asked about.
std::vector<std::string> place_texts(const GateFacts& facts);
// What copies may cost, of each workload; and why that is not known of all.
std::vector<std::string> copies_texts(const GateFacts& facts);
// Each workload's CPU time where wall time is judged: nobody asked for it, and it decides nothing.
std::vector<const report::Contrast*> cpu_times(const report::Report& report);
// Of those workloads whose CPU time changed; empty: of none.
std::string cpu_times_text(const report::Report& report);
// Of each workload with runs that failed.
std::vector<std::string> failures_of(const GateFacts& facts);
// Of each workload whose sides do something else.
std::vector<std::string> differences_of(const GateFacts& facts);
// A gate answers for its workloads alone, so that there are few of them changes nothing. Cures are those of its own file.
std::vector<report::Caveat> caveats_of_gate(const report::Report& report);

}  // namespace stab::commands

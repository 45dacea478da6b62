// The report as a page: one file that opens from disk, without network. It holds the report's JSON, the trials and the
// evidence, and a script that draws them; docs/how-to/read-a-report.md shows one.
#pragma once

#include <span>
#include <string>

#include "analysis/causal_report/causal_data.h"
#include "analysis/commands/answers/command_output.h"
#include "analysis/report/experiment/evidence_of_trials.h"
#include "analysis/report/experiment/samples.h"
#include "base/result.h"

namespace stab::page {

// profiles: of each program that has a causal one. Refuses what analyse() and analyse_causal() refuse.
Result<std::string> render_page(const report::Samples& samples, const report::Evidence& evidence,
                                std::span<const causal_report::CausalData> profiles = {});

// What a page may do, as a Content-Security-Policy; each page has it in its head as well.
std::string page_policy();

// stabctl verify: everything that a page says is computed again from the trials in it. Exit code 0: all of it is equal;
// 1: something differs, named; 2: it is no page of ours, or damaged.
commands::CommandOutput verify_page(const std::string& page);

// The plan that a page carries and the schedule it names. pre: verify_page() found nothing
struct PagePlan {
  std::string plan, plan_path, schedule;
};
Result<PagePlan> plan_of_page(const std::string& page);

}  // namespace stab::page

#include "stabctl/compare/compared_about.h"

#include <algorithm>

#include "base/printable.h"
#include "base/wording.h"

namespace stab::ctl {
namespace {

// What both sides are, where they are one; else empty.
std::string same_sides(const AdHocPlan& plan) {
  const auto& revisions = plan.built.revisions;
  if (revisions.size() == 2 && revisions[0].second == revisions[1].second) return "one commit";
  return plan.commands.size() == 2 && plan.commands[0].words == plan.commands[1].words ? "the same command" : "";
}

std::string about_randomized(const AdHocPlan& plan, const std::string& unmatched, bool has_libraries) {
  const std::string begin = "built by szc: each run went through random layouts of " + plan.randomized_parts();
  if (!unmatched.empty()) return begin + "; those of the code were drawn for each side alone: " + printable(unmatched);
  const std::string programs = plan.sides() > 2
                                   ? ", the same on all sides, so differences are those of the programs and not of layouts"
                                   : ", the same on both sides, so the difference is that of the programs and not of two layouts";
  return begin + programs + "; globals and constants lie where each link put them" +
         (has_libraries ? "; a shared library that differs between the sides has its functions in another order on each" : "");
}

// Where one of the sides could have been randomized, and another couldn't; or where it isn't known of what is built.
std::string why_not_randomized(const AdHocPlan& plan) {
  if (!plan.built.revisions.empty()) return "--build doesn't name szc, so no layout was random: ";
  const auto is_szc = [](const MeasuredCommand& one) { return one.szc.is_szc(); };
  const std::vector<MeasuredCommand>& sides = plan.commands;
  const auto other = std::find_if_not(sides.begin(), sides.end(), is_szc);
  if (other == sides.end() || std::none_of(sides.begin(), sides.end(), is_szc)) return {};
  return in_quotes(other->words[0]) + (other->is_script ? " is a script" : " was not built by szc") +
         ", so no layout was random: ";
}

// "'./old', a script, and './new', a binary, with the programs that the script starts".
std::string kinds_of(const std::vector<MeasuredCommand>& sides) {
  std::string out;
  for (const MeasuredCommand& side : sides)
    out += (out.empty() ? "" : &side == &sides.back() ? " and " : " ") + in_quotes(side.words[0]) +
           (side.is_script ? ", a script," : ", a binary,");
  const auto scripts = std::count_if(sides.begin(), sides.end(), [](const MeasuredCommand& one) { return one.is_script; });
  return out + " with the programs that the " + (scripts == 1 ? "script starts" : "scripts start");
}

// "'./prog.bolt' was rewritten by llvm-bolt". Empty: none was.
std::string rewritten_of(const std::vector<MeasuredCommand>& sides) {
  const auto found = std::find_if(sides.begin(), sides.end(), [](const MeasuredCommand& one) { return one.szc.rewritten; });
  return found == sides.end() ? std::string() : in_quotes(found->words[0]) + " was rewritten by llvm-bolt";
}

std::string about_binaries(const AdHocPlan& plan) {
  const std::vector<MeasuredCommand>& sides = plan.commands;
  const bool has_more = plan.sides() > 2;
  const std::string begin = has_more ? "the differences are those of these " : "the difference is that of these two ";
  const auto is_script = [](const MeasuredCommand& one) { return one.is_script; };
  if (std::all_of(sides.begin(), sides.end(), is_script))
    return begin +
           "commands, and of the programs that they start as these were linked: the addresses of their code are a part of " +
           (has_more ? "them" : "it");
  const auto is_first = [&](const MeasuredCommand& one) { return one.words[0] == sides[0].words[0]; };
  const bool are_built = !plan.built.revisions.empty();  // one command, and a program of each commit
  if (!are_built && std::all_of(sides.begin(), sides.end(), is_first))
    return std::string(has_more ? "all sides are one binary, so the differences are those"
                                : "both sides are one binary, so the difference is that") +
           " of their arguments, in its one layout: how far another link of it would move " + (has_more ? "them" : "that") +
           " is not known; built with CC=szc, its layout is drawn at random";
  if (std::any_of(sides.begin(), sides.end(), is_script))
    return why_not_randomized(plan) + (has_more ? "the differences are those of " : "the difference is that of ") +
           kinds_of(sides) + ": the addresses of all their code are a part of " + (has_more ? "them" : "it");
  if (const std::string rewritten = rewritten_of(sides); !rewritten.empty())
    return rewritten + ", and its code stays where that put it, so no layout was random: " + begin +
           "binaries, the addresses of their code included; a plan with link = { seeds = 10 } compares ten links of each, where "
           "each link is rewritten anew";
  return why_not_randomized(plan) + begin +
         "binaries, the addresses of their code included; built with CC=szc, 'stabctl explain' " +
         (has_more ? "tells code and addresses apart" : "tells the two apart");
}

}  // namespace

std::string about_sides(const AdHocPlan& plan, const std::string& unmatched, bool has_libraries) {
  if (plan.randomized && !unmatched.empty()) return about_randomized(plan, unmatched, has_libraries);
  if (const std::string same = same_sides(plan); !same.empty())
    return "both sides are " + same + ", so there is no difference but what this machine makes of none" +
           (plan.randomized ? "; " + plan.randomized_parts() + " were random, the same on both sides" : "");
  return plan.randomized ? about_randomized(plan, unmatched, has_libraries) : about_binaries(plan);
}

}  // namespace stab::ctl

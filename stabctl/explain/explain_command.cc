// explain: is the difference of two builds their code, or its place? A few experiments of the engine of `stabctl run`: code or
// place, look by look; once more with pointers that lead to copies, if one build calls through them more often; and where place
// is a part of it, which functions are busy, and of which the place is. With --simulate a simulator is asked the first question,
// too.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "analysis/commands/explain/explain.h"
#include "base/line_ends.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/explain/explain_command.h"
#include "stabctl/explain/explain_plan.h"
#include "stabctl/explain/explain_tries.h"
#include "stabctl/explain/explained_libraries.h"
#include "stabctl/explain/explained_sides.h"
#include "stabctl/explain/explained_simulation.h"
#include "stabctl/records/database.h"
#include "stabctl/run/run_command.h"
#include "stabctl/run/unbegun.h"
#include "stabctl/sides/ad_hoc_plan.h"
#include "stabctl/sides/copy_facts.h"
#include "stabctl/sides/measured_runs.h"
#include "stabctl/terminal/terminal.h"
#include "stabd/engine/build/binary_archive.h"
#include "stabd/engine/build/expand.h"
#include "stabd/engine/results/ended_in_time.h"
#include "stabd/engine/results/function_places.h"
#include "stabd/engine/results/load_samples.h"

namespace stab::ctl {
namespace {

using std::chrono::nanoseconds;

// What of the budget the first question takes where it finds a place; the rest is for the functions.
constexpr double kShareOfCause = 0.6;
// What the samples take that an answer of code needs, in blocks: six runs and what begins them, where a block has four.
constexpr int kSampledBlocks = 3;
// Of what is left of the time, which part a count of calls may take: programs that take as long leave no time for an answer.
constexpr int kShareOfCounts = 8;
// With fewer blocks a design of many functions tells nothing.
constexpr uint32_t kLeastPlaced = 8, kUsualPlaced = 20, kMostPlaced = 240;
constexpr size_t kMostMoved = 24;
// Layouts of a simulator. It has no noise, and programs seldom cost more in one layout than in another, so that few layouts do.
constexpr uint32_t kSimulatedLooks[] = {5, 10, 20};

// Whether there is a place to look for, be it named in the answer or known while the code is open.
bool has_place(const statistics::CauseAnswer& answer) {
  using V = statistics::CauseVerdict;
  return answer.verdict == V::kPlace || answer.verdict == V::kBoth ||
         (answer.verdict == V::kUnresolved && answer.place.state == statistics::EffectState::kThere);
}

void tell_libraries(const engine::SharedFunctions& functions, commands::LibraryFacts& out) {
  if (!functions.sampled) {
    out.not_known = "the program could not be sampled";
    return;
  }
  out.share = functions.libraries.share;
  out.unmoved = functions.libraries.unmoved;
  out.apart = functions.libraries.apart;
  out.rebuilt = functions.libraries.rebuilt;
  for (const engine::SharedLibraryFunction& one : functions.libraries.functions)
    out.functions.push_back({one.name, one.moved, one.lies_alike, one.old_linked, one.new_linked, one.old_share, one.new_share});
}

commands::BodyFacts facts_of(const engine::SharedFunctions& functions) {
  commands::BodyFacts out;
  out.functions = functions.bodies.functions;
  out.changed = functions.bodies.changed;
  out.constants = functions.bodies.constants;
  out.knows_constants = functions.bodies.knows_constants;
  out.old_alone = functions.bodies.old_alone;
  out.new_alone = functions.bodies.new_alone;
  out.renamed = functions.bodies.renamed;
  out.unmatched = functions.unmatched;
  if (functions.sampled) out.changed_share = functions.changed;
  out.still = functions.still.names;
  out.old_still = functions.still.old_share, out.old_still_error = functions.still.old_error;
  out.new_still = functions.still.new_share, out.new_still_error = functions.still.new_error;
  for (const engine::ChangedObject& one : functions.bodies.data)
    out.data.push_back({one.name, one.old_linked, one.new_linked, one.old_bytes, one.new_bytes, one.is_other});
  return out;
}

// "m_code, build=old: exit status 3, expected exit status 0" may be how its runs are to end. Empty: it is nothing of that kind.
// `file`: of the user's, that says what runs; empty: the command line does.
std::string cure_of_status(const std::string& failure, const std::string& file) {
  constexpr std::string_view kSeen = ": exit status ", kWanted = ", expected exit status ";
  const size_t seen = failure.rfind(kSeen);
  const size_t wanted = seen == std::string::npos ? seen : failure.find(kWanted, seen);
  if (wanted == std::string::npos) return {};
  const std::string status = failure.substr(seen + kSeen.size(), wanted - seen - kSeen.size());
  return "if runs are to end with status " + status +
         (file.empty() ? ", write --exit " + status : ", write expect = { exit = " + status + " } into " + file) + "\n";
}

// The whole of one run of explain.
class Explainer {
 public:
  Explainer(engine::Engine& engine, const Arguments& arguments, const Clock& clock, engine::StopSignal& stop,
            const ExplainedSides& sides, nanoseconds budget, ToldNotes& told)
      : engine_(engine),
        arguments_(arguments),
        clock_(clock),
        stop_(stop),
        told_(told),
        sides_(sides),
        builds_(sides.builds),
        begin_(clock.monotonic_raw()),
        whole_budget_(budget),
        budget_(arguments.simulate ? budget / 2 : budget) {}

  Status explain(commands::Explanation& out) {
    STAB_CHECK_OK(ask_cause(out));
    if (out.answer) STAB_CHECK_OK(out.is_between_looks ? allow_for_copies(out) : look_into_place(out));
    if (out.answer) STAB_CHECK_OK(take_care(out));
    if (is_interrupted_) out.unfinished = "it was interrupted";
    if (out.answer && arguments_.simulate) {
      const Status simulated = simulate(out, out.simulated.emplace());
      if (!simulated) out.simulated->not_done = one_line(simulated.error().message);
    }
    return {};
  }

 private:
  // The first question, asked of a simulator in what is left of the time. Whatever becomes of it, what was measured stands.
  Status simulate(commands::Explanation& all, commands::SimulatedFacts& out) {
    if (is_interrupted_) return bad_input("it was interrupted");
    statistics::CauseSettings settings = all.settings;
    settings.looks.assign(std::begin(kSimulatedLooks), std::end(kSimulatedLooks));
    // As the answer was measured.
    const bool is_direct = all.copies && all.copies->is_rest;
    STAB_TRY(const std::string text,
             simulated_plan(builds_, settings.looks[0], is_direct ? PointersLead::kToCopies : PointersLead::kToOriginals));
    STAB_TRY(const store::Id id, submit(text, all));
    const nanoseconds began = spent();
    std::vector<uint32_t> earlier;
    for (;;) {
      STAB_TRY(const engine::RunEnd end, run(id, whole_budget_ - spent()));
      if (is_interrupted_) return bad_input("it was interrupted");
      STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(id));
      STAB_TRY(const std::vector<statistics::CauseBlock> layouts, engine::cause_blocks(engine_.store(), row, "simulated_cost"));
      const auto count = static_cast<uint32_t>(layouts.size());
      if (count < statistics::kLeastCauseBlocks)
        return bad_input("the time was over before " + std::to_string(statistics::kLeastCauseBlocks) +
                         " layouts were simulated; a simulated run takes some fifty times as long; --at-most gives it more");
      const nanoseconds each = (spent() - began) / count;
      const bool is_over = end == engine::RunEnd::kStopped || earlier.size() + 1 == settings.looks.size();
      const uint32_t more = is_over ? 0 : settings.looks[earlier.size() + 1] - count;
      const bool is_last = is_over || each * more > whole_budget_ - spent();
      STAB_TRY(const double nominal, statistics::nominal_alpha(settings, earlier, count, is_last));
      STAB_TRY(out, simulated_facts(engine_.store(), row, settings, nominal));
      if (is_last || out.answer.verdict != statistics::CauseVerdict::kUnresolved) return {};
      earlier.push_back(count);
      STAB_CHECK_OK(engine_.extend(id, static_cast<int>(more)));
    }
  }

  // Whether what copies cost changes the answer; then which functions it is, where place is a part of it.
  Status look_into_place(commands::Explanation& out) {
    if (is_interrupted_) {
      STAB_CHECK_OK(allow_for_copies(out));
      if (has_place(*out.answer)) out.search.emplace().not_done = "it was interrupted";
      return {};
    }
    const auto is_named = [&out] { return statistics::names_code(out.answer->verdict) || has_place(*out.answer); };
    const bool is_answered = is_named() || out.answer->verdict == statistics::CauseVerdict::kNothing;
    // What was answered stands without what follows, but for what copies may have made of it.
    const Result<engine::SharedFunctions> functions = sampled_functions(out);
    if (!out.copies && functions) out.copies = copy_facts(functions->older, functions->newer, out.settings.margin);
    if (!out.copies && is_answered) out.uncounted = one_line(functions.error().message);
    STAB_CHECK_OK(allow_for_copies(out));
    // Where blocks tell nothing, the programs' own bytes may.
    if (is_answered ? !is_named() : !functions) return {};
    if (functions) out.bodies = facts_of(*functions);
    out.libraries.emplace();
    if (functions)
      tell_libraries(*functions, *out.libraries);
    else
      out.libraries->not_known = functions.error().message;
    if (!has_place(*out.answer)) return {};
    out.search.emplace();
    const Status searched = functions ? search(out, *functions, *out.search) : functions.error();
    if (!searched) out.search->not_done = searched.error().message;
    return {};
  }

  // What a reader must know of the runs behind the answer: those of the first question, and those of the functions' places.
  Status take_care(commands::Explanation& out) const {
    STAB_TRY(const store::ExperimentRow first, engine_.store().experiment(out.experiments.front()));
    STAB_TRY(const std::vector<store::BuildRow> made, engine_.store().builds(first.id));
    if (made.size() == 2 && !made[0].binary_sha256.empty() && made[0].binary_sha256 == made[1].binary_sha256) {
      STAB_TRY(const LibrariesOfSides libraries, libraries_of_sides(engine_.store(), first));
      out.are_one_program = are_same_files(libraries);
      if (out.are_one_program)
        out.care.push_back("both sides are the same program, byte for byte" +
                           (sides_.are_built_here ? ": '" + made[0].binary_path + "'" : ""));
    }
    for (const store::Id id : out.experiments) {
      if (id != out.experiments.front() && (!out.search || !out.search->answer || id != out.experiments.back())) continue;
      STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(id));
      STAB_TRY(const report::Samples samples, engine::load_samples(engine_.store(), row));
      STAB_TRY(const std::vector<std::string> care, commands::care_of(samples));
      for (const std::string& one : care)
        out.care.push_back((id == out.experiments.front() ? "" : "of the runs for single functions, ") + one);
    }
    return {};
  }

  nanoseconds spent() const { return clock_.monotonic_raw() - begin_; }
  nanoseconds left() const { return budget_ - spent(); }

  Result<store::Id> submit(const std::string& text, commands::Explanation& out) {
    STAB_TRY(const plan::Plan plan, parse_ad_hoc(text, builds_.directory, builds_.text_name));
    STAB_TRY(const store::Id id, engine_.submit(plan, builds_.directory, ::geteuid(), ::getegid()));
    out.experiments.push_back(id);
    told_.phases.clear();
    return id;
  }

  // Makes the builds, however long that takes, and sees that functions of them can be moved.
  Status build(store::Id id, bool& is_one_build) {
    STAB_TRY(const engine::RunEnd end, build_until(engine_, id, arguments_, clock_, stop_, &told_));
    is_interrupted_ = end == engine::RunEnd::kStopped;
    if (is_interrupted_) return bad_input("it was interrupted while the builds were made");
    STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(id));
    if (end == engine::RunEnd::kRejected)
      return bad_input(printable(row.failure) + (sides_.recorded.empty() ? "" : "\n" + sides_.cure_of_change));
    STAB_TRY(const std::vector<store::BuildRow> made, engine_.store().builds(id));
    is_one_build = made.size() < 2;
    if (is_one_build) return bad_input("both sides are one build, so neither their code nor its place differs");
    for (const store::BuildRow& one : made)
      STAB_CHECK_OK(must_move(one.binary_path,
                              "'" + std::filesystem::path(one.binary_path).filename().string() + "' of build '" + one.name + "'",
                              sides_.cure, tool_of(row)));
    STAB_CHECK_OK(check_as_recorded(row, made));
    begin_ = clock_.monotonic_raw();
    return {};
  }

  // That the builds are those whose times are to be explained.
  Status check_as_recorded(const store::ExperimentRow& row, const std::vector<store::BuildRow>& made) const {
    if (sides_.recorded.empty()) return {};
    STAB_TRY(const engine::ExpandedPlan expanded, engine::expand_stored(row));
    const int last = static_cast<int>(expanded.design.cells.size()) - 1;
    const int of_sides[] = {expanded.builds.of(0, 0, 0), expanded.builds.of(0, last, 0)};
    for (size_t side = 0; side < sides_.recorded.size(); ++side) {
      const RecordedBuild& then = sides_.recorded[side];
      const store::BuildRow& now = made.at(static_cast<size_t>(of_sides[side]));
      const bool is_same_input = now.input_hash == then.input_hash;
      if (is_same_input && (then.sha256.empty() || now.binary_sha256 == then.sha256)) continue;
      return bad_input(then.shown + " is another program than the experiment has measured: " +
                       (is_same_input ? "what it is made from is the same, and its bytes are not"
                                      : "its source, its commands or its compiler have changed since") +
                       "; " + sides_.cure_of_change);
    }
    return {};
  }

  // Until it is over, or `most` is. An Error where nothing was measured.
  Result<engine::RunEnd> run(store::Id id, nanoseconds most) {
    Budget limit{std::max(most, nanoseconds(std::chrono::seconds(1)))};
    STAB_TRY(const engine::RunEnd end, run_until(engine_, id, arguments_, clock_, limit, stop_, &told_));
    is_interrupted_ = end == engine::RunEnd::kStopped && !limit.is_over;
    // What is kept of it is over: no run of explain goes on with one before it.
    if (end == engine::RunEnd::kStopped && limit.is_over)
      STAB_CHECK_OK(engine::end_in_time(engine_.store(), id, statistics::kLeastCauseBlocks, clock_.realtime()));
    if (end != engine::RunEnd::kRejected && end != engine::RunEnd::kGaps) return end;
    if (end == engine::RunEnd::kGaps)
      return bad_input("trials failed each time; " +
                       (arguments_.is_database_temporary
                            ? "--db FILE keeps them for 'stabctl logs'"
                            : "'stabctl logs " + std::to_string(id) + database_option(arguments_) + "' says how"));
    STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(id));
    STAB_TRY(const std::vector<store::TrialRow> failed,
             engine_.store().trials(
                 id, {.kind = store::TrialKind::kPreflight, .state = store::TrialState::kFailed, .block = {}, .limit = 1}));
    const bool is_asked_here = !failed.empty() && sides_.recorded.empty();
    const std::string file = builds_.text_name == ExplainedBuilds{}.text_name ? "" : builds_.text_name;
    const std::string cure = (is_asked_here ? cure_of_status(row.failure, file) : "") +
                             (failed.empty() ? "" : sides_.cure_of_failure);
    return bad_input(cure.empty() ? row.failure : without_line_ends(row.failure) + "\n" + without_line_ends(cure));
  }

  Status ask_cause(commands::Explanation& out) {
    STAB_TRY(const store::Id counts, submit(count_plan(builds_, PointersLead::kToOriginals), out));
    if (sides_.are_built_here) STAB_CHECK_OK(build(counts, out.is_one_build));
    STAB_TRY(const PointersLead pointers, count_copies(counts, out));
    STAB_TRY(const store::Id id, submit(cause_plan(builds_, out.settings.looks[0], pointers), out));
    // `results` names the experiment that the answer is of.
    std::rotate(out.experiments.begin(), out.experiments.end() - 1, out.experiments.end());
    return look_by_look(id, out);
  }

  // Calls through pointers and the like cost more in copies than in a plain run. Where one program makes more of them, pointers
  // are to lead to copies, if that helps; what still costs more is in the answer's intervals. An Error where a program fails.
  Result<PointersLead> count_copies(store::Id id, commands::Explanation& out) {
    STAB_TRY(const std::optional<commands::CopyFacts> counted, counted_copies(id, out.settings.margin));
    out.copies = counted;
    if (!counted || !counted->counts || counted->old_entries == counted->new_entries) return PointersLead::kToOriginals;
    STAB_TRY(const store::Id directly, submit(count_plan(builds_, PointersLead::kToCopies), out));
    const auto rest = counted_copies(directly, out.settings.margin);
    if (is_interrupted_) return rest.error();
    const bool is_led = rest && *rest && std::abs((*rest)->new_entries - (*rest)->old_entries) <
                                             std::abs(counted->new_entries - counted->old_entries) / 2;
    if (!is_led) return PointersLead::kToOriginals;
    out.copies = *rest;
    out.copies->is_rest = true;
    out.copies->old_led = std::max(0.0, counted->old_entries - (*rest)->old_entries);
    out.copies->new_led = std::max(0.0, counted->new_entries - (*rest)->new_entries);
    return PointersLead::kToCopies;
  }

  // In a run of each; absent where that takes too long.
  Result<std::optional<commands::CopyFacts>> counted_copies(store::Id id, double margin) {
    STAB_TRY(const engine::RunEnd end, run(id, left() / kShareOfCounts));
    if (is_interrupted_) return bad_input("it was interrupted while calls were counted");
    if (end == engine::RunEnd::kStopped) return std::optional<commands::CopyFacts>();
    STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(id));
    STAB_TRY(const auto runs, engine::copied_runs(engine_.store(), row));
    return std::optional(copy_facts(runs[0], runs[1], margin));
  }

  // pre: the experiment's builds are made
  Status look_by_look(store::Id id, commands::Explanation& out) {
    const statistics::CauseSettings& settings = out.settings;
    const nanoseconds began = spent();
    is_final_ = false;
    std::vector<uint32_t> earlier;  // blocks of the looks that were taken
    uint32_t wanted = settings.looks[0];  // of the next one
    nanoseconds each{0};            // of a block; not known before the first look, without which there is no answer at all
    for (;;) {
      STAB_TRY(const engine::RunEnd end, run(id, left() - kSampledBlocks * each));
      STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(id));
      STAB_TRY(blocks_, engine::cause_blocks(engine_.store(), row));
      if (!out.alone) STAB_CHECK_OK(add_tries(engine_.store(), row, store::TrialKind::kPreflight, out.alone));
      const auto count = static_cast<uint32_t>(blocks_.size());
      const nanoseconds took = spent() - began;
      out.seconds = std::chrono::duration<double>(took).count();
      const bool is_stopped = end == engine::RunEnd::kStopped;
      if (is_interrupted_)
        out.unfinished = "it was interrupted";
      else if (is_stopped)
        out.unfinished = "the time of --at-most was over";
      if (count < statistics::kLeastCauseBlocks)
        return bad_input((is_stopped ? out.unfinished + " before" : "the runs ended before") + " three blocks were whole" +
                         (is_interrupted_ ? "" : "; --at-most gives it more"));
      each = took / count;
      if (is_interrupted_ && count < wanted) return end_between_looks(earlier, count, out);
      const bool is_last = (is_stopped && !is_interrupted_) || is_final_;
      const auto next = is_last ? statistics::NextCauseLook{} : next_look(settings, earlier.size(), count, each, began);
      if (next.is_cut) out.unfinished = "there was no time for more";
      STAB_TRY(const double nominal, statistics::nominal_alpha(settings, earlier, count, next.more == 0));
      STAB_TRY(out.answer, statistics::decide_cause(blocks_, settings, nominal));
      if (next.more == 0 || is_interrupted_ || out.answer->verdict != statistics::CauseVerdict::kUnresolved) return {};
      if (next.is_for_functions && has_place(*out.answer)) {
        out.unfinished = "the rest of the time was for the functions";
        return {};
      }
      is_final_ = next.is_cut;
      earlier.push_back(count);
      wanted = count + next.more;
      STAB_CHECK_OK(engine_.extend(id, static_cast<int>(next.more)));
    }
  }

  // Who ends it may have seen how it goes, so what is estimated then is no answer.
  Status end_between_looks(const std::vector<uint32_t>& earlier, uint32_t count, commands::Explanation& out) const {
    STAB_TRY(const double nominal, statistics::nominal_alpha(out.settings, earlier, count, false));
    STAB_TRY(out.answer, statistics::decide_cause(blocks_, out.settings, nominal));
    leave_open(*out.answer);
    out.is_between_looks = true;
    return {};
  }

  static void leave_open(statistics::CauseAnswer& answer) {
    answer.verdict = statistics::CauseVerdict::kUnresolved;
    answer.plain.state = answer.code.state = answer.place.state = statistics::EffectState::kOpen;
    answer.settles_at.reset();
  }

  // What follows a look after `count` blocks, of which each takes so long, and which began then.
  statistics::NextCauseLook next_look(const statistics::CauseSettings& settings, size_t earlier, uint32_t count,
                                      nanoseconds each, nanoseconds began) const {
    const auto fit = [&](nanoseconds until) {
      return static_cast<uint32_t>(std::clamp<int64_t>((until - spent()) / each, 0, settings.looks.back()));
    };
    const nanoseconds until_functions =
        began + nanoseconds(static_cast<int64_t>(kShareOfCause * static_cast<double>((budget_ - began).count())));
    return statistics::next_cause_look(settings, earlier, count, fit(until_functions), fit(budget_ - kSampledBlocks * each));
  }

  // What still costs more in copies makes the intervals longer by all that it may cost.
  Status allow_for_copies(commands::Explanation& out) const {
    if (!out.copies || !out.copies->counts) return {};
    const statistics::CopyPrice price = commands::price_of(*out.copies);
    STAB_TRY(out.answer, statistics::decide_cause(blocks_, out.settings, 1 - out.answer->confidence, price));
    if (out.is_between_looks) leave_open(*out.answer);
    return {};
  }

  // Both programs with identical copies of their functions, sampled.
  Result<engine::SharedFunctions> sampled_functions(commands::Explanation& out) {
    const engine::Archive archive(engine::archive_beside(engine_.options().database));
    STAB_TRY(const store::Id id, submit(profile_plan(builds_), out));
    STAB_TRY(const engine::RunEnd sampled, run(id, left()));
    if (sampled == engine::RunEnd::kStopped)
      return bad_input(std::string(is_interrupted_ ? "it was interrupted" : "the time was over") +
                       " while the program was sampled");
    STAB_TRY(const store::ExperimentRow profile, engine_.store().experiment(id));
    STAB_CHECK_OK(add_tries(engine_.store(), profile, store::TrialKind::kMain, out.alone));
    STAB_TRY(const LibrariesOfSides libraries, libraries_of_sides(engine_.store(), profile));
    return engine::shared_functions(engine_.store(), profile, kMostMoved, archive, tool_of(profile), libraries);
  }

  Status search(commands::Explanation& out, const engine::SharedFunctions& functions, commands::FunctionSearch& search) {
    const engine::Archive archive(engine::archive_beside(engine_.options().database));
    search.sampled = functions.sampled;
    search.unmatched = functions.unmatched;
    search.left_out = functions.left_out;
    for (const engine::SharedFunction& one : functions.moved)
      search.functions.push_back({one.shown, one.old_linked, one.new_linked, one.bytes, one.share, one.library, one.is_named,
                                  engine::why_unplaced(one)});
    if (functions.moved.empty() && functions.stayed.empty())
      return bad_input("no function that can be moved is in both programs");
    if (functions.moved.empty())
      return bad_input(
          "each function that both builds have, that can be moved and that takes time begins at the same place "
          "of its page in both; what is left is their distance over pages, code that never moves, functions of libraries that "
          "stay, and data");
    const double each = out.seconds / out.answer->blocks;  // of a block of as many runs
    const auto fit = static_cast<uint32_t>(std::max(0.0, std::chrono::duration<double>(left()).count() / each));
    const auto least = static_cast<uint32_t>(functions.moved.size()) * statistics::kRunsPerFunction / kPlacedRunsOfBlock;
    const uint32_t blocks = std::min(std::max({least, kUsualPlaced, blocks_to_find(*out.answer, functions.moved.size())}), fit);
    if (blocks < std::max(kLeastPlaced, least / 2))
      return bad_input("the time that was left is too short for " + std::to_string(std::max(kLeastPlaced, least / 2)) +
                       " blocks; --at-most gives it more");
    STAB_TRY(const std::string plan, places_plan(builds_, engine::script_of_places(functions), blocks));
    STAB_TRY(const store::Id placed, submit(plan, out));
    STAB_CHECK_OK(run(placed, left()));
    if (is_interrupted_) return bad_input("it was interrupted while their places were tried");
    STAB_TRY(const store::ExperimentRow row, engine_.store().experiment(placed));
    STAB_TRY(const std::vector<statistics::PlacedRun> runs,
             engine::placed_runs(engine_.store(), row, functions, archive, tool_of(row)));
    STAB_TRY(search.answer, statistics::find_places(runs, {out.settings.alpha, out.settings.margin, out.answer->place.estimate}));
    std::vector<bool> may_place;
    for (const engine::SharedFunction& one : functions.moved) may_place.push_back(engine::why_unplaced(one).empty());
    search.best = statistics::best_places(runs, *search.answer, may_place, out.settings.alpha);
    if (search.best) search.cure = cure_of(placed, *search.best);
    return {};
  }

  // What to type, of the experiment that looked for the functions.
  commands::CureCommands cure_of(store::Id placed, const statistics::BestPlaces& best) const {
    commands::CureCommands out;
    out.file = builds_.name + ".layout";
    out.emit = "stabctl layout emit " + std::to_string(placed) + " --out " + shell_word(out.file) + database_option(arguments_);
    out.verify = !sides_.verify_command
                     ? "stabctl layout verify " + shell_word(out.file) + database_option(arguments_)
                     : sides_.verify_command(best.in_new.estimate <= best.in_old.estimate);
    out.must_ask_again = arguments_.is_database_temporary;
    return out;
  }

  // After which one of so many functions is found if it makes half of the place, or the margin where that is more. A block's
  // value of the place is made of four runs, so it spreads twice as much as one.
  uint32_t blocks_to_find(const statistics::CauseAnswer& answer, size_t functions) const {
    const double effect = std::max(std::abs(answer.place.estimate) / 2, std::log1p(builds_.margin));
    const double spread = answer.place.spread / 2;
    if (spread <= 0) return 0;
    const double runs = statistics::runs_to_find(effect, spread, functions, kPlacedRunsOfBlock, builds_.alpha);
    return static_cast<uint32_t>(std::min<double>(std::ceil(runs / kPlacedRunsOfBlock), kMostPlaced));
  }

  // Between runs nobody else uses the store, so there is no gate to open.
  engine::LayoutTool tool_of(const store::ExperimentRow& row) const {
    return engine::layout_tool(engine_.options().installation, row);
  }

  engine::Engine& engine_;
  const Arguments& arguments_;
  const Clock& clock_;
  engine::StopSignal& stop_;
  ToldNotes& told_;
  const ExplainedSides& sides_;
  const ExplainedBuilds& builds_;
  nanoseconds begin_;  // of measuring: builds take what they take
  const nanoseconds whole_budget_, budget_;  // all of it, and what of it is for what is measured
  std::vector<statistics::CauseBlock> blocks_;
  bool is_interrupted_ = false;
  bool is_final_ = false;  // the next look is the last, as there is no time for more
};

int say(const commands::Explanation& explanation, const Arguments& arguments) {
  const commands::ExplainOutput output = commands::explain_output(explanation, terminal_width());
  std::fputs(arguments.json ? output.json.c_str() : printable(output.text).c_str(), stdout);
  std::fflush(stdout);
  if (!arguments.json && !arguments.quiet && !explanation.experiments.empty())
    std::fprintf(stderr, "results: stabctl report %lld%s\n", static_cast<long long>(explanation.experiments[0]),
                 database_option(arguments).c_str());
  return output.exit_code;
}

}  // namespace

Status explain_sides(engine::Engine& engine, const Arguments& arguments, const Clock& clock, engine::StopSignal& stop,
                     const ExplainedSides& sides, nanoseconds budget, ToldNotes& told, commands::Explanation& out) {
  out.old_name = sides.old_name;
  out.new_name = sides.new_name;
  out.command = sides.command;
  out.wall_command = sides.wall_command;
  out.settings.margin = sides.builds.margin;
  Explainer explainer(engine, arguments, clock, stop, sides, budget, told);
  const Status explained = explainer.explain(out);
  if (!explained) out.not_answered = explained.error().message;
  for (const store::Id id : out.experiments) {
    const auto row = engine.store().experiment(id);
    const Result<bool> is_empty = is_without_runs(engine.store(), id);
    // Runs are kept. No other explain goes on with them, and `resume` would. Where that can't be written, what stays is said.
    if (row && !store::is_over(row->state) && is_empty && !*is_empty)
      (void)engine.store().cancel(id, "explain ended before it did", clock.realtime().count()).ok();
    take_back_or_say(engine.store(), id, arguments);
  }
  std::erase_if(out.experiments, [&](store::Id id) { return !engine.store().experiment(id); });
  return explained;
}

int explain_command(const Arguments& arguments) {
  commands::Explanation explanation;
  explanation.command = typed_explain(arguments);
  if (arguments.words.size() == 2) explanation.old_name = arguments.words[0], explanation.new_name = arguments.words[1];
  if (arguments.margin) explanation.settings.margin = *arguments.margin;
  // For people on standard error; for programs in the object that every answer is.
  const auto no_answer = [&](const Error& error) {
    const int exit_code = complain_of_no_answer(error);
    explanation.not_answered = printable(error.text());
    if (arguments.simulate && !explanation.simulated)
      explanation.simulated.emplace().not_done =
          "the simulator was not asked, as there is no measured answer to compare its own with: " + one_line(error.message);
    return arguments.json ? say(explanation, arguments) : exit_code;
  };
  const auto budget = arguments.at_most.empty() ? Result<nanoseconds>(kUsualExplainTime) : budget_of(arguments.at_most);
  if (!budget) return no_answer(budget.error());
  if (const Status margin = check_margin(arguments); !margin) return no_answer(margin.error());
  engine::StopSignal stop;
  const CaughtInterrupts caught(stop);
  const auto sides = explained_sides(arguments);
  if (!sides) return no_answer(sides.error());
  if (arguments.simulate)
    if (const Status simulated = may_be_simulated(sides->builds); !simulated) return no_answer(simulated.error());
  const SystemClock clock;
  const auto engine = open_engine(arguments, clock);
  if (!engine) return no_answer(engine.error());
  ToldNotes told;
  const Status explained = explain_sides(**engine, arguments, clock, stop, *sides, *budget, told, explanation);
  if (explained) return say(explanation, arguments);
  const int failed = arguments.json ? no_answer(explained.error()) : complain_of_no_answer(without_told(explained.error(), told));
  return caught.any() ? kExitUnfinished : failed;
}

}  // namespace stab::ctl

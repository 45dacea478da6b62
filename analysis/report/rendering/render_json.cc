// The report as JSON, version 1: docs/reference/report-json.md describes each field. Field names are those of the structs.
#include "analysis/report/conditions/run_changes.h"
#include "analysis/report/rendering/json_parts.h"
#include "analysis/report/rendering/render_estimators.h"
#include "analysis/report/report_data/report.h"
#include "analysis/report/report_data/report_pen.h"

namespace stab::report {
namespace {

constexpr int kFormatVersion = 1;

// Absent where there are none.
void texts(text::JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.begin_array(key);
  for (const std::string& text : texts) json.element(text);
  json.end();
}

void design(text::JsonWriter& json, const Report& report) {
  json.begin_array("workloads");
  for (const std::string& workload : report.workloads) json.element(workload);
  json.end();
  if (!report.programs.empty()) {
    json.begin_array("programs");
    for (const std::string& program : report.programs) json.element(program);
    json.end();
  }
  json.begin_array("factors");
  for (const Factor& factor : report.factors) {
    json.begin_object();
    json.value("name", factor.name).value("layout", factor.layout);
    json.value("baseline", factor.levels[factor.baseline]);
    json.begin_array("levels");
    for (const std::string& level : factor.levels) json.element(level);
    json.end().end();
  }
  json.end();
  json.begin_array("responses");
  for (const Response& response : report.responses) {
    json.begin_object();
    json.value("name", response.name).value("unit", response.unit).value("scale", scale_name(response.scale));
    json.value("margin", response.margin).value("declared", response.declared);
    if (response.higher_is_better) json.value("higher_is_better", true);
    if (response.is_benchmark()) {
      json.value("benchmark", true).value("workload", report.workloads[*response.only_workload]).value("family", response.family);
      json.value("error_rate", response.error_rate == ErrorRate::kFamilyWise ? "family-wise" : "false discovery");
    }
    json.end();
  }
  json.end();
  json.value("cells_run", report.cell_count);
  json.begin_object("trials");
  json.value("planned", report.planned).value("analysed", report.analysed);
  json.value("excluded", report.excluded).value("failed", report.failed);
  json.end();
}

void contrasts(text::JsonWriter& json, const Report& report) {
  json.begin_array("contrasts");
  for (const Contrast& contrast : report.contrasts) {
    json.begin_object();
    json.value("response", contrast.response).value("workload", contrast.workload);
    json.value("population", name(contrast.population)).value("factor", contrast.factor);
    json.value("level", contrast.level).value("baseline", contrast.baseline);
    json.value("layout", contrast.layout).value("verdict", name(contrast.verdict));
    texts(json, "aliases", contrast.aliases);
    if (!contrast.refused.empty()) {
      json.value("refused", contrast.refused).end();
      continue;
    }
    json.value("scale", scale_name(contrast.scale));
    write_interval(json, "interval", contrast.interval);
    write_interval(json, "equivalence_interval", contrast.equivalence);
    json.value("standard_error", contrast.standard_error).value("margin", contrast.margin).value("n", contrast.n);
    json.value("df", contrast.df).value("p_value", contrast.p_value).value("p_holm", contrast.p_holm);
    json.value("p_equivalence", contrast.p_equivalence).value("p_equivalence_holm", contrast.p_equivalence_holm);
    json.value("p_rank", contrast.p_rank).value("blocked", contrast.blocked).value("by_link", contrast.by_link);
    json.value("settles_n", contrast.settles_n).value("settles_seconds", contrast.settles_seconds);
    json.value("settles_blocks", contrast.settles_blocks).value("one_layout_a_side", contrast.one_layout_a_side);
    if (contrast.by_alone) json.value("by_alone", true);
    json.end();
  }
  json.end();
}

// Left out where blocks ran as ever.
void slicing(text::JsonWriter& json, const Report& report) {
  if (!report.slicing) return;
  const Slicing& of = *report.slicing;
  json.begin_object("slicing").value("sliced_blocks", of.sliced_blocks).value("alone_blocks", of.alone_blocks);
  json.value("text", slicing_text(report));
  if (!of.refused.empty()) json.value("refused", of.refused);
  json.begin_array("biases");
  for (const SlicingBias& bias : of.biases) {
    json.begin_object().value("response", bias.response).value("workload", bias.workload);
    json.value("population", name(bias.population)).value("factor", bias.factor).value("level", bias.level);
    json.value("baseline", bias.baseline).value("scale", scale_name(bias.scale));
    if (!bias.refused.empty()) {
      json.value("refused", bias.refused).end();
      continue;
    }
    write_interval(json, "sliced", bias.sliced);
    write_interval(json, "alone", bias.alone);
    write_interval(json, "bias", bias.bias);
    json.value("sliced_n", bias.sliced_n).value("alone_n", bias.alone_n);
    json.value("standard_error", bias.standard_error).value("df", bias.df).value("p_value", bias.p_value);
    json.value("p_holm", bias.p_holm).value("margin", bias.margin).value("moves", bias.moves).end();
  }
  json.end().begin_array("overlaps");
  for (const CellOverlap& cell : of.overlaps) {
    json.begin_object().value("workload", cell.workload).begin_object("levels");
    for (size_t f = 0; f < report.factors.size(); ++f) json.value(report.factors[f].name, cell.levels[f]);
    json.end().value("overlap", cell.overlap).value("trials", cell.trials).end();
  }
  json.end().end();
}

// Left out where there was one machine.
void machines(text::JsonWriter& json, const Report& report) {
  if (report.machine_contrasts.empty()) return;
  json.begin_array("machine_contrasts");
  for (const MachineContrast& contrast : report.machine_contrasts) {
    json.begin_object();
    json.value("response", contrast.response).value("workload", contrast.workload).value("factor", contrast.factor);
    json.value("level", contrast.level).value("baseline", contrast.baseline).value("scale", scale_name(contrast.scale));
    json.begin_array("machines");
    for (const MachineContrast::One& one : contrast.machines) {
      json.begin_object().value("machine", one.machine).value("n", one.n);
      write_interval(json, "interval", one.interval);
      json.end();
    }
    json.end();
    if (!contrast.refused.empty()) {
      json.value("refused", contrast.refused).end();
      continue;
    }
    const auto test = [&](const char* name, const Interval& of, double standard_error, double df, double p_value) {
      json.begin_object(name);
      write_interval(json, "interval", of);
      json.value("standard_error", standard_error).value("df", df).value("p_value", p_value).end();
    };
    test("these_machines", contrast.these, contrast.these_standard_error, contrast.these_df, contrast.these_p);
    test("machines_like_these", contrast.like_these, contrast.like_standard_error, contrast.like_df, contrast.like_p);
    json.begin_object("heterogeneity").value("f", contrast.f).value("df1", contrast.f_df1).value("df2", contrast.f_df2);
    json.value("p_value", contrast.f_p).value("variance_between", contrast.between).end();
    json.end();
  }
  json.end();
}

// Left out where the experiment replays no trial.
void replay(text::JsonWriter& json, const Report& report) {
  if (!report.replay) return;
  const ReplayAnswer& answer = *report.replay;
  json.begin_object("replay").value("trial", answer.trial).value("experiment", answer.experiment);
  json.value("factor", answer.factor).value("level", answer.level).value("cause", name(answer.cause));
  json.value("excess", answer.excess).value("runs", answer.runs).value("fresh", answer.fresh).value("below", answer.below);
  texts(json, "sentences", answer.sentences);
  json.end();
}

// Left out where there are none.
void halves(text::JsonWriter& json, const Report& report) {
  if (report.halves.empty()) return;
  json.begin_array("halves");
  for (const HalfContrast& half : report.halves) {
    json.begin_object().value("workload", half.workload).value("within", half.within).value("randomized", half.randomized);
    json.value("factor", half.factor).value("level", half.level).value("baseline", half.baseline).value("n", half.n);
    if (half.refused.empty()) write_interval(json, "interval", half.interval);
    else json.value("refused", half.refused);
    json.end();
  }
  json.end();
}

void anovas(text::JsonWriter& json, const Report& report) {
  json.begin_array("anova");
  for (const AnovaTable& table : report.anovas) {
    json.begin_object();
    json.value("response", table.response).value("workload", table.workload).value("title", table.title);
    json.value("within_subjects", table.within_subjects).value("type", table.type);
    json.value("scale", scale_name(table.scale));
    if (!table.robust_method.empty()) json.value("robust_method", table.robust_method);
    if (!table.refused.empty()) json.value("refused", table.refused);
    texts(json, "left_out", table.left_out);
    json.begin_array("rows");
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const statistics::AnovaRow& row = table.rows[i];
      json.begin_object();
      json.value("term", row.term).value("df", row.df).value("sum_squares", row.sum_squares);
      json.value("mean_square", row.mean_square).value("f", row.f).value("p_value", row.p_value);
      json.value("partial_eta_squared", row.partial_eta_squared);
      json.value("partial_omega_squared", row.partial_omega_squared);
      if (!table.p_robust.empty()) json.value("p_robust", table.p_robust[i]);
      if (i < table.aliases.size()) texts(json, "aliases", table.aliases[i]);
      if (table.within_subjects) {
        const TermError& error = table.errors[i];
        json.value("error_df", error.df).value("error_sum_squares", error.sum_squares);
        json.value("greenhouse_geisser", error.greenhouse_geisser);
        json.value("p_greenhouse_geisser", error.p_greenhouse_geisser);
      }
      json.end();
    }
    json.end().end();
  }
  json.end();
}

void components(text::JsonWriter& json, const Report& report) {
  json.begin_array("components");
  for (const SpreadComponents& part : report.components) {
    json.begin_object();
    json.value("response", part.response).value("workload", part.workload).value("layouts", part.layouts);
    json.value("runs_per_layout", part.runs_per_layout).value("layout", part.layout).value("run", part.run);
    if (part.block) json.value("block", *part.block);
    json.end();
  }
  json.end();
}

void cells(text::JsonWriter& json, const Report& report) {
  json.begin_array("cells");
  for (const Cell& cell : report.cells) {
    json.begin_object();
    json.value("response", cell.response).value("workload", cell.workload);
    json.begin_object("levels");
    for (size_t f = 0; f < report.factors.size(); ++f) json.value(report.factors[f].name, cell.levels[f]);
    json.end();
    json.value("n", cell.n).value("mean", cell.mean).value("median", cell.median).value("sd", cell.sd);
    json.value("geometric_mean", cell.geometric_mean);
    if (cell.mean_interval) write_interval(json, "interval", *cell.mean_interval);
    json.value("shapiro_w", cell.shapiro_w).value("shapiro_p", cell.shapiro_p);
    json.value("one_layout", cell.one_layout);
    json.value("dip", cell.dip).value("dip_p", cell.dip_p).value("dip_p_holm", cell.dip_p_holm);
    json.begin_array("modes");
    for (const Mode& mode : cell.modes) {
      json.begin_object().value("median", mode.median).value("low", mode.low).value("high", mode.high);
      json.value("n", mode.n).end();
    }
    json.end().end();
  }
  json.end();
}

void run_changes(text::JsonWriter& json, const Report& report) {
  json.begin_array("run_changes");
  for (const RunChanges& run : report.run_changes) {
    json.begin_object().value("response", run.response);
    if (!run.machine.empty()) json.value("machine", run.machine);
    json.value("trials", run.trials).value("chunk", run.chunk).value("level", run.level);
    json.value("permutations", run.permutations).value("p_of_next", run.p_of_next);
    json.begin_array("segments");
    for (const RunChanges::Segment& segment : run.segments) {
      json.begin_object().value("first", uint64_t{segment.first}).value("last", uint64_t{segment.last});
      json.value("first_block", uint64_t{segment.first_block}).value("trials", segment.trials).value("level", segment.level);
      json.value("level_sds", segment.level_sds).value("spread_sds", segment.spread_sds).end();
    }
    json.end().begin_array("changes");
    for (size_t i = 0; i < run.changes.size(); ++i) {
      const RunChanges::Change& change = run.changes[i];
      json.begin_object().value("position", uint64_t{change.position}).value("block", uint64_t{change.block});
      json.value("statistic", change.statistic).value("p_value", change.p_value);
      json.value("text", run_change_text(response_of(report, run.response), run, i)).end();
    }
    json.end().end();
  }
  json.end();
  if (report.runs_not_searched > 0) json.value("runs_not_searched", report.runs_not_searched);
}

// Nothing of plain rows, which nobody's machine has run.
void environment(text::JsonWriter& json, const Report& report) {
  const EnvironmentTable& table = report.environment;
  if (table.compared == 0) return;
  json.begin_object("environment").value("facts", uint64_t{table.compared}).value("trials", table.trials);
  json.value("unrecorded_trials", table.unrecorded_trials).begin_array("differences");
  for (const EnvironmentDifference& one : table.differences) {
    json.begin_object().value("fact", one.fact).value("along", name(one.along)).value("says_where", one.says_where);
    const std::vector<std::string> shown = shown_values(one);
    json.begin_array("values");
    for (size_t v = 0; v < one.values.size(); ++v) {
      const EnvironmentValue& value = one.values[v];
      json.begin_object().value("value", value.value).value("shown", shown[v]).value("told", value.told);
      json.value("trials", value.trials).value("blocks", value.blocks);
      json.value("first_block", uint64_t{value.first_block}).value("last_block", uint64_t{value.last_block});
      texts(json, "machines", value.machines);
      json.end();
    }
    json.end().begin_array("splits");
    for (const EnvironmentSplit& split : one.splits) {
      json.begin_object().value("factor", split.factor).value("level", split.level).value("baseline", split.baseline);
      json.value("value", split.value).value("share", split.share).value("baseline_share", split.baseline_share);
      json.value("text", split_words(one, shown, split)).end();
    }
    json.end().end();
  }
  json.end().begin_array("changes");
  for (const EnvironmentChange& change : report.environment_changes.changes) {
    json.begin_object().value("position", uint64_t{change.position}).value("block", uint64_t{change.block});
    if (!change.machine.empty()) json.value("machine", change.machine);
    json.value("facts", change.facts).value("text", change.text).end();
  }
  json.end().value("changes_left_out", report.environment_changes.left_out).end();
}

// Left out where all responses are benchmarks.
void level_summaries(text::JsonWriter& json, const Report& report) {
  const LevelSummaries& summaries = report.level_summaries;
  if (summaries.all.empty() && summaries.left_out == 0) return;
  json.value("level_summaries_left_out", summaries.left_out).begin_array("level_summaries");
  for (const LevelSummary& one : summaries.all) {
    json.begin_object().value("response", one.response).value("workload", one.workload).begin_object("levels");
    for (const auto& [factor, level] : one.levels) json.value(factor, level);
    json.end().value("n", one.n).value("units", one.units).value("cells", one.cells);
    json.value("median", one.median).value("lower_quartile", one.lower_quartile).value("upper_quartile", one.upper_quartile);
    json.value("least", one.least).value("most", one.most).value("sd", one.sd);
    if (one.interval) {
      write_interval(json, "mean", {one.mean, one.interval->first, one.interval->second});
    } else {
      json.begin_object("mean").value("estimate", one.mean).value("refused", one.no_interval).end();
    }
    json.value("one_layout", one.one_layout).end();
  }
  json.end();
}

void checks(text::JsonWriter& json, const Report& report) {
  json.begin_array("diagnostics");
  for (const Diagnostic& diagnostic : report.diagnostics) {
    json.begin_object();
    json.value("response", diagnostic.response).value("workload", diagnostic.workload);
    json.value("name", diagnostic.name).value("n", diagnostic.n);
    if (!diagnostic.refused.empty()) {
      json.value("refused", diagnostic.refused).end();
      continue;
    }
    json.value("statistic_name", diagnostic.statistic_name).value("statistic", diagnostic.statistic);
    json.value("p_value", diagnostic.p_value).end();
  }
  json.end();
  run_changes(json, report);
  environment(json, report);
  level_summaries(json, report);
  json.begin_array("doses");
  for (const DoseSummary& dose : report.doses) {
    json.begin_object();
    json.value("workload", dose.workload).value("factor", dose.factor).value("level", dose.level);
    json.value("trials", dose.trials).value("layouts_min", dose.minimum).value("layouts_median", dose.median);
    json.value("layouts_max", dose.maximum).value("share", dose.share);
    json.value("epochs_median", dose.epochs).value("unentered_share", dose.unentered);
    json.end();
  }
  json.end();
  json.begin_array("validity");
  for (const ValidityCount& count : report.validity)
    json.begin_object().value("what", count.what).value("trials", count.trials).end();
  json.end();
  json.begin_array("caveats");
  for (const Caveat& caveat : report.caveats) {
    json.begin_object();
    json.value("code", name(caveat.code)).value("message", caveat.message).value("hint", caveat.hint);
    json.end();
  }
  json.end();
}

}  // namespace

std::string to_json(const Report& report) {
  text::JsonWriter json;
  json.begin_object();
  json.value("format", "stab-report").value("version", kFormatVersion);
  json.value("experiment", report.experiment).value("alpha", report.alpha).value("stopping", report.stopping);
  json.value("interval_level", report.interval_level);
  design(json, report);
  replay(json, report);
  contrasts(json, report);
  slicing(json, report);
  estimators_json(json, report);
  machines(json, report);
  halves(json, report);
  anovas(json, report);
  cells(json, report);
  components(json, report);
  checks(json, report);
  json.end();
  return json.take();
}

}  // namespace stab::report

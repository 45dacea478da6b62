// The causal report as JSON: "causal" in a report's. docs/reference/report-json.md describes each field.
#include "analysis/causal_report/causal.h"
#include "analysis/text/json_writer.h"

namespace stab::causal_report {
namespace {

void interval(text::JsonWriter& json, std::string_view key, const report::Interval& value) {
  json.begin_object(key);
  json.value("estimate", value.estimate).value("conf_low", value.low).value("conf_high", value.high);
  json.end();
}

void effect(text::JsonWriter& json, const CausalEffect& value) {
  if (!value.refused.empty()) {
    json.value("refused", value.refused);
    return;
  }
  interval(json, "speedup_interval", value.speedup);
  json.value("log_effect", value.log_effect).value("standard_error", value.standard_error).value("df", value.df);
  json.value("p_value", value.p_value).value("p_equivalence", value.p_equivalence);
  json.value("windows", value.windows).value("baselines", value.baselines);
}

void slope(text::JsonWriter& json, std::string_view key, const std::optional<CausalSlope>& value) {
  if (!value) return;
  json.begin_object(key);
  interval(json, "interval", value->slope);
  json.value("standard_error", value->standard_error).value("df", value->df);
  json.end();
}

std::string_view word(report::Verdict verdict) { return name(verdict); }

class Writer {
 public:
  Writer(text::JsonWriter& json, const CausalReport& report) : json_(json), report_(report), design_(report.design) {}

  void write() {
    json_.value("margin", design_.margin).value("alpha", design_.alpha).value("program", design_.program);
    json_.value("most_foreign", design_.most_foreign)
        .value("sampling_ns", design_.sampling_ns)
        .value("window_ns", design_.window_ns)
        .value("whole_runs", design_.whole_runs);
    json_.begin_array("speedups");
    for (const double speedup : design_.speedups) json_.element(speedup);
    json_.end();
    json_.begin_array("points");
    for (const CausalPoint& point : design_.points) {
      json_.begin_object();
      json_.value("name", point.name).value("kind", name(point.kind));
      json_.end();
    }
    json_.end();
    lines();
    cells();
    curves();
    controls();
    interactions();
    saturations();
    json_.begin_array("caveats");
    for (const CausalCaveat& caveat : report_.caveats) {
      json_.begin_object();
      json_.value("code", name(caveat.code)).value("message", caveat.message).value("hint", caveat.hint);
      json_.end();
    }
    json_.end();
  }

 private:
  void lines() {
    json_.begin_array("lines");
    for (size_t l = 0; l < design_.lines.size(); ++l) {
      const CausalLine& line = design_.lines[l];
      uint64_t samples = 0, all = 0;
      for (const CausalTrial& trial : design_.trials) {
        if (!trial.excluded.empty() || trial.run_samples.empty()) continue;
        samples += trial.run_samples[l], all += trial.all_samples;
      }
      json_.begin_object();
      json_.value("name", line.name).value("file", line.file).value("line", line.line).value("function", line.function);
      json_.value("candidate", line.candidate).value("pilot_samples", line.pilot_samples).value("samples", samples);
      json_.value("samples_share", all ? std::optional(static_cast<double>(samples) / static_cast<double>(all)) : std::nullopt);
      json_.end();
    }
    json_.end();
  }

  void cells() {
    json_.begin_array("cells");
    for (size_t c = 0; c < report_.cells.size(); ++c) {
      const CausalCellSummary& cell = report_.cells[c];
      json_.begin_object();
      json_.begin_object("levels");
      for (size_t f = 0; f < design_.factors.size(); ++f) json_.value(design_.factors[f], design_.cells[c].levels[f]);
      json_.end();
      json_.value("load", design_.cells[c].load).value("trials", cell.trials).value("excluded_trials", cell.excluded_trials);
      json_.value("windows", cell.windows).value("foreign", cell.foreign).value("cut", cell.cut);
      json_.value("without_time", cell.without_time).value("skipped", cell.skipped);
      json_.begin_array("without_visits");
      for (const uint64_t count : cell.without_visits) json_.element(count);
      json_.end();
      json_.value("spread", cell.spread).value("lengthened", cell.lengthened).value("withheld", cell.withheld);
      json_.end();
    }
    json_.end();
  }

  void where(uint32_t cell, uint32_t point) {
    json_.value("cell", cell).value("cell_name", cell_name(design_, cell)).value("point", design_.points[point].name);
  }

  void curves() {
    json_.begin_array("curves");
    for (const CausalCurve& curve : report_.curves) {
      json_.begin_object();
      where(curve.cell, curve.point);
      json_.value("line", design_.lines[curve.line].name).value("verdict", name(curve.verdict));
      json_.value("exploratory", curve.exploratory).value("skipped", curve.skipped);
      json_.value("phase_share", curve.phase_share).value("phase_corrected", curve.phase_corrected);
      json_.value("best", curve.best ? std::optional(curve.arms[*curve.best].speedup) : std::nullopt);
      json_.begin_array("arms");
      for (const CausalArm& arm : curve.arms) {
        json_.begin_object();
        json_.value("speedup", arm.speedup).value("verdict", word(arm.verdict));
        effect(json_, arm.effect);
        if (arm.effect.refused.empty()) {
          json_.value("p_holm", arm.p_holm).value("p_equivalence_holm", arm.p_equivalence_holm);
          json_.value("by_pausing", arm.by_pausing);
          json_.begin_object("beyond_null");
          effect(json_, arm.beyond_null);
          json_.end();
        }
        json_.value("settles_windows", arm.settles_windows);
        json_.end();
      }
      json_.end();
      slope(json_, "slope", curve.slope);
      slope(json_, "slowdown_slope", curve.slowdown_slope);
      if (curve.slope && curve.slowdown_slope) json_.value("kink_p", curve.kink_p).value("kink_or_bias", curve.kink_or_bias);
      json_.end();
    }
    json_.end();
  }

  void controls() {
    json_.begin_array("nulls");
    for (const NullControl& null : report_.nulls) {
      json_.begin_object();
      where(null.cell, null.point);
      json_.value("holds", null.holds).value("biased", null.biased);
      effect(json_, null.effect);
      json_.value("settles_windows", null.settles_windows);
      json_.end();
    }
    json_.end();
    json_.begin_array("split_baselines");
    for (const CausalAA& aa : report_.aa) {
      json_.begin_object();
      where(aa.cell, aa.point);
      json_.value("splits", aa.splits).value("alarms", aa.alarms);
      json_.end();
    }
    json_.end();
    json_.begin_array("loops");
    for (const LoopCheck& loop : report_.loops) {
      json_.begin_object();
      where(loop.cell, loop.point);
      json_.value("closed", loop.closed);
      effect(json_, loop.effect);
      json_.end();
    }
    json_.end();
  }

  void interactions() {
    json_.begin_array("interactions");
    for (const CausalInteraction& each : report_.interactions) {
      json_.begin_object();
      where(each.cell, each.point);
      json_.value("line", design_.lines[each.line].name).value("speedup", each.speedup);
      interval(json_, "difference", {each.difference, each.low, each.high});
      json_.value("df", each.df).value("p_value", each.p_value).value("p_beyond_null", each.p_beyond_null);
      json_.value("p_holm", each.p_holm).value("exploratory", each.exploratory).value("withheld", each.withheld);
      json_.end();
    }
    json_.end();
    json_.begin_array("layout_interactions");
    for (const LayoutInteraction& each : report_.layout_interactions) {
      json_.begin_object();
      where(each.cell, each.point);
      json_.value("line", design_.lines[each.line].name).value("speedup", each.speedup).value("layouts", each.layouts);
      json_.value("f", each.f)
          .value("df1", each.df1)
          .value("df2", each.df2)
          .value("p_value", each.p_value)
          .value("p_holm", each.p_holm)
          .value("against", each.against_trials ? "trials" : "windows")
          .value("exploratory", each.exploratory);
      json_.end();
    }
    json_.end();
  }

  void saturations() {
    json_.begin_array("saturations");
    for (const Saturation& saturation : report_.saturations) {
      json_.begin_object();
      json_.value("cell_name", saturation.cell).value("point", saturation.point).value("latency_point", saturation.latency_point);
      json_.value("verdict", name(saturation.verdict)).value("text", scaling_text(saturation));
      if (!saturation.refused.empty()) json_.value("refused", saturation.refused);
      if (!saturation.arrivals.empty()) json_.value("arrivals", saturation.arrivals);
      if (saturation.arrivals_share) {
        json_.value("arrivals_load", saturation.arrivals_load);
        interval(json_, "arrivals_share", *saturation.arrivals_share);
      }
      if (saturation.knee) {
        json_.begin_object("knee");
        json_.value("load", saturation.knee->load)
            .value("conf_low", saturation.knee->low)
            .value("conf_high", saturation.knee->high);
        json_.value("slope_after", saturation.knee->slope_after).value("throughput", saturation.knee->throughput);
        json_.end();
      }
      json_.begin_array("loads");
      for (const LoadPoint& load : saturation.loads) {
        json_.begin_object();
        json_.value("load", load.load).value("trials", load.trials).value("throughput", load.throughput_mean);
        if (load.throughput) interval(json_, "throughput_interval", *load.throughput);
        json_.value("latency_s", load.latency_mean_s);
        if (load.latency_s) interval(json_, "latency_interval", *load.latency_s);
        json_.value("busy", load.busy).value("offered", load.offered).value("arrivals", load.arrivals).value("grows", load.grows);
        json_.end();
      }
      json_.end().end();
    }
    json_.end();
  }

  text::JsonWriter& json_;
  const CausalReport& report_;
  const CausalData& design_;
};

}  // namespace

void write_causal(text::JsonWriter& json, const CausalReport& report) { Writer(json, report).write(); }

}  // namespace stab::causal_report

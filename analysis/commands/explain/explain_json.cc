#include <cmath>
#include <utility>

#include "analysis/commands/explain/explain.h"
#include "analysis/commands/explain/explain_cure.h"
#include "analysis/commands/explain/explain_places.h"
#include "analysis/commands/explain/explain_simulated.h"
#include "analysis/commands/explain/explain_verdict.h"
#include "analysis/text/json_writer.h"

namespace stab::commands {
namespace {

void effect_json(text::JsonWriter& json, const char* name, const statistics::CauseEffect& effect) {
  json.begin_object(name)
      .value("difference", std::expm1(effect.estimate))
      .value("low", std::expm1(effect.low))
      .value("high", std::expm1(effect.high))
      .value("sd_of_blocks", effect.spread)
      .value("state", statistics::word_of(effect.state))
      .end();
}

// pre: what is simulated has an answer to be compared with, or says why it is not done
void simulated_json(text::JsonWriter& json, const Explanation& all) {
  const SimulatedFacts& facts = *all.simulated;
  json.begin_object("simulated").value("not_done", facts.not_done);
  if (facts.not_done.empty()) {
    const statistics::CauseAnswer& answer = facts.answer;
    json.value("answer", statistics::word_of(answer.verdict)).value("sentence", agreement_sentence(all));
    json.value("model", facts.model).value("layouts", answer.blocks).value("confidence", answer.confidence);
    for (const auto& [key, count] : {std::pair{"old_instructions", facts.old_run.instructions},
                                     std::pair{"new_instructions", facts.new_run.instructions},
                                     std::pair{"old_cost", facts.old_run.cost}, std::pair{"new_cost", facts.new_run.cost}})
      json.value(key, count);
    effect_json(json, "instructions", facts.instructions);
    effect_json(json, "as_linked", answer.plain);
    effect_json(json, "code", answer.code);
    effect_json(json, "place", answer.place);
    const double margin = all.settings.margin;
    json.begin_object("agrees").value("code", word_of(agreement_of(all.answer->code, answer.code, margin)));
    json.value("place", word_of(agreement_of(all.answer->place, answer.place, margin))).end();
  }
  json.end();
}

void libraries_json(text::JsonWriter& json, const LibraryFacts& libraries) {
  json.begin_object("libraries").value("not_known", libraries.not_known);
  json.value("share", libraries.share).value("unmoved_share", libraries.unmoved).value("apart_share", libraries.apart);
  json.begin_array("functions");
  for (const LibraryFacts::Function& one : libraries.functions)
    json.begin_object()
        .value("name", one.name)
        .value("moved", one.moved)
        .value("lies_alike", one.lies_alike)
        .value("old_share", one.old_share)
        .value("new_share", one.new_share)
        .value("old_address", one.old_address)
        .value("new_address", one.new_address)
        .end();
  json.end().end();
}

void bodies_json(text::JsonWriter& json, const BodyFacts& bodies) {
  json.begin_object("instructions").value("functions", bodies.functions).value("not_compared_share", bodies.unmatched);
  json.value("changed_share", bodies.changed_share).value("constants_compared", bodies.knows_constants);
  json.value("old_still_share", bodies.old_still).value("new_still_share", bodies.new_still);
  for (const auto& [key, names] : {std::pair{"changed", &bodies.changed}, std::pair{"other_constants", &bodies.constants},
                                   std::pair{"old_alone", &bodies.old_alone}, std::pair{"new_alone", &bodies.new_alone},
                                   std::pair{"still", &bodies.still}}) {
    json.begin_array(key);
    for (const std::string& name : *names) json.element(name);
    json.end();
  }
  json.begin_array("renamed");
  for (const auto& [old_name, new_name] : bodies.renamed)
    json.begin_object().value("old_name", old_name).value("new_name", new_name).end();
  json.end();
  json.begin_array("data");
  for (const BodyFacts::Object& one : bodies.data)
    json.begin_object()
        .value("name", one.name)
        .value("old_address", one.old_address)
        .value("new_address", one.new_address)
        .value("old_bytes", one.old_bytes)
        .value("new_bytes", one.new_bytes)
        .value("other_contents", one.is_other)
        .end();
  json.end().end();
}

void search_json(text::JsonWriter& json, const FunctionSearch& search) {
  json.begin_object("functions").value("not_done", search.not_done).value("sampled", search.sampled);
  json.value("unmatched_share", search.unmatched).value("left_out", search.left_out);
  if (search.answer) {
    const statistics::PlaceAnswer& places = *search.answer;
    json.value("cause", statistics::word_of(places.cause)).value("runs", places.runs).value("blocks", places.blocks);
    json.value("of_found", std::expm1(places.of_found));
    json.begin_object("together").value("difference", std::expm1(places.together.estimate));
    json.value("low", std::expm1(places.together.low)).value("high", std::expm1(places.together.high)).end();
    json.begin_array("each");
    for (size_t f = 0; f < places.functions.size(); ++f) {
      const statistics::PlaceEffect& effect = places.functions[f];
      const PlacedFunctionFacts& facts = search.functions[f];
      json.begin_object().value("name", facts.name).value("found", effect.is_found);
      json.value("difference", std::expm1(effect.estimate)).value("low", std::expm1(effect.low));
      json.value("high", std::expm1(effect.high)).value("p_holm", effect.p_holm);
      json.value("old_address", facts.old_address).value("new_address", facts.new_address);
      json.value("bytes", facts.bytes).value("share_of_samples", facts.share).end();
    }
    json.end().begin_array("pairs");
    const auto distance = [&](const statistics::PairEffect& pair, auto address) {
      return pair_distance(search.functions[pair.first].*address, search.functions[pair.second].*address);
    };
    for (const statistics::PairEffect& pair : places.pairs)
      json.begin_object().value("first", search.functions[pair.first].name).value("second", search.functions[pair.second].name)
          .value("difference", std::expm1(pair.estimate)).value("p_holm", pair.p_holm)
          .value("old_distance", distance(pair, &PlacedFunctionFacts::old_address))
          .value("new_distance", distance(pair, &PlacedFunctionFacts::new_address)).end();
    json.end();
  }
  json.end();
}

}  // namespace

void write_explanation(text::JsonWriter& json, const Explanation& all) {
  json.value("format", 1).value("old", all.old_name).value("new", all.new_name).value("command", all.command);
  json.value("answer", all.answer ? statistics::word_of(verdict_of(all)) : "none");
  json.value("sentence", all.answer ? explain_sentence(all) : all.not_answered).value("unfinished", all.unfinished);
  json.value("margin", all.settings.margin).value("alpha", all.settings.alpha).value("clock", "cpu_time");
  if (all.alone) {
    const AloneFacts& alone = *all.alone;
    json.begin_object("on_cpu").value("old", alone.old_on_cpu).value("new", alone.new_on_cpu);
    json.value("old_waits", alone.old_waits).value("new_waits", alone.new_waits).end();
    json.value("outputs_differ", alone.print_something_else());
  }
  if (all.answer) {
    json.value("blocks", all.answer->blocks).value("seconds", all.seconds).value("confidence", all.answer->confidence);
    json.value("settles_at_blocks", all.answer->settles_at);
    effect_json(json, "as_linked", all.answer->plain);
    effect_json(json, "code", all.answer->code);
    effect_json(json, "place", all.answer->place);
  }
  if (all.copies) {
    json.begin_object("copies");
    write_copies(json, *all.copies);
    json.end();
  }
  json.value("uncounted", all.uncounted);
  if (all.simulated) simulated_json(json, all);
  if (all.libraries) libraries_json(json, *all.libraries);
  if (all.bodies) bodies_json(json, *all.bodies);
  if (all.search) search_json(json, *all.search);
  write_cure(json, all);
  json.begin_array("experiments");
  for (const int64_t id : all.experiments) json.element(id);
  json.end().begin_array("care");
  for (const std::string& one : all.care) json.element(one);
  json.end();
}

}  // namespace stab::commands

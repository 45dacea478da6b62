// recorded_evaluation PLAN DATA.json DATABASE: stores an experiment of docs/evaluation/data, unpacked, as the database had
// it: the real results of PLAN, in the places of its schedule. For reports on real trials without running them again.
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "plan/parse.h"
#include "tests/golden/record.h"

namespace {

using namespace stab;
using Json = nlohmann::json;

Status record(const std::string& plan_path, const std::string& data_path, const std::string& database) {
  STAB_TRY(plan::Parsed parsed, plan::load_plan(plan_path));
  if (!parsed.plan) return bad_input(toml::render(parsed.errors));
  std::ifstream file(data_path);
  const Json data = Json::parse(file, nullptr, false);
  if (data.is_discarded()) return bad_input("'" + data_path + "' is no JSON");
  const Json& trials = data.at("trials");
  parsed.plan->experiment.replicates = data.at("replicates").get<int>();
  const std::vector<std::string> events = parsed.plan->counters.events;
  // The data number subjects and cells in the order in which they first ran.
  const std::vector<plan::Factor> factors = parsed.plan->factors;
  STAB_TRY(const engine::ExpandedPlan expanded, engine::expand(*parsed.plan));
  const auto is_same = [&](const store::TrialRow& trial, const plan::Cell& cell, uint32_t at) {
    const size_t subject = trials.at("subject").at(at), of_cell = trials.at("cell").at(at);
    if (data.at("subjects").at(subject) != expanded.subjects[static_cast<size_t>(trial.subject)].name) return false;
    for (size_t f = 0; f < factors.size(); ++f)
      if (const Json& levels = data.at("cells").at(of_cell); levels.contains(factors[f].name) &&
          levels.at(factors[f].name) != factors[f].levels[static_cast<size_t>(cell.levels[f])].name) return false;
    return trials.at("block").at(at) == trial.block && trials.at("state").at(at) == "recorded";
  };
  STAB_TRY(store::Store store, store::Store::open(database, store::Store::Access::kWrite));
  std::string misfit;
  std::tm time{};
  if (!::strptime(data.at("began_utc").get<std::string>().c_str(), "%Y-%m-%d %H:%M", &time))
    return bad_input("'began_utc' is no time");
  const int64_t began = static_cast<int64_t>(::timegm(&time)) * 1'000'000'000ll;
  const auto number = [&](const char* key, uint32_t at) { return trials.at(key).at(at); };
  const auto made = record_experiment(
      store, std::move(*parsed.plan),
      [&](const store::TrialRow& trial, const plan::Cell& cell, store::Outcome& outcome) {
        const uint32_t at = trial.order;
        if (at >= trials.at("subject").size() || !is_same(trial, cell, at)) {
          if (misfit.empty())
            misfit = "trial " + std::to_string(at) + " of the schedule is another one in the data, or it failed there";
          return;
        }
        outcome.started_at_ns += number("started_ms", at).get<int64_t>() * 1'000'000 - at * 1'000'000'000ll;
        outcome.wall_ns = number("wall_ns", at).get<int64_t>();
        outcome.user_ns = number("user_ns", at).get<int64_t>();
        outcome.system_ns = number("system_ns", at).get<int64_t>();
        outcome.max_rss_kib = number("max_rss_kib", at).get<int64_t>();
        // How often stacks were refilled is not in the data; they are when the code is laid out anew, so its count stands for
        // both.
        char dose[300];
        std::snprintf(
            dose, sizeof dose,
            "{\"abi\":1,\"hello\":true,\"end\":\"exit\",\"code\":{\"layouts_built\":%lld,\"layouts_executed\":%lld,\"functions\":"
            "%lld,\"functions_moved\":%lld},\"stack\":{\"slots\":%lld,\"slots_zeroed\":0,\"refills\":%lld},\"degradations\":[]}",
            number("layouts_executed", at).get<long long>(), number("layouts_executed", at).get<long long>(),
            number("functions_moved", at).get<long long>(), number("functions_moved", at).get<long long>(),
            number("functions_moved", at).get<long long>(), number("layouts_executed", at).get<long long>());
        if (number("layouts_executed", at).get<long long>() > 0) outcome.dose_json = dose;
        for (const std::string& event : events) {
          const auto values = trials.find(event);
          if (values == trials.end() || values->at(at).is_null())
            outcome.responses.push_back({event, {}, {}, {}, {}, "no PMU counts '" + event + "'"});
          else
            outcome.responses.push_back({event, values->at(at).get<double>(), {}, {}, {}, ""});
        }
      },
      began);
  if (!made) return made.error();
  if (!misfit.empty()) return bad_input(misfit);
  std::map<std::string, std::string> facts;
  for (const auto& [fact, value] : data.at("machine").items()) facts[fact] = value.get<std::string>();
  return store.put_host_facts(*made, facts, 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: recorded_evaluation PLAN DATA.json DATABASE\n", stderr);
    return 2;
  }
  const stab::Status done = record(argv[1], argv[2], argv[3]);
  if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done ? 0 : 1;
}

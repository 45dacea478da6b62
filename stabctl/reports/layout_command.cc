// layout show and layout epochs: what one trial's randomization was, from what is stored of it.
#include <cinttypes>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/number_text.h"
#include "base/printable.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/records/database.h"
#include "stabctl/records/recorded_trial.h"
#include "stabctl/terminal/csv_text.h"
#include "stabd/engine/results/trial_layout.h"
#include "stabd/engine/trial/epoch_series.h"

namespace stab::ctl {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Calls `each` with the program's functions, then with those of its libraries.
template <typename Each>
void for_each_function(const engine::TrialLayout& layout, Each each) {
  for (const auto* functions : {&layout.functions, &layout.in_libraries})
    for (const engine::PlacedFunction& function : *functions) each(function);
}

void print_json(const engine::TrialLayout& layout, int64_t trial) {
  Json functions = Json::array(), untold = Json::array();
  for_each_function(layout, [&functions](const engine::PlacedFunction& function) {
    functions.push_back({{"name", function.name},
                         {"address", function.address ? Json(hex_text(*function.address)) : Json(nullptr)},
                         {"moved", function.moved},
                         {"pad", maybe(function.pad)},
                         {"bytes", function.bytes},
                         {"linked", hex_text(function.linked)}});
  });
  for (const engine::UntoldFile& file : layout.untold) untold.push_back({{"file", file.name}, {"why", file.why}});
  const Json all = {{"format", "stab-layout"}, {"version", 1},          {"trial", trial},
                    {"epoch", layout.epoch},   {"code", layout.code},   {"stack", layout.stack},
                    {"seed", hex_text(layout.seed)}, {"image", maybe(layout.image)}, {"refill", maybe(layout.refill)},
                    {"binary", layout.binary}, {"libraries_moved", layout.libraries_moved}, {"untold", untold},
                    {"functions", functions}};
  // A path may have bytes that are no text.
  std::printf("%s\n", all.dump(1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_csv(const engine::TrialLayout& layout) {
  std::printf("address,moved,pad,bytes,linked,name\n");
  for_each_function(layout, [](const engine::PlacedFunction& function) {
    std::printf("%s,%d,%s,%u,%s,%s\n", function.address ? hex_text(*function.address).c_str() : "", function.moved ? 1 : 0,
                function.pad ? std::to_string(*function.pad).c_str() : "", function.bytes, hex_text(function.linked).c_str(),
                csv_text(function.name).c_str());
  });
}

void print_text(const engine::TrialLayout& layout, int64_t trial) {
  const auto or_none = [](const std::optional<uint32_t>& which) { return which ? std::to_string(*which) : "none"; };
  std::printf("trial %" PRId64 ", epoch %u: code %s, stack %s, seed %s, image %s, pads %s\n", trial, layout.epoch,
              layout.code.c_str(), layout.stack.c_str(), hex_text(layout.seed).c_str(), or_none(layout.image).c_str(),
              or_none(layout.refill).c_str());
  std::printf("%16s %6s %5s %7s %12s  %s\n", "address", "mod 64", "pad", "bytes", "linked", "function");
  for_each_function(layout, [](const engine::PlacedFunction& function) {
    std::printf("%16s %6s %5s %7u %12" PRIx64 "  %s%s\n", function.address ? hex_text(*function.address).c_str() + 2 : "-",
                function.address ? std::to_string(*function.address % 64).c_str() : "-",
                function.pad ? std::to_string(*function.pad).c_str() : "-", function.bytes, function.linked,
                printable(function.name).c_str(), function.moved ? "" : "  (stays)");
  });
  for (const engine::UntoldFile& file : layout.untold)
    std::printf("not told: %s: %s\n", one_line(file.name).c_str(), one_line(file.why).c_str());
}

}  // namespace

int layout_show_command(const Arguments& arguments) {
  auto of = recorded_trial(arguments);
  if (!of) return complain(of.error());
  const std::optional<uint32_t> epoch = arguments.epoch > 0 ? std::optional(static_cast<uint32_t>(arguments.epoch))
                                                                   : std::nullopt;
  const auto layout = engine::layout_of(of->store, arguments.trial, epoch, of->tool, of->archive);
  if (!layout) return complain(layout.error());
  if (arguments.json) print_json(*layout, arguments.trial);
  else if (arguments.format == "csv") print_csv(*layout);
  else print_text(*layout, arguments.trial);
  return kExitDone;
}

int layout_epochs_command(const Arguments& arguments) {
  auto store = open_for_reading(arguments);
  if (!store) return complain(store.error());
  const auto trial = store->trial(arguments.trial);
  if (!trial) return complain(trial.error());
  const auto stored = store->epochs(arguments.trial);
  if (!stored) return complain(stored.error());
  const auto series = engine::decode_epochs(stored->empty() ? engine::encode_epochs({}) : *stored);
  if (!series) return complain(series.error());
  if (series->records.empty())
    return complain(Error{ErrorCode::kNotFound, "the epochs of trial " + std::to_string(arguments.trial) +
                                                    " were not kept; write record_epochs = true under [experiment]",
                          {}});
  const std::vector<engine::Epoch> epochs = engine::epochs_of(*series);
  const auto number = [](uint32_t value) { return value == helper::kNoImage ? std::string() : std::to_string(value); };
  if (arguments.json) {
    Json rows = Json::array();
    for (const engine::Epoch& epoch : epochs) {
      Json row = {{"epoch", epoch.number},
                  {"image", epoch.image == helper::kNoImage ? Json(nullptr) : Json(epoch.image)},
                  {"refill", epoch.refill == helper::kNoImage ? Json(nullptr) : Json(epoch.refill)},
                  {"slot", epoch.slot},
                  {"start_ns", epoch.start_ns},
                  {"wall_ns", epoch.wall_ns},
                  {"cpu_ns", epoch.cpu_known ? Json(epoch.cpu_ns) : Json(nullptr)},
                  {"flags", engine::flag_words(epoch.flags)}};
      Json visits = Json::array();
      for (size_t i = 0; i < series->points.size(); ++i) visits.push_back(epoch.visits[i]);
      row["visits"] = std::move(visits);
      if (series->profile)
        row["samples"] = {{"newest", epoch.samples_newest},
                          {"older", epoch.samples_older},
                          {"elsewhere", epoch.samples_elsewhere}};
      rows.push_back(std::move(row));
    }
    const Json all = {{"format", "stab-epochs"}, {"version", 1}, {"trial", arguments.trial}, {"points", series->points},
                      {"unrecorded", series->unrecorded}, {"epochs", std::move(rows)}};
    std::printf("%s\n", all.dump(1).c_str());
    return kExitDone;
  }
  const bool csv = arguments.format == "csv";
  if (csv) {
    std::printf("epoch,image,refill,slot,start_ns,wall_ns,cpu_ns,flags");
    for (const std::string& point : series->points) std::printf(",%s", csv_text("visits " + point).c_str());
    std::printf("\n");
  } else {
    std::printf("%8s %8s %8s %12s %10s %10s", "epoch", "image", "pads", "start ms", "wall ms", "cpu ms");
    for (const std::string& point : series->points) std::printf(" %12s", printable(point).c_str());
    std::printf("\n");
  }
  for (const engine::Epoch& epoch : epochs) {
    const std::string flags = engine::flag_words(epoch.flags);
    if (csv) {
      std::printf("%u,%s,%s,%d,%" PRIu64 ",%" PRIu64 ",%s,%s", epoch.number, number(epoch.image).c_str(),
                  number(epoch.refill).c_str(), epoch.slot, epoch.start_ns, epoch.wall_ns,
                  epoch.cpu_known ? std::to_string(epoch.cpu_ns).c_str() : "", csv_text(flags).c_str());
      for (size_t i = 0; i < series->points.size(); ++i) std::printf(",%" PRIu64, epoch.visits[i]);
    } else {
      const auto ms = [](uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
      std::printf("%8u %8s %8s %12.3f %10.3f", epoch.number, number(epoch.image).c_str(), number(epoch.refill).c_str(),
                  ms(epoch.start_ns), ms(epoch.wall_ns));
      if (epoch.cpu_known) std::printf(" %10.3f", ms(epoch.cpu_ns));
      else std::printf(" %10s", "-");
      for (size_t i = 0; i < series->points.size(); ++i) std::printf(" %12" PRIu64, epoch.visits[i]);
      std::printf("%s%s", flags.empty() ? "" : "  ", flags.c_str());
    }
    std::printf("\n");
  }
  if (!csv && series->unrecorded > 0) std::printf("%" PRIu64 " later epochs were not recorded\n", series->unrecorded);
  return kExitDone;
}

}  // namespace stab::ctl

// The report is JSON that the helper writes (runtime/helper, docs/reference/abi.md). Only a few numbers of it decide
// anything; the text itself is stored whole.
#include "stabd/engine/trial/dose.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/number_text.h"
#include "base/printable.h"
#include "runtime/code/layout_script.h"
#include "runtime/code_abi.h"
#include "runtime/modes.h"

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// Numbers that the lab takes, by their place in the report. One that is absent stays 0: a program without pads has no
// "stack" section to speak of.
struct Place {
  std::string_view section, field;
  int64_t Dose::*number;
};
constexpr Place kPlaces[] = {
    {"code", "layouts_built", &Dose::layouts_built},
    {"code", "layouts_executed", &Dose::layouts_executed},
    {"code", "functions", &Dose::functions},
    {"code", "functions_moved", &Dose::functions_moved},
    {"code", "libraries_moved", &Dose::libraries_moved},
    {"code", "library_functions", &Dose::library_functions},
    {"code", "library_functions_moved", &Dose::library_functions_moved},
    {"code", "pointer_entries", &Dose::pointer_entries},
    {"stack", "slots", &Dose::pads},
    {"stack", "slots_zeroed", &Dose::pads_zeroed},
    {"stack", "library_slots", &Dose::library_pads},
    {"stack", "library_slots_zeroed", &Dose::library_pads_zeroed},
    {"stack", "refills", &Dose::refills},
    {"heap", "mallocs", &Dose::allocations},
    {"heap", "mallocs_mmapped", &Dose::allocations_mmapped},
    {"heap", "bytes", &Dose::heap_bytes},
    {"heap", "bytes_mmapped", &Dose::heap_bytes_mmapped},
    {"visits", "count", &Dose::visits},
    {"region", "regions", &Dose::regions},
    {"progress", "points_dropped", &Dose::points_dropped},
    {"helper", "cpu_ns", &Dose::helper_cpu_ns},
    {"helper", "ticks", &Dose::epochs},
    {"code", "ticks_unentered", &Dose::epochs_unentered},
};

// Takes what it knows while the text is parsed: a tree of each of 16,000 reports would be half of an analysis' time.
class DoseReader final : public nlohmann::json_sax<Json> {
 public:
  Dose dose;
  bool object = false, hello = true;
  int64_t runtime_functions = 0;

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (depth_ == 1 && arrays_ == 0 && keys_[1] == "hello") hello = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { return take(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return !std::in_range<int64_t>(value) || take(static_cast<int64_t>(value));
  }
  // The helper counts from 0, in whole numbers that fit; others, 1e300 say, are as good as absent.
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t& value) override {
    if (std::string* const wanted = wanted_text()) *wanted = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    object |= depth_ == 0 && arrays_ == 0;
    ++depth_;
    constexpr size_t kMostPoints = 64;  // more than there are; a report that names more is somebody's invention
    counts_point_ = depth_ == 3 && arrays_ == 1 && keys_[1] == "progress" && keys_[2] == "points" &&
                    dose.points.size() < kMostPoints;
    if (counts_point_) dose.points.emplace_back();
    return true;
  }
  bool end_object() override {
    counts_point_ = false;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    ++arrays_;
    return true;
  }
  bool end_array() override {
    --arrays_;
    return true;
  }
  bool key(string_t& value) override {
    if (depth_ < kDepth) keys_[depth_] = std::move(value);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool take(int64_t value) {
    // A program may have written any number over those that it shares with its helper. Sums of these can't overflow.
    constexpr int64_t kMost = int64_t{1} << 53;
    if (value < 0 || value > kMost) return true;
    if (in_point() && keys_[3] == "visits") dose.points.back().visits = value;
    if (arrays_ != 0) return true;
    // The runtime's own functions are in every program and never move: they say nothing about it.
    if (depth_ == 3 && keys_[1] == "code" && keys_[2] == "not_moved" && keys_[3] == "runtime") runtime_functions = value;
    if (depth_ == 3 && keys_[1] == "code" && keys_[2] == "script" && keys_[3] == "placed_in_libraries")
      dose.placed_in_libraries = value;
    if (depth_ != 2) return true;
    if (keys_[1] == "heap" && keys_[2] == "layouts" && value > 0) dose.heap_layouts = value;
    if (keys_[1] == "settings" && keys_[2] == "stack_range_bytes") dose.stack_range_bytes = value;
    for (const Place& place : kPlaces)
      if (place.field == keys_[2] && place.section == keys_[1]) dose.*place.number = value;
    return true;
  }

  // Where a text belongs that stands here; null: nowhere.
  std::string* wanted_text() {
    if (in_point()) {
      Dose::Point& point = dose.points.back();
      return keys_[3] == "name" ? &point.name : keys_[3] == "kind" ? &point.kind : nullptr;
    }
    if (depth_ == 1 && arrays_ == 1 && keys_[1] == "degradations") return &dose.degradations.emplace_back();
    if (arrays_ != 0) return nullptr;
    if (depth_ == 3) return keys_[1] == "code" && keys_[2] == "script" && keys_[3] == "hash" ? &dose.script_hash : nullptr;
    if (depth_ != 2) return nullptr;
    if (keys_[1] == "heap") return keys_[2] == "served_by" ? &dose.heap_served_by : nullptr;
    if (keys_[1] != "settings") return nullptr;
    return keys_[2] == "code" ? &dose.code : keys_[2] == "stack" ? &dose.stack : keys_[2] == "heap" ? &dose.heap : nullptr;
  }

  bool in_point() const { return counts_point_ && depth_ == 3 && arrays_ == 1; }

  static constexpr int kDepth = 4;
  std::string keys_[kDepth];  // [depth]: the key that we are at there
  int depth_ = 0, arrays_ = 0;
  bool counts_point_ = false;
};

std::string settings_contradiction(const char* factor, const std::string& reported, const char* wanted) {
  if (reported.empty() || reported == wanted) return {};
  return std::string(factor) + " is " + wanted + ", but the program ran with " + reported;
}

std::string code_contradiction(abi::CodeMode mode, const Dose& dose) {
  if (mode == abi::CodeMode::kOff)
    return dose.layouts_built > 0 ? "code is off, but " + std::to_string(dose.layouts_built) + " layouts were built" : "";
  const std::string cell = std::string("code is ") + abi::kCodeWords[static_cast<int>(mode)];
  if (dose.functions_moved == 0 && dose.libraries_moved == 0) return cell + ", but no function was moved";
  if (dose.layouts_built == 0) return cell + ", but no layout was built";
  if (dose.layouts_executed == 0) return cell + ", but no layout was executed";
  return {};
}

std::string stack_contradiction(const plan::Layout& layout, const Dose& dose) {
  const abi::StackMode mode = layout.stack;
  if (mode == abi::StackMode::kOff || mode == abi::StackMode::kZero)
    return mode == abi::StackMode::kOff && dose.refills > 0 ? "stack is off, but pads were drawn" : "";
  const std::string cell = std::string("stack is ") + abi::kStackWords[static_cast<int>(mode)];
  const int64_t pads = dose.pads + dose.library_pads;
  if (pads == 0) return cell + ", but no function has a pad; build with szc, or szc --stab-pads=all if all are short";
  // With `recursive` those alone are counted that post-link holds at 0.
  if (pads == dose.pads_zeroed + dose.library_pads_zeroed)
    return cell + ", but every pad stays 0, as " + (mode == abi::StackMode::kOn ? "its function is recursive or " : "") +
           "the program may switch stacks; 'szc --stab-info' says which";
  if (dose.refills == 0) return cell + ", but no pad was drawn";
  if (dose.stack_range_bytes.value_or(abi::kMaxStackRangeBytes) != layout.stack_range_bytes)
    return "pads lie below " + std::to_string(layout.stack_range_bytes) + " bytes, but the program ran with another range";
  return {};
}

// A program that never asks for memory has no heap to randomize. That is a fault only where the plan asks what the heap does.
std::string heap_contradiction(const plan::Layout& layout, const Dose& dose) {
  const abi::HeapMode mode = layout.heap;
  if (mode == abi::HeapMode::kOff)
    return dose.allocations > 0 ? "heap is off, but " + std::to_string(dose.allocations) + " calls were served" : "";
  const std::string cell = std::string("heap is ") + abi::kHeapWords[static_cast<int>(mode)];
  if (dose.heap_served_by == "program" || dose.heap_served_by == "library")
    return cell + ", but a malloc of " + (dose.heap_served_by == "program" ? "the program's own" : "a library's") +
           " served the calls; link without it, or leave heap out of the plan";
  if (dose.allocations > 0 || (!layout.heap_varies && dose.heap_served_by == "stab")) return {};
  return cell + ", but it served no call";
}

std::string visits_contradiction(const plan::Layout& layout, const Dose& dose) {
  const auto every = static_cast<int64_t>(layout.epoch_visits);
  if (every == 0 || dose.visits >= every) return {};
  return "a layout lasts " + std::to_string(every) + " visits, but the program made " + std::to_string(dose.visits) +
         "; call stab_visit() more often, build with szc --stab-visit=FUNCTION, or lower visits of the plan's epoch";
}

}  // namespace

Result<std::optional<Dose>> parse_dose(std::string_view text) {
  DoseReader reader;
  if (!Json::sax_parse(text, &reader) || !reader.object)
    return Error{ErrorCode::kCorrupt, "the layout report is not a JSON object", {}};
  if (!reader.hello) return std::optional<Dose>();
  reader.dose.functions -= reader.runtime_functions;
  return std::optional<Dose>(std::move(reader.dose));
}

std::string dose_contradiction(const plan::Layout& layout, const std::optional<Dose>& dose) {
  const bool all_off = layout.code == abi::CodeMode::kOff && layout.stack == abi::StackMode::kOff &&
                       layout.heap == abi::HeapMode::kOff;
  std::string found;
  if (dose) {
    found = settings_contradiction("code", dose->code, abi::kCodeWords[static_cast<int>(layout.code)]);
    if (found.empty())
      found = settings_contradiction("stack", dose->stack, abi::kStackWords[static_cast<int>(layout.stack)]);
    if (found.empty())
      found = settings_contradiction("heap", dose->heap, abi::kHeapWords[static_cast<int>(layout.heap)]);
    if (found.empty()) found = code_contradiction(layout.code, *dose);
    if (found.empty()) found = stack_contradiction(layout, *dose);
    if (found.empty()) found = heap_contradiction(layout, *dose);
    if (found.empty() && !all_off) found = visits_contradiction(layout, *dose);
  } else if (!all_off) {
    found = "a layout factor is on, but the program never asked for a helper; is it built with this version of szc? "
            "build it with CC=szc CXX=szc++, or compare builds as they are linked: about = \"binaries\", with code, stack and "
            "heap off; docs/reference/plan.md says what else can move (preload_heap)";
  }
  if (found.empty()) return found;
  // What the runtime could not do, which is mostly why.
  const char* separator = "; the runtime says: ";
  if (dose)
    for (const std::string& word : dose->degradations) found += std::exchange(separator, "; ") + one_line(word);
  return "not randomized as its cell wants: " + found;
}

std::string script_contradiction(const std::string& script, const std::optional<Dose>& dose) {
  if (script.empty()) return {};
  if (dose && dose->script_hash == hex_text(abi::hash64(script.data(), script.size()))) {
    const auto parsed = std::make_unique<code::LayoutScript>();
    (void)code::parse_script(script.data(), script.size(), *parsed);
    if (dose->placed_in_libraries >= parsed->library_count) return {};
    return "not randomized as its cell wants: the layout script places " + std::to_string(parsed->library_count) +
           " functions of shared libraries, and " + std::to_string(dose->placed_in_libraries) +
           " were placed; does the program load those libraries, and were they built with this version of szc?";
  }
  return "not randomized as its cell wants: there is a layout script, but the program did not follow it; was it built with this "
         "version of szc?";
}

std::string region_missing(const std::optional<Dose>& dose) {
  if (dose && dose->regions > 0) return {};
  return std::string("the response is region_time, but ") +
         (dose ? "the program began and ended no region; call stab_region_begin() and stab_region_end(), see stab.h(3)"
               : "the program never asked for a helper; is it built with this version of szc?");
}

}  // namespace stab::engine

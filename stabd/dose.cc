// The report is JSON that the helper writes (runtime/helper, docs/abi.md). Only a few numbers of it decide
// anything; the text itself is stored whole.
#include "stabd/dose.h"

#include <nlohmann/json.hpp>

namespace stab::engine {
namespace {

using Json = nlohmann::json;

// 0 where a section or a field is absent: a program without pads has no "stack" section to speak of.
int64_t number(const Json& report, const char* section, const char* field) {
  const auto part = report.find(section);
  if (part == report.end() || !part->is_object()) return 0;
  const auto value = part->find(field);
  return value != part->end() && value->is_number() ? value->get<int64_t>() : 0;
}

// The runtime's own functions are in every program and never move: they say nothing about it.
int64_t runtime_functions(const Json& report) {
  const auto code = report.find("code");
  if (code == report.end() || !code->is_object()) return 0;
  return number(*code, "not_moved", "runtime");
}

std::string word(const Json& report, const char* factor) {
  const auto settings = report.find("settings");
  if (settings == report.end() || !settings->is_object()) return {};
  const auto value = settings->find(factor);
  return value != settings->end() && value->is_string() ? value->get<std::string>() : std::string();
}

std::string settings_contradiction(const char* factor, const std::string& reported, const char* wanted) {
  if (reported.empty() || reported == wanted) return {};
  return std::string(factor) + " is " + wanted + ", but the program ran with " + reported;
}

std::string code_contradiction(abi::CodeMode mode, const Dose& dose) {
  if (mode == abi::CodeMode::kOff)
    return dose.layouts_built > 0 ? "code is off, but " + std::to_string(dose.layouts_built) + " layouts were built" : "";
  const std::string cell = std::string("code is ") + abi::kCodeWords[static_cast<int>(mode)];
  if (dose.functions_moved == 0) return cell + ", but no function was moved";
  if (dose.layouts_built == 0) return cell + ", but no layout was built";
  if (dose.layouts_executed == 0) return cell + ", but no layout was executed";
  return {};
}

std::string stack_contradiction(abi::StackMode mode, const Dose& dose) {
  if (mode == abi::StackMode::kOff || mode == abi::StackMode::kZero)
    return mode == abi::StackMode::kOff && dose.refills > 0 ? "stack is off, but pads were drawn" : "";
  const std::string cell = std::string("stack is ") + abi::kStackWords[static_cast<int>(mode)];
  if (dose.pads == 0) return cell + ", but no function has a pad";
  if (mode == abi::StackMode::kOn && dose.pads == dose.pads_zeroed)
    return cell + ", but every function with a pad is recursive, so none is moved";
  if (dose.refills == 0) return cell + ", but no pad was drawn";
  return {};
}

std::string heap_contradiction(abi::HeapMode mode, const Dose& dose) {
  if (mode == abi::HeapMode::kOff)
    return dose.allocations > 0 ? "heap is off, but " + std::to_string(dose.allocations) + " calls were served" : "";
  if (dose.allocations > 0) return {};
  return std::string("heap is ") + abi::kHeapWords[static_cast<int>(mode)] + ", but it served no call";
}

}  // namespace

Result<std::optional<Dose>> parse_dose(std::string_view text) {
  const Json report = Json::parse(text, nullptr, false);
  if (!report.is_object()) return Error{ErrorCode::kCorrupt, "the dose report is not a JSON object", {}};
  if (const auto hello = report.find("hello"); hello != report.end() && *hello == false) return std::optional<Dose>();
  Dose dose;
  dose.layouts_built = number(report, "code", "layouts_built");
  dose.layouts_executed = number(report, "code", "layouts_executed");
  dose.functions = number(report, "code", "functions") - runtime_functions(report);
  dose.functions_moved = number(report, "code", "functions_moved");
  dose.pads = number(report, "stack", "slots");
  dose.pads_zeroed = number(report, "stack", "slots_zeroed");
  dose.code = word(report, "code");
  dose.stack = word(report, "stack");
  dose.heap = word(report, "heap");
  dose.refills = number(report, "stack", "refills");
  dose.allocations = number(report, "heap", "mallocs");
  dose.allocations_mmapped = number(report, "heap", "mallocs_mmapped");
  dose.heap_bytes = number(report, "heap", "bytes");
  dose.heap_bytes_mmapped = number(report, "heap", "bytes_mmapped");
  if (const int64_t layouts = number(report, "heap", "layouts"); layouts > 0) dose.heap_layouts = layouts;
  dose.regions = number(report, "region", "regions");
  dose.helper_cpu_ns = number(report, "helper", "cpu_ns");
  if (const auto list = report.find("degradations"); list != report.end() && list->is_array())
    for (const Json& item : *list)
      if (item.is_string()) dose.degradations.push_back(item.get<std::string>());
  return std::optional<Dose>(std::move(dose));
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
    if (found.empty()) found = stack_contradiction(layout.stack, *dose);
    if (found.empty()) found = heap_contradiction(layout.heap, *dose);
  } else if (!all_off) {
    found = "a layout factor is on, but the program never asked for a helper; is it built with szc?";
  }
  return found.empty() ? found : "dose contradicts cell: " + found;
}

}  // namespace stab::engine

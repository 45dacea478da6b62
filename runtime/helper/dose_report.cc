// Writing the dose report by hand: the helper has no library, and the object is flat.
#include "runtime/helper/dose_report.h"

#include "runtime/helper/text.h"

namespace stab::helper {
namespace {

const char* word(End end) {
  switch (end) {
    case End::kExit:
      return "exit";
    case End::kDied:
      return "died";
    case End::kExec:
      return "exec";
    case End::kUnwatched:
      return "unwatched";
  }
  return "died";
}

// {"name":value, ... }: writes the comma where one is due.
class Object {
 public:
  explicit Object(Text& out) : out_(out) { out_ << "{"; }
  Object& number(const char* name, uint64_t value) {
    key(name);
    out_ << value;
    return *this;
  }
  Object& text(const char* name, const char* value) {
    key(name);
    out_ << "\"" << value << "\"";
    return *this;
  }
  Text& key(const char* name) {
    out_ << (first_ ? "\"" : ",\"") << name << "\":";
    first_ = false;
    return out_;
  }
  void close() { out_ << "}"; }

 private:
  Text& out_;
  bool first_ = true;
};

void write_code(Text& out, const Control& control, const HelperUse& use) {
  const CodeDose& code = control.code;
  Object object(out);
  object.number("layouts_built", code.layouts_built)
      .number("layouts_executed", code.layouts_executed)
      .number("functions", code.functions)
      .number("functions_moved", code.functions_moved)
      .number("library_functions", code.library_functions)
      .number("library_functions_moved", code.library_functions_moved);
  if (control.pointer_entries != 0) object.number("pointer_entries", peek(control.pointer_entries));
  if (use.pointers_led != 0) object.number("pointers_led", use.pointers_led);
  object.key("not_moved");
  Object reasons(out);
  constexpr size_t kReasons = sizeof abi::kImmovableWords / sizeof abi::kImmovableWords[0];
  static_assert(kReasons <= sizeof code.not_moved / sizeof code.not_moved[0]);
  for (size_t i = 1; i < kReasons; ++i)
    if (code.not_moved[i] != 0) reasons.number(abi::kImmovableWords[i], code.not_moved[i]);
  reasons.close();
  object.number("image_bytes", code.image_bytes)
      .number("slots", code.slots_made)
      .number("build_ns", code.build_ns)
      .number("publish_ns", code.publish_ns)
      .number("retire_ns", code.retire_ns)
      .number("scans", code.scans)
      .number("scan_ns", code.scan_ns)
      .number("searches", code.searches)
      .number("search_ns", code.search_ns)
      .number("looks", code.looks)
      .number("looks_in_doubt", code.looks_in_doubt)
      .number("ticks_held", code.ticks_held)
      .number("ticks_unentered", code.ticks_unentered)
      .number("stayers", code.stayers)
      .number("libraries_moved", peek(code.libraries_moved))
      .number("libraries_stay", peek(code.libraries_stay));
  if (control.ring_address != 0) {
    (object.key("text_hash") << "\"0x").hex(use.text_hash) << "\"";
    object.number("text_address", control.text_address)
        .number("ring_address", control.ring_address)
        .number("slot_bytes", control.slot_bytes);
  }
  if (use.script != nullptr) {
    object.key("script");
    Object script(out);
    (script.key("hash") << "\"0x").hex(use.script->script_hash) << "\"";
    script.number("placed", use.script->placed_count)
        .number("placed_in_libraries", use.placed_in_libraries)
        .number("counted", use.script->counted_count)
        .number("match_rows", use.script->match_rows)
        .number("matched", use.matched);
    script.close();
  }
  if (use.loops != nullptr) {
    const code::LongLoops::Summary& summary = use.loops->summary();
    object.key("long_loops");
    Object loops(out);
    loops.number("functions", summary.functions)
        .number("points", summary.points)
        .number("unled_branches", summary.unled_branches)
        .number("holds_table", summary.holds_table)
        .number("no_point", summary.no_point)
        .number("no_loop", summary.no_loop)
        .number("full", summary.full);
    loops.close();
  }
  object.close();
}

// Libc's where its callers don't find ours (kNamesHidden and kDynamicWeak say it of code, too).
const char* server_of_heap(const Control& control) {
  const auto is = [&control](Degradation what) { return (peek(control.degradations) >> static_cast<unsigned>(what) & 1) != 0; };
  if (is(Degradation::kHeapOfProgram)) return "program";
  if (is(Degradation::kHeapOfLibrary)) return "library";
  const bool is_passed_over = is(Degradation::kNamesHidden) || is(Degradation::kDynamicWeak);
  return is_passed_over && peek(control.heap.mallocs) == 0 ? "libc" : "stab";
}

// Names come printable and without anything to escape (read_board).
void write_progress(Text& out, const progress::Counts& counts) {
  Object object(out);
  object.key("points") << "[";
  for (uint32_t i = 0; i < counts.points; ++i) {
    const progress::PointCount& point = counts.point[i];
    if (i > 0) out << ",";
    Object one(out);
    one.text("name", point.name)
        .text("kind", progress::kKindWords[static_cast<uint32_t>(point.kind)])
        .number("visits", point.visits);
    one.close();
  }
  out << "]";
  object.number("rows", counts.rows)
      .number("threads_sharing", counts.threads_sharing)
      .number("points_dropped", counts.points_dropped)
      .number("visits_dropped", counts.visits_dropped);
  object.close();
}

void write_settings(Text& out, const abi::Settings& settings, bool launched) {
  Object wanted(out);
  wanted.text("code", abi::kCodeWords[static_cast<uint8_t>(settings.code)])
      .text("stack", abi::kStackWords[static_cast<uint8_t>(settings.stack)])
      .text("heap", abi::kHeapWords[static_cast<uint8_t>(settings.heap)]);
  (wanted.key("seed") << "\"0x").hex(settings.seed) << "\"";
  wanted.number("epoch_ns", settings.epoch_ns)
      .number("epoch_visits", settings.epoch_visits)
      .number("simulated", settings.simulated)
      .number("stack_range_bytes", settings.stack_range_bytes)
      .text("helper", launched ? "launched" : "standalone");
  wanted.close();
}

void write_stack(Text& out, const Control& control) {
  Object stack(out);
  stack.number("slots", control.stack.slots)
      .number("slots_zeroed", control.stack.slots_zeroed)
      .number("library_slots", control.stack.library_slots)
      .number("library_slots_zeroed", control.stack.library_slots_zeroed)
      .number("refills", control.stack.refills);
  stack.close();
}

void write_heap(Text& out, const Control& control, abi::HeapMode mode) {
  Object heap(out);
  heap.number("mallocs", peek(control.heap.mallocs))
      .number("bytes", peek(control.heap.bytes))
      .number("mallocs_mmapped", peek(control.heap.mallocs_mmapped))
      .number("bytes_mmapped", peek(control.heap.bytes_mmapped))
      .number("largest_mmapped", peek(control.heap.largest_mmapped))
      .number("layouts", peek(control.heap.layouts))
      .number("turns", peek(control.heap.turns));
  if (mode != abi::HeapMode::kOff) heap.text("served_by", server_of_heap(control));
  heap.close();
}

void write_region(Text& out, const Control& control) {
  Object region(out);
  region.number("regions", peek(control.region.regions))
      .number("wall_ns", peek(control.region.wall_ns))
      .number("cpu_ns", peek(control.region.cpu_ns))
      .number("layouts", peek(control.region.layouts));
  region.close();
}

void write_helper(Text& out, const HelperUse& use) {
  Object helper(out);
  helper.number("cpu_ns", use.cpu_ns)
      .number("start_ns", use.start_ns)
      .number("start_cpu_ns", use.start_cpu_ns)
      .number("minor_faults", use.minor_faults)
      .number("major_faults", use.major_faults)
      .number("ticks", use.ticks)
      .number("ticks_late", use.ticks_late)
      .text("epochs_by", use.counts_cpu ? "cpu" : "wall");
  helper.close();
}

void write_degradations(Text& out, const Control& control) {
  out << "[";
  bool first = true;
  for (unsigned i = 0; i < static_cast<unsigned>(Degradation::kCount); ++i) {
    if ((peek(control.degradations) >> i & 1) == 0) continue;
    out << (first ? "\"" : ",\"") << kDegradationWords[i] << "\"";
    first = false;
  }
  out << "]";
}

// As many as there is room for. pre: the report is ended behind them
void write_libraries(Text& out, const HelperUse& use, Object& report) {
  constexpr size_t kMostOthers = 512;  // of an entry but for its path, and of what follows
  report.key("libraries") << "[";
  uint32_t told = 0;
  for (; told < use.moved_file_count && out.size() + sizeof(MovedFile::path) + kMostOthers < kReportBytes; ++told) {
    const MovedFile& file = use.moved_files[told];
    if (told > 0) out << ",";
    Object one(out);
    one.text("path", file.path);
    (one.key("text_hash") << "\"0x").hex(file.text_hash) << "\"";
    (one.key("drawn_by") << "\"0x").hex(file.drawn_by) << "\"";
    one.number("text_address", file.text_address)
        .number("ring_address", file.ring_address)
        .number("slot_bytes", file.slot_bytes)
        .number("first_image", file.first_image)
        .close();
  }
  out << "]";
  report.number("libraries_untold", use.moved_file_count - told);
}

}  // namespace

size_t write_report(const abi::Settings& settings, const Control& control, const HelperUse& use, End end, char* to,
                    const progress::Counts* counts) {
  Text out(to, kReportBytes);
  Object report(out);
  report.number("abi", abi::kAbiVersion);
  report.key("hello") << "true";
  report.text("end", word(end));
  report.key("settings");
  write_settings(out, settings, use.launched);
  report.key("code");
  write_code(out, control, use);
  report.key("stack");
  write_stack(out, control);
  report.key("heap");
  write_heap(out, control, settings.heap);
  if (const uint64_t visits = peek(control.orders.visits); visits > 0 || settings.epoch_ns == 0) {
    report.key("visits");
    Object counted(out);
    counted.number("count", visits).number("layouts", __atomic_load_n(&control.orders.layouts_given, __ATOMIC_RELAXED));
    counted.close();
  }
  if (peek(control.region.regions) > 0) {
    report.key("region");
    write_region(out, control);
  }
  report.key("helper");
  write_helper(out, use);
  if (counts != nullptr && (counts->points > 0 || counts->points_dropped > 0)) {
    report.key("progress");
    write_progress(out, *counts);
  }
  report.key("degradations");
  write_degradations(out, control);
  if (use.moved_file_count > 0) write_libraries(out, use, report);
  report.close();
  out << "\n";
  return out.size();
}

void add_entries(const code::LayoutScript& script, const Control& control, progress::Counts& counts) {
  for (uint32_t i = 0; i < script.counted_count; ++i) {
    const uint64_t visits = peek(control.entries[i].visits);
    if (counts.points == progress::kMostNamed) {
      ++counts.points_dropped;
      counts.visits_dropped += visits;
      continue;
    }
    progress::PointCount& point = counts.point[counts.points++];
    code::write_point_name(script.counted[i], point.name);
    point.kind = progress::Kind::kProgress;
    point.visits = visits;
  }
}

size_t write_no_hello(char* to) {
  Text out(to, kReportBytes);
  out << "{\"abi\":" << abi::kAbiVersion << ",\"hello\":false}\n";
  return out.size();
}

}  // namespace stab::helper

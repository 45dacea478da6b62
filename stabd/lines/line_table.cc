// LLVM's DWARFContext reads the tables; here is what we ask of it.
//
// A row of a line table reaches to the next one. A call that was inlined may begin or end in the middle of a row, so rows are
// cut where a function or an inlined call of the unit begins or ends; then everything within one piece has the same frames.
#include "stabd/lines/line_table.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>

namespace stab::lines {
namespace {

using FileKind = llvm::DILineInfoSpecifier::FileLineInfoKind;
using NameKind = llvm::DILineInfoSpecifier::FunctionNameKind;

const llvm::DILineInfoSpecifier kAsked(FileKind::AbsoluteFilePath, NameKind::LinkageName);

std::string bounded(std::string text) {
  // What LLVM says where it knows nothing.
  if (text == llvm::DILineInfo::BadString) text.clear();
  if (text.size() > kMostTextBytes) text.resize(kMostTextBytes);
  text.resize(std::min(text.size(), text.find('\0')));
  return text;
}

size_t hash_of(const std::string& text) { return std::hash<std::string>()(text); }

// A package's debug file, in words that lead to one.
std::string no_debug_text(const std::string& path, const ModuleFacts& facts) {
  std::string text = "'" + path + "' has no debug information, so its code has no lines: build it with -g and don't strip it";
  if (!facts.build_id.empty())
    text += ", or install its package's debug symbols (-dbgsym); looked for " + debug_paths(path, facts, kDebugFolder).front();
  return text;
}

}  // namespace

Names::Names() : texts_(1), slots_(64, 0) {}

void Names::grow() {
  std::vector<uint32_t> slots(slots_.size() * 2, 0);
  for (uint32_t i = 1; i < texts_.size(); ++i) {
    size_t at = hash_of(texts_[i]) & (slots.size() - 1);
    while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
    slots[at] = i;
  }
  slots_ = std::move(slots);
}

uint32_t Names::number(const std::string& text) {
  if (text.empty()) return 0;
  if (texts_.size() * 2 > slots_.size()) grow();
  size_t at = hash_of(text) & (slots_.size() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1))
    if (texts_[slots_[at]] == text) return slots_[at];
  slots_[at] = static_cast<uint32_t>(texts_.size());
  texts_.push_back(text);
  return slots_[at];
}

struct LineTable::Parts {
  FileBytes file;  // that has the lines
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
  std::vector<Segment> executable;  // of the module
  Names* names;
};

LineTable::LineTable(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LineTable::~LineTable() = default;

std::unique_ptr<LineTable> LineTable::open(const Module& module, const std::string& debug_folder, Names& names,
                                           ModuleRead& read) {
  read = {};
  const auto refuse = [&read](Reading reading, const std::string& why) {
    read.reading = static_cast<uint32_t>(reading);
    read.why = why.substr(0, kMostTextBytes);
    return nullptr;
  };
  const auto module_file = FileBytes::open(module.path);
  std::string debug_file;
  if (!module_file) return refuse(Reading::kUnreadable, module_file.error().message);
  const auto facts = facts_of(module_file->bytes());
  if (!facts) return refuse(Reading::kUnreadable, "'" + module.path + "' is " + facts.error().message);
  read.build_id = facts->build_id;
  for (const Segment& segment : facts->executable) read.text_bytes += segment.end - segment.begin;
  if (!module.build_id.empty() && module.build_id != facts->build_id)
    return refuse(Reading::kOtherBuild, "'" + module.path + "' is not what ran: its build id is " +
                                            (facts->build_id.empty() ? "none" : facts->build_id) + ", that of what ran " +
                                            module.build_id + "; run the plan again without building meanwhile");
  if (!facts->has_line_table) {
    const auto found = find_debug_file(module.path, *facts, debug_folder);
    if (!found) return refuse(Reading::kNoDebug, no_debug_text(module.path, *facts));
    debug_file = *found;
  }
  auto file = FileBytes::open(debug_file.empty() ? module.path : debug_file);
  if (!file) return refuse(Reading::kUnreadable, file.error().message);
  read.debug_file = debug_file;
  const llvm::StringRef bytes(file->bytes().data(), file->bytes().size());
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, module.path));
  if (!object) {
    llvm::consumeError(object.takeError());
    return refuse(Reading::kUnreadable, "'" + module.path + "' is no ELF file");
  }
  auto parts = std::make_unique<Parts>(Parts{*std::move(file), std::move(*object), nullptr, facts->executable, &names});
  // What can't be read of a broken table is left out; the rest counts.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  parts->context = llvm::DWARFContext::create(*parts->object, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr, "",
                                              ignore, ignore);
  read.reading = static_cast<uint32_t>(Reading::kLines);
  return std::unique_ptr<LineTable>(new LineTable(std::move(parts)));
}

std::vector<Frame> LineTable::frames_at(uint64_t address) const {
  std::vector<Frame> frames;
  const llvm::DIInliningInfo found =
      parts_->context->getInliningInfoForAddress({address, llvm::object::SectionedAddress::UndefSection}, kAsked);
  for (uint32_t i = 0; i < found.getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& line = found.getFrame(i);
    const std::string name = bounded(line.FunctionName);
    Frame frame;
    frame.file = parts_->names->number(bounded(line.FileName));
    frame.line = frame.file == 0 ? 0 : line.Line;
    frame.function = parts_->names->number(bounded(llvm::demangle(name)));
    frames.push_back(frame);
  }
  if (std::all_of(frames.begin(), frames.end(), [](const Frame& frame) { return frame.file == 0; })) frames.clear();
  return frames;
}

void LineTable::each_stretch(const std::function<bool(uint32_t file)>& is_wanted,
                             const std::function<void(uint64_t begin, uint64_t end)>& visit) const {
  const auto is_executable = [this](uint64_t begin, uint64_t end) {
    return std::any_of(parts_->executable.begin(), parts_->executable.end(),
                       [&](const Segment& segment) { return begin >= segment.begin && end <= segment.end; });
  };
  for (const auto& unit : parts_->context->compile_units()) {
    const llvm::DWARFDebugLine::LineTable* const table = parts_->context->getLineTableForUnit(unit.get());
    if (table == nullptr) continue;
    const char* const folder = unit->getCompilationDir();
    bool names_one = false;
    const auto last = table->getLastValidFileIndex();
    for (uint64_t i = 0; last && i <= *last && !names_one; ++i) {
      std::string name;
      if (table->hasFileAtIndex(i) && table->getFileNameByIndex(i, folder ? folder : "", FileKind::AbsoluteFilePath, name))
        names_one = is_wanted(parts_->names->number(bounded(name)));
    }
    if (!names_one) continue;

    std::vector<uint64_t> cuts;
    llvm::DWARFUnit* const whole =
        unit->getNonSkeletonUnitDIE(false).getDwarfUnit() ? unit->getNonSkeletonUnitDIE(false).getDwarfUnit() : unit.get();
    (void)whole->getUnitDIE(false);
    for (const llvm::DWARFDebugInfoEntry& entry : whole->dies()) {
      const llvm::DWARFDie die(whole, &entry);
      if (die.getTag() != llvm::dwarf::DW_TAG_inlined_subroutine && die.getTag() != llvm::dwarf::DW_TAG_subprogram) continue;
      auto ranges = die.getAddressRanges();
      if (!ranges) {
        llvm::consumeError(ranges.takeError());
        continue;
      }
      for (const llvm::DWARFAddressRange& range : *ranges) {
        cuts.push_back(range.LowPC);
        cuts.push_back(range.HighPC);
      }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (const auto& sequence : table->Sequences) {
      // What the linker has left out lies at 0 or at the end of all addresses.
      if (!sequence.isValid() || sequence.LastRowIndex > table->Rows.size() || !is_executable(sequence.LowPC, sequence.HighPC))
        continue;
      for (uint32_t row = sequence.FirstRowIndex; row + 1 < sequence.LastRowIndex; ++row) {
        uint64_t begin = table->Rows[row].Address.Address;
        const uint64_t end = table->Rows[row + 1].Address.Address;
        if (begin >= end || !is_executable(begin, end)) continue;
        for (auto cut = std::upper_bound(cuts.begin(), cuts.end(), begin); cut != cuts.end() && *cut < end; ++cut) {
          visit(begin, *cut);
          begin = *cut;
        }
        visit(begin, end);
      }
    }
  }
}

}  // namespace stab::lines

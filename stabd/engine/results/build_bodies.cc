// The lines are about a stranger's binary, as those of layouts are: what they name is bounded by their number.
#include "stabd/engine/results/build_bodies.h"

#include <algorithm>
#include <iterator>

#include "base/split.h"
#include "stabd/engine/results/layout_tool.h"

namespace stab::engine {
namespace {

// Of several with one name, such as static ones of several files, nobody knows which is which: if all of both are known and as
// long, and one of the contents is in one build alone, something is another.
void add_other_of_several(const std::string& name, std::vector<BuildBodies::Object> older, std::vector<BuildBodies::Object> newer,
                          std::vector<ChangedObject>& out) {
  using Object = BuildBodies::Object;
  const auto by_contents = [](const Object& a, const Object& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.contents < b.contents;
  };
  std::sort(older.begin(), older.end(), by_contents);
  std::sort(newer.begin(), newer.end(), by_contents);
  const auto is_as_long = [](const Object& a, const Object& b) {
    return a.bytes == b.bytes && a.contents != 0 && b.contents != 0;
  };
  if (!std::equal(older.begin(), older.end(), newer.begin(), newer.end(), is_as_long)) return;
  std::vector<Object> old_alone, new_alone;
  std::set_difference(older.begin(), older.end(), newer.begin(), newer.end(), std::back_inserter(old_alone), by_contents);
  std::set_difference(newer.begin(), newer.end(), older.begin(), older.end(), std::back_inserter(new_alone), by_contents);
  for (size_t i = 0; i < old_alone.size(); ++i)
    out.push_back({name, old_alone[i].linked, new_alone[i].linked, old_alone[i].bytes, new_alone[i].bytes, true});
}

// Other contents first, then those that are longer in one, then by size.
void sort_data(std::vector<ChangedObject>& data) {
  std::stable_sort(data.begin(), data.end(), [](const ChangedObject& a, const ChangedObject& b) {
    const auto rank = [](const ChangedObject& one) { return one.is_other ? 0 : one.old_bytes != one.new_bytes ? 1 : 2; };
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.new_bytes > b.new_bytes;
  });
}

// "5f,0,a17", or "-" for none.
bool take_hashes(std::string_view text, std::vector<uint32_t>& out) {
  if (text == "-") return true;
  for (const std::string_view one : split(text, ',')) {
    uint64_t hash = 0;
    if (!take(one, 16, hash) || hash > UINT32_MAX) return false;
    out.push_back(static_cast<uint32_t>(hash));
  }
  return true;
}

Error another_version() { return {ErrorCode::kCorrupt, "stab-layout is of another version: it prints no bodies", {}}; }

}  // namespace

bool BuildBodies::Function::differs_from(const Function& other) const {
  return instructions != other.instructions || (tables.size() == other.tables.size() && tables != other.tables);
}

// Where the lists are not as long, compilers have made the same instructions of something else, and no place is another's.
bool BuildBodies::Function::uses_other_constants(const Function& other) const {
  if (differs_from(other) || constants.size() != other.constants.size()) return false;
  const auto is_like = [](uint32_t a, uint32_t b) { return a == b || a == 0 || b == 0; };
  return !std::equal(constants.begin(), constants.end(), other.constants.begin(), is_like);
}

Result<BuildBodies> read_bodies(std::string_view text) {
  STAB_TRY(const std::vector<std::string_view> lines, lines_of_functions(text));
  if (lines.empty()) return another_version();
  BuildBodies out;
  const std::vector<std::string_view> head = split(lines[0], ' ');
  if (head.size() != 4 || head[0] != "stab-bodies" || head[1] != "3" || !take(head[2], 16, out.text_hash))
    return another_version();
  out.knows_constants = head[3] == "constants";
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::vector<std::string_view> fields = split(lines[i], '\t');
    uint64_t linked = 0;
    if (fields.size() < 2 || !take(fields[1], 16, linked)) return another_version();
    if (fields[0] == "f" && fields.size() == 7) {
      BuildBodies::Function& function = out.functions[linked];
      if (!take(fields[2], 16, function.identity) || !take(fields[3], 16, function.instructions) ||
          !take_hashes(fields[4], function.tables) || !take_hashes(fields[5], function.constants))
        return another_version();
      function.name = fields[6];
    } else if (fields[0] == "d" && fields.size() == 5) {
      BuildBodies::Object object{linked, 0, 0};
      if (!take(fields[2], 10, object.bytes) || !take(fields[3], 16, object.contents)) return another_version();
      out.objects[std::string(fields[4])].push_back(object);
    } else {
      return another_version();
    }
  }
  return out;
}

BodiesOfBoth bodies_of_both(const BuildBodies& older, const BuildBodies& newer, const std::set<uint64_t>& renamed) {
  BodiesOfBoth out;
  std::map<uint64_t, const BuildBodies::Function*> before;
  for (const auto& [linked, function] : older.functions) before[function.identity] = &function;
  out.functions = newer.functions.size();
  out.knows_constants = older.knows_constants && newer.knows_constants;
  for (const auto& [linked, function] : newer.functions) {
    const auto was = before.find(function.identity);
    if (was == before.end()) {
      out.new_alone.push_back(function.name);
      continue;
    }
    if (was->second->differs_from(function)) out.changed.push_back(function.name);
    if (was->second->uses_other_constants(function)) out.constants.push_back(function.name);
    if (renamed.contains(function.identity)) out.renamed.emplace_back(was->second->name, function.name);
    before.erase(was);
  }
  out.functions += before.size();
  for (const auto& [identity, function] : before) out.old_alone.push_back(function->name);
  for (const auto& [name, objects] : newer.objects) {
    const auto was = older.objects.find(name);
    if (was == older.objects.end()) continue;
    if (was->second.size() != 1 || objects.size() != 1) {
      add_other_of_several(name, was->second, objects, out.data);
      continue;
    }
    const BuildBodies::Object &old_one = was->second[0], &new_one = objects[0];
    const bool is_other = old_one.bytes == new_one.bytes && old_one.contents != new_one.contents && old_one.contents != 0 &&
                          new_one.contents != 0;
    if (!is_other && old_one.bytes == new_one.bytes && old_one.linked % 4096 == new_one.linked % 4096) continue;
    out.data.push_back({name, old_one.linked, new_one.linked, old_one.bytes, new_one.bytes, is_other});
  }
  sort_data(out.data);
  return out;
}

void add_library(const std::string& file, const BodiesOfBoth& library, BodiesOfBoth& out) {
  const auto add = [&file](const std::vector<std::string>& names, std::vector<std::string>& all) {
    for (const std::string& name : names) all.push_back(file + "!" + name);
  };
  out.functions += library.functions;
  out.knows_constants &= library.knows_constants;
  add(library.changed, out.changed);
  add(library.constants, out.constants);
  add(library.old_alone, out.old_alone);
  add(library.new_alone, out.new_alone);
  for (ChangedObject one : library.data) {
    one.name = file + "!" + one.name;
    out.data.push_back(std::move(one));
  }
  sort_data(out.data);
}

}  // namespace stab::engine

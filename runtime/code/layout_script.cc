// Parsing is strict, line by line: a misspelt word that were ignored would make an experiment that measured nothing. The text may
// be anybody's, so every number is bounded where it is read.
#include "runtime/code/layout_script.h"

#include "runtime/code/match_table.h"
#include "runtime/layout_rng.h"

namespace stab::code {

const char* const kScriptFaultWords[static_cast<size_t>(ScriptFault::kCount)] = {
    "",
    "a layout script has at most 65536 bytes, none of them 0",
    ("expected 'stab-script 1 any' or 'stab-script 1 0xHASH', with the code's hash from stab-layout or a layout report, as the "
     "first line"),
    "expected 'place NAME mod M LEVEL...', 'count NAME', 'rest still', 'rest shuffled', 'match ROWS 0xHASH' or 'match pads'",
    "expected 'mod' and a power of two from 32 to 4096",
    "a level is a multiple of 16 below the modulus, each of them once",
    "a function has 1 to 16 levels",
    "at most 128 functions can be placed, and 8 counted",
    "the function is placed or counted by a line before, or 'rest' or 'match' is said twice",
    ("a name is printable, without '\"' and '\\', and at most 102 bytes long where it is counted; write the link-time address "
     "(0x...)"),
    "the script is for another binary: its hash is not the one of this program's code",
    "there is no function of this name or address; a stripped file has addresses alone",
    "there are several functions of this name; write the link-time address (0x...) of the one that is meant",
    "the function never moves, so it can be neither placed nor counted; szc --stab-info says why",
    "'place' and 'rest' need STAB_CODE=design",
    ("nothing moves in this program, and what stays is neither placed nor counted; it takes a STAB_CODE that is not off, and the "
     "layout report says what else is missing"),
    "the script can't be read; it is a regular file or a memfd",
    "STAB_CODE=design needs a layout script; set STAB_LAYOUT to its path",
    "images would be too large with these places; lower the modulus or place fewer functions",
    ("expected 'match pads', or 'match' with the rows of a match table, 0 to 1048576, and its hash (0x...); stab-layout --match "
     "writes it"),
    "the table that 'match' names does not follow the script, or is another one; stab-layout --match writes both",
    "'match' with a table needs STAB_CODE=once or shuffle, and goes with neither 'place' nor 'rest'",
    "calls of a shared library's function can't be counted",
};

namespace {

struct Words {
  const char* at;
  const char* end;

  // The next word of a line. False: there is none.
  bool take(const char*& word, uint32_t& bytes) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end || *at == '#') return false;
    word = at;
    while (at < end && !is_blank(*at)) ++at;
    bytes = static_cast<uint32_t>(at - word);
    return true;
  }
  bool at_end() {
    const char* word = nullptr;
    uint32_t bytes = 0;
    return !take(word, bytes);
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
};

bool is(const char* word, uint32_t bytes, const char* wanted) {
  uint32_t i = 0;
  while (i < bytes && wanted[i] != 0 && word[i] == wanted[i]) ++i;
  return i == bytes && wanted[i] == 0;
}

bool take_word(Words& words, const char* wanted) {
  const char* word = nullptr;
  uint32_t bytes = 0;
  return words.take(word, bytes) && is(word, bytes, wanted);
}

bool read_decimal(const char* word, uint32_t bytes, uint32_t& value) {
  if (bytes == 0 || bytes > 9) return false;
  value = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    if (word[i] < '0' || word[i] > '9') return false;
    value = value * 10 + static_cast<uint32_t>(word[i] - '0');
  }
  return true;
}

bool read_hex(const char* word, uint32_t bytes, uint64_t& value) {
  if (bytes < 3 || bytes > 18 || word[0] != '0' || word[1] != 'x') return false;
  value = 0;
  for (uint32_t i = 2; i < bytes; ++i) {
    const char c = word[i];
    const bool digit = c >= '0' && c <= '9', low = c >= 'a' && c <= 'f', high = c >= 'A' && c <= 'F';
    if (!digit && !low && !high) return false;
    value = value << 4 | static_cast<uint64_t>(digit ? c - '0' : low ? c - 'a' + 10 : c - 'A' + 10);
  }
  return true;
}

ScriptFault take_name(Words& words, uint32_t line, uint32_t most, ScriptName& out) {
  if (!words.take(out.text, out.bytes)) return ScriptFault::kUnknownLine;
  out.line = line;
  if (out.bytes > most) return ScriptFault::kBadName;
  for (uint32_t i = 0; i < out.bytes; ++i)
    if (out.text[i] <= ' ' || out.text[i] > '~' || out.text[i] == '"' || out.text[i] == '\\') return ScriptFault::kBadName;
  return ScriptFault::kNone;
}

// Parts `LIBRARY!NAME`, and leaves NAME; library_bytes 0: there is no library's name.
ScriptFault part_library(ScriptName& name, const char*& library, uint32_t& library_bytes) {
  library = name.text;
  library_bytes = 0;
  uint32_t mark = 0;
  while (mark < name.bytes && name.text[mark] != '!') ++mark;
  if (mark == name.bytes) return ScriptFault::kNone;
  if (mark == 0 || mark + 1 == name.bytes) return ScriptFault::kBadName;
  library_bytes = mark;
  name.text += mark + 1;
  name.bytes -= mark + 1;
  return ScriptFault::kNone;
}

ScriptFault take_levels(Words& words, PlacedFunction& out) {
  const char* word = nullptr;
  uint32_t bytes = 0, level = 0;
  if (!take_word(words, "mod") || !words.take(word, bytes) || !read_decimal(word, bytes, out.modulus) ||
      out.modulus < kLeastModulus || out.modulus > kMostModulus || (out.modulus & (out.modulus - 1)) != 0)
    return ScriptFault::kBadModulus;
  while (words.take(word, bytes)) {
    if (!read_decimal(word, bytes, level) || level >= out.modulus || level % kLevelGrain != 0) return ScriptFault::kBadLevel;
    for (uint32_t i = 0; i < out.level_count; ++i)
      if (out.levels[i] == level) return ScriptFault::kBadLevel;
    if (out.level_count == kMostLevels) return ScriptFault::kTooManyLevels;
    out.levels[out.level_count++] = static_cast<uint16_t>(level);
  }
  return out.level_count == 0 ? ScriptFault::kTooManyLevels : ScriptFault::kNone;
}

// Parsing, one line at a time.
struct Parser {
  LayoutScript& out;
  const char* library;       // that lines are kept of; nullptr: the executable
  bool has_header = false;
  uint32_t place_lines = 0;

  ScriptFault header(Words& words) {
    const char* word = nullptr;
    uint32_t bytes = 0;
    if (!take_word(words, "stab-script") || !take_word(words, "1") || !words.take(word, bytes)) return ScriptFault::kNoHeader;
    out.any_binary = is(word, bytes, "any");
    if (!out.any_binary && !read_hex(word, bytes, out.text_hash)) return ScriptFault::kNoHeader;
    has_header = true;
    return words.at_end() ? ScriptFault::kNone : ScriptFault::kNoHeader;
  }

  ScriptFault rest(Words& words, uint32_t number) {
    const char* word = nullptr;
    uint32_t bytes = 0;
    if (!words.take(word, bytes)) return ScriptFault::kUnknownLine;
    out.rest_still = is(word, bytes, "still");
    if (!out.rest_still && !is(word, bytes, "shuffled")) return ScriptFault::kUnknownLine;
    if (out.rest_line != 0) return ScriptFault::kTwice;
    out.rest_line = number;
    return words.at_end() ? ScriptFault::kNone : ScriptFault::kUnknownLine;
  }

  ScriptFault match(Words& words, uint32_t number) {
    const char* word = nullptr;
    uint32_t bytes = 0;
    if (out.match_line != 0) return ScriptFault::kTwice;
    out.match_line = number;
    if (!words.take(word, bytes)) return ScriptFault::kBadMatch;
    if (!is(word, bytes, "pads")) {
      out.has_match_table = true;
      if (!read_decimal(word, bytes, out.match_rows) || out.match_rows > kMostMatchRows) return ScriptFault::kBadMatch;
      if (!words.take(word, bytes) || !read_hex(word, bytes, out.match_hash)) return ScriptFault::kBadMatch;
    }
    return words.at_end() ? ScriptFault::kNone : ScriptFault::kBadMatch;
  }

  ScriptFault place(Words& words, uint32_t number) {
    if (place_lines == kMostPlaced) return ScriptFault::kTooMany;
    PlacedFunction placed;
    placed.number = place_lines++;
    const char* of = nullptr;
    uint32_t of_bytes = 0;
    ScriptFault fault = take_name(words, number, kMostScriptBytes, placed.name);
    const ScriptName whole = placed.name;
    if (fault == ScriptFault::kNone) fault = part_library(placed.name, of, of_bytes);
    if (fault == ScriptFault::kNone) fault = take_levels(words, placed);
    if (fault != ScriptFault::kNone) return fault;
    if (of_bytes > 0) {
      placed.name_hash = abi::hash64(whole.text, whole.bytes);
      if (out.library_count++ == 0) out.library_line = number;
    }
    const bool is_kept = library == nullptr ? of_bytes == 0 : of_bytes > 0 && is(of, of_bytes, library);
    if (is_kept) out.placed[out.placed_count++] = placed;
    return ScriptFault::kNone;
  }

  ScriptFault count(Words& words, uint32_t number) {
    if (out.counted_count == kMostCounted) return ScriptFault::kTooMany;
    CountedFunction counted;
    const char* of = nullptr;
    uint32_t of_bytes = 0;
    ScriptFault fault = take_name(words, number, kMostCountedName, counted.name);
    if (fault == ScriptFault::kNone) fault = part_library(counted.name, of, of_bytes);
    if (fault != ScriptFault::kNone) return fault;
    if (of_bytes > 0) return ScriptFault::kNotCounted;
    out.counted[out.counted_count++] = counted;
    return words.at_end() ? ScriptFault::kNone : ScriptFault::kUnknownLine;
  }

  ScriptFault line(Words words, uint32_t number) {
    Words again = words;
    const char* word = nullptr;
    uint32_t bytes = 0;
    if (!words.take(word, bytes)) return ScriptFault::kNone;
    if (!has_header) return header(again);
    if (is(word, bytes, "rest")) return rest(words, number);
    if (is(word, bytes, "match")) return match(words, number);
    if (is(word, bytes, "place")) return place(words, number);
    if (is(word, bytes, "count")) return count(words, number);
    return ScriptFault::kUnknownLine;
  }
};

constexpr uint32_t kNowhere = ~0u, kSeveral = ~0u - 1;

bool is_named(const ScriptName& name, const char* text) {
  if (text == nullptr) return false;
  uint32_t i = 0;
  while (i < name.bytes && text[i] == name.text[i]) ++i;  // a name holds no 0
  return i == name.bytes && text[i] == 0;
}

// kNowhere, kSeveral, or the index.
uint32_t find(const Metadata& code, NameOf name_of, const void* context, const ScriptName& name) {
  const abi::CodeHeader& header = *code.header;
  uint64_t address = 0;
  if (read_hex(name.text, name.bytes, address)) {
    const uint32_t at = address < header.text_start ? header.function_count : function_at(code, address - header.text_start);
    return at == header.function_count ? kNowhere : at;
  }
  uint32_t found = kNowhere;
  for (uint32_t i = 0; i < header.function_count; ++i) {
    if (!is_named(name, name_of(context, i))) continue;
    if (found != kNowhere) return kSeveral;
    found = i;
  }
  return found;
}

ScriptFault find_movable(const Metadata& code, NameOf name_of, const void* context, const ScriptName& name, uint32_t& out) {
  out = find(code, name_of, context, name);
  if (out == kNowhere) return ScriptFault::kNotThere;
  if (out == kSeveral) return ScriptFault::kAmbiguous;
  return code.functions[out].immovable == abi::Immovable::kNo ? ScriptFault::kNone : ScriptFault::kStays;
}

}  // namespace

ScriptVerdict parse_script(const char* text, size_t bytes, LayoutScript& out, const char* library) {
  out.any_binary = out.rest_still = out.has_match_table = false;
  out.text_hash = 0;
  out.placed_count = out.counted_count = out.rest_line = out.match_line = out.match_rows = 0;
  out.library_count = out.library_line = 0;
  out.match_hash = 0;
  if (bytes > kMostScriptBytes) return {ScriptFault::kTooLong, 0};
  out.script_hash = abi::hash64(text, bytes);
  Parser parser{out, library};
  uint32_t number = 0;
  for (size_t at = 0; at < bytes;) {
    ++number;
    size_t end = at;
    for (; end < bytes && text[end] != '\n'; ++end)
      if (text[end] == 0) return {ScriptFault::kTooLong, number};
    const ScriptFault fault = parser.line({text + at, text + end}, number);
    if (fault != ScriptFault::kNone) return {fault, number};
    at = end + 1;
  }
  if (!parser.has_header) return {ScriptFault::kNoHeader, 0};
  if (library == nullptr) return {};
  out.any_binary = true;
  out.counted_count = 0;
  return {};
}

bool needs_images(const LayoutScript& script) {
  return script.match_line == 0 || script.placed_count > 0 || script.library_count > 0 || script.counted_count > 0 ||
         script.rest_line != 0;
}

ScriptVerdict suits_mode(const LayoutScript& script, abi::CodeMode mode) {
  if (mode == abi::CodeMode::kOff && needs_images(script)) return {ScriptFault::kNoImage, 0};
  const bool draws_order = abi::has_one_layout(mode) || mode == abi::CodeMode::kShuffle;
  if (script.has_match_table && !draws_order) return {ScriptFault::kMatchAlone, script.match_line};
  if (mode == abi::CodeMode::kDesign) return {};
  if (script.placed_count > 0) return {ScriptFault::kNotDesign, script.placed[0].name.line};
  if (script.library_count > 0) return {ScriptFault::kNotDesign, script.library_line};
  return script.rest_still ? ScriptVerdict{ScriptFault::kNotDesign, script.rest_line} : ScriptVerdict{};
}

ScriptVerdict bind_script(const Metadata& code, NameOf name_of, const void* context, LayoutScript& script) {
  if (!script.any_binary && script.text_hash != code.header->text_hash) return {ScriptFault::kOtherBinary, 1};
  for (uint32_t i = 0; i < script.placed_count; ++i) {
    PlacedFunction& placed = script.placed[i];
    const ScriptFault fault = find_movable(code, name_of, context, placed.name, placed.function);
    if (fault != ScriptFault::kNone) return {fault, placed.name.line};
    for (uint32_t k = 0; k < i; ++k)
      if (script.placed[k].function == placed.function) return {ScriptFault::kTwice, placed.name.line};
  }
  for (uint32_t i = 0; i < script.counted_count; ++i) {
    CountedFunction& counted = script.counted[i];
    const ScriptFault fault = find_movable(code, name_of, context, counted.name, counted.function);
    if (fault != ScriptFault::kNone) return {fault, counted.name.line};
    for (uint32_t k = 0; k < i; ++k)
      if (script.counted[k].function == counted.function) return {ScriptFault::kTwice, counted.name.line};
  }
  return {};
}

void write_point_name(const CountedFunction& counted, char (&to)[kPointNameBytes]) {
  constexpr char kMark[] = "function:";
  static_assert(sizeof kMark - 1 + kMostCountedName < kPointNameBytes);
  size_t at = 0;
  for (; kMark[at] != 0; ++at) to[at] = kMark[at];
  for (uint32_t i = 0; i < counted.name.bytes; ++i) to[at++] = counted.name.text[i];
  to[at] = 0;
}

uint32_t level_of(const PlacedFunction& placed, uint64_t seed, uint32_t image) {
  uint16_t order[kMostLevels];
  for (uint32_t i = 0; i < placed.level_count; ++i) order[i] = placed.levels[i];
  const uint32_t block = image / placed.level_count;
  const uint64_t drawn_by = placed.name_hash != 0 ? placed.name_hash : uint64_t{placed.function} << 32;
  LayoutRng rng(seed, kRngLevels, drawn_by + block);
  for (uint32_t i = placed.level_count; i > 1; --i) {
    const uint32_t k = rng.below(i);
    const uint16_t swapped = order[i - 1];
    order[i - 1] = order[k];
    order[k] = swapped;
  }
  return order[image % placed.level_count];
}

}  // namespace stab::code

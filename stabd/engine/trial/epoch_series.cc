// Nothing of what is read here is believed before it is held against its bounds; sums and differences wrap, and whatever wraps is
// refused with the invariant.
#include "stabd/engine/trial/epoch_series.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/number_text.h"

namespace stab::engine {
namespace {

using helper::EpochHeader;
using helper::EpochRecord;

// 1: four points, no samples, no profile, no script. 2: no samples by file. 3: no paths of files.
constexpr uint8_t kSeriesVersion = 4, kFirstVersion = 1, kFirstWithFiles = 3, kFirstWithPaths = 4;
constexpr size_t kFirstPoints = 4;

Error corrupt(const std::string& why) { return {ErrorCode::kCorrupt, "the helper's epochs: " + why, {}}; }

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  return !name.empty() && name.size() < helper::kEpochNameBytes && std::all_of(name.begin(), name.end(), fits);
}

// Fields in the order in which they are written. Small ones come as numbers, too. The first version had the first kFirstPoints of
// the visits and no samples.
constexpr size_t kOthers = 7, kSamples = 3;
constexpr size_t kFields = kOthers + helper::kEpochPoints + kSamples;
using Fields = std::array<uint64_t, kFields>;

Fields fields_of(const EpochRecord& record) {
  Fields fields{record.start_ns, record.cpu_ns};
  std::copy(std::begin(record.visits), std::end(record.visits), fields.begin() + 2);
  const std::array<uint64_t, kOthers - 2 + kSamples> rest = {
      record.epoch, record.image,          record.refill,        record.slot,
      record.flags, record.samples_newest, record.samples_older, record.samples_elsewhere};
  std::copy(rest.begin(), rest.end(), fields.begin() + 2 + helper::kEpochPoints);
  return fields;
}

bool from_fields(const Fields& fields, EpochRecord& out) {
  constexpr uint64_t kWord = std::numeric_limits<uint32_t>::max(), kByte = 255;
  const uint64_t* const rest = fields.data() + 2 + helper::kEpochPoints;
  for (size_t i = 0; i < kOthers - 2 + kSamples; ++i)
    if (rest[i] > (i == 3 || i == 4 ? kByte : kWord)) return false;
  out = EpochRecord{};
  out.start_ns = fields[0];
  out.cpu_ns = fields[1];
  for (size_t i = 0; i < helper::kEpochPoints; ++i) out.visits[i] = fields[2 + i];
  out.epoch = static_cast<uint32_t>(rest[0]);
  out.image = static_cast<uint32_t>(rest[1]);
  out.refill = static_cast<uint32_t>(rest[2]);
  out.slot = static_cast<uint8_t>(rest[3]);
  out.flags = static_cast<uint8_t>(rest[4]);
  out.samples_newest = static_cast<uint32_t>(rest[5]);
  out.samples_older = static_cast<uint32_t>(rest[6]);
  out.samples_elsewhere = static_cast<uint32_t>(rest[7]);
  return true;
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Status check(const std::vector<SampledFile>& files) {
  if (files.size() > helper::kMostSampledFiles) return corrupt("samples of more files than are told");
  size_t functions = 0;
  for (const SampledFile& file : files) {
    if (file.file.empty() || file.file.size() >= sizeof(helper::LibraryHeader::file) || !is_printable(file.file))
      return corrupt("samples of a file without a name");
    if (file.path.size() >= sizeof(helper::LibraryHeader::path) || !is_printable(file.path))
      return corrupt("a file with a path that can't be");
    functions += file.functions.size();
    for (const SampledFile::Function& function : file.functions)
      if (function.name.size() >= helper::kMostFunctionName || !is_printable(function.name))
        return corrupt("a function with a name that can't be");
  }
  if (functions > helper::kMostLibraryFunctions) return corrupt("samples of more functions of libraries than are told");
  return {};
}

Status check(const FunctionProfile& profile) {
  const helper::SampleHeader& totals = profile.totals;
  if (profile.functions.size() > totals.function_count) return corrupt("samples of more functions than there are");
  if (profile.stayed.size() > helper::kMostStayed) return corrupt("more functions that stay than are told");
  for (size_t i = 0; i < profile.functions.size(); ++i) {
    const uint32_t function = profile.functions[i].function;
    if (function >= totals.function_count) return corrupt("samples of a function that is not there");
    if (i > 0 && function <= profile.functions[i - 1].function) return corrupt("functions out of order");
  }
  for (const helper::StayedFunction& stayed : profile.stayed)
    if (stayed.function >= totals.function_count || stayed.to_epoch < stayed.from_epoch)
      return corrupt("a function stays nowhere");
  return check(profile.files);
}

Status check(const EpochSeries& series) {
  if (series.points.size() > helper::kEpochPoints) return corrupt("too many points");
  for (const std::string& name : series.points)
    if (!is_name(name)) return corrupt("a point without a name");
  if (series.records.size() > helper::kMostEpochs) return corrupt("more than there can be");
  for (size_t i = 0; i < series.records.size(); ++i) {
    const EpochRecord& record = series.records[i];
    if ((record.flags & ~helper::kEpochFlags) != 0) return corrupt("unknown flags");
    const bool last = i + 1 == series.records.size();
    if (((record.flags & helper::kEpochEnd) != 0) != last) return corrupt("the end is not the last");
    if (i == 0) continue;
    const EpochRecord& before = series.records[i - 1];
    if (record.start_ns < before.start_ns) return corrupt("time runs backwards");
    if (record.epoch < before.epoch) return corrupt("epochs run backwards");
  }
  if (series.script.size() > kMostScriptBytes) return corrupt("a script that is too long");
  return series.profile ? check(*series.profile) : Status();
}

void put_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

bool take_varint(std::string_view& in, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

uint64_t zigzag(uint64_t difference) { return difference << 1 ^ (difference >> 63 != 0 ? ~uint64_t{0} : 0); }
uint64_t unzigzag(uint64_t value) { return value >> 1 ^ ((value & 1) != 0 ? ~uint64_t{0} : 0); }

// Sums of the profile, in the order in which they are written.
template <typename Header>
auto sums_of(Header& totals) {
  return std::array{&totals.text_hash, &totals.period_ns, &totals.newest, &totals.older,
                    &totals.original,  &totals.elsewhere, &totals.kernel, &totals.lost};
}

// A struct of nothing but words as the differences of each to the same word of the one before.
template <typename Row>
constexpr size_t kWords = sizeof(Row) / sizeof(uint32_t);

template <typename Row>
void put_rows(std::string& out, const std::vector<Row>& rows) {
  put_varint(out, rows.size());
  std::array<uint32_t, kWords<Row>> before{}, now{};
  for (const Row& row : rows) {
    std::memcpy(now.data(), &row, sizeof row);
    for (size_t i = 0; i < now.size(); ++i) put_varint(out, zigzag(uint64_t{now[i]} - before[i]));
    before = now;
  }
}

template <typename Row>
bool take_rows(std::string_view& in, std::vector<Row>& rows) {
  uint64_t count = 0;
  if (!take_varint(in, count) || count > in.size() / kWords<Row>) return false;
  std::array<uint32_t, kWords<Row>> now{};
  rows.resize(count);
  for (Row& row : rows) {
    for (uint32_t& word : now) {
      uint64_t difference = 0;
      if (!take_varint(in, difference)) return false;
      const uint64_t value = word + unzigzag(difference);
      if (value > std::numeric_limits<uint32_t>::max()) return false;
      word = static_cast<uint32_t>(value);
    }
    std::memcpy(&row, now.data(), sizeof row);
  }
  return true;
}

void put_text(std::string& out, const std::string& text) {
  put_varint(out, text.size());
  out += text;
}

bool take_text(std::string_view& in, std::string& text) {
  uint64_t length = 0;
  if (!take_varint(in, length) || length > in.size()) return false;
  text = in.substr(0, length);
  in.remove_prefix(length);
  return true;
}

// Numbers of a file and of one of its functions, in the order in which they are written.
template <typename File>
auto numbers_of(File& file) {
  return std::array{&file.text_hash, &file.newest, &file.older, &file.original};
}
template <typename Function>
auto counts_of(Function& function) {
  return std::array{&function.bytes, &function.newest, &function.older, &function.original};
}

void put_files(std::string& out, const std::vector<SampledFile>& files) {
  put_varint(out, files.size());
  for (const SampledFile& file : files) {
    put_text(out, file.file);
    put_varint(out, file.moved ? 1 : 0);
    for (const uint64_t* number : numbers_of(file)) put_varint(out, *number);
    put_text(out, file.path);
    put_varint(out, file.drawn_by);
    put_varint(out, file.functions.size());
    for (const SampledFile::Function& function : file.functions) {
      put_text(out, function.name);
      put_varint(out, function.linked);
      for (const uint32_t* count : counts_of(function)) put_varint(out, *count);
    }
  }
}

bool take_files(std::string_view& in, bool has_paths, std::vector<SampledFile>& files) {
  uint64_t count = 0;
  if (!take_varint(in, count) || count > helper::kMostSampledFiles) return false;
  files.resize(count);
  for (SampledFile& file : files) {
    uint64_t moved = 0, functions = 0;
    if (!take_text(in, file.file) || !take_varint(in, moved) || moved > 1) return false;
    file.moved = moved == 1;
    for (uint64_t* number : numbers_of(file))
      if (!take_varint(in, *number)) return false;
    if (has_paths && (!take_text(in, file.path) || !take_varint(in, file.drawn_by))) return false;
    if (!take_varint(in, functions) || functions > helper::kMostLibraryFunctions) return false;
    file.functions.resize(functions);
    for (SampledFile::Function& function : file.functions) {
      if (!take_text(in, function.name) || !take_varint(in, function.linked)) return false;
      for (uint32_t* number : counts_of(function)) {
        uint64_t value = 0;
        if (!take_varint(in, value) || value > std::numeric_limits<uint32_t>::max()) return false;
        *number = static_cast<uint32_t>(value);
      }
    }
  }
  return true;
}

void put_profile(std::string& out, const FunctionProfile& profile) {
  for (const uint64_t* sum : sums_of(profile.totals)) put_varint(out, *sum);
  put_varint(out, profile.totals.function_count);
  put_varint(out, profile.totals.looks);
  put_rows(out, profile.functions);
  put_rows(out, profile.stayed);
  put_files(out, profile.files);
}

bool take_profile(std::string_view& in, uint8_t version, FunctionProfile& profile) {
  helper::SampleHeader& totals = profile.totals;
  for (uint64_t* sum : sums_of(totals))
    if (!take_varint(in, *sum)) return false;
  for (uint32_t* number : {&totals.function_count, &totals.looks}) {
    uint64_t value = 0;
    if (!take_varint(in, value) || value > std::numeric_limits<uint32_t>::max()) return false;
    *number = static_cast<uint32_t>(value);
  }
  if (!take_rows(in, profile.functions) || !take_rows(in, profile.stayed)) return false;
  return version < kFirstWithFiles || take_files(in, version >= kFirstWithPaths, profile.files);
}

template <typename Row>
bool cut_rows(std::string_view& bytes, uint32_t row_bytes, uint32_t count, std::vector<Row>& rows) {
  if (row_bytes != sizeof(Row) || count > bytes.size() / sizeof(Row)) return false;
  rows.resize(count);
  if (count > 0) std::memcpy(rows.data(), bytes.data(), count * sizeof(Row));
  bytes.remove_prefix(count * sizeof(Row));
  return true;
}

// False: another part begins here.
template <typename Header, size_t N>
bool begins_with(std::string_view bytes, const char (&magic)[N], Header& header) {
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), magic, N) != 0) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return true;
}

// Odd bytes of names are shown as '?', as stab-layout shows them.
std::string shown(std::string text) {
  for (char& letter : text)
    if (letter < ' ' || letter > '~') letter = '?';
  return text;
}

// A part of a file's samples, from behind its header.
bool cut_file(std::string_view& bytes, const helper::LibraryHeader& header, SampledFile& file) {
  std::vector<helper::LibraryFunction> rows;
  if (header.count > helper::kMostLibraryFunctions || !cut_rows(bytes, header.record_bytes, header.count, rows) ||
      header.name_bytes > bytes.size())
    return false;
  const std::string_view names = bytes.substr(0, header.name_bytes);
  bytes.remove_prefix(header.name_bytes);
  file.file = shown(std::string(header.file, ::strnlen(header.file, sizeof header.file)));
  file.moved = (header.flags & helper::kLibraryMoved) != 0;
  file.text_hash = header.text_hash;
  file.drawn_by = header.drawn_by;
  // One with odd bytes is none that anybody is asked for.
  file.path = std::string(header.path, ::strnlen(header.path, sizeof header.path));
  if (!is_printable(file.path)) file.path.clear();
  file.newest = header.newest;
  file.older = header.older;
  file.original = header.original;
  for (const helper::LibraryFunction& row : rows) {
    const size_t end = row.name < names.size() ? names.find('\0', row.name) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    file.functions.push_back(
        {shown(std::string(names.substr(row.name, end - row.name))), row.linked, row.bytes, row.newest, row.older, row.original});
  }
  return true;
}

}  // namespace

std::string name_in_file(const SampledFile& file, const SampledFile::Function& function) {
  return file.file + "!" + (function.name.empty() ? hex_text(function.linked) : function.name);
}

Result<EpochSeries> parse_epochs(std::string_view bytes) {
  if (bytes.empty()) return corrupt("there are none");
  EpochSeries series;
  if (EpochHeader header; begins_with(bytes, helper::kEpochMagic, header)) {
    bytes.remove_prefix(sizeof header);
    if (header.count > helper::kMostEpochs || !cut_rows(bytes, header.record_bytes, header.count, series.records))
      return corrupt("another number of them than is said");
    for (const auto& name : header.points) {
      const size_t length = ::strnlen(name, sizeof name);
      if (length == 0) break;
      series.points.emplace_back(name, length);
    }
    series.unrecorded = header.unrecorded;
    for (EpochRecord& record : series.records) record.reserved = 0, record.reserved2 = 0;
  }
  if (helper::SampleHeader header; begins_with(bytes, helper::kSampleMagic, header)) {
    bytes.remove_prefix(sizeof header);
    FunctionProfile& profile = series.profile.emplace();
    profile.totals = header;
    if (!cut_rows(bytes, header.record_bytes, header.count, profile.functions) ||
        !cut_rows(bytes, header.stayed_bytes, header.stayed_count, profile.stayed))
      return corrupt("another number of functions than is said");
    bool ended = header.period_ns == 0;
    for (helper::LibraryHeader file; !ended && begins_with(bytes, helper::kLibraryMagic, file);) {
      bytes.remove_prefix(sizeof file);
      ended = file.file[0] == 0 && file.count == 0 && file.name_bytes == 0;
      if (ended) break;
      if (profile.files.size() == helper::kMostSampledFiles) return corrupt("samples of more files than are told");
      if (!cut_file(bytes, file, profile.files.emplace_back()))
        return corrupt("another number of a library's functions than is said");
    }
    if (!ended) return corrupt("samples of files are cut off");
  }
  if (!bytes.empty()) return corrupt("cut off, or of another version");
  STAB_CHECK_OK(check(series));
  return series;
}

std::string encode_epochs(const EpochSeries& series) {
  std::string out(1, static_cast<char>(kSeriesVersion));
  put_varint(out, series.points.size());
  for (const std::string& name : series.points) {
    put_varint(out, name.size());
    out += name;
  }
  put_varint(out, series.unrecorded);
  put_varint(out, series.records.size());
  Fields before{};
  for (const EpochRecord& record : series.records) {
    const Fields now = fields_of(record);
    for (size_t i = 0; i < kFields; ++i) put_varint(out, zigzag(now[i] - before[i]));
    before = now;
  }
  put_varint(out, series.script.size());
  out += series.script;
  put_varint(out, series.profile ? 1 : 0);
  if (series.profile) put_profile(out, *series.profile);
  return out;
}

Result<EpochSeries> decode_epochs(std::string_view bytes) {
  const uint8_t version = bytes.empty() ? uint8_t{0} : static_cast<uint8_t>(bytes.front());
  if (version < kFirstVersion || version > kSeriesVersion) return corrupt("stored by another version of Stab");
  const bool first = version == kFirstVersion;
  bytes.remove_prefix(1);
  EpochSeries series;
  uint64_t points = 0, count = 0;
  if (!take_varint(bytes, points) || points > helper::kEpochPoints) return corrupt("too many points");
  for (uint64_t i = 0; i < points; ++i) {
    uint64_t length = 0;
    if (!take_varint(bytes, length) || length > bytes.size()) return corrupt("cut off");
    series.points.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!take_varint(bytes, series.unrecorded) || !take_varint(bytes, count)) return corrupt("cut off");
  const size_t fields = first ? kOthers + kFirstPoints : kFields;
  if (count > helper::kMostEpochs || count * fields > bytes.size()) return corrupt("another number of them than is said");
  series.records.resize(count);
  Fields now{};
  for (EpochRecord& record : series.records) {
    for (size_t i = 0; i < kFields; ++i) {
      const bool was_written = !first || i < 2 + kFirstPoints || (i >= 2 + helper::kEpochPoints && i + kSamples < kFields);
      uint64_t difference = 0;
      if (was_written && !take_varint(bytes, difference)) return corrupt("cut off");
      now[i] += unzigzag(difference);
    }
    if (!from_fields(now, record)) return corrupt("a number that is too large");
  }
  if (!first) {
    uint64_t length = 0, profiled = 0;
    if (!take_varint(bytes, length) || length > bytes.size()) return corrupt("cut off");
    series.script = bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (!take_varint(bytes, profiled) || profiled > 1) return corrupt("cut off");
    if (profiled == 1 && !take_profile(bytes, version, series.profile.emplace()))
      return corrupt("its samples are cut off");
  }
  if (!bytes.empty()) return corrupt("more bytes than epochs");
  STAB_CHECK_OK(check(series));
  return series;
}

std::vector<Epoch> epochs_of(const EpochSeries& series) {
  std::vector<Epoch> out;
  for (size_t i = 0; i + 1 < series.records.size(); ++i) {
    const EpochRecord& from = series.records[i];
    const EpochRecord& to = series.records[i + 1];
    Epoch epoch;
    epoch.number = from.epoch;
    epoch.image = from.image;
    epoch.refill = from.refill;
    epoch.slot = from.slot;
    epoch.start_ns = from.start_ns;
    epoch.wall_ns = to.start_ns - from.start_ns;
    epoch.cpu_known = ((from.flags | to.flags) & helper::kEpochCpuUnknown) == 0 && to.cpu_ns >= from.cpu_ns;
    if (epoch.cpu_known) epoch.cpu_ns = to.cpu_ns - from.cpu_ns;
    // What a program writes over its own counts may run backwards.
    for (size_t k = 0; k < helper::kEpochPoints; ++k)
      epoch.visits[k] = to.visits[k] >= from.visits[k] ? to.visits[k] - from.visits[k] : 0;
    const auto grown = [](uint32_t before, uint32_t after) { return after >= before ? after - before : 0; };
    epoch.samples_newest = grown(from.samples_newest, to.samples_newest);
    epoch.samples_older = grown(from.samples_older, to.samples_older);
    epoch.samples_elsewhere = grown(from.samples_elsewhere, to.samples_elsewhere);
    epoch.flags = from.flags;
    out.push_back(epoch);
  }
  return out;
}

std::string flag_words(uint8_t flags) {
  constexpr std::pair<uint8_t, const char*> kWords[] = {
      {helper::kEpochHeld, "held"}, {helper::kEpochUnentered, "unentered"}, {helper::kEpochOrdered, "ordered"}};
  std::string out;
  for (const auto& [flag, word] : kWords)
    if ((flags & flag) != 0) out += (out.empty() ? "" : ",") + std::string(word);
  return out;
}

}  // namespace stab::engine

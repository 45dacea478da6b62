// Nothing of what is read here is believed before it is held against its bounds; sums and differences wrap, and whatever wraps is
// refused with the invariant.
#include "engine/trial/epoch_series.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace stab::engine {
namespace {

using helper::EpochHeader;
using helper::EpochRecord;

constexpr uint8_t kSeriesVersion = 1;

Error corrupt(const std::string& why) { return {ErrorCode::kCorrupt, "the helper's epochs: " + why, {}}; }

bool is_name(std::string_view name) {
  const auto fits = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  return !name.empty() && name.size() < helper::kEpochNameBytes && std::all_of(name.begin(), name.end(), fits);
}

// Fields in the order in which they are written. Small ones come as numbers, too.
constexpr size_t kFields = 7 + helper::kEpochPoints;
std::array<uint64_t, kFields> fields_of(const EpochRecord& record) {
  return {record.start_ns, record.cpu_ns,    record.visits[0], record.visits[1], record.visits[2], record.visits[3],
          record.epoch,    record.image,     record.refill,    record.slot,      record.flags};
}

bool from_fields(const std::array<uint64_t, kFields>& fields, EpochRecord& out) {
  constexpr uint64_t kWord = std::numeric_limits<uint32_t>::max(), kByte = 255;
  for (size_t i = 6; i < 9; ++i)
    if (fields[i] > kWord) return false;
  if (fields[9] > kByte || fields[10] > kByte) return false;
  out = EpochRecord{};
  out.start_ns = fields[0];
  out.cpu_ns = fields[1];
  for (size_t i = 0; i < helper::kEpochPoints; ++i) out.visits[i] = fields[2 + i];
  out.epoch = static_cast<uint32_t>(fields[6]);
  out.image = static_cast<uint32_t>(fields[7]);
  out.refill = static_cast<uint32_t>(fields[8]);
  out.slot = static_cast<uint8_t>(fields[9]);
  out.flags = static_cast<uint8_t>(fields[10]);
  return true;
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
  return {};
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

}  // namespace

Result<EpochSeries> parse_epochs(std::string_view bytes) {
  EpochHeader header;
  if (bytes.size() < sizeof header) return corrupt("too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (std::memcmp(header.magic, helper::kEpochMagic, sizeof header.magic) != 0) return corrupt("of another version");
  if (header.record_bytes != sizeof(EpochRecord) || header.count > helper::kMostEpochs ||
      bytes.size() != header.count * sizeof(EpochRecord))
    return corrupt("another number of them than is said");
  EpochSeries series;
  for (const auto& name : header.points) {
    const size_t length = ::strnlen(name, sizeof name);
    if (length == 0) break;
    series.points.emplace_back(name, length);
  }
  series.unrecorded = header.unrecorded;
  series.records.resize(header.count);
  if (header.count > 0) std::memcpy(series.records.data(), bytes.data(), bytes.size());
  for (EpochRecord& record : series.records) record.reserved = 0;
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
  std::array<uint64_t, kFields> before{};
  for (const EpochRecord& record : series.records) {
    const std::array<uint64_t, kFields> now = fields_of(record);
    for (size_t i = 0; i < kFields; ++i) put_varint(out, zigzag(now[i] - before[i]));
    before = now;
  }
  return out;
}

Result<EpochSeries> decode_epochs(std::string_view bytes) {
  if (bytes.empty() || static_cast<uint8_t>(bytes.front()) != kSeriesVersion)
    return corrupt("stored by another version of Stab");
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
  if (count > helper::kMostEpochs || count * kFields > bytes.size()) return corrupt("another number of them than is said");
  series.records.resize(count);
  std::array<uint64_t, kFields> now{};
  for (EpochRecord& record : series.records) {
    for (uint64_t& field : now) {
      uint64_t difference = 0;
      if (!take_varint(bytes, difference)) return corrupt("cut off");
      field += unzigzag(difference);
    }
    if (!from_fields(now, record)) return corrupt("a number that is too large");
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

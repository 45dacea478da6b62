// Reads and writes the steps of a search as JSON, the whole file at each step.
#include "stabctl/gate/bisect_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "stabctl/terminal/whole_file.h"
#include "stabd/engine/separation/places.h"

namespace stab::ctl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using commands::BisectPlace;
using commands::BisectStep;
using commands::CommitFinding;

constexpr size_t kMostBytes = 4 << 20;  // of a file of steps: some 20,000 of them
constexpr int kVersion = 9;

// JSON has no infinity, which ends an interval of too few blocks.
Json as_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json as_json(const BisectStep& step) {
  return {{"position", step.position}, {"against", step.against}, {"faster", step.faster},
          {"may_name", step.may_name},
          {"finding", static_cast<int>(step.finding)},
          {"change", step.change},     {"interval", step.interval},
          {"cost", as_json(step.cost)}, {"cost_low", as_json(step.cost_low)}, {"cost_high", as_json(step.cost_high)},
          {"blocks", step.blocks},
          {"why", step.why},           {"workload", step.workload}, {"response", step.response},
          {"subject", step.subject},   {"margin", step.margin},   {"is_share", step.is_share}, {"by_copies", step.by_copies},
          {"is_one_program", step.is_one_program},
          {"standard_error", as_json(step.standard_error)}, {"copies_half_width", as_json(step.copies_half_width)},
          {"unit", step.unit},         {"care", step.care}};
}

Json as_json(const BisectPlace& place) {
  return {{"workload", place.workload},   {"finding", static_cast<int>(place.finding)},
          {"effect", as_json(place.effect)}, {"change", place.change},
          {"interval", place.interval},   {"functions", place.functions},
          {"sentence", place.sentence},   {"command", place.command},
          {"care", place.care},           {"error", place.error},
          {"explained", place.explained}};
}

// These throw Json::exception where a member is missing or of another type.
double number_from(const Json& json) {
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return json == "nan" ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

CommitFinding finding_from(const Json& json) {
  const int finding = json.at("finding");
  if (finding < 0 || finding > static_cast<int>(CommitFinding::kNotBuilt))
    throw Json::other_error::create(501, "finding", nullptr);
  return static_cast<CommitFinding>(finding);
}

BisectPlace place_from_json(const Json& json) {
  BisectPlace place;
  place.workload = json.at("workload");
  place.finding = finding_from(json);
  if (place.finding == CommitFinding::kNotBuilt) throw Json::other_error::create(501, "finding of a place", nullptr);
  place.effect = number_from(json.at("effect"));
  place.change = json.at("change");
  place.interval = json.at("interval");
  place.functions = json.at("functions");
  place.sentence = json.at("sentence");
  place.command = json.at("command");
  place.care = json.at("care").get<std::vector<std::string>>();
  place.error = json.at("error");
  place.explained = json.at("explained");
  if (!Json::accept(place.explained)) throw Json::other_error::create(501, "explained", nullptr);  // it is printed as it is
  return place;
}

BisectStep from_json(const Json& json) {
  BisectStep step;
  step.position = json.at("position");
  step.against = json.at("against");
  step.faster = json.at("faster");
  step.may_name = json.at("may_name");
  step.finding = finding_from(json);
  step.change = json.at("change");
  step.interval = json.at("interval");
  step.cost = number_from(json.at("cost"));
  step.cost_low = number_from(json.at("cost_low"));
  step.cost_high = number_from(json.at("cost_high"));
  step.blocks = json.at("blocks");
  step.why = json.at("why");
  step.workload = json.at("workload");
  step.response = json.at("response");
  step.subject = json.at("subject");
  step.margin = json.at("margin");
  step.is_share = json.at("is_share");
  step.by_copies = json.at("by_copies");
  step.is_one_program = json.at("is_one_program");
  step.standard_error = number_from(json.at("standard_error"));
  step.copies_half_width = number_from(json.at("copies_half_width"));
  step.unit = json.at("unit");
  step.care = json.at("care").get<std::vector<std::string>>();
  return step;
}

Result<std::string> whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMostBytes) return bad_input("'" + path + "' is larger than a search writes it; remove it");
  return text;
}

// A search that ends removes the folder, so two of them can't share it. The lock ends with the process.
Result<UniqueFd> held_folder(const std::string& folder) {
  constexpr int kTries = 10;
  for (int tries = 0; tries < kTries; ++tries) {
    STAB_CHECK_OK(engine::make_directories(folder));
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd && errno == ENOENT) continue;  // a search that ended has removed it meanwhile
    if (!fd) return system_error("open '" + folder + "'", errno);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_error("lock '" + folder + "'", errno);
      break;
    }
    struct stat held, named;
    if (::fstat(fd.get(), &held) == 0 && ::stat(folder.c_str(), &named) == 0 && held.st_ino == named.st_ino) return fd;
  }
  return Error{ErrorCode::kBusy,
               "another search for a commit runs in this repository, in '" + folder +
                   "'; wait for it, or search in another working tree ('git worktree add')",
               {}};
}

}  // namespace

Result<BisectState> BisectState::open(std::string folder, std::string good, std::string bad, std::string question) {
  STAB_TRY(UniqueFd held, held_folder(folder));
  BisectState state(std::move(held), std::move(folder), std::move(good), std::move(bad), std::move(question));
  if (!fs::exists(state.file())) return state;
  STAB_TRY(const std::string text, whole(state.file()));
  try {
    const Json json = Json::parse(text);
    if (json.at("version") != kVersion || json.at("good") != state.good_ || json.at("bad") != state.bad_ ||
        json.at("question") != state.question_) {
      state.other_ = json.at("good").get<std::string>() + ".." + json.at("bad").get<std::string>();
      return state;
    }
    for (const Json& step : json.at("steps")) state.steps_.push_back(from_json(step));
    for (const Json& place : json.at("places")) state.places_.push_back(place_from_json(place));
    if (json.contains("is_sliced")) {
      state.is_sliced_ = json.at("is_sliced").get<bool>();
      state.clock_ = json.at("clock");
    }
    if (json.contains("begun")) {
      const Json& begun = json.at("begun");
      state.begun_ = BegunComparison{begun.at("position"), begun.at("against"), begun.at("database"), begun.at("experiment"),
                                     begun.at("submitted_at_ns")};
    }
  } catch (const Json::exception&) {
    return bad_input("'" + state.file() + "' is damaged; remove it, and the search begins again");
  }
  return state;
}

Status BisectState::add(const BisectStep& step) {
  steps_.push_back(step);
  begun_.reset();
  return write();
}

Status BisectState::add_places(std::vector<BisectPlace> places) {
  places_ = std::move(places);
  return write();
}

Status BisectState::begin(BegunComparison comparison) {
  begun_ = std::move(comparison);
  return write();
}

Status BisectState::choose(bool is_sliced, std::string clock) {
  is_sliced_ = is_sliced;
  clock_ = std::move(clock);
  return write();
}

Status BisectState::write() const {
  Json steps = Json::array(), places = Json::array();
  for (const BisectStep& one : steps_) steps.push_back(as_json(one));
  for (const BisectPlace& one : places_) places.push_back(as_json(one));
  Json json = {{"version", kVersion}, {"good", good_},   {"bad", bad_},
               {"question", question_}, {"steps", steps}, {"places", places}};
  if (is_sliced_) {
    json["is_sliced"] = *is_sliced_;
    json["clock"] = clock_;
  }
  if (begun_)
    json["begun"] = {{"position", begun_->position}, {"against", begun_->against}, {"database", begun_->database},
                     {"experiment", begun_->experiment}, {"submitted_at_ns", begun_->submitted_at_ns}};
  // What git says need not be UTF-8.
  return write_whole(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", file());
}

void BisectState::remove() {
  std::error_code ignored;  // what stays is found, and gone on with, by a search of the same commits alone
  fs::remove_all(folder_, ignored);
}

}  // namespace stab::ctl

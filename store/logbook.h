// Logbook: what gates of many sessions have found, in one small SQLite file of its own. Experiments are kept elsewhere or not at
// all; of each A/A control and of each gate in a stream one row a question stays: a difference and its error.
//
// A session is a boot and a day: a boot's number is of one machine, and the machine's name is kept for people.
//
//   auto logbook = Logbook::open(path, Logbook::Access::kWrite);
//   logbook->add_control(session, {commit, now}, findings);
//   logbook->judge(stream, pair, session, [](const StreamState& seen) { ... return verdict; });
//
// Format version 1, in the file's user_version; application_id "Stlg". SQLite's rollback journal and synchronous = FULL: what an
// operation returned from survives power loss, what was cut off has left nothing, and no file stays beside it.
//
//   sessions(id, boot, day, machine)                          boot and day are unique together; day is YYYY-MM-DD, UTC
//   controls(session, commit_id, at_ns, workload, response, difference, standard_error, df, blocks)
//   streams(id, name, rate, tests)                            rate and tests are those of its first gate, for good
//   hypotheses(stream, number, base, head, log_e, called_at_ns)   numbers count from 1 without gaps; called_at_ns 0: not called
//   worse gates(stream, number, session, at_ns, workload, response, difference, standard_error, df, blocks)
//
// Differences are logarithms of head / base, above 0 where the head is worse, whichever direction is worse.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace stab::store {

inline constexpr int64_t kLogbookVersion = 1;
inline constexpr int64_t kLogbookApplicationId = 0x53746c67;

struct LogbookSession {
  std::string boot, day, machine;
};

// Of one question in one session. `session`: the number that the logbook gave to it, as read.
struct LogbookFinding {
  int64_t session = 0;
  std::string workload, response;
  double difference = 0, standard_error = 0, df = 0;
  int64_t blocks = 0;
};

// One question of one gate of a stream.
struct LoggedGate {
  std::string stream, base, head;
  LogbookFinding found;
  // Of the pair, by all gates of it.
  double log_e = 0;
  bool called = false;
};

struct StreamName {
  std::string name;
  double rate = 0.05;
  int64_t tests = 500;
};

struct CommitPair {
  std::string base, head;
};

// What a stream knows of a pair of commits when it is gated.
struct StreamState {
  int64_t number = 1;         // of this pair: its own, or the next
  int64_t called_before = 0;  // other pairs that were called worse
  bool called = false;        // this one was
  int64_t session = 0;        // the number of the session that is now
  std::vector<LogbookFinding> earlier, controls;
};

struct StreamVerdict {
  double log_e = 0;
  bool called = false;
  std::vector<LogbookFinding> findings;  // of this gate; empty: it has found nothing, and leaves no row
};

class Logbook {
 public:
  enum class Access { kWrite, kRead };

  // kWrite makes one where there is none. kCorrupt: the file belongs to another program; kUnavailable: a newer version made it.
  static Result<Logbook> open(const std::string& path, Access access, const char* vfs = nullptr);
  Logbook(Logbook&&) noexcept;
  Logbook& operator=(Logbook&&) noexcept;
  ~Logbook();

  // All of them or none. A second control of a session is another row of it.
  Status add_control(const LogbookSession& session, const std::string& commit, int64_t at_ns,
                     const std::vector<LogbookFinding>& findings);
  // By session and in the order in which they came. kCorrupt: one has numbers that no control has.
  Result<std::vector<LogbookFinding>> controls();
  // Of all streams, in the order in which they came. kCorrupt: as controls().
  Result<std::vector<LoggedGate>> gates();
  // By their numbers.
  Result<std::map<int64_t, LogbookSession>> sessions();

  // kBadInput where this stream began with another rate or number of tests.
  Status check_stream(const StreamName& stream);

  // One gate of a stream: its state, what `judge` makes of it, and the verdict, in one transaction that keeps every other gate
  // out. A pair that was called worse stays so. kBadInput where the stream began with another rate or number of tests.
  Status judge(const StreamName& stream, const CommitPair& pair, const LogbookSession& session, int64_t at_ns,
               const std::function<Result<StreamVerdict>(const StreamState&)>& judge);

 private:
  struct State;
  explicit Logbook(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stab::store

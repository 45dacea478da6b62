// Counting for real with software events, which every kernel has, and against a fake kernel for what machines
// refuse. Programs under test are this process's own children.
#include "counters/counting_session.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <thread>

namespace stab::counters {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<EventSpec> specs_of(const std::vector<std::string>& names, const Scope& scope = {}) {
  auto specs = resolve(names, scope);
  EXPECT_TRUE(specs.ok());
  return specs.ok() ? *std::move(specs) : std::vector<EventSpec>{};
}

void touch_pages(int count) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE)), bytes = page * static_cast<size_t>(count);
  char* memory = static_cast<char*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += page) static_cast<volatile char*>(memory)[at] = 1;
  ::munmap(memory, bytes);
}

// A child that waits for a byte, does `before`, then execs `argv`.
class Child {
 public:
  Child(std::vector<const char*> argv, int pages_before) {
    EXPECT_EQ(::pipe(go_), 0);
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      char byte;
      if (::read(go_[0], &byte, 1) != 1) ::_exit(99);
      if (pages_before > 0) touch_pages(pages_before);
      ::execvp(argv[0], const_cast<char**>(argv.data()));
      ::_exit(98);
    }
  }
  ~Child() {
    ::close(go_[0]);
    ::close(go_[1]);
  }
  pid_t pid() const { return pid_; }
  int finish() {
    EXPECT_EQ(::write(go_[1], "g", 1), 1);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int go_[2] = {-1, -1};
};

// What this kernel lets us count at all; tests that count for real need it.
#define SKIP_WITHOUT_SOFTWARE_EVENTS()                                                         \
  do {                                                                                         \
    const Session probe = Session::open(::getpid(), specs_of({"task-clock"}));                 \
    if (probe.open_count() == 0) GTEST_SKIP() << "SKIP: " << probe.read()[0].reason;           \
  } while (false)

TEST(Session, CountsFromTheExecOn) {
  SKIP_WITHOUT_SOFTWARE_EVENTS();
  Child child({"true"}, 20'000);
  const Session session = Session::open(child.pid(), specs_of({"page-faults", "task-clock"}));
  ASSERT_EQ(session.open_count(), 2u);
  ASSERT_EQ(child.finish(), 0);
  const std::vector<Reading> readings = session.read();
  EXPECT_THAT(readings[0].reason, IsEmpty());
  EXPECT_GT(*readings[0].value, 10);      // the loader alone
  EXPECT_LT(*readings[0].value, 10'000);  // the 20,000 before the exec don't count
  EXPECT_GT(*readings[1].value, 10'000);  // ns
  EXPECT_EQ(readings[1].enabled_ns, readings[1].running_ns);
}

TEST(Session, AddsUpChildrenOfTheProgram) {
  SKIP_WITHOUT_SOFTWARE_EVENTS();
  const auto faults_of = [](const char* script) {
    Child child({"sh", "-c", script}, 0);
    const Session session = Session::open(child.pid(), specs_of({"page-faults"}));
    EXPECT_EQ(child.finish(), 0);
    return *session.read()[0].value;
  };
  const double alone = faults_of("exit 0");
  const double with_children = faults_of("/bin/true; /bin/true; /bin/true; exit 0");
  EXPECT_GT(with_children, alone + 100);  // about 100 faults each to start
}

TEST(Session, AProgramThatNeverReachesItsExecHasNoValue) {
  SKIP_WITHOUT_SOFTWARE_EVENTS();
  Child child({"/no/such/program"}, 10);
  const Session session = Session::open(child.pid(), specs_of({"page-faults"}));
  EXPECT_EQ(child.finish(), 98);
  const Reading reading = session.read()[0];
  EXPECT_FALSE(reading.value.has_value());
  EXPECT_THAT(reading.reason, HasSubstr("did not reach its exec"));
}

TEST(Session, CanBeEnabledByHand) {
  SKIP_WITHOUT_SOFTWARE_EVENTS();
  Session session = Session::open(0, specs_of({"page-faults"}));
  ASSERT_TRUE(session.enable().ok());
  touch_pages(500);
  EXPECT_GE(*session.read()[0].value, 500);
}

TEST(Session, HardwareEventsCountOrSayWhyNot) {
  SKIP_WITHOUT_SOFTWARE_EVENTS();
  Child child({"true"}, 0);
  const Session session = Session::open(child.pid(), specs_of({"cycles", "L1-icache-load-misses", "task-clock"}));
  ASSERT_EQ(child.finish(), 0);
  const auto readings = session.read();
  for (const Reading& reading : readings) {
    EXPECT_NE(reading.value.has_value(), !reading.reason.empty()) << reading.name;
    if (reading.value) {
      EXPECT_GT(reading.running_ns, 0u) << reading.name;
    }
  }
  EXPECT_TRUE(readings[2].value.has_value());  // one event's refusal does not harm the others
}

// A kernel that answers as told. Descriptors are real ones, so that closing them is.
class FakePerf final : public PerfCalls {
 public:
  int open_errno = 0;
  int read_errno = 0;
  ssize_t read_bytes = 24;
  uint64_t value = 0, enabled = 0, running = 0;
  int paranoid = 2;
  std::vector<perf_event_attr> opened;
  std::vector<unsigned long> flags;
  std::vector<int> leaders, fds;
  int room_in_group = 100;  // followers that the PMU has registers for

  int open(perf_event_attr* attr, pid_t, int, int group_fd, unsigned long how) override {
    if (open_errno != 0) return errno = open_errno, -1;
    if (group_fd >= 0 && room_in_group-- <= 0) return errno = EINVAL, -1;
    opened.push_back(*attr);
    flags.push_back(how);
    leaders.push_back(group_fd);
    fds.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return fds.back();
  }
  ssize_t read(int, void* buffer, size_t) override {
    if (read_errno != 0) return errno = read_errno, -1;
    const uint64_t values[] = {value, enabled, running};
    std::memcpy(buffer, values, sizeof(values));
    return read_bytes;
  }
  int enable(int) override { return 0; }
  int paranoid_level() override { return paranoid; }
};

Reading read_with(FakePerf& perf, const std::string& event, const Scope& scope = {}) {
  return Session::open(1, specs_of({event}, scope), -1, perf).read()[0];
}

TEST(Session, OpensDisabledInheritedAndWithAChosenScope) {
  FakePerf perf;
  Scope user_only;
  user_only.kernel = false;
  const Session both = Session::open(1, specs_of({"cycles"}), -1, perf);
  const Session user = Session::open(1, specs_of({"cycles"}, user_only), -1, perf);
  ASSERT_EQ(perf.opened.size(), 2u);
  for (const perf_event_attr& attr : perf.opened) {
    EXPECT_TRUE(attr.disabled && attr.enable_on_exec && attr.inherit);
    EXPECT_TRUE(attr.exclude_hv && attr.exclude_guest);
    EXPECT_EQ(attr.read_format, uint64_t{PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING});
  }
  EXPECT_FALSE(perf.opened[0].exclude_kernel);
  EXPECT_TRUE(perf.opened[1].exclude_kernel);
  EXPECT_EQ(perf.flags[0], static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
}

TEST(Session, GroupsHardwareEventsOnRequestAndOnlyThem) {
  FakePerf perf;
  const auto specs = specs_of({"task-clock", "cycles", "page-faults", "instructions", "branches"});
  const Session alone = Session::open(1, specs, -1, perf);
  EXPECT_THAT(perf.leaders, ::testing::Each(-1));
  perf = FakePerf();
  perf.room_in_group = 1;
  const Session together = Session::open(1, specs, -1, perf, Grouping::kTogether);
  ASSERT_EQ(perf.leaders.size(), 5u);
  const int cycles = perf.fds[1];
  EXPECT_THAT(perf.leaders, ::testing::ElementsAre(-1, -1, -1, cycles, -1));  // no room for branches: alone
  EXPECT_TRUE(perf.opened[1].disabled && perf.opened[1].enable_on_exec);
  EXPECT_FALSE(perf.opened[3].disabled || perf.opened[3].enable_on_exec);  // follows cycles
  EXPECT_TRUE(perf.opened[4].disabled && perf.opened[4].enable_on_exec);
  EXPECT_EQ(together.open_count(), 5u);
}

TEST(Session, AGroupStartsAtTheExecAsOne) {
  SKIP_WITHOUT_SOFTWARE_EVENTS();
  auto specs = specs_of({"page-faults", "minor-faults", "task-clock"});
  for (EventSpec& spec : specs) spec.hardware = true;  // so that this machine's kernel groups something
  Child child({"true"}, 20'000);
  const Session session = Session::open(child.pid(), specs, -1, system_perf(), Grouping::kTogether);
  ASSERT_EQ(session.open_count(), 3u);
  ASSERT_EQ(child.finish(), 0);
  const auto readings = session.read();
  for (const Reading& reading : readings) EXPECT_THAT(reading.reason, IsEmpty());
  EXPECT_GT(*readings[1].value, 10);
  EXPECT_LT(*readings[1].value, 10'000);  // what was before the exec doesn't count in followers either
}

TEST(Session, ScalesWhatWasMultiplexedAndKeepsTheRawCount) {
  FakePerf perf;
  perf.value = 1000;
  perf.enabled = 300;
  perf.running = 100;
  const Reading reading = read_with(perf, "cycles");
  EXPECT_DOUBLE_EQ(*reading.value, 3000);
  EXPECT_EQ(reading.raw, 1000u);
  EXPECT_EQ(reading.running_ns, 100u);
}

TEST(Session, ACounterThatNeverRanIsNullNotZero) {
  FakePerf perf;
  perf.enabled = 300;
  const Reading reading = read_with(perf, "cycles");
  EXPECT_FALSE(reading.value.has_value());
  EXPECT_THAT(reading.reason, HasSubstr("passes"));
  perf.running = 300;
  EXPECT_EQ(read_with(perf, "cycles").value, 0.0);  // it ran and there was nothing: a real zero
}

TEST(Session, FailedReadsAreReasonsToo) {
  FakePerf perf;
  perf.enabled = perf.running = 1;
  perf.read_errno = EIO;
  EXPECT_FALSE(read_with(perf, "cycles").value.has_value());
  EXPECT_THAT(read_with(perf, "cycles").reason, HasSubstr("Input/output"));
  perf.read_errno = 0;
  perf.read_bytes = 0;
  EXPECT_THAT(read_with(perf, "cycles").reason, HasSubstr("could not be kept"));
}

TEST(Session, RefusalsNameTheCauseAndTheCure) {
  FakePerf perf;
  Scope user_only;
  user_only.kernel = false;
  const auto reason = [&](int error, int paranoid, const std::string& event, const Scope& scope = {}) {
    perf.open_errno = error;
    perf.paranoid = paranoid;
    const Reading reading = read_with(perf, event, scope);
    EXPECT_FALSE(reading.value.has_value());
    return reading.reason;
  };
  EXPECT_THAT(reason(EACCES, 2, "cycles"), HasSubstr("perf_event_paranoid is 2, 'cycles' needs <= 1"));
  EXPECT_THAT(reason(EACCES, 2, "cycles"), HasSubstr("counters.kernel = false"));
  EXPECT_THAT(reason(EACCES, 4, "cycles", user_only), HasSubstr("is 4, 'cycles' needs <= 2 or CAP_PERFMON"));
  EXPECT_THAT(reason(EPERM, 1, "cycles"), HasSubstr("seccomp"));
  EXPECT_THAT(reason(EPERM, 2, "cycles"), AllOf(HasSubstr("seccomp"), Not(HasSubstr("sysctl"))));
  EXPECT_THAT(reason(ENOENT, 0, "cycles"), HasSubstr("no PMU"));
  EXPECT_THAT(reason(EOPNOTSUPP, 0, "cycles"), HasSubstr("virtual machine"));
  EXPECT_THAT(reason(ENOENT, 0, "page-faults"), HasSubstr("kernel does not count"));
  EXPECT_THAT(reason(ENOSYS, 0, "cycles"), HasSubstr("CONFIG_PERF_EVENTS"));
  EXPECT_THAT(reason(EMFILE, 0, "cycles"), HasSubstr("ulimit"));
  EXPECT_THAT(reason(EBUSY, 0, "cycles"), HasSubstr("watchdog"));
  EXPECT_THAT(reason(ESRCH, 0, "cycles"), HasSubstr("gone"));
  EXPECT_THAT(reason(E2BIG, 0, "cycles"), HasSubstr("Argument list too long"));
}

TEST(Session, AnEventThatIsNotAvailableIsNotEvenTried) {
  FakePerf perf;
  Scope user_only;
  user_only.kernel = false;
  const Reading reading = read_with(perf, "context-switches", user_only);
  EXPECT_TRUE(perf.opened.empty());
  EXPECT_FALSE(reading.value.has_value());
  EXPECT_THAT(reading.reason, HasSubstr("happens in the kernel"));
}

}  // namespace
}  // namespace stab::counters

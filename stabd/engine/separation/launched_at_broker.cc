// The command goes as a sealed file, which the broker gives its launcher unread; what it decides itself is in the request. Pipes
// and a number come back, and whoever talks to the launcher afterwards does it as its parent would.
#include "stabd/engine/separation/launched_at_broker.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "stabd/broker/wire/client.h"

namespace stab::engine {
namespace {

Result<UniqueFd> sealed_file(const std::string& command) {
  UniqueFd fd(::memfd_create("stab-command", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", errno);
  if (::write(fd.get(), command.data(), command.size()) != static_cast<ssize_t>(command.size()))
    return system_error("write the launch request", errno);
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return system_error("seal the command", errno);
  return fd;
}

Result<broker::Launch> wire_of(const LaunchOrder& order, const host::LaunchDescriptors& descriptors) {
  using Wire = broker::Launch;
  const host::LaunchRequest& program = order.program;
  Wire wire;
  wire.flags = (program.aslr ? 0 : Wire::kNoAslr) | (program.thp ? 0 : Wire::kNoThp) |
               (program.no_new_privs ? Wire::kNoNewPrivs : 0) | (descriptors.helper >= 0 ? Wire::kHelperSocket : 0) |
               (descriptors.report >= 0 ? Wire::kReportPipe : 0);
  if (program.submitter) wire.uid = program.submitter->uid;
  if (order.tree != nullptr) {
    wire.tree = order.tree->number();
    if (order.tree->take_begins_trial()) wire.flags |= Wire::kBeginsTrial;
    wire.memory_bytes = order.limits_of_tree.memory_bytes;
    wire.processes = order.limits_of_tree.processes;
  }
  if (order.helper) {
    wire.flags |= Wire::kHelper | (order.helper->script >= 0 ? Wire::kHelperScript : 0);
    wire.helper_cpu = order.helper->cpu;
    wire.helper_switches = order.helper->switches;
  }
  wire.cpu = program.cpu;
  wire.slice_ns = static_cast<uint64_t>(program.slice.count());
  wire.argc = static_cast<uint32_t>(program.argv.size());
  wire.envc = static_cast<uint32_t>(program.env.size());
  if (program.limits.size() > broker::kMostLimits) return bad_input("more than 4 limits of a program");
  for (const host::Limit& limit : program.limits)
    wire.limits[wire.limit_count++] = {static_cast<uint32_t>(limit.resource), 0, limit.soft, limit.hard};
  return wire;
}

host::ProcessUsage usage_of(const broker::Answer& ended) {
  host::ProcessUsage used;
  used.status = ended.status;
  const broker::Usage& wire = ended.usage;
  const auto time = [](int64_t us) { return timeval{us / 1'000'000, us % 1'000'000}; };
  used.usage.ru_utime = time(wire.user_us);
  used.usage.ru_stime = time(wire.system_us);
  used.usage.ru_maxrss = wire.max_rss_kib;
  used.usage.ru_minflt = wire.minor_faults;
  used.usage.ru_majflt = wire.major_faults;
  used.usage.ru_nvcsw = wire.voluntary_switches;
  used.usage.ru_nivcsw = wire.involuntary_switches;
  used.hits = {wire.memory_kills, wire.outside_kills, wire.refused_processes};
  return used;
}

}  // namespace

Result<LaunchedAtBroker> LaunchedAtBroker::begin(broker::Client& broker, const LaunchOrder& order,
                                                 const host::LaunchDescriptors& descriptors) {
  STAB_TRY(const std::string command, host::encode_command(order.program));
  STAB_TRY(const UniqueFd sealed, sealed_file(command));
  STAB_TRY(const broker::Launch wire, wire_of(order, descriptors));
  std::vector<int> beside = {sealed.get(), descriptors.in, descriptors.out, descriptors.err};
  for (const int fd : {descriptors.helper, descriptors.report, order.helper ? order.helper->script : -1})
    if (fd >= 0) beside.push_back(fd);
  STAB_TRY(broker::Reply reply, broker.ask(wire, beside));

  LaunchedAtBroker launched(broker);
  launched.pid_ = reply.answer.pid;
  launched.helper_pid_ = reply.answer.helper;
  if (reply.descriptors.size() != (order.helper ? 3 : 2))
    return Error{ErrorCode::kCorrupt, "the broker's answer: not the pipes of a launcher", {}};
  launched.pipes_ = {std::move(reply.descriptors[0]), std::move(reply.descriptors[1])};
  if (order.helper) launched.helper_report_ = std::move(reply.descriptors[2]);
  // Not reaped before we say so, so the number is its own.
  launched.pidfd_.reset(host::open_pidfd(launched.pid_));
  if (!launched.pidfd_) return system_error("pidfd_open", errno);
  return launched;
}

Result<LaunchedAtBroker> LaunchedAtBroker::start(broker::Client& broker, const LaunchOrder& order,
                                                 const host::LaunchDescriptors& descriptors) {
  STAB_TRY(LaunchedAtBroker launched, begin(broker, order, descriptors));
  STAB_CHECK_OK(launched.wait_until_ready());
  return launched;
}

LaunchedAtBroker::LaunchedAtBroker(LaunchedAtBroker&& other) noexcept
    : broker_(other.broker_),
      pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      pipes_(std::move(other.pipes_)),
      helper_pid_(std::exchange(other.helper_pid_, 0)),
      helper_report_(std::move(other.helper_report_)) {}

LaunchedAtBroker::~LaunchedAtBroker() {
  for (const pid_t pid : {helper_report_ ? helper_pid_ : 0, pid_})
    if (pid > 0) (void)end_at_broker(*broker_, {.tree = 0, .pid = pid}, kEndDeadline);
}

Result<host::LaunchStamp> LaunchedAtBroker::go() {
  STAB_CHECK_OK(send_go());
  return wait_for_exec();
}

Result<host::ProcessUsage> LaunchedAtBroker::end(TreeAtBroker* tree, std::chrono::milliseconds deadline) {
  STAB_TRY(const broker::Answer ended,
           end_at_broker(*broker_, {.tree = tree != nullptr ? tree->number() : 0, .pid = pid_}, deadline));
  pid_ = -1;
  return usage_of(ended);
}

}  // namespace stab::engine

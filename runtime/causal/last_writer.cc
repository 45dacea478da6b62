#include "runtime/causal/last_writer.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "runtime/causal/attach.h"
#include "runtime/causal/moment.h"

namespace stab::causal {
namespace {

// Numbers of channels. A pipe has one inode for both its ends. Event counters share one inode, so they are one channel: any
// write of ours into one counts. Of a TCP connection the two directions differ by the order of ports; Unix sockets, whose
// other end has no number, are one channel where that end is a process of the family.
constexpr uint64_t kEventCounters = uint64_t{1} << 60, kUnixSockets = uint64_t{2} << 60, kPorts = uint64_t{3} << 60,
                   kPipes = uint64_t{4} << 60, kSignals = uint64_t{5} << 60;

uint64_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return reinterpret_cast<const sockaddr_in&>(address).sin_port;
  if (address.ss_family == AF_INET6) return reinterpret_cast<const sockaddr_in6&>(address).sin6_port;
  return 0;
}

uint64_t socket_channel(int fd, bool writes) {
  sockaddr_storage own{}, other{};
  socklen_t bytes = sizeof own;
  if (sys::call(SYS_getsockname, fd, sys::word(&own), sys::word(&bytes)) != 0) return 0;
  if (own.ss_family == AF_UNIX) {
    ucred peer{};
    bytes = sizeof peer;
    const bool known = sys::call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, sys::word(&peer), sys::word(&bytes)) == 0;
    return known && is_of_family(peer.pid) ? kUnixSockets : 0;
  }
  bytes = sizeof other;
  if (sys::call(SYS_getpeername, fd, sys::word(&other), sys::word(&bytes)) != 0) return 0;
  const uint64_t from = port_of(writes ? own : other), to = port_of(writes ? other : own);
  return from == 0 || to == 0 ? 0 : kPorts | from << 16 | to;
}

// 0: none that could be anybody's but the world's, a file for instance.
uint64_t channel_of(int fd, bool writes) {
  struct stat is{};
  if (sys::call(SYS_fstat, fd, sys::word(&is)) != 0) return 0;
  if (S_ISFIFO(is.st_mode)) return kPipes | (is.st_ino & 0xffff'ffff'ffff);
  if (S_ISSOCK(is.st_mode)) return socket_channel(fd, writes);
  return (is.st_mode & S_IFMT) == 0 ? kEventCounters : 0;
}

// Which channel a descriptor is of takes up to three system calls, and a server writes once for each request: what was found is
// believed for a while. A descriptor that was closed and is another one meanwhile makes waits of that while be classed wrongly.
constexpr uint64_t kBelievedNs = 50'000'000;
constexpr int kBelievedDescriptors = 4096;
struct Believed {
  uint64_t channel, until_ns;
};
Believed believed[2][kBelievedDescriptors];  // of readers, of writers

uint64_t believed_channel_of(int fd, bool writes, uint64_t now) {
  if (fd < 0 || fd >= kBelievedDescriptors) return channel_of(fd, writes);
  Believed& entry = believed[writes ? 1 : 0][fd];
  if (look(entry.until_ns) > now) return look(entry.channel);
  const uint64_t channel = channel_of(fd, writes);
  __atomic_store_n(&entry.channel, channel, __ATOMIC_RELAXED);
  __atomic_store_n(&entry.until_ns, now + kBelievedNs, __ATOMIC_RELAXED);
  return channel;
}

LastWrite* find(uint64_t key, bool make) {
  constexpr uint32_t kMostSteps = 64;
  uint32_t at = static_cast<uint32_t>(key * 0x9e3779b97f4a7c15u >> 40) % kLastWrites;
  for (uint32_t i = 0; i < kMostSteps; ++i, at = (at + 1) % kLastWrites) {
    LastWrite& cell = program.area->last_writes[at];
    uint64_t found = look(cell.key);
    if (found == 0 && !make) return nullptr;
    if (found == 0 && __atomic_compare_exchange_n(&cell.key, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      found = key;
    if (found == key) return &cell;
  }
  return nullptr;
}

}  // namespace

namespace {

// Who reads makes room for who waits to write: the same channel, another number.
constexpr uint64_t kRoom = uint64_t{1} << 63;

LastWrite* begin(int fd, bool writes) {
  if (!must_pay()) return nullptr;
  const uint64_t now = now_ns(), channel = believed_channel_of(fd, writes, now);
  LastWrite* const cell = channel == 0 ? nullptr : find(writes ? channel : channel | kRoom, true);
  if (cell == nullptr) return nullptr;
  raise_to(cell->at_ns, now);
  raise_by(cell->going_on, 1);
  return cell;
}

bool is_noted(int fd, bool by_writer, uint64_t since_ns) {
  if (!must_pay()) return false;
  const uint64_t channel = believed_channel_of(fd, !by_writer, now_ns());
  const LastWrite* cell = channel == 0 ? nullptr : find(by_writer ? channel : channel | kRoom, false);
  return cell != nullptr && (look(cell->at_ns) >= since_ns || look(cell->going_on) != 0);
}

}  // namespace

LastWrite* begin_writing(int fd) { return begin(fd, true); }
LastWrite* begin_reading(int fd) { return begin(fd, false); }
void end_noted(LastWrite* begun) {
  if (begun == nullptr) return;
  raise_to(begun->at_ns, now_ns());
  __atomic_fetch_sub(&begun->going_on, uint64_t{1}, __ATOMIC_RELAXED);
}
bool last_writer_is_ours(int fd, uint64_t since_ns) { return is_noted(fd, true, since_ns); }
bool last_reader_is_ours(int fd, uint64_t since_ns) { return is_noted(fd, false, since_ns); }

void note_signal() {
  if (!must_pay()) return;
  if (LastWrite* cell = find(kSignals, true)) raise_to(cell->at_ns, now_ns());
}
bool last_signal_is_ours(uint64_t since_ns) {
  const LastWrite* cell = find(kSignals, false);
  return cell != nullptr && look(cell->at_ns) >= since_ns;
}

bool is_of_family(int pid) {
  if (pid <= 0) return false;
  for (const Process& process : program.area->processes)
    if (static_cast<int>(__atomic_load_n(&process.pid, __ATOMIC_RELAXED)) == pid)
      return __atomic_load_n(&process.ended, __ATOMIC_RELAXED) != kProcessExecutes;
  return false;
}

}  // namespace stab::causal

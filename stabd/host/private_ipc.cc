// The namespaces are made by a thread that ends at once: a thread has its own, so that ours stay what they are, and what it
// has opened there keeps them. That is also how we see what was left there without going in: a table of System V objects
// shows the namespace in which it was opened, and a directory is one file system's.
//
// Nothing is mended in namespaces that a trial has used: whoever finds something left makes new ones.
#include "stabd/host/private_ipc.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "stabd/host/roots.h"

namespace stab::host {
namespace {

constexpr char kSharedMemory[] = "/dev/shm";
constexpr char kQueues[] = "/dev/mqueue";
constexpr long kQueueMagic = 0x19800202;  // ipc/mqueue.c
constexpr std::array kTables = {"/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"};
// A new namespace has the kernel's own values, and a machine may have others.
constexpr std::array kSettings = {
    "/proc/sys/kernel/shmmax",        "/proc/sys/kernel/shmall",           "/proc/sys/kernel/shmmni",
    "/proc/sys/kernel/shm_rmid_forced", "/proc/sys/kernel/msgmax",         "/proc/sys/kernel/msgmnb",
    "/proc/sys/kernel/msgmni",        "/proc/sys/kernel/sem",              "/proc/sys/fs/mqueue/queues_max",
    "/proc/sys/fs/mqueue/msg_max",    "/proc/sys/fs/mqueue/msgsize_max",   "/proc/sys/fs/mqueue/msg_default",
    "/proc/sys/fs/mqueue/msgsize_default"};

constexpr std::pair<unsigned long, unsigned long> kRestrictions[] = {
    {ST_NOSUID, MS_NOSUID}, {ST_NODEV, MS_NODEV}, {ST_NOEXEC, MS_NOEXEC}};

Error unavailable(const std::string& what) {
  return Error{ErrorCode::kUnavailable, what + ": " + std::strerror(errno), {}};
}

std::map<std::string, std::string> settings() {
  std::map<std::string, std::string> found;
  for (const char* path : kSettings)
    if (auto text = read_small_file(path)) found[path] = *std::move(text);
  return found;
}

Status copy(const std::map<std::string, std::string>& wanted) {
  const auto present = settings();
  for (const auto& [path, text] : wanted) {
    const auto now = present.find(path);
    if (now != present.end() && now->second == text) continue;
    errno = 0;
    write_small_file(path, text);
    if (read_small_file(path).value_or("") != text) return unavailable("set '" + path + "' as it is on the machine");
  }
  return {};
}

// As large as the machine's, and with its restrictions.
Status mount_shared_memory() {
  struct statvfs machine;
  if (::statvfs(kSharedMemory, &machine) != 0) return unavailable("look at /dev/shm");
  unsigned long flags = 0;
  for (const auto& [has, wanted] : kRestrictions)
    if (machine.f_flag & has) flags |= wanted;
  const std::string options = "mode=1777,size=" + std::to_string(uint64_t{machine.f_blocks} * machine.f_frsize);
  if (::mount("stab", kSharedMemory, "tmpfs", flags, options.c_str()) != 0) return unavailable("mount a /dev/shm of its own");
  return {};
}

Result<UniqueFd> open_at(int directory, const char* path, int flags) {
  UniqueFd fd(::openat(directory, path, flags | O_RDONLY | O_CLOEXEC));
  if (!fd) return unavailable(std::string("open '") + path + "'");
  return fd;
}

// The namespace's, wherever it is mounted.
Result<UniqueFd> open_queues() {
  const UniqueFd context(::fsopen("mqueue", FSOPEN_CLOEXEC));
  if (!context || ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return unavailable("open the directory of message queues");
  const UniqueFd mounted(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!mounted) return unavailable("open the directory of message queues");
  return open_at(mounted.get(), ".", O_DIRECTORY);
}

// Whoever enters a mount namespace gets its root, which is not ours in a chroot.
Status check_root(const struct stat& ours, int mounts) {
  struct stat its;
  if (::setns(mounts, CLONE_NEWNS) != 0) return unavailable("enter a mount namespace");
  if (::stat("/", &its) != 0) return unavailable("look at '/'");
  if (its.st_dev == ours.st_dev && its.st_ino == ours.st_ino) return {};
  return Error{ErrorCode::kUnavailable, "the broker's root directory is not the machine's (chroot)", {}};
}

// A header alone: there is no object.
bool has_objects(const UniqueFd& table) {
  char text[512];
  const ssize_t got = ::pread(table.get(), text, sizeof text, 0);
  return got < 0 || std::count(text, text + got, '\n') > 1;
}

bool has_entries(const UniqueFd& directory) {
  if (::lseek(directory.get(), 0, SEEK_SET) != 0) return true;
  // u64 inode, i64 offset, u16 length, u8 type, name.
  constexpr long kLengthAt = 16, kNameAt = 19;
  char entries[1024];
  const long got = ::syscall(SYS_getdents64, directory.get(), entries, sizeof entries);
  if (got < 0) return true;
  for (long at = 0; at < got;) {
    uint16_t length = 0;
    std::memcpy(&length, entries + at + kLengthAt, sizeof length);
    const char* name = entries + at + kNameAt;
    if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) return true;
    at += length;
  }
  return false;
}

}  // namespace

// In a thread of its own, whose namespaces these become.
Status PrivateIpc::enter_new(PrivateTmp* tmp) {
  const auto machines = settings();
  struct statfs queues;
  const bool shows_queues = ::statfs(kQueues, &queues) == 0 && queues.f_type == kQueueMagic;
  struct stat root;
  if (::stat("/", &root) != 0) return unavailable("look at '/'");
  if (::unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0) return unavailable("make namespaces");
  // What is mounted on the machine is mounted here, and never the other way.
  if (::mount("stab", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return unavailable("keep mounts to a namespace");
  STAB_CHECK_OK(mount_shared_memory());
  if (shows_queues && ::mount("stab", kQueues, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return unavailable("mount a /dev/mqueue of its own");
  if (tmp != nullptr) STAB_CHECK_OK(tmp->mount());
  STAB_CHECK_OK(copy(machines));
  STAB_TRY(ipc_, open_at(AT_FDCWD, "/proc/thread-self/ns/ipc", 0));
  STAB_TRY(mounts_, open_at(AT_FDCWD, "/proc/thread-self/ns/mnt", 0));
  STAB_TRY(shared_memory_, open_at(AT_FDCWD, kSharedMemory, O_DIRECTORY));
  STAB_TRY(queues_, open_queues());
  for (size_t i = 0; i < kTables.size(); ++i) {
    STAB_TRY(tables_[i], open_at(AT_FDCWD, kTables[i], 0));
  }
  return check_root(root, mounts_.get());
}

Result<PrivateIpc> PrivateIpc::make(PrivateTmp* tmp) {
  PrivateIpc made;
  Status entered;
  try {
    std::thread([&] { entered = made.enter_new(tmp); }).join();
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kUnavailable, std::string("start a thread: ") + error.what(), {}};
  }
  if (!entered) return entered.error();
  return made;
}

bool PrivateIpc::is_used() const {
  return std::any_of(tables_.begin(), tables_.end(), has_objects) || has_entries(shared_memory_) || has_entries(queues_);
}

}  // namespace stab::host

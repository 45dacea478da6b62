// What the kernel says of a connection's other end is who called connect(), but for one who called connect() themselves:
// to them it says who listens. So an accepted socket is told from a connected one: it has a name, its listener's, and
// its other end has none, while whoever listens has a name by which he was found. Both ends of a pair can be had without
// names, but then they were made by one process, and it is that one's user who vouches.
#include "stabd/broker/users.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "base/unique_fd.h"

namespace stab::broker {
namespace {

constexpr char kHead[] = "stab-vouched 1\n";
constexpr gid_t kNoGroup = UINT32_MAX;
// A lab has fewer users; the bound keeps a flood from filling the disk.
constexpr size_t kMostUsers = 65536;
// The kernel takes no more groups.
constexpr int kMostGroups = 65536;
// Between trials of one experiment nobody's groups change; asking a directory service each time would take longer than they.
constexpr std::chrono::seconds kRemember{10};

bool has_name(int socket, int (*ask)(int, sockaddr*, socklen_t*)) {
  sockaddr_un address{};
  socklen_t bytes = sizeof address;
  return ask(socket, reinterpret_cast<sockaddr*>(&address), &bytes) == 0 && bytes > offsetof(sockaddr_un, sun_path);
}

int option_of(int socket, int option) {
  int value = -1;
  socklen_t bytes = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &bytes) == 0 ? value : -1;
}

Status append_durably(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return system_error("open '" + path + "'", errno);
  const off_t before = ::lseek(fd.get(), 0, SEEK_END);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = ::write(fd.get(), left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    Error failed = system_error("write '" + path + "'", errno);
    // A part of a line would be one line with the next. Where it stays, that one is lost at the next start.
    if (::ftruncate(fd.get(), before) != 0) failed.message += ", and a part of it is there";
    return failed;
  }
  if (::fsync(fd.get()) != 0) return system_error("fsync '" + path + "'", errno);
  return {};
}

Account look_up(uid_t uid, gid_t gid) {
  Account account{uid, gid, {}};
  std::array<char, 65536> room;
  passwd entry{};
  passwd* found = nullptr;
  // A number without an account has its group only.
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return account;
  account.gid = found->pw_gid;
  int count = 64;
  account.groups.resize(static_cast<size_t>(count));
  // Where there are more, count says how many.
  while (::getgrouplist(found->pw_name, found->pw_gid, account.groups.data(), &count) < 0 && count <= kMostGroups)
    account.groups.resize(static_cast<size_t>(count));
  account.groups.resize(static_cast<size_t>(std::min(count, kMostGroups)));
  return account;
}

}  // namespace

Result<Users> Users::open(UserRules rules) {
  Users users(std::move(rules));
  STAB_CHECK_OK(users.load());
  return users;
}

Status Users::load() {
  if (rules_.journal.empty()) return {};
  const UniqueFd fd(::open(rules_.journal.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return append_durably(rules_.journal, kHead);
  if (!fd) return system_error("open '" + rules_.journal + "'", errno);
  std::string text;
  char buffer[16384];
  for (ssize_t got = 0; (got = ::read(fd.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(got));
  // Whoever made it was cut off: nobody was in it yet.
  if (text.size() < sizeof kHead - 1 && std::string_view(kHead).starts_with(text))
    return append_durably(rules_.journal, kHead + text.size());
  if (text.rfind(kHead, 0) != 0)
    return Error{ErrorCode::kCorrupt,
                 "'" + rules_.journal + "' is no list of users; remove it: they will be known again when they submit",
                 {}};
  std::istringstream lines(text.substr(sizeof kHead - 1));
  // A line that a crash cut off has no full stop, and may say another number than it was to.
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uid_t uid = 0;
    gid_t gid = 0;
    std::string stop;
    if (words >> uid >> gid >> stop && stop == "." && vouched_.size() < kMostUsers) vouched_[uid] = gid;
  }
  return text.back() == '\n' ? Status() : append_durably(rules_.journal, "\n");
}

Result<Account> Users::vouch(int client) {
  if (option_of(client, SO_DOMAIN) != AF_UNIX || option_of(client, SO_TYPE) != SOCK_STREAM ||
      option_of(client, SO_ACCEPTCONN) != 0)
    return denied("vouch: this is no client's connection");
  if (!has_name(client, ::getsockname) || has_name(client, ::getpeername))
    return denied("vouch: the connection was not accepted from a client; a client must not give its own end a name");
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return system_error("ask who the client is", errno);
  if (peer.uid == UINT32_MAX) return denied("vouch: the client's user is not known here");
  if (peer.uid == 0 && !rules_.allow_root)
    return denied("plans of root are not run; start the daemon with --allow-root if they should");
  const auto before = vouched_.find(peer.uid);
  if (before == vouched_.end() || before->second != peer.gid) {
    if (before == vouched_.end() && vouched_.size() >= kMostUsers) return denied("vouch: too many users");
    if (!rules_.journal.empty())
      STAB_CHECK_OK(append_durably(rules_.journal, std::to_string(peer.uid) + " " + std::to_string(peer.gid) + " .\n"));
    vouched_[peer.uid] = peer.gid;
    known_.erase(peer.uid);
  }
  return Account{peer.uid, peer.gid, {}};
}

Result<std::optional<Account>> Users::account(uint32_t uid) {
  const bool own = uid == UINT32_MAX || (uid == rules_.own && rules_.own != 0);
  // For a front end that is another user, root is a user as any other: root must have come.
  if (own && (rules_.own != 0 || (rules_.allow_root && !rules_.front_end))) return std::optional<Account>();
  if (own) return denied("programs are not started as the broker itself, which is root");
  const std::string who = "user " + std::to_string(uid);
  if (rules_.own != 0) return denied("a broker that is not root can't start programs as " + who);
  if (rules_.front_end && uid == *rules_.front_end)
    return denied("programs are not started as " + who + ", which is the daemon's own");
  if (uid == 0 && !rules_.allow_root) return denied("programs are not started as root; root's plans need --allow-root");
  const auto vouched = vouched_.find(uid);
  // Without another user as front end, whoever asks has our rights already.
  if (vouched == vouched_.end() && !rules_.front_end) {
    const Account& account = known(uid, kNoGroup);
    if (account.gid == kNoGroup) return denied(who + " has no account, so there is no group to run their programs with");
    return std::optional<Account>(account);
  }
  if (vouched == vouched_.end()) return denied("no program is started as " + who + ", who has never submitted anything here");
  return std::optional<Account>(known(uid, vouched->second));
}

const Account& Users::known(uid_t uid, gid_t gid) {
  const auto now = std::chrono::steady_clock::now();
  if (known_.size() >= kMostUsers) known_.clear();
  Known& found = known_[uid];
  if (found.until <= now) found = {look_up(uid, gid), now + kRemember};
  return found.account;
}

}  // namespace stab::broker

// Whom a broker starts programs as: those whose connection it has seen, and nobody else.
#include "stabd/broker/users.h"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "tests/unit/temporary_directory.h"

namespace stab::broker {
namespace {

using ::testing::HasSubstr;

constexpr uid_t kClient = 64101, kStranger = 64102, kFrontEnd = 64100;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

class BrokerUsers : public testing::Test {
 protected:
  BrokerUsers() {
    ::chmod(directory_.path().c_str(), 0755);
    const sockaddr_un address = address_of(path_);
    listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::chmod(path_.c_str(), 0666), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
  }

  // As if it were root's, asked by another user; what is decided does not depend on who runs this test.
  UserRules rules() const { return {0, false, kFrontEnd, directory_.path() + "/vouched"}; }
  Users users(UserRules of) {
    auto opened = Users::open(std::move(of));
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return *std::move(opened);
  }

  // The server's end of a connection that a process of `uid` made (us: where only root could).
  UniqueFd accepted_from(uid_t uid) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::geteuid() == 0 && ::setresuid(uid, uid, uid) != 0) ::_exit(1);
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      const sockaddr_un address = address_of(path_);
      ::_exit(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : 2);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
    return UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  static uid_t one_who_came() { return ::geteuid() == 0 ? kClient : ::geteuid(); }

  static std::string why(const Result<Account>& result) { return result ? "" : result.error().message; }
  static std::string why(const Result<std::optional<Account>>& result) { return result ? "" : result.error().message; }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() + "/s";
  UniqueFd listener_;
};

TEST_F(BrokerUsers, StartsNothingForWhoNeverCame) {
  Users some = users(rules());
  EXPECT_THAT(why(some.account(kStranger)), HasSubstr("user 64102, who has never submitted"));
  EXPECT_THAT(why(some.account(0)), HasSubstr("not started as root"));
  EXPECT_THAT(why(some.account(UINT32_MAX)), HasSubstr("the broker itself, which is root"));
  EXPECT_THAT(why(some.account(kFrontEnd)), HasSubstr("the daemon's own"));
}

TEST_F(BrokerUsers, StartsThingsForWhoCame) {
  const uid_t who = one_who_came();
  Users some = users(rules());
  const UniqueFd client = accepted_from(who);
  const auto vouched = some.vouch(client.get());
  ASSERT_TRUE(vouched.ok()) << vouched.error().message;
  EXPECT_EQ(vouched->uid, who);
  const auto account = some.account(who);
  ASSERT_TRUE(account.ok()) << account.error().message;
  ASSERT_TRUE(account->has_value());
  EXPECT_EQ((*account)->uid, who);
  EXPECT_THAT(why(some.account(kStranger)), HasSubstr("never submitted"));
  // Remembered by the next one.
  Users next = users(rules());
  EXPECT_TRUE(next.account(who).ok());
  EXPECT_THAT(why(next.account(kStranger)), HasSubstr("never submitted"));
}

TEST_F(BrokerUsers, RootHasToBeAllowedAndToCome) {
  UserRules open_to_root = rules();
  open_to_root.allow_root = true;
  Users some = users(open_to_root);
  EXPECT_THAT(why(some.account(0)), HasSubstr("never submitted"));
  EXPECT_THAT(why(some.account(UINT32_MAX)), HasSubstr("which is root"));
  if (::geteuid() != 0) GTEST_SKIP() << "SKIP: only root can come as root";
  const UniqueFd client = accepted_from(0);
  EXPECT_THAT(why(users(rules()).vouch(client.get())), HasSubstr("plans of root are not run"));
  ASSERT_TRUE(some.vouch(client.get()).ok());
  EXPECT_TRUE(some.account(0).ok());
}

// Of one that we connected, the kernel names who listens: whoever runs any service at all.
TEST_F(BrokerUsers, AConnectionOfOurOwnVouchesForNobody) {
  UserRules open_to_root = rules();
  open_to_root.allow_root = true;
  Users some = users(open_to_root);
  const sockaddr_un address = address_of(path_);
  const UniqueFd ours(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(ours.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(why(some.vouch(ours.get())), HasSubstr("was not accepted from a client"));
  // Named as an accepted one is, but whom it leads to has a name, too.
  const UniqueFd named(::socket(AF_UNIX, SOCK_STREAM, 0));
  const sockaddr_un own = address_of(directory_.path() + "/own");
  ASSERT_EQ(::bind(named.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  ASSERT_EQ(::connect(named.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(why(some.vouch(named.get())), HasSubstr("was not accepted from a client"));
}

TEST_F(BrokerUsers, OtherSocketsVouchForNobody) {
  Users some = users(rules());
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const UniqueFd one(ends[0]), other(ends[1]);
  EXPECT_THAT(why(some.vouch(one.get())), HasSubstr("was not accepted"));
  // The engine's end of its broker's own socket was made by root.
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const UniqueFd packets(ends[0]), broker(ends[1]);
  const sockaddr_un own = address_of(directory_.path() + "/own");
  ASSERT_EQ(::bind(packets.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  EXPECT_THAT(why(some.vouch(packets.get())), HasSubstr("no client's connection"));
  EXPECT_THAT(why(some.vouch(listener_.get())), HasSubstr("no client's connection"));
  const UniqueFd internet(::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_THAT(why(some.vouch(internet.get())), HasSubstr("no client's connection"));
  EXPECT_THAT(why(some.vouch(STDIN_FILENO)), HasSubstr("no client's connection"));
  EXPECT_THAT(why(some.vouch(-1)), HasSubstr("no client's connection"));
}

TEST_F(BrokerUsers, WithoutRootTheOnlyUserIsItself) {
  UserRules own;
  own.own = 1234;
  Users some = users(own);
  const auto itself = some.account(UINT32_MAX);
  ASSERT_TRUE(itself.ok());
  EXPECT_FALSE(itself->has_value());
  EXPECT_TRUE(some.account(1234).ok());
  EXPECT_THAT(why(some.account(1235)), HasSubstr("a broker that is not root can't start programs as user 1235"));
  EXPECT_THAT(why(some.account(0)), HasSubstr("can't start programs as user 0"));
}

TEST_F(BrokerUsers, ReadsAJournalThatWasCutOff) {
  const std::string journal = directory_.path() + "/vouched";
  std::ofstream(journal) << "stab-vouched 1\n64101 64101 .\nnonsense\n64103 6";
  for (int starts = 0; starts < 2; ++starts) {
    Users some = users(rules());
    EXPECT_TRUE(some.account(64101).ok());
    EXPECT_THAT(why(some.account(64103)), HasSubstr("never submitted"));
  }
  // What comes next has a line of its own.
  const uid_t who = one_who_came();
  UserRules with_root = rules();
  with_root.allow_root = true;
  EXPECT_TRUE(users(with_root).vouch(accepted_from(who).get()).ok());
  EXPECT_TRUE(users(with_root).account(who).ok());
  std::ofstream(journal) << "something else\n64101 64101 .\n";
  const auto refused = Users::open(rules());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("is no list of users; remove it"));
}

TEST_F(BrokerUsers, GoesOnWithAJournalWhoseMakerWasCutOff) {
  const uid_t who = one_who_came();
  UserRules with_root = rules();
  with_root.allow_root = true;
  for (const char* made : {"", "stab-vou", "stab-vouched 1\n"}) {
    std::ofstream(directory_.path() + "/vouched", std::ios::trunc) << made;
    ASSERT_TRUE(Users::open(with_root).ok()) << "'" << made << "'";
    EXPECT_TRUE(users(with_root).vouch(accepted_from(who).get()).ok());
    EXPECT_TRUE(users(with_root).account(who).ok()) << "'" << made << "'";
  }
}

TEST_F(BrokerUsers, ALineThatFoundNoRoomDoesNotSpoilTheNext) {
  const uid_t who = one_who_came();
  UserRules with_root = rules();
  with_root.allow_root = true;
  Users some = users(with_root);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = std::filesystem::file_size(directory_.path() + "/vouched") + 2;
  const UniqueFd first = accepted_from(who), second = accepted_from(who);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const auto refused = some.vouch(first.get());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("write '"));
  EXPECT_TRUE(some.vouch(second.get()).ok());
  EXPECT_TRUE(users(with_root).account(who).ok()) << "the next start doesn't know it";
}

}  // namespace
}  // namespace stab::broker

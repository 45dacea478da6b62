// Both directions of the wire: what was written is read, and nothing else is. Each wrong byte of these would be a user's,
// sent to the engine as its worker's answer.
#include "stabd/worker/worker_wire.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/message_socket.h"

namespace stab::worker {
namespace {

Fill a_fill() {
  Fill fill{"/tmp/stab/trial", "sub", {}, {1000, 7}};
  fill.inputs.push_back({{"/plan/a", "/build/a"}, "a", "a"});
  fill.inputs.push_back({{"/etc/hosts"}, "/etc/hosts", "hosts"});
  return fill;
}

TEST(Wire, ARequestIsReadAsItWasWritten) {
  const std::string packet = encode_request(a_fill(), 17);
  Fill read;
  ASSERT_TRUE(decode_request(packet, read));
  EXPECT_EQ(encode_request(read, 17), packet);
  ASSERT_EQ(read.inputs.size(), 2u);
  EXPECT_EQ(read.inputs[0].paths[1], "/build/a");
  EXPECT_EQ(read.inputs[1].target, "hosts");
  EXPECT_EQ(read.most.files, 7u);
  CopyTree other;
  EXPECT_FALSE(decode_request(packet, other)) << "of another kind";
}

TEST(Wire, EveryShorterOrLongerPacketIsRefused) {
  const std::string packet = encode_request(a_fill(), 1);
  Fill read;
  for (size_t size = 0; size < packet.size(); ++size) EXPECT_FALSE(decode_request(packet.substr(0, size), read)) << size;
  EXPECT_FALSE(decode_request(packet + '\0', read));
}

TEST(Wire, CountsAreHeldAgainstTheBytesThatAreThere) {
  Writer writer;
  writer.all(Header{kVersion, static_cast<uint32_t>(Kind::kFind), 1, 0}, uint32_t{0xffffffff});
  Find find;
  EXPECT_FALSE(decode_request(writer.take(), find));
  EXPECT_TRUE(find.paths.empty()) << "made before it was known that there are none";
}

TEST(Wire, NoTextHoldsAZeroByteAndNoTruthIsTwo) {
  Look look;
  EXPECT_FALSE(decode_request(encode_request(Look{std::string("/etc\0/x", 7)}, 1), look));
  std::string packet = encode_request(Find{{}, true}, 1);
  packet.back() = 2;
  Find find;
  EXPECT_FALSE(decode_request(packet, find));
}

TEST(Wire, AnAnswerIsToItsRequestAlone) {
  const Header header{kVersion, static_cast<uint32_t>(Kind::kHash), 5, 0};
  const std::string packet = encode_answer(header, Hash::Answer{"abc", 3});
  Hash::Answer answer;
  Error error;
  EXPECT_TRUE(decode_answer<Hash>(packet, 5, answer, error));
  EXPECT_EQ(answer.sha256, "abc");
  EXPECT_TRUE(error.message.empty());
  EXPECT_FALSE(decode_answer<Hash>(packet, 6, answer, error)) << "another serial";
  EXPECT_FALSE(decode_answer<HashTree>(packet, 5, answer, error)) << "another kind";
}

TEST(Wire, AnErrorHasWordsAndACodeThatFilesHave) {
  const Header header{kVersion, static_cast<uint32_t>(Kind::kEmpty), 5, 0};
  Done done;
  Error error;
  ASSERT_TRUE(decode_answer<Empty>(encode_error(header, {ErrorCode::kDenied, "no", {}}), 5, done, error));
  EXPECT_EQ(error.code, ErrorCode::kDenied);
  EXPECT_EQ(error.message, "no");
  // These mean something to the engine that a worker has no say in.
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kBusy, ErrorCode::kInternal, static_cast<ErrorCode>(77)}) {
    ASSERT_TRUE(decode_answer<Empty>(encode_error(header, {code, "no", {}}), 5, done, error));
    EXPECT_EQ(error.code, ErrorCode::kSystem);
  }
  EXPECT_FALSE(decode_answer<Empty>(encode_error(header, {ErrorCode::kDenied, "", {}}), 5, done, error));
  ASSERT_TRUE(decode_answer<Empty>(encode_error(header, {ErrorCode::kDenied, std::string(100'000, 'x'), {}}), 5, done, error));
  EXPECT_EQ(error.message.size(), kMaxWordsBytes);
}

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    one_.reset(ends[0]);
    other_.reset(ends[1]);
  }
  Result<Message> receive() { return receive_message(other_.get(), kMaxPacketBytes, std::chrono::milliseconds(0), 1); }
  UniqueFd one_, other_;
};

TEST_F(ChannelTest, TheLongestPacketFits) {
  const std::string bytes(kMaxPacketBytes, 'x');
  ASSERT_TRUE(send_message(one_.get(), bytes, {other_.get()}).ok());
  const auto packet = receive();
  ASSERT_TRUE(packet.ok()) << packet.error().text();
  EXPECT_EQ(packet->bytes, bytes);
  ASSERT_EQ(packet->descriptors.size(), 1u);
  EXPECT_NE(::fcntl(packet->descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(receive().error().code, ErrorCode::kBusy);
  one_.reset();
  EXPECT_TRUE(receive()->bytes.empty());
}

TEST_F(ChannelTest, ALongerOneIsRefused) {
  const std::string bytes(kMaxPacketBytes + 1, 'x');
  ASSERT_TRUE(send_message(one_.get(), bytes, {}).ok());
  EXPECT_EQ(receive().error().code, ErrorCode::kCorrupt);
}

TEST_F(ChannelTest, MoreDescriptorsThanOneAreRefusedAndNoneIsLeft) {
  const int fds[3] = {one_.get(), one_.get(), one_.get()};
  char room[CMSG_SPACE(sizeof fds)] = {};
  char byte = 'x';
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(header), fds, sizeof fds);
  const int next = ::dup(0);
  ::close(next);
  ASSERT_EQ(::sendmsg(one_.get(), &message, 0), 1);
  EXPECT_EQ(receive().error().code, ErrorCode::kCorrupt);
  const int after = ::dup(0);
  EXPECT_EQ(after, next) << "a descriptor was left open";
  ::close(after);
}

}  // namespace
}  // namespace stab::worker

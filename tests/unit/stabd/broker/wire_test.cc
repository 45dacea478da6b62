// What the broker takes of the bytes it is sent, and what it says of all others.
#include "stabd/broker/wire/broker_wire.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

#include "runtime/helper/switches.h"
#include "base/message_socket.h"
#include "stabd/broker/wire/client.h"

namespace stab::broker {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <size_t kRoom>
void set(char (&field)[kRoom], const char* text) { set_text(field, kRoom, text); }

TurnKnob knob(const char* name, const char* word) {
  TurnKnob request;
  set(request.knob, name);
  set(request.word, word);
  return request;
}

OpenCounters counters(uint32_t count) {
  OpenCounters request;
  request.pid = 7;
  request.count = count;
  return request;
}

Launch launch() {
  Launch request;
  request.flags = Launch::kNoAslr | Launch::kReportPipe;
  request.uid = 1000;
  request.tree = 3;
  request.argc = 2;
  request.limit_count = 1;
  request.limits[0] = {RLIMIT_STACK, 0, 1 << 20, 1 << 20};
  request.memory_bytes = 1 << 30;
  return request;
}

// One of each kind.
std::vector<Request> all() {
  return {Hello{},
          Vouch{},
          MakeTree{},
          DropTree{.tree = 1},
          TreeState{.tree = 1},
          launch(),
          counters(kMostCounters),
          End{.tree = 1, .pid = 2},
          OpenKernelLog{},
          knob("turbo", "off"),
          RestoreKnobs{},
          Give{.uid = 1000}};
}

std::string why(const Request& request) {
  const auto decoded = decode_request(encode(request), descriptors_of(request));
  return decoded ? "" : decoded.error().message;
}

TEST(Wire, TakesWhatItMakes) {
  ASSERT_EQ(all().size(), kLastKind);
  for (const Request& request : all()) {
    const auto decoded = decode_request(encode(request), descriptors_of(request));
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(decoded->index(), request.index());
    EXPECT_EQ(encode(*decoded), encode(request));
    EXPECT_LE(encode(request).size(), kMostRequestBytes);
  }
}

TEST(Wire, TakesNoOtherSizeVersionKindOrDescriptors) {
  for (const Request& request : all()) {
    const std::string bytes = encode(request);
    const size_t beside = descriptors_of(request);
    EXPECT_FALSE(decode_request(bytes + std::string(1, '\0'), beside).ok());
    EXPECT_FALSE(decode_request(bytes.substr(0, bytes.size() - 1), beside).ok());
    EXPECT_FALSE(decode_request(bytes, beside + 1).ok());
    std::string other = bytes;
    other[0] = 99;
    const auto version = decode_request(other, beside);
    ASSERT_FALSE(version.ok());
    EXPECT_THAT(version.error().message, HasSubstr("version 99"));
    for (const char kind : {'\0', static_cast<char>(kLastKind + 1), '\x7f'}) {
      other = bytes;
      other[4] = kind;
      const auto unknown = decode_request(other, beside);
      ASSERT_FALSE(unknown.ok());
      EXPECT_THAT(unknown.error().message, HasSubstr("unknown kind"));
    }
  }
  EXPECT_FALSE(decode_request("", 0).ok());
  EXPECT_FALSE(decode_request("abc", 0).ok());
}

// Of another build, whose structs have other sizes.
TEST(Wire, AnotherVersionIsNamedWhateverItsSize) {
  std::string older = encode(refusal(Kind::kHello, bad_input("no"))), newer = older + std::string(1000, 'x');
  older = older.substr(0, older.size() - 100);
  older[0] = newer[0] = 77;
  for (const std::string& bytes : {older, newer}) {
    const auto answer = decode_answer(bytes, 0);
    ASSERT_FALSE(answer.ok());
    EXPECT_THAT(answer.error().message, HasSubstr("the broker speaks version 77 of their language and the program version " +
                                                  std::to_string(kVersion)));
    EXPECT_THAT(answer.error().message, HasSubstr("systemctl restart stab-broker stabd"));
  }
  std::string request = encode(Hello{}) + std::string(5000, 'x');
  request[0] = 78;
  const auto decoded = decode_request(request, 0);
  ASSERT_FALSE(decoded.ok());
  EXPECT_THAT(decoded.error().message, HasSubstr("and the program version 78"));
}

// Up to the end of its text an answer is what it was in version 2.
TEST(Wire, ARefusalForAnotherVersionIsWhatThatOneReads) {
  const std::string bytes = encode_for_other_version(refusal(Kind::kHello, bad_input("of different builds")));
  constexpr size_t kBytesOfVersion2 = 768, kTextAt = 256;
  ASSERT_EQ(bytes.size(), kBytesOfVersion2);
  EXPECT_STREQ(bytes.c_str() + kTextAt, "of different builds");
}

// Who starts the broker learns it in the same words, and not that it hangs.
TEST(Wire, AClientSaysThatTheBrokerIsOfAnotherBuild) {
  for (const size_t bytes : {sizeof(Answer) - 256, sizeof(Answer), sizeof(Answer) + 4096}) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    UniqueFd ours(ends[0]);
    const UniqueFd brokers(ends[1]);
    std::string answer = encode(Answer{});
    answer.resize(bytes);
    answer[0] = 2;
    ASSERT_TRUE(send_message(brokers.get(), answer, {}).ok());
    const auto client = Client::over(std::move(ours));
    ASSERT_FALSE(client.ok());
    EXPECT_THAT(client.error().message, StartsWith("stab-broker and the program that asks it are of different builds"));
    EXPECT_THAT(client.error().message, HasSubstr("install all of stab from one build"));
  }
}

TEST(Wire, NamesArePartsOfNoPath) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "/etc", ".hidden", "-x", "a b", "a\nb", "caf\xc3\xa9"}) {
    EXPECT_THAT(why(knob(name, "off")), HasSubstr("no simple name")) << name;
    EXPECT_THAT(why(knob("turbo", name)), HasSubstr("no simple name")) << name;
  }
  EXPECT_EQ(why(knob("frequency", "2400000")), "");
  // Neither without an end nor with something behind it.
  TurnKnob full = knob("turbo", "off");
  std::memset(full.word, 'a', sizeof full.word);
  EXPECT_NE(why(full), "");
  TurnKnob hidden = knob("turbo", "off");
  hidden.knob[9] = 'y';
  EXPECT_NE(why(hidden), "");
}

TEST(Wire, ALaunchKeepsItsBounds) {
  EXPECT_EQ(why(launch()), "");
  const auto changed = [](auto change) {
    Launch request = launch();
    change(request);
    return why(request);
  };
  EXPECT_NE(changed([](Launch& r) { r.flags |= 1024; }), "");
  EXPECT_NE(changed([](Launch& r) { r.flags |= Launch::kHelper | Launch::kHelperSocket; }), "");
  EXPECT_NE(changed([](Launch& r) { r.flags |= Launch::kHelperScript; }), "") << "without a helper";
  EXPECT_NE(changed([](Launch& r) { r.helper_switches = helper::kTellSamples; }), "");
  EXPECT_EQ(changed([](Launch& r) { r.flags |= Launch::kHelper, r.helper_switches = helper::kAllSwitches; }), "");
  EXPECT_NE(changed([](Launch& r) { r.flags |= Launch::kHelper, r.helper_switches = helper::kAllSwitches + 1; }), "");
  EXPECT_NE(changed([](Launch& r) { r.cpu = -2; }), "");
  EXPECT_NE(changed([](Launch& r) { r.helper_cpu = kMostCpus; }), "");
  EXPECT_NE(changed([](Launch& r) { r.argc = kMostWords + 1; }), "");
  EXPECT_NE(changed([](Launch& r) { r.limit_count = kMostLimits + 1; }), "");
  EXPECT_NE(changed([](Launch& r) { r.limits[3].soft = 1; }), "");
  EXPECT_NE(changed([](Launch& r) { r.tree = 0; }), "");
  for (const int resource : std::vector<int>{RLIMIT_RTPRIO, RLIMIT_NICE, RLIMIT_MEMLOCK, RLIMIT_RTTIME, 99})
    EXPECT_THAT(changed([resource](Launch& r) { r.limits[0].resource = static_cast<uint32_t>(resource); }),
                HasSubstr("may not be set"));
}

TEST(Wire, OthersKeepTheirs) {
  EXPECT_NE(why(counters(0)), "");
  EXPECT_NE(why(counters(kMostCounters + 1)), "");
  OpenCounters more = counters(1);
  more.counters[1].config = 1;
  EXPECT_NE(why(more), "");
  more = counters(1);
  more.pid = -1;
  EXPECT_NE(why(more), "");
  more = counters(1);
  more.counters[0].flags = 16;
  EXPECT_NE(why(more), "");
  EXPECT_NE(why(MakeTree{.wanted = 3}), "");
  EXPECT_NE(why(MakeTree{.flags = MakeTree::kAllFlags + 1}), "");
  EXPECT_EQ(why(MakeTree{.flags = MakeTree::kIsolated | MakeTree::kLimited | MakeTree::kPrivateIpc}), "");
  EXPECT_NE(why(MakeTree{.own_cpu = kMostCpus}), "");
  EXPECT_NE(why(End{}), "");
  EXPECT_NE(why(End{.pid = -1}), "");
  EXPECT_NE(why(DropTree{}), "");
  EXPECT_NE(why(TreeState{}), "");
  EXPECT_NE(why(Give{.uid = kOwnUser}), "");
}

TEST(Wire, APrivateTmpIsNamedByEntriesAndNoPaths) {
  MakeTree tree{.flags = MakeTree::kPrivateIpc | MakeTree::kPrivateTmp};
  EXPECT_NE(why(tree), "") << "no name";
  set_text(tree.tmp, sizeof tree.tmp, "stab-0000001-abcdef");
  EXPECT_EQ(why(tree), "");
  for (const char* wrong : {"", ".", "..", "a/b", "/etc", "../etc"}) {
    MakeTree other = tree;
    set_text(other.tmp, sizeof other.tmp, wrong);
    EXPECT_NE(why(other), "") << wrong;
    if (*wrong == 0) continue;
    other = tree;
    set_text(other.var_tmp, sizeof other.var_tmp, wrong);
    EXPECT_NE(why(other), "") << wrong;
    other = tree;
    set_text(other.kept[0], sizeof other.kept[0], wrong);
    EXPECT_NE(why(other), "") << wrong;
  }
  set_text(tree.kept[1], sizeof tree.kept[1], "b");
  EXPECT_NE(why(tree), "") << "a name behind none";
  set_text(tree.kept[0], sizeof tree.kept[0], "a");
  EXPECT_EQ(why(tree), "");
  tree.flags = MakeTree::kPrivateTmp;
  EXPECT_NE(why(tree), "");
  tree.flags = MakeTree::kPrivateIpc;
  EXPECT_NE(why(tree), "") << "names of what is not wanted";
}

TEST(Wire, AnswersAreHeldToTheirFormToo) {
  Answer answer;
  answer.head.kind = Kind::kLaunch;
  answer.pid = 12;
  answer.usage.minor_faults = 34;
  const auto decoded = decode_answer(encode(answer), 2);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->pid, 12);
  EXPECT_EQ(decoded->usage.minor_faults, 34);
  EXPECT_FALSE(decode_answer(encode(answer).substr(1), 0).ok());
  Answer endless = answer;
  std::memset(endless.text, 'x', sizeof endless.text);
  EXPECT_FALSE(decode_answer(encode(endless), 0).ok());
  Answer odd = answer;
  odd.flags = 1u << 30;
  EXPECT_FALSE(decode_answer(encode(odd), 0).ok());
  odd = answer;
  odd.code = 99;
  EXPECT_FALSE(decode_answer(encode(odd), 0).ok());
}

TEST(Wire, ALongRefusalIsCut) {
  const auto decoded = decode_answer(encode(refusal(Kind::kKnob, bad_input(std::string(2000, 'z')))), 0);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(std::string(decoded->text), std::string(sizeof(Answer::text) - 1, 'z'));
  EXPECT_EQ(decoded->flags, Answer::kRefused);
}

}  // namespace
}  // namespace stab::broker

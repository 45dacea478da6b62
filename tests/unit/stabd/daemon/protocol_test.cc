// What is a request, and what is refused: size, depth, kinds of values. Hostile lines come from anybody in the group.
#include "stabd/daemon/protocol/protocol.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace stab::daemon {
namespace {

RpcCode fault_of(std::string_view line) {
  const ParsedRequest parsed = parse_request(line);
  EXPECT_FALSE(parsed.request.has_value()) << line;
  return parsed.fault.code;
}

TEST(Protocol, RequestRoundTrip) {
  const std::string line = request_line(7, "report", {{"experiment", "a\n\"b"}}, {{"width", 80}});
  ASSERT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const ParsedRequest parsed = parse_request(line.substr(0, line.size() - 1));
  ASSERT_TRUE(parsed.request.has_value()) << parsed.fault.message;
  EXPECT_EQ(parsed.request->id, "7");
  EXPECT_EQ(parsed.request->method, "report");
  EXPECT_EQ(parsed.request->text("experiment"), "a\n\"b");
  EXPECT_EQ(parsed.request->number("width"), 80);
  EXPECT_EQ(parsed.request->text("absent"), "");
  EXPECT_FALSE(parsed.request->number("absent").has_value());
}

// Answers have experiments as numbers, and requests name them: neither form is passed over for the newest one.
TEST(Protocol, ANumberIsATextOfItsDigits) {
  const ParsedRequest parsed = parse_request(
      R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"experiment":3,"negative":-1,"trial":"5","name":"5a","empty":""}})");
  ASSERT_TRUE(parsed.request.has_value()) << parsed.fault.message;
  EXPECT_EQ(parsed.request->text("experiment"), "3");
  EXPECT_EQ(parsed.request->text("negative"), "-1");
  EXPECT_EQ(parsed.request->number("trial"), 5);
  EXPECT_FALSE(parsed.request->number("name").has_value());
  EXPECT_FALSE(parsed.request->number("empty").has_value());
}

TEST(Protocol, Faults) {
  EXPECT_EQ(fault_of(""), RpcCode::kParse);
  EXPECT_EQ(fault_of("{"), RpcCode::kParse);
  EXPECT_EQ(fault_of("[]"), RpcCode::kInvalidRequest);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","method":"x"})"), RpcCode::kInvalidRequest);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","id":1.5,"method":"x"})"), RpcCode::kInvalidRequest);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"1.0","id":1,"method":"x"})"), RpcCode::kInvalidRequest);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","id":1,"method":3})"), RpcCode::kInvalidRequest);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[1]})"), RpcCode::kInvalidParams);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{}}})"), RpcCode::kInvalidParams);
}

TEST(Protocol, DeepNestingIsRefused) {
  EXPECT_EQ(fault_of(std::string(100'000, '[')), RpcCode::kParse);
  EXPECT_EQ(fault_of(R"({"jsonrpc":"2.0","id":1,"method":"x","params":)" + std::string(40, '[') + std::string(40, ']') + "}"),
            RpcCode::kParse);
}

// Requests with some bytes changed, removed or repeated: each is answered, none is fatal.
TEST(Protocol, DamagedRequests) {
  Rng rng(20261120);
  const std::string good = request_line(1, "submit", {{"plan", "[experiment]\nname = \"x\""}, {"directory", "/"}}, {{"n", -5}});
  int understood = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = good.substr(0, good.size() - 1);
    for (uint64_t change = rng.below(4); change > 0 && !line.empty(); --change) {
      const size_t at = rng.below(line.size());
      switch (rng.below(3)) {
        case 0: line.erase(at, rng.below(8)); break;
        case 1: line.insert(at, line.substr(at, rng.below(20))); break;
        default: line[at] = static_cast<char>(rng.below(256));
      }
    }
    const ParsedRequest parsed = parse_request(line);
    understood += parsed.request.has_value();
    if (parsed.request) continue;
    ASSERT_NE(fault_line(parsed.fault).find("\"error\""), std::string::npos);
  }
  EXPECT_GT(understood, 1000);
  EXPECT_LT(understood, 19'000);
}

TEST(Protocol, AnswersAreOneLine) {
  const std::string line = fault_line({RpcCode::kNotFound, "no\nsuch \x1b[31mthing \xff", "\"q\""});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_NE(line.find("\"id\":\"q\""), std::string::npos);
  EXPECT_NE(line.find("-32001"), std::string::npos);
}

TEST(LineSplitter, CutsWhereverTheBytesWereCut) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  for (const char c : std::string("one\ntwo\n\nthree")) ASSERT_TRUE(splitter.add(std::string(1, c), lines));
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", ""}));
  ASSERT_TRUE(splitter.add("\n", lines));
  EXPECT_EQ(lines.back(), "three");
}

TEST(LineSplitter, EndlessLinesAreRefused) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const std::string chunk(1u << 20, 'x');
  bool fits = true;
  for (int i = 0; i < 8 && fits; ++i) fits = splitter.add(chunk, lines);
  EXPECT_FALSE(fits);
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace stab::daemon

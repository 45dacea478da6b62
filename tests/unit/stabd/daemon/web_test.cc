// HTTP out of bytes, the door, what a request asks of the protocol, estimates, and what blinding hides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <set>
#include <utility>

#include "stabd/daemon/events/blinding.h"
#include "stabd/daemon/protocol/protocol.h"
#include "stabd/daemon/runs/estimates.h"
#include "stabd/daemon/web/conversation.h"
#include "stabd/daemon/web/door.h"
#include "stabd/daemon/web/http.h"

namespace stab::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HttpRequest request_of(const std::string& bytes) {
  HttpReader reader;
  reader.add(bytes);
  const auto request = reader.next();
  EXPECT_TRUE(request.has_value()) << bytes << (reader.fault() ? reader.fault()->message : "");
  return request.value_or(HttpRequest());
}

std::optional<int> refusal_of(const std::string& fields, const std::string& method = "GET") {
  const auto fault = why_not_in(request_of(method + " / HTTP/1.1\r\n" + fields + "\r\n"));
  return fault ? std::optional(fault->status) : std::nullopt;
}

WebTurn turn_of(const std::string& bytes) {
  WebConversation conversation;
  conversation.add(bytes);
  const auto turn = conversation.next();
  EXPECT_TRUE(turn.has_value()) << bytes;
  return turn.value_or(WebTurn());
}

constexpr char kHost[] = "Host: 127.0.0.1:8642\r\n";

TEST(Http, AWholeRequestIsTakenWhateverThePiecesAre) {
  const std::string bytes =
      "POST /x?y HTTP/1.1\r\nHost: a\r\nX-Twice: 1\r\nx-twice: 2\r\nContent-Length: 3\r\n\r\nabcGET /next HTTP/1.1\r\n\r\n";
  for (size_t step = 1; step <= bytes.size(); ++step) {
    HttpReader reader;
    std::vector<HttpRequest> all;
    for (size_t at = 0; at < bytes.size(); at += step) {
      reader.add(std::string_view(bytes).substr(at, step));
      while (auto request = reader.next()) all.push_back(std::move(*request));
    }
    ASSERT_EQ(all.size(), 2u) << step;
    EXPECT_EQ(all[0].method, "POST");
    EXPECT_EQ(all[0].target, "/x?y");
    EXPECT_EQ(all[0].body, "abc");
    EXPECT_EQ(all[0].field("host"), "a");
    EXPECT_FALSE(all[0].field("x-twice").has_value());
    EXPECT_TRUE(all[0].has("x-twice"));
    EXPECT_EQ(all[1].target, "/next");
    EXPECT_EQ(reader.raw(), "GET /next HTTP/1.1\r\n\r\n");
    EXPECT_FALSE(reader.in_message());
  }
}

TEST(Http, HeadAndBodyAreBounded) {
  HttpReader endless;
  endless.add("GET / HTTP/1.1\r\nX: " + std::string(kMaxHttpHeadBytes + 1, 'x'));
  EXPECT_FALSE(endless.next().has_value());
  ASSERT_TRUE(endless.fault().has_value());
  EXPECT_EQ(endless.fault()->status, 431);
  HttpReader large;
  large.add("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(kMaxHttpBodyBytes + 1) + "\r\n\r\n");
  EXPECT_FALSE(large.next().has_value());
  ASSERT_TRUE(large.fault().has_value());
  EXPECT_EQ(large.fault()->status, 413);
  HttpReader fits;
  fits.add("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(kMaxHttpBodyBytes) + "\r\n\r\n");
  fits.add(std::string(kMaxHttpBodyBytes, 'x'));
  EXPECT_TRUE(fits.next().has_value());
}

TEST(Http, WhatIsSaidOfAHeadDoesNotDependOnItsPieces) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\nX: ";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    HttpReader reader;
    for (const std::string& piece : {bytes.substr(0, cut), bytes.substr(cut), std::string("y")}) {
      reader.add(piece);
      EXPECT_FALSE(reader.next().has_value());
      EXPECT_FALSE(reader.fault().has_value()) << cut;
    }
    reader.add("\r\n\r\n");
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_TRUE(reader.fault().has_value()) << cut;
  }
}

// A line too short to be a request's is that, whatever follows its head in the same read.
TEST(Http, WhatIsSaidOfAHeadDoesNotDependOnWhatFollowsIt) {
  for (const std::string lines : {"S GET ", "POST /api", "GET / HTTP/1.1\r\nHost", "GET", ""}) {
    const std::string head = lines + "\r\n\r\n";
    HttpReader alone, followed;
    alone.add(head);
    followed.add(head + "/ HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_FALSE(alone.next().has_value());
    EXPECT_FALSE(followed.next().has_value());
    ASSERT_TRUE(alone.fault().has_value() && followed.fault().has_value()) << head;
    EXPECT_EQ(alone.fault()->message, followed.fault()->message) << head;
  }
}

TEST(Http, NothingIsReadBehindAFault) {
  HttpReader reader;
  reader.add("nonsense\r\n\r\nGET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_TRUE(reader.fault().has_value());
  reader.add("GET / HTTP/1.1\r\n\r\n");
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Door, LetsInWhatOnlyOurPageSends) {
  EXPECT_EQ(refusal_of(kHost), std::nullopt);
  for (const std::string host : {"localhost", "stab-0a.localhost", "stab-0a.localhost:8642", "a.b.localhost:1"})
    EXPECT_EQ(refusal_of("Host: " + host + "\r\n"), std::nullopt) << host;
  for (const std::string host : {".localhost", "alocalhost", "a.localhost.evil.example", "a_.localhost", "a.localhost:"})
    EXPECT_EQ(refusal_of("Host: " + host + "\r\n"), 403) << host;
  EXPECT_EQ(refusal_of(""), 403);
  EXPECT_EQ(refusal_of("Host: evil.example\r\n"), 403);
  EXPECT_EQ(refusal_of(std::string(kHost) + "Host: 127.0.0.1:8642\r\n"), 403);
  EXPECT_EQ(refusal_of(std::string(kHost) + "Origin: http://127.0.0.1:8642\r\nSec-Fetch-Site: same-origin\r\n"), std::nullopt);
  EXPECT_EQ(refusal_of(std::string(kHost) + "Origin: http://127.0.0.1:8643\r\n"), 403);
  EXPECT_EQ(refusal_of(std::string(kHost) + "Sec-Fetch-Site: same-site\r\n"), 403);
  EXPECT_EQ(refusal_of(kHost, "DELETE"), 405);
  EXPECT_EQ(refusal_of(std::string(kHost) + "Content-Type: application/json\r\n", "POST"), 403);
  EXPECT_EQ(refusal_of(std::string(kHost) + "X-Stab: 1\r\n", "POST"), 415);
  EXPECT_EQ(refusal_of(std::string(kHost) + "X-Stab: 1\r\nContent-Type: application/json\r\n", "POST"), std::nullopt);
}

TEST(Conversation, RequestsAreTheProtocols) {
  const auto asks = [](const std::string& path) { return turn_of("GET " + path + " HTTP/1.1\r\n" + kHost + "\r\n").ask; };
  const auto same = [](const std::string& line, const std::string& method, const std::map<std::string, std::string>& texts) {
    const auto parsed = parse_request(std::string_view(line).substr(0, line.size() - 1));
    return parsed.request && parsed.request->method == method && parsed.request->texts == texts;
  };
  EXPECT_TRUE(same(asks("/api/status"), "status", {}));
  EXPECT_TRUE(same(asks("/api/experiments/12"), "watch", {{"experiment", "12"}}));
  EXPECT_TRUE(same(asks("/api/experiments/12/log?x=1"), "logs", {{"experiment", "12"}}));
  EXPECT_TRUE(same(asks("/experiments/12/report.html"), "report", {{"experiment", "12"}}));
  EXPECT_TRUE(same(asks("/api/experiments/12/not-passed"), "output", {{"experiment", "12"}}));
  EXPECT_EQ(asks("/api/trials/91/output"), request_line(1, "output", {}, {{"trial", 91}}));
  for (const char* none : {"/api/trials//output", "/api/trials/-1/output", "/api/trials/9x/output", "/api/trials/91",
                           "/api/trials/9999999999999999999/output"})
    EXPECT_EQ(asks(none), "") << none;
  EXPECT_EQ(asks("/api/experiments/x"), "");
  EXPECT_EQ(asks("/api/experiments//log"), "");
  EXPECT_EQ(asks("/api/cancel"), "");
  const std::string post =
      std::string(" HTTP/1.1\r\n") + kHost + "X-Stab: 1\r\nContent-Type: application/json\r\nContent-Length: ";
  EXPECT_TRUE(
      same(turn_of("POST /api/cancel" + post + "20\r\n\r\n{\"experiment\":\n\"3\" }").ask, "cancel", {{"experiment", "3"}}));
  EXPECT_EQ(turn_of("POST /api/cancel" + post + "23\r\n\r\n{\"a\":1},\"method\":\"delete\"").ask, "");
  EXPECT_EQ(turn_of("POST /api/status" + post + "2\r\n\r\n{}").ask, "");
}

std::string gunzipped(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);  // gzip's frame
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Conversation, AFileOfThePageIsGzippedForWhoTakesIt) {
  for (const std::string path : {"/", "/lab.js", "/lab.css"}) {
    const auto got = [&](const std::string& fields) {
      const std::string answer = turn_of("GET " + path + " HTTP/1.1\r\n" + kHost + fields + "\r\n").send;
      const size_t end = answer.find("\r\n\r\n");
      return std::pair(answer.substr(0, end), answer.substr(end + 4));
    };
    const auto [plain_head, plain] = got("");
    EXPECT_THAT(plain_head, Not(HasSubstr("Content-Encoding")));
    EXPECT_THAT(plain, HasSubstr(path == "/" ? "<!doctype html>" : path == "/lab.js" ? "'use strict'" : ":root"));
    for (const char* coding : {"gzip", "br, gzip;q=0.001, zstd", "gzip, deflate", "deflate,\tgzip ; q=1"}) {
      const auto [head, packed] = got("Accept-Encoding: " + std::string(coding) + "\r\n");
      EXPECT_THAT(head, HasSubstr("Content-Encoding: gzip\r\n")) << coding;
      EXPECT_THAT(head, HasSubstr("Content-Length: " + std::to_string(packed.size()) + "\r\n"));
      EXPECT_EQ(gunzipped(packed), plain) << coding;
      EXPECT_LT(packed.size(), plain.size());
    }
    for (const char* coding : {"gzip;q=0", "gzip; q=0.000", "br", "gzipped", "", "identity, x-gzip", ";;,,;gzip"})
      EXPECT_EQ(got("Accept-Encoding: " + std::string(coding) + "\r\n").second, plain) << coding;
    EXPECT_EQ(got("Accept-Encoding: gzip\r\nAccept-Encoding: gzip\r\n").second, plain);
  }
}

TEST(Conversation, EndsBehindWhatIsRefused) {
  WebConversation conversation;
  conversation.add("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\nGET /api/status HTTP/1.1\r\n" + std::string(kHost) + "\r\n");
  const auto turn = conversation.next();
  ASSERT_TRUE(turn.has_value());
  EXPECT_TRUE(turn->closes);
  EXPECT_TRUE(turn->send.starts_with("HTTP/1.1 403 "));
  EXPECT_FALSE(conversation.next().has_value());
}

TEST(Estimates, EndsFollowTurns) {
  EXPECT_EQ(time_left(30, 3, 5), 50);
  EXPECT_EQ(time_left(30, 2, 5), std::nullopt);
  EXPECT_EQ(time_left(0, 9, 5), std::nullopt);
  const auto ends =
      ends_in({{1, 0, false, 10}, {2, 5, false, 20}, {3, 0, true, 40}, {4, -1, false, std::nullopt}, {5, -2, false, 1}});
  ASSERT_EQ(ends.size(), 5u);
  EXPECT_EQ(ends[2], 40);
  EXPECT_EQ(ends[1], 60);
  EXPECT_EQ(ends[0], 70);
  EXPECT_EQ(ends[3], std::nullopt);
  EXPECT_EQ(ends[4], std::nullopt);
}

TEST(Blinding, NamesAndTimesSayNothingAndStayTheSame) {
  const Blinding one(1), same(1), other(2);
  std::set<std::string> names;
  for (int cell = 0; cell < 200; ++cell) {
    const std::string name = "code=" + std::to_string(cell);
    names.insert(one.mask(3, name));
    EXPECT_EQ(one.mask(3, name), same.mask(3, name));
    EXPECT_NE(one.mask(3, name), other.mask(3, name));
    EXPECT_LE(std::abs(one.shift(3, "lua", name)), 2);
  }
  EXPECT_EQ(names.size(), 200u);
  EXPECT_NE(one.mask(3, "a"), one.mask(4, "a"));
  EXPECT_NE(one.shift(3, "lua", "a"), one.shift(3, "lua", "b"));
  EXPECT_NE(one.shift(3, "lua", "a"), one.shift(3, "lu", "aa"));
  EXPECT_EQ(one.shift(3, "lua", "a"), same.shift(3, "lua", "a"));
}

TEST(Blinding, MaskedCellsAreKnownAsWellAndCompareNothing) {
  const Blinding blinding(1);
  engine::Precision precision, told;
  for (int i = 1; i <= 6; ++i) {
    for (const char* cell : {"code=off", "code=shuffle"}) {
      engine::TrialNews news;
      news.subject = "lua";
      news.cell = cell;
      news.wall_ns = 1'000'000'000 + 1'000'000 * i;
      news.layout = plan::TrialLayout{.id = static_cast<uint64_t>(i), .shared = cell[5] == 'o', .fixed_code = false};
      precision.add(news.subject, news.cell, *news.wall_ns, *news.layout);
      const ToldTrial masked = blinding.masked(3, news);
      EXPECT_EQ(masked.news.cell, blinding.mask(3, cell));
      EXPECT_EQ(masked.news.wall_ns, std::nullopt);
      const engine::TrialNews shown = masked.for_precision();
      told.add(shown.subject, shown.cell, *shown.wall_ns, *shown.layout);
    }
  }
  const engine::Precision masked = blinding.masked(3, precision);
  for (const engine::Precision* one : {&masked, &std::as_const(told)}) {
    ASSERT_EQ(one->cells().size(), 2u);
    ASSERT_TRUE(one->widest());
    EXPECT_NEAR(*one->widest(), *precision.widest(), 1e-7);
    for (const engine::CellTimes& cell : one->cells()) {
      EXPECT_TRUE(cell.cell.starts_with("cell ")) << cell.cell;
      EXPECT_GT(std::abs(cell.units().mean), 1e-3);
    }
    EXPECT_GT(std::abs(one->cells()[0].units().mean - one->cells()[1].units().mean), 1e-3);
  }
}

TEST(Blinding, AFailureKeepsItsName) {
  engine::TrialNews news;
  news.cell = "code=off";
  news.failure = "killed";
  EXPECT_EQ(Blinding(1).masked(3, news).news.cell, "code=off");
}

}  // namespace
}  // namespace stab::daemon

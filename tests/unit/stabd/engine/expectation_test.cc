// What a plan can expect of a program's end and output, in the order in which the first contradiction is said.
#include "stabd/engine/trial/expectation.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/places.h"
#include "stabd/worker/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

using worker::sha256;
using worker::sha256_of_file;

// As one user without a daemon has it.
Worker a_worker() { return Worker({started_here(STAB_LAUNCHER), STAB_PROGRAMS "/stab-worker", {}, -1, -1, {}}); }

std::string contradiction(const plan::Expect& expect, const ProcessEnd& end, const std::optional<std::string>& first) {
  Worker worker = a_worker();
  const Result<std::string> found = engine::contradiction(expect, end, first, &worker);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found ? *found : "no answer";
}

class Finished {
 public:
  explicit Finished(const std::string& text) : out_(::memfd_create("out", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(out_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    end.exit_status = 0;
    end.out_fd = out_.get();
    end.stdout_sha256 = sha256(text);
    end.stderr_sha256 = sha256("");
    end.stdout_bytes = static_cast<int64_t>(text.size());
  }
  ProcessEnd end;

 private:
  UniqueFd out_;
};

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, FilesHaveTheHashOfTheirText) {
  TemporaryDirectory directory;
  const std::string text(200'000, 'x');
  EXPECT_EQ(*sha256_of_file(directory.write("f", text)), sha256(text));
  EXPECT_FALSE(sha256_of_file(directory.path() + "/absent").ok());
}

TEST(Expectation, ExitStatus) {
  Finished finished("");
  plan::Expect expect;
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
  finished.end.exit_status = 3;
  EXPECT_EQ(contradiction(expect, finished.end, {}), "exit status 3, expected exit status 0");
  expect.exit = {3};
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
  expect.exit = {0, 3};
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
  expect.exit = {0, 1, 10};
  EXPECT_EQ(contradiction(expect, finished.end, {}), "exit status 3, expected exit status 0, 1 or 10");
  finished.end.exit_status.reset();
  finished.end.signal = 11;
  EXPECT_EQ(contradiction(expect, finished.end, {}).substr(0, 19), "killed by signal 11");
}

TEST(Expectation, OutputHash) {
  Finished finished("hello\n");
  plan::Expect expect;
  expect.stdout_sha256 = sha256("hello\n");
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
  expect.stdout_sha256 = sha256("hello");
  EXPECT_NE(contradiction(expect, finished.end, {}).find("stdout has sha256"), std::string::npos);
  expect.stdout_sha256.reset();
  expect.stderr_sha256 = sha256("x");
  EXPECT_NE(contradiction(expect, finished.end, {}).find("stderr has sha256"), std::string::npos);
}

TEST(Expectation, OutputMustNotChangeBetweenTrials) {
  Finished finished("a\n");
  plan::Expect expect;
  expect.same_stdout = true;
  EXPECT_EQ(contradiction(expect, finished.end, sha256("a\n")), "");
  const std::string found = contradiction(expect, finished.end, sha256("b\n"));
  EXPECT_NE(found.find("first trial"), std::string::npos) << found;
  expect.same_stdout = false;
  EXPECT_EQ(contradiction(expect, finished.end, sha256("b\n")), "");
}

TEST(Expectation, RegularExpression) {
  Finished finished("total 17 ok\n");
  plan::Expect expect;
  expect.stdout_regex = "total [0-9]+ ok";
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
  expect.stdout_regex = "^ok";
  EXPECT_EQ(contradiction(expect, finished.end, {}), "stdout does not match '^ok'");
}

TEST(Expectation, RegularExpressionOnALongOutput) {
  Finished finished(std::string(300'000, '\n') + "total 17 ok\n");
  plan::Expect expect;
  expect.stdout_regex = "total [0-9]+ ok";
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
}

// A recursive matcher runs out of stack on the first and out of years on the second.
TEST(Expectation, NoPatternEndsOrStopsTheEngine) {
  plan::Expect expect;
  expect.stdout_regex = "ok.*done";
  EXPECT_EQ(contradiction(expect, Finished("ok" + std::string(30'000, 'x') + "done\n").end, {}), "");
  const Finished many(std::string(60'000, 'a') + "b\n");
  expect.stdout_regex = "^(a+)+$";
  EXPECT_EQ(contradiction(expect, many.end, {}), "stdout does not match '^(a+)+$'");
  expect.stdout_regex = "(x+x+)+y|(a|a)*c|(a|aa)+$";
  EXPECT_EQ(contradiction(expect, many.end, {}), "stdout does not match '(x+x+)+y|(a|a)*c|(a|aa)+$'");
}

TEST(Expectation, AHugeEmptyFileIsNotHashed) {
  TemporaryDirectory directory;
  ASSERT_EQ(::truncate(directory.write("huge", "").c_str(), off_t{4} << 40), 0);
  Finished finished("");
  finished.end.directory = directory.path();
  plan::Expect expect;
  expect.files = {{"huge", sha256("")}};
  EXPECT_EQ(contradiction(expect, finished.end, {}), "expected file 'huge': '" + directory.path() +
            "/huge' has 4398046511104 bytes, holes counted; at most 8 GiB are hashed");
  ASSERT_EQ(::mkfifo((directory.path() + "/fifo").c_str(), 0600), 0);
  expect.files = {{"fifo", sha256("")}};
  EXPECT_NE(contradiction(expect, finished.end, {}).find("is a FIFO, not a regular file"), std::string::npos);
}

TEST(Expectation, LongOutputsHaveTheSameHash) {
  const std::string text(3 << 20, 'x');
  const Finished finished(text);
  Worker worker = a_worker();
  const auto hash = hash_of_output(finished.end.out_fd, finished.end.stdout_bytes, &worker);
  ASSERT_TRUE(hash.ok()) << hash.error().text();
  EXPECT_EQ(*hash, sha256(text));
}

TEST(Expectation, Files) {
  TemporaryDirectory directory;
  directory.write("out.bz2", "data");
  Finished finished("");
  finished.end.directory = directory.path();
  plan::Expect expect;
  expect.files = {{"out.bz2", sha256("data")}};
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
  expect.files = {{"out.bz2", sha256("other")}};
  EXPECT_NE(contradiction(expect, finished.end, {}).find("file 'out.bz2' has sha256"), std::string::npos);
  expect.files = {{"absent", sha256("data")}};
  EXPECT_NE(contradiction(expect, finished.end, {}).find("'absent'"), std::string::npos);
}

}  // namespace
}  // namespace stab::engine

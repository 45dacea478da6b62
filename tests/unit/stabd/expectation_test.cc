// What a plan can expect of a program's end and output, in the order in which the first contradiction is said.
#include "stabd/expectation.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "stabd/sha256.h"
#include "tests/unit/temporary_directory.h"

namespace stab::engine {
namespace {

class Finished {
 public:
  explicit Finished(const std::string& text) : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(out_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    end.exit_status = 0;
    end.out_fd = out_.get();
    end.err_fd = err_.get();
    end.stdout_sha256 = sha256(text);
    end.stderr_sha256 = sha256("");
    end.stdout_bytes = static_cast<int64_t>(text.size());
  }
  ProcessEnd end;

 private:
  UniqueFd out_, err_;
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
  expect.exit = 3;
  EXPECT_EQ(contradiction(expect, finished.end, {}), "");
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

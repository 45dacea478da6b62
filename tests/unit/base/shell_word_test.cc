#include "base/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace stab {
namespace {

// What a shell makes of one word.
std::string read_by_a_shell(const std::string& word) {
  FILE* shell = popen(("printf %s " + word).c_str(), "r");
  std::string text;
  std::array<char, 256> bytes;
  if (shell == nullptr) return text;
  for (size_t got = 0; (got = fread(bytes.data(), 1, bytes.size(), shell)) > 0;) text.append(bytes.data(), got);
  pclose(shell);
  return text;
}

TEST(ShellWord, IsReadAsItWasMeant) {
  for (const char* text : {"lab.db", "/tmp/a b/lab.db", "it's", "$HOME", "a\nb", "~/x", "*", "a;b", "\\", "\"", "-O2", "über"})
    EXPECT_EQ(read_by_a_shell(shell_word(text)), text);
}

TEST(ShellWord, StaysReadableWhereNothingNeedsQuotes) {
  EXPECT_EQ(shell_word("/home/a.b/lab-1.db"), "/home/a.b/lab-1.db");
  EXPECT_EQ(shell_word("/tmp/a b"), "'/tmp/a b'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, IsReadBack) {
  for (const char* text : {"lab.db", "/tmp/a b/lab.db", "it's", "$HOME", "a\nb", "~/x", "a;b", "\\", "\"", "\\\"", "über", ""})
    EXPECT_EQ(text_of_shell_word(shell_word(text)), text);
  for (const char* typed :
       {R"(a\ b)", R"('a b'c)", R"("a b")", R"("it's")", R"("a\"b")", R"("a\nb")", R"('a\b')", R"(a'"'b)", R"("\$HOME")"})
    EXPECT_EQ(text_of_shell_word(typed), read_by_a_shell(typed)) << typed;
}

TEST(ShellWord, IsReadWhileItIsTyped) {
  EXPECT_EQ(text_of_shell_word("\"my la"), "my la");
  EXPECT_EQ(text_of_shell_word("'my la"), "my la");
  EXPECT_EQ(text_of_shell_word("my\\"), "my");
  EXPECT_EQ(text_of_shell_word("'"), "");
}

}  // namespace
}  // namespace stab

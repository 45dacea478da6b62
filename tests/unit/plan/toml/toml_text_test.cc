// What is written is read again, whatever a name holds.
#include "plan/toml/toml_text.h"

#include <gtest/gtest.h>

#include "plan/toml/toml_reader.h"

namespace stab::toml {
namespace {

TEST(TomlText, IsReadAgain) {
  std::string all = "\"quoted\" \\ 'so' \x7f\u00e9\u20ac";
  for (char c = 1; c < ' '; ++c) all += c;
  for (const std::string& text : {std::string(), std::string("plain"), std::string("a\nb\tc"), all}) {
    const auto read = read_toml("key = " + toml_text(text) + "\n", "p.toml");
    ASSERT_TRUE(std::holds_alternative<TomlNode>(read)) << toml_text(text);
    EXPECT_EQ(std::get<TomlNode>(read).entries.at(0).value.text, text);
  }
}

// As older PowerShells write what '>' takes.
TEST(TomlText, Utf16HasItsCure) {
  for (const std::string& text : {std::string("\xff\xfe" "a\0=\0", 6), std::string("\xfe\xff\0a\0=", 6)}) {
    const auto read = read_toml(text, "p.toml");
    ASSERT_TRUE(std::holds_alternative<Diagnostic>(read));
    EXPECT_NE(render(std::get<Diagnostic>(read)).find("it is UTF-16, as PowerShell's '>' writes"), std::string::npos);
    EXPECT_NE(render(std::get<Diagnostic>(read)).find("hint: turn it into UTF-8: iconv -f UTF-16 -t UTF-8"), std::string::npos);
  }
}

}  // namespace
}  // namespace stab::toml

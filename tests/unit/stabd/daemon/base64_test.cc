// The vectors of RFC 4648, section 10, and what is no base64.
#include "stabd/daemon/protocol/base64.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace stab::daemon {
namespace {

TEST(Base64, TheExamplesOfRfc4648) {
  for (const auto& [bytes, text] : {std::pair("", ""), {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, AnyBytesComeBack) {
  Rng rng(20261120);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, WhatIsNoneIsRefused) {
  for (const char* text : {"Z", "Zg=", "Z\n==", "Zg!!"}) EXPECT_FALSE(from_base64(text).has_value()) << text;
}

}  // namespace
}  // namespace stab::daemon

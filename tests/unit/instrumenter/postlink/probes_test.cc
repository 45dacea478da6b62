// Probes in notes, those of a damaged section among them.
#include "instrumenter/postlink/probes.h"

#include "tests/unit/instrumenter/postlink/assembled.h"

namespace stab::postlink {
namespace {

constexpr char kCode[] = ".type start,@function\nstart: nop\n.Lplace: nop\nret\n.size start, .-start\n";

std::string note(const std::string& name_bytes, const std::string& content_bytes) {
  return ".section .note.stapsdt,\"\",@note\n.balign 4\n.long " + name_bytes + ", " + content_bytes + ", 3\n" +
         ".asciz \"stapsdt\"\n.quad .Lplace, 0, 0\n.asciz \"app\"\n.asciz \"begin\"\n.asciz \"\"\n.balign 4\n.text\n";
}

class Probes : public AssembledTest {
 protected:
  std::vector<Probe> read(const std::string& notes) {
    analyze_assembly(kCode + notes);
    return read_probes(*image_);
  }
};

TEST_F(Probes, AreReadInTheirOrder) {
  const auto probes = read(note("8", "35") + note("8", "35"));
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_EQ(probes[0].name, "app:begin");
  EXPECT_EQ(probes[0].address, function("start").start + 1);
  EXPECT_EQ(moving_probes(*image_, [](uint64_t) { return true; }), "2 probes, app:begin the first");
  EXPECT_EQ(moving_probes(*image_, [](uint64_t) { return false; }), "");
}

TEST_F(Probes, OfADamagedSectionAreLeftOut) {
  EXPECT_EQ(read(note("8", "35") + note("0x7fffffff", "35")).size(), 1u);
  EXPECT_TRUE(read(note("0xffffffff", "0xffffffff")).empty());
  EXPECT_TRUE(read(note("8", "8")).empty()) << "too short for its addresses";
}

}  // namespace
}  // namespace stab::postlink

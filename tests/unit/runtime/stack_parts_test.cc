// Stacks that the kernel shows in parts, of this process, each way to ask for its mappings.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "runtime/helper/look.h"
#include "runtime/sys.h"

namespace stab::helper {
namespace {

constexpr size_t kPage = 4096, kPages = 6;
constexpr uint64_t kSlot = 5;

enum class Way { kQuery, kText };

class StackParts : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    void* const mapped = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    pages_ = static_cast<char*>(mapped);
    // A guard behind it, so that nothing else of this process is taken for more of the stack.
    ASSERT_EQ(mprotect(page(kPages - 1), kPage, PROT_NONE), 0);
    looker_.rings.program = {uint64_t{1} << 40, 64 << 20, 1 << 20};
    looker_.main_base = &main_base_;
    looker_.buffer = buffer_.get();
    looker_.give_up_cpu_ns = UINT64_MAX;
    looker_.seen = &seen_;
    process_.pid = getpid();
  }
  void TearDown() override {
    close_process(process_);
    munmap(pages_, kPages * kPage);
  }

  char* page(size_t index) { return pages_ + index * kPage; }
  uint64_t* word(size_t page_index, size_t index) { return reinterpret_cast<uint64_t*>(page(page_index)) + index; }
  void divide(size_t index) { ASSERT_EQ(madvise(page(index), kPage, MADV_DONTFORK), 0); }
  void return_into_image(size_t index) {
    const RingPlace& ring = looker_.rings.program;
    *word(index, 7) = ring.address + kSlot * ring.slot_bytes + 16;
  }

  // The slots that a scan from the first page finds.
  SlotSet scan() {
    EXPECT_TRUE(open_process(process_));
    if (GetParam() == Way::kText) be_an_older_kernel();
    Mapping stack;
    SignalFrames frames;
    SlotSet live = 0;
    const uint64_t sp = reinterpret_cast<uint64_t>(pages_) + 64;
    EXPECT_TRUE(find_mapping(process_, sp, looker_.buffer, stack));
    EXPECT_EQ(scan_stack(looker_, process_, sp, stack, live, frames), Reading::kDone);
    return live;
  }

  // A file with the text of /proc/self/maps answers no query.
  void be_an_older_kernel() {
    std::ifstream maps("/proc/self/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    const int file = memfd_create("maps", MFD_CLOEXEC);
    ASSERT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    sys::close(process_.maps);
    process_.maps = file;
  }

  char* pages_ = nullptr;
  uint64_t main_base_ = 0;
  std::unique_ptr<uint8_t[]> buffer_ = std::make_unique<uint8_t[]>(kLookBufferBytes);
  code::SeenCode seen_;
  Looker looker_;
  Process process_;
};

TEST_P(StackParts, AllArePartOfIt) {
  divide(1);
  divide(3);
  return_into_image(4);
  EXPECT_EQ(scan(), SlotSet{1} << kSlot);
}

TEST_P(StackParts, ItEndsWithItsThreadsDescriptor) {
  divide(2);
  return_into_image(3);
  *word(1, 8) = *word(1, 10) = reinterpret_cast<uint64_t>(word(1, 8));
  EXPECT_EQ(scan(), 0u);
}

TEST_P(StackParts, ThatOfMainEndsWithItsFrame) {
  divide(1);
  main_base_ = reinterpret_cast<uint64_t>(word(3, 8));
  *word(3, 9) = looker_.rings.program.address;
  return_into_image(2);
  EXPECT_EQ(scan(), SlotSet{1} << kSlot);
}

TEST_P(StackParts, MemoryThatIsNotWritableIsAnother) {
  ASSERT_EQ(mprotect(page(2), kPage, PROT_READ), 0);
  return_into_image(3);
  EXPECT_EQ(scan(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, StackParts, ::testing::Values(Way::kQuery, Way::kText),
                         [](const auto& way) { return way.param == Way::kQuery ? "Query" : "Text"; });

}  // namespace
}  // namespace stab::helper

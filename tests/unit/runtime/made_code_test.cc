// Code that a process makes while it runs, in the ways there are; and return addresses wherever it keeps them.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "runtime/helper/look.h"
#include "runtime/helper/made_code.h"
#include "runtime/helper/mappings.h"
#include "runtime/helper/pages.h"
#include "runtime/helper/resting_stacks.h"

namespace stab::helper {
namespace {

constexpr size_t kPage = 4096;
// In the data of a file: private pages of the process's once they are written.
alignas(kPage) unsigned char written_data[2 * kPage] = {1};

class MadeCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    session_->family.program.pid = getpid();
    ASSERT_TRUE(open_process(session_->family.program));
  }
  void TearDown() override { close_process(session_->family.program); }

  bool is_made() {
    auto look = std::make_unique<MadeCode>();
    return look->is_there(session_->family, session_->images, buffer_.data());
  }

  std::unique_ptr<Session> session_ = std::make_unique<Session>();
  std::vector<uint8_t> buffer_ = std::vector<uint8_t>(kLookBufferBytes);
};

TEST_F(MadeCodeTest, FilesAndTheKernelsCodeAreNone) { EXPECT_FALSE(is_made()); }

// As kernels without pagemap are. What is made elsewhere is still seen.
TEST_F(MadeCodeTest, FilesAreNoneWherePagesArentTold) {
  close(session_->family.program.directory);
  session_->family.program.directory = open("/", O_RDONLY | O_DIRECTORY);
  EXPECT_FALSE(is_made());
  void* const memory = mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_TRUE(is_made());
  munmap(memory, kPage);
}

TEST_F(MadeCodeTest, MemoryOfNoFileThatIsExecutableIs) {
  void* const memory = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_FALSE(is_made());
  ASSERT_EQ(mprotect(memory, kPage, PROT_READ | PROT_EXEC), 0);
  EXPECT_TRUE(is_made());
  munmap(memory, kPage);
  EXPECT_FALSE(is_made());
}

TEST_F(MadeCodeTest, ItIsRemembered) {
  void* const memory = mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto look = std::make_unique<MadeCode>();
  EXPECT_TRUE(look->is_there(session_->family, session_->images, buffer_.data()));
  munmap(memory, kPage);
  EXPECT_TRUE(look->is_there(session_->family, session_->images, buffer_.data()));
}

TEST_F(MadeCodeTest, SharedMemoryIsUnlessItIsOurs) {
  const int file = static_cast<int>(syscall(SYS_memfd_create, "made", 0));
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, kPage), 0);
  void* const memory = mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_TRUE(is_made());
  session_->images.memory_fd = file;
  EXPECT_FALSE(is_made());
  munmap(memory, kPage);
  close(file);
}

TEST_F(MadeCodeTest, WrittenDataOfAFileIs) {
  memset(written_data, 0xc3, kPage);
  ASSERT_EQ(mprotect(written_data, kPage, PROT_READ | PROT_EXEC), 0);
  EXPECT_TRUE(is_made());
  ASSERT_EQ(mprotect(written_data, kPage, PROT_READ | PROT_WRITE), 0);
  EXPECT_FALSE(is_made());
}

TEST_F(MadeCodeTest, MappingsOfAKindAreThoseOfTheText) {
  Mappings mappings(session_->family.program, kExecutableMapping);
  uint64_t last = 0;
  uint32_t count = 0;
  bool has_this = false;
  for (MappingOfKind mapping; mappings.next(mapping); ++count) {
    EXPECT_GE(mapping.start, last);
    EXPECT_NE(mapping.kind & kExecutableMapping, 0u);
    last = mapping.end;
    const auto here = reinterpret_cast<uint64_t>(&find_mapping);
    has_this |= mapping.start <= here && here < mapping.end && mapping.file != 0;
  }
  EXPECT_FALSE(mappings.failed());
  EXPECT_GT(count, 1u);
  EXPECT_TRUE(has_this);
}

// As of older kernels, which don't answer questions about mappings.
TEST_F(MadeCodeTest, TheTextOfMapsTellsTheSame) {
  const int text = static_cast<int>(syscall(SYS_memfd_create, "maps", 0));
  ASSERT_GE(text, 0);
  const int maps = open("/proc/self/maps", O_RDONLY);
  std::vector<char> bytes(1 << 20);
  for (ssize_t got; (got = read(maps, bytes.data(), bytes.size())) > 0;) ASSERT_EQ(write(text, bytes.data(), got), got);
  close(maps);
  Process as_text = session_->family.program;
  as_text.maps = text;
  for (const uint64_t wanted : {kExecutableMapping, kWritableMapping}) {
    Mappings asked(session_->family.program, wanted), read(as_text, wanted);
    MappingOfKind a, b;
    uint32_t count = 0;
    while (asked.next(a)) {
      ASSERT_TRUE(read.next(b)) << count;
      EXPECT_EQ(a.start, b.start);
      EXPECT_EQ(a.end, b.end);
      EXPECT_EQ(a.kind & 15, b.kind & 15);
      EXPECT_EQ(a.file, b.file);
      EXPECT_EQ(a.device, b.device);
      ++count;
    }
    // [vsyscall] is in the text alone.
    EXPECT_TRUE(!read.next(b) || b.start >> 63 != 0);
    EXPECT_FALSE(asked.failed() || read.failed());
    EXPECT_GT(count, 1u);
  }
  close(text);
}

TEST_F(MadeCodeTest, PagesThatWereNeverWrittenAreNotPresent) {
  auto* const memory = static_cast<char*>(mmap(nullptr, 8 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, 8 * kPage, MADV_NOHUGEPAGE);
  memory[2 * kPage] = memory[3 * kPage] = memory[6 * kPage] = 1;
  const auto start = reinterpret_cast<uint64_t>(memory);
  Pages pages(session_->family.program, start, start + 8 * kPage);
  PresentPages present;
  ASSERT_TRUE(pages.next(present));
  EXPECT_EQ(present.start, start + 2 * kPage);
  EXPECT_EQ(present.end, start + 4 * kPage);
  EXPECT_TRUE(present.own);
  ASSERT_TRUE(pages.next(present));
  EXPECT_EQ(present.start, start + 6 * kPage);
  EXPECT_EQ(present.end, start + 7 * kPage);
  EXPECT_FALSE(pages.next(present));
  EXPECT_FALSE(pages.failed());
  munmap(memory, 8 * kPage);
}

class SearchTest : public MadeCodeTest {
 protected:
  static constexpr uint64_t kSlotBytes = 64 * kPage;
  static constexpr uint64_t kReservedBytes = uint64_t{1} << 30;

  void SetUp() override {
    MadeCodeTest::SetUp();
    ring_ = reserve();
    library_ = reserve();
    Looker& looker = session_->looks.looker;
    looker.buffer = buffer_.data();
    looker.give_up_cpu_ns = ~uint64_t{0};
    looker.rings.program = {address(ring_), 8 * kSlotBytes, kSlotBytes};
    looker.rings.add_library({address(library_), 8 * kSlotBytes, kSlotBytes});
  }
  void TearDown() override {
    munmap(ring_, kReservedBytes);
    munmap(library_, kReservedBytes);
    MadeCodeTest::TearDown();
  }
  // Of far more than a ring takes: a gap that fits it may have been used before, and words that lead there may be left.
  static void* reserve() { return mmap(nullptr, kReservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); }
  static uint64_t address(void* at) { return reinterpret_cast<uint64_t>(at); }

  void* ring_ = nullptr;
  void* library_ = nullptr;
};

TEST_F(SearchTest, FindsWhatLeadsIntoASlotAndNotWhereOneBegins) {
  SlotSet found = 0;
  ASSERT_TRUE(search_memory(*session_, found));
  EXPECT_EQ(found, 0u);
  auto* const words = static_cast<volatile uint64_t*>(
      mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  words[1] = address(ring_) + 3 * kSlotBytes + 5;
  words[2] = address(ring_) + 4 * kSlotBytes;
  words[1024] = address(library_) + 6 * kSlotBytes + 17;
  ASSERT_TRUE(search_memory(*session_, found));
  EXPECT_EQ(found, SlotSet{1} << 3 | SlotSet{1} << 6);
  munmap(const_cast<uint64_t*>(words), 3 * kPage);
}

TEST_F(SearchTest, SaysThatItsTimeWasNotEnough) {
  session_->looks.looker.give_up_cpu_ns = 0;
  SlotSet found = 0;
  EXPECT_FALSE(search_memory(*session_, found));
}

}  // namespace
}  // namespace stab::helper

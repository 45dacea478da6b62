// Feeds bytes as an ELF file to the whole post-link step, and as metadata to its reader.
#include <cstdint>
#include <cstring>
#include <vector>

#include "instrumenter/postlink/code_metadata.h"
#include "instrumenter/postlink/code_view.h"
#include "instrumenter/postlink/constant_lists.h"
#include "instrumenter/postlink/elf_writer.h"
#include "instrumenter/postlink/post_link.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stab::postlink;
  std::vector<uint64_t> aligned((size + 7) / 8);
  if (size != 0) memcpy(aligned.data(), data, size);
  const auto as_metadata = CodeView::parse({reinterpret_cast<const uint8_t*>(aligned.data()), size});
  if (as_metadata) return 0;

  const auto image = ElfImage::parse({data, data + size}, "fuzz");
  if (!image) return 0;
  Options options;
  options.move_all = size % 3 != 0;
  const auto analysis = analyze(*image, options);
  if (!analysis) return 0;
  const auto metadata = encode_code_metadata(*image, analysis->functions, analysis->disassembly, analysis->tables,
                                             analysis->switches_stacks, analysis->is_walked);
  std::vector<uint64_t> written((metadata.size() + 7) / 8);
  memcpy(written.data(), metadata.data(), metadata.size());
  // What we write we must be able to read, whatever the input.
  if (!CodeView::parse({reinterpret_cast<const uint8_t*>(written.data()), metadata.size()})) __builtin_trap();
  const auto constants = encode_constant_lists(*image, analysis->functions);
  const std::vector<AddedSection> added = {{"stab_code", metadata}, {"stab_contents", constants}};
  (void)with_metadata(*image, added, {size % 2 == 0, size % 3 == 0});
  return 0;
}

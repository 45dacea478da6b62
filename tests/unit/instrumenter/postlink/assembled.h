// Assembled: a small program linked from assembly at test time, and what post-link finds in it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "instrumenter/postlink/code_metadata.h"
#include "instrumenter/postlink/elf_image.h"
#include "instrumenter/postlink/post_link.h"

namespace stab::postlink {

// A directory that goes away with the test.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "stab-postlink-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class AssembledTest : public testing::Test {
 protected:
  // Links `assembly` (it starts in .text and defines `start`) without libc; adds `options` to the linker's command.
  std::string link(const std::string& assembly, const std::string& options = "-pie",
                   const std::string& keep = "-Wl,--emit-relocs") {
    std::ofstream(scratch_ / "program.s") << ".data\n.quad start\n.text\n.globl start\n" << assembly << "\n";
    const std::string output = scratch_ / "program";
    const std::string command = STAB_CLANG " -fuse-ld=lld -nostdlib -Wl,-e,start " + keep +
                                " " + options + " " + (scratch_ / "program.s") + " -o " + output;
    EXPECT_EQ(system(command.c_str()), 0) << assembly;
    return output;
  }

  void analyze_file(const std::string& path) {
    auto bytes = read_file(path);
    ASSERT_TRUE(bytes) << bytes.error().text();
    auto image = ElfImage::parse(std::move(bytes).value(), path);
    ASSERT_TRUE(image) << image.error().text();
    image_ = std::make_unique<ElfImage>(std::move(image).value());
    auto analysis = analyze(*image_, options_);
    ASSERT_TRUE(analysis) << analysis.error().text();
    analysis_ = std::make_unique<Analysis>(std::move(analysis).value());
  }
  void analyze_assembly(const std::string& assembly, const std::string& options = "-pie") {
    analyze_file(link(assembly, options));
  }

  const Function& function(const std::string& name) const { return analysis_->functions[index(name)]; }
  uint32_t index(const std::string& name) const {
    for (uint32_t i = 0; i < analysis_->functions.size(); ++i)
      if (analysis_->functions[i].name == name) return i;
    ADD_FAILURE() << "no function " << name;
    return 0;
  }
  abi::Immovable fate(const std::string& name) const { return function(name).immovable; }
  std::vector<uint8_t> metadata() const {
    return encode_code_metadata(*image_, analysis_->functions, analysis_->disassembly, analysis_->tables,
                                analysis_->switches_stacks, analysis_->is_walked);
  }

  ScratchDirectory scratch_;
  Options options_;
  std::unique_ptr<ElfImage> image_;
  std::unique_ptr<Analysis> analysis_;
};

// `name` as a function with a size, its entry aligned as our compilers do.
inline std::string assembly_function(const std::string& name, const std::string& body) {
  return ".p2align 4\n.type " + name + ",@function\n" + name + ":\n" + body + "\n.size " + name + ",.-" + name + "\n";
}

}  // namespace stab::postlink

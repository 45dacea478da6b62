// run, submit and plan check see a plan through the same eyes: parser first, then names that only the machine's
// libraries know (counters).
#include "stabctl/plan/plan_file.h"

#include <cstdio>
#include <filesystem>

#include "base/shell_word.h"
#include "plan/check.h"
#include "plan/parse.h"
#include "stabctl/command_line/commands.h"
#include "stabctl/plan/measured_command.h"
#include "stabd/engine/build/expand.h"

namespace stab::ctl {

PlanFile read_plan(const std::string& path) {
  PlanFile file;
  if (is_program_file(path)) {
    const std::string word = shell_word(path);
    complain(bad_input("'" + path + "' is a program, not a plan; its time: stabctl time " + word +
                       "; against another one: stabctl compare " + word + " OTHER"));
    file.exit_code = kExitUsage;
    return file;
  }
  Result<plan::Parsed> parsed = plan::load_plan(path);
  if (!parsed) {
    complain(parsed.error());
    file.exit_code = kExitUsage;
    return file;
  }
  std::fputs(toml::render(parsed->warnings).c_str(), stderr);
  std::fputs(toml::render(parsed->errors).c_str(), stderr);
  file.exit_code = kExitUsage;
  if (!parsed->plan) return file;
  const std::vector<toml::Diagnostic> faults = engine::event_faults(*parsed->plan);
  std::fputs(toml::render(faults).c_str(), stderr);
  if (!faults.empty()) return file;
  file.exit_code = kExitDone;
  file.plan = std::move(parsed->plan);
  file.directory = std::filesystem::absolute(path).parent_path().lexically_normal().string();
  return file;
}

void note_no_answer(const plan::Plan& plan) {
  const Result<plan::Design> design = plan::make_design(plan);
  if (!design) return;  // which running it refuses
  if (const std::string why = plan::why_no_answer(plan, *design); !why.empty()) std::fprintf(stderr, "note: %s\n", why.c_str());
}

}  // namespace stab::ctl

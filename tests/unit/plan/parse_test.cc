// Everything that a plan can say, read; every way to say it wrong, with its place. Sizes and durations are in units_test.cc.
#include "plan/parse.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

#include "base/rng.h"
#include "plan/design.h"
#include "plan/input_names.h"
#include "plan_fixture.h"

namespace stab::plan {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kFull[] = R"([experiment]
name = "lua-layout"
seed = 42
replicates = 30
runs_per_seed = 2
response = ["wall_time", { name = "page-faults", scale = "log", zeros = "missing" }, "task-clock"]
margin = "2%"
alpha = 0.01
order = "random"
preflight = false

[factors]
code  = ["off", "copy", "once"]
stack = ["zero", "on"]
heap  = ["base", "page"]
epoch = ["1ms", "500ms"]
env_size = [0, "4KiB"]
opt   = ["-O2", { name = "fast", value = "-O3 -march=native" }]
n     = [1, 2.5, true]
link  = { seeds = 10 }
exclude = [{ code = "off", epoch = ["500ms"] }]
nested = [{ factor = "env_size", within = { code = "once" } }]

[machine]
cpus = "core:1"
housekeeping = "0"
knobs = { aslr = false, thp = "off", governor = "performance" }
gates = { load = 0.5, temperature = 80, window = "22:00-06:00", deadline = "12h" }
require = ["affinity", "counters", "private-ipc", "private-tmp"]

[counters]
events = ["cycles", "task-clock", "page-faults"]
sharing = "passes"
per_pass = 2
kernel = false

[stopping]
rule = "fixed"

[exclusions]
rules = ["migrations > 0", "steal_ns>=1ms"]

[limits]
memory = "1GiB"
processes = 300

[[program]]
name = "lua"
source = { git = "https://example.org/lua", revision = "v5.4", patches = ["a.patch"] }
build = "make CC=szc 'MYCFLAGS={opt}'"
build_timeout = "5min"
inputs = ["lib.lua"]
prepare = ["touch", "x"]
cleanup = "rm -f x"
stack_limit = "8MiB"
output_limit = "1MiB"
run = ["./lua"]
env = { LC_ALL = "C" }
timeout = "60s"
warmup = 1
expect = { exit = 3 }

  [[program.workload]]
  name = "fib"
  args = ["fib.lua", "{n}"]
  inputs = ["fib.lua"]
  env = { X = "{{}}" }
  expect = { stdout_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", stdout_regex = "^ok" }

  [[program.workload]]
  name = "sieve"
  run = "./lua -e 'print(1)'"
  stdin = "in.txt"
  cwd = "sub"
  timeout = "1s"

[[program]]
name = "true"
build = "cc -o true true.c"
run = ["./true"]
)";

TEST(Parse, ReadsEverythingAPlanCanSay) {
  const Plan plan = parsed(kFull);
  const Experiment& e = plan.experiment;
  EXPECT_EQ(e.name, "lua-layout");
  EXPECT_EQ(e.seed, 42u);
  EXPECT_EQ(e.replicates, 30);
  EXPECT_EQ(e.runs_per_seed, 2);
  ASSERT_EQ(e.responses.size(), 3u);
  EXPECT_EQ(e.responses[0].scale, Scale::kLog);
  EXPECT_EQ(e.responses[1].name, "page-faults");
  EXPECT_EQ(e.responses[1].scale, Scale::kLog);
  EXPECT_TRUE(e.responses[1].zeros_missing);
  EXPECT_FALSE(e.responses[0].zeros_missing) << "a zero is refused unless the plan says otherwise";
  EXPECT_DOUBLE_EQ(e.margin, 0.02);
  EXPECT_DOUBLE_EQ(e.alpha, 0.01);
  EXPECT_EQ(e.order, Order::kRandom);
  EXPECT_FALSE(e.preflight);

  ASSERT_EQ(plan.factors.size(), 7u);  // in the order written, not sorted
  EXPECT_EQ(plan.factors[0].name, "code");
  EXPECT_EQ(plan.factors[6].name, "n");
  EXPECT_EQ(plan.factors[3].levels[1].value, "500000000");
  EXPECT_EQ(plan.factors[4].levels[1].value, "4096");
  EXPECT_EQ(plan.factors[4].levels[1].name, "4KiB");
  EXPECT_EQ(plan.factors[5].levels[1].name, "fast");
  EXPECT_EQ(plan.factors[5].levels[1].value, "-O3 -march=native");
  EXPECT_EQ(plan.factors[6].levels[1].value, "2.5");
  EXPECT_EQ(plan.factors[6].levels[2].value, "true");
  EXPECT_EQ(plan.link.seeds, 10);
  ASSERT_EQ(plan.exclude.size(), 1u);
  ASSERT_EQ(plan.nested.size(), 1u);
  EXPECT_EQ(plan.nested[0].inner, "env_size");
  EXPECT_THAT(plan.nested[0].outer_levels, ElementsAre("once"));

  EXPECT_EQ(plan.machine.cpus, "core:1");
  EXPECT_EQ(plan.machine.knobs.at("aslr"), "off");
  EXPECT_EQ(plan.machine.gates.deadline, 12h);
  EXPECT_DOUBLE_EQ(*plan.machine.gates.load, 0.5);
  EXPECT_THAT(plan.machine.require, ElementsAre("affinity", "counters", "private-ipc", "private-tmp"));
  EXPECT_TRUE(plan.machine.private_ipc && plan.machine.private_tmp);
  EXPECT_THAT(plan.counters.events, ElementsAre("cycles", "task-clock", "page-faults"));
  EXPECT_EQ(plan.counters.spots[1].line, 32);
  EXPECT_EQ(plan.counters.sharing, CounterSharing::kPasses);
  EXPECT_FALSE(plan.counters.kernel);
  ASSERT_EQ(plan.exclusions.size(), 2u);
  EXPECT_DOUBLE_EQ(plan.exclusions[1].value, 1e6);
  EXPECT_EQ(plan.exclusions[1].comparison, Comparison::kGreaterEqual);

  EXPECT_EQ(plan.limits.memory_bytes, 1u << 30);
  EXPECT_EQ(plan.limits.processes, 300);

  ASSERT_EQ(plan.programs.size(), 2u);
  const Program& lua = plan.programs[0];
  EXPECT_THAT(lua.build.argv, ElementsAre("make", "CC=szc", "MYCFLAGS={opt}"));
  EXPECT_EQ(lua.source.revision, "v5.4");
  EXPECT_EQ(lua.build_timeout, 5min);
  EXPECT_EQ(lua.stack_limit_bytes, 8u << 20);
  ASSERT_EQ(lua.workloads.size(), 2u);
  const Workload& fib = lua.workloads[0];
  EXPECT_THAT(fib.run.argv, ElementsAre("./lua", "fib.lua", "{n}"));
  EXPECT_EQ(fib.timeout, 60s);
  EXPECT_EQ(fib.env.at("LC_ALL"), "C");
  EXPECT_EQ(fib.warmup, 1);
  EXPECT_THAT(fib.expect.exit, ElementsAre(0));  // a workload's expect replaces the program's
  EXPECT_TRUE(fib.expect.stdout_sha256.has_value());
  const Workload& sieve = lua.workloads[1];
  EXPECT_THAT(sieve.run.argv, ElementsAre("./lua", "-e", "print(1)"));
  EXPECT_THAT(sieve.expect.exit, ElementsAre(3));
  EXPECT_EQ(sieve.timeout, 1s);
  EXPECT_EQ(sieve.stdin_path, "in.txt");

  const std::vector<Subject> all = subjects(plan);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "lua/fib");
  EXPECT_EQ(all[2].name, "true");
}

TEST(Parse, DefaultsAreTheDocumentedOnes) {
  const Plan plan = parsed(small_plan(""));
  ASSERT_EQ(plan.experiment.responses.size(), 1u);
  EXPECT_EQ(plan.experiment.responses[0].name, "wall_time");
  EXPECT_EQ(plan.experiment.responses[0].scale, Scale::kLog);
  EXPECT_DOUBLE_EQ(plan.experiment.margin, 0.01);
  EXPECT_DOUBLE_EQ(plan.experiment.alpha, 0.05);
  EXPECT_EQ(plan.experiment.runs_per_seed, 1);
  EXPECT_EQ(plan.machine.cpus, "auto");
  EXPECT_EQ(plan.programs[0].workloads[0].timeout, 10min);
  EXPECT_THAT(plan.programs[0].workloads[0].expect.exit, ElementsAre(0));
}

TEST(Parse, SeveralExitStatusesMayBeAccepted) {
  const auto read = [](const std::string& exit) {
    return parse_plan(small_plan("") + "expect = { exit = " + exit + " }\n", "t.toml");
  };
  const Parsed list = read("[0, 10, 20]");
  ASSERT_TRUE(list.plan) << render(list.errors);
  EXPECT_THAT(list.plan->programs[0].workloads[0].expect.exit, ElementsAre(0, 10, 20));
  for (const auto& [exit, said] : {std::pair{"[]", "'exit' is an empty list, so no run could pass"},
                                   {"[0, 1, 0]", "'exit' has 0 twice"},
                                   {"[0, 256]", "'exit' is 256, expected 0 to 255"},
                                   {"-1", "'exit' is -1, expected 0 to 255"},
                                   {"[\"0\"]", "'exit' is a string, expected an integer"},
                                   {"\"0\"", "'exit' is a string, expected an integer"}}) {
    const Parsed wrong = read(exit);
    EXPECT_FALSE(wrong.plan) << exit;
    EXPECT_THAT(render(wrong.errors), HasSubstr(said)) << exit;
    EXPECT_THAT(render(wrong.errors), HasSubstr("^")) << exit;
  }
}

TEST(Parse, ReportsAllFaultsAtOnceInTheOrderOfTheText) {
  const std::string text = errors_of(
      "[experiment]\nname = \"a b\"\nseed = \"1\"\nreplicates = 0\nmargin = \"x\"\n[[program]]\nname = \"p\"\n");
  for (const char* part : {"t.toml:2:8", "t.toml:3:8", "t.toml:4:14", "t.toml:5:10", "t.toml:6:1"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_LT(text.find("t.toml:2:"), text.find("t.toml:5:"));
}

TEST(Parse, StopsReportingAtTheLimit) {
  std::string tables = "[factors]\n";
  for (int i = 0; i < 50; ++i) tables += "f" + std::to_string(i) + " = []\n";
  const Parsed result = parse_plan(small_plan(tables), "t.toml", {.max_errors = 5, .files = nullptr});
  ASSERT_EQ(result.errors.size(), 6u);
  EXPECT_EQ(result.errors.back().message, "too many errors, 45 more not shown");
  EXPECT_FALSE(result.plan.has_value());
}

// A plan whose program runs {side}, by `run` or by another key.
std::string with_sides(const std::string& levels, const std::string& keys = "run = [\"{side}\", \"x\"]\n") {
  return "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[factors]\nside = " + levels + "\n[[program]]\nname=\"p\"\n" + keys;
}

TEST(Parse, ALevelMayBeSeveralWordsOfACommand) {
  const Plan plan = parsed(
      with_sides("[{ name = \"a\", value = [\"./a\", \"\", \"b c\"] }, { name = \"b\", value = [\"./b\"] }]"));
  const auto design = make_design(plan);
  ASSERT_TRUE(design);
  const Command& run = plan.programs[0].workloads[0].run;
  const auto words = [&](size_t cell) { return substitute(run, plan, design->cells[cell], 0).argv; };
  EXPECT_EQ(words(0), (std::vector<std::string>{"./a", "", "b c", "x"}));
  EXPECT_EQ(words(1), (std::vector<std::string>{"./b", "x"}));
}

TEST(Parse, SeveralWordsStandWhereACommandHasWords) {
  const std::string two = "[{ name = \"a\", value = [\"./a\", \"b\"] }, { name = \"b\", value = \"./b\" }]";
  for (const char* keys : {"run = [\"x{side}\"]\n", "run = [\"x\"]\nstdin = \"{side}\"\n",
                           "run = [\"x\"]\nenv = { A = \"{side}\" }\n", "shell = true\nrun = \"{side}\"\n"})
    EXPECT_THAT(errors_of(with_sides(two, keys)), HasSubstr("lists of words")) << keys;
  EXPECT_THAT(errors_of(with_sides("[{ name = \"a\", value = [] }]")), HasSubstr("a list without a word"));
  EXPECT_THAT(errors_of(with_sides("[{ name = \"a\", value = [[\"b\"]] }]")),
              HasSubstr("expected a string, a number or a boolean"));
}

// As $flag in a shell: nothing where it has no quotes and is empty.
TEST(Parse, AnEmptyLevelIsNoWordOfAStringWithoutQuotes) {
  const auto words = [](const std::string& run) {
    const Plan plan = parsed(with_sides("[\"\", \"-v\"]", "run = " + run + "\n"));
    const Command& command = plan.programs[0].workloads[0].run;
    std::vector<std::vector<std::string>> out;
    const auto design = make_design(plan);
    for (const Cell& cell : design->cells) out.push_back(substitute(command, plan, cell, 0).argv);
    return out;
  };
  using Words = std::vector<std::vector<std::string>>;
  EXPECT_EQ(words("\"./p {side} x\""), (Words{{"./p", "x"}, {"./p", "-v", "x"}}));
  EXPECT_EQ(words("\"{side} ./p\""), (Words{{"./p"}, {"-v", "./p"}}));
  EXPECT_EQ(words("\"./p '{side}' a{side}\""), (Words{{"./p", "", "a"}, {"./p", "-v", "a-v"}}));
  EXPECT_EQ(words("[\"./p\", \"{side}\"]"), (Words{{"./p", ""}, {"./p", "-v"}}));
  EXPECT_EQ(words("\"{side}\""), (Words{{""}, {"-v"}})) << "a command has a word at least";
  EXPECT_EQ(parsed(with_sides("[\"\", \"-v\"]")).factors[0].levels[0].name, "none");
  EXPECT_THAT(errors_of(with_sides("[\"\", \"none\"]")), HasSubstr("has level 'none' twice"));
}

TEST(Parse, OptionsInOneWordAreWarnedOf) {
  const std::string levels = "[\"-O2\", { name = \"fast\", value = \"-O3  -march=native\" }]";
  EXPECT_THAT(warnings_of(with_sides(levels, "run = \"./p {side}\"\n")),
              AllOf(HasSubstr("a level of 'side' is one word of the command: '-O3  -march=native'"),
                    HasSubstr("value = [\"-O3\", \"-march=native\"]")));
  for (const char* keys : {"run = \"./p\"\nbuild = \"make CFLAGS={side}\"\n", "shell = true\nrun = \"./p {side}\"\n"})
    EXPECT_THAT(warnings_of(with_sides(levels, keys)), ::testing::Not(HasSubstr("is one word"))) << keys;
  EXPECT_THAT(warnings_of(with_sides("[\"-a file\", \"-b\"]", "run = \"./p {side}\"\n")),
              ::testing::Not(HasSubstr("is one word")));
}

TEST(Parse, ACwdIsBelowTheTrialsDirectoryOrAbsolute) {
  EXPECT_EQ(parsed(with_sides("[\"a\"]", "run = [\"x\", \"{side}\"]\ncwd = \"/data\"\n")).programs[0].workloads[0].cwd, "/data");
  EXPECT_THAT(errors_of(with_sides("[\"a\"]", "run = [\"x\", \"{side}\"]\ncwd = \"../data\"\n")), HasSubstr("an absolute path"));
  EXPECT_EQ(errors_of(with_sides("[\"a\"]", "run = [\"x\", \"{side}\"]\ncwd = \"v1..v2/...\"\n")), "") << "dots in a name";
  for (const char* cwd : {"a/..", "..", "/data/../a"})
    EXPECT_THAT(errors_of(with_sides("[\"a\"]", "run = [\"x\", \"{side}\"]\ncwd = \"" + std::string(cwd) + "\"\n")),
                HasSubstr("is not inside")) << cwd;
  EXPECT_THAT(errors_of(with_sides("[\"a\", \"../b\"]", "run = [\"x\"]\ncwd = \"{side}\"\n")), HasSubstr("is not inside"));
}

// argv and the environment are padded to one size (TrialRun.AllCellsStartWithTheSameStack).
TEST(Parse, AnUnusedTreatmentIsWarnedOfAndUnequalLengthsAreNot) {
  EXPECT_THAT(warnings_of(small_plan("[factors]\nopt = [\"a\", \"b\"]")), HasSubstr("no command uses {opt}"));
  const std::string in_run =
      "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[factors]\nx=[\"a\",\"bb\"]\n"
      "[[program]]\nname=\"p\"\nrun=[\"p\",\"{x}\"]\n";
  EXPECT_THAT(warnings_of(in_run), IsEmpty());
  const std::string in_build =
      "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[factors]\nx=[\"a\",\"bb\"]\n"
      "[[program]]\nname=\"p\"\nbuild=\"make {x}\"\nrun=[\"p\"]\n";
  EXPECT_THAT(warnings_of(in_build), IsEmpty());
}

TEST(Parse, AShellIsUsedOnlyWhereThePlanAsks) {
  const std::string head = "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[[program]]\nname=\"p\"\n";
  EXPECT_THAT(errors_of(head + "run=\"a | b\"\n"), HasSubstr("shell = true"));
  const Plan plan = parsed(head + "shell = true\nrun=\"a | b\"\nprepare = [\"x\", \"$y\"]\n");
  EXPECT_THAT(plan.programs[0].workloads[0].run.argv, ElementsAre("/bin/sh", "-c", "a | b"));
  EXPECT_THAT(plan.programs[0].prepare.argv, ElementsAre("x", "$y"));
}

class FakeFiles final : public FileLookup {
 public:
  std::map<std::string, FileKind> present;
  FileKind look(const std::string& path) const override { return present.contains(path) ? present.at(path) : FileKind::kAbsent; }
  bool is_in_path(const std::string& name) const override { return look("PATH/" + name) == FileKind::kProgram; }
};

TEST(Parse, WhatThePlanNamesMustExist) {
  const std::string text =
      "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[[program]]\nname=\"p\"\nsource=\"src\"\n"
      "run=[\"./p\"]\ninputs=[\"in\"]\nstdin=\"std\"\n";
  FakeFiles files;
  const ParseOptions options{.max_errors = 20, .files = &files};
  const std::string missing = render(parse_plan(text, "t.toml", options).errors);
  EXPECT_THAT(missing, HasSubstr("source directory 'src' does not exist"));
  EXPECT_THAT(missing, HasSubstr("program './p' does not exist"));
  EXPECT_THAT(missing, HasSubstr("input 'in' does not exist"));
  EXPECT_THAT(missing, HasSubstr("stdin 'std' does not exist"));
  files.present = {{"src", FileKind::kDirectory}, {"src/./p", FileKind::kProgram},
                   {"in", FileKind::kFile},       {"std", FileKind::kFile}};
  EXPECT_EQ(render(parse_plan(text, "t.toml", options).errors), "");
  // A program that is built need not exist yet.
  files.present.erase("src/./p");
  EXPECT_EQ(render(parse_plan(text + "build=\"make\"\n", "t.toml", options).errors), "");
}

// A path with one names what is before it, and is no request that a worker answers.
TEST(Parse, ASourceWithAZeroByteIsRefused) {
  for (const std::string source : {"\\u0000", "src\\u0000/.."}) {
    const std::string text =
        "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[[program]]\nname=\"p\"\nrun=[\"p\"]\nsource=\"" + source + "\"\n";
    EXPECT_THAT(render(parse_plan(text, "t.toml").errors), HasSubstr("t.toml:8:8: error: 'source' contains a zero byte"))
        << source;
  }
}

TEST(Parse, AKnobsWordThatIsNoneIsNotSaidToBeOfAnotherType) {
  for (const std::string word : {"", "a\\u0000"}) {
    const std::string said = errors_of(small_plan("[machine]\nknobs = { governor = \"" + word + "\" }\n"));
    EXPECT_THAT(said, HasSubstr("knob governor doesn't take '")) << word;
    EXPECT_THAT(said, Not(HasSubstr("expected a string"))) << word;
  }
}

TEST(Parse, ADeadlineThatIsWrongIsNotSaidToBeMissing) {
  const auto said = [](const std::string& deadline) {
    return errors_of(small_plan("[machine]\ngates = { load = 1" + deadline + " }\n"));
  };
  EXPECT_THAT(said(", deadline = \"99999999h\""), HasSubstr("longer than 292 years"));
  EXPECT_THAT(said(", deadline = \"99999999h\""), Not(HasSubstr("gates have no deadline")));
  EXPECT_THAT(said(""), HasSubstr("gates have no deadline"));
  EXPECT_THAT(said(", deadline = \"0s\""), HasSubstr("gates have no deadline"));
}

TEST(Parse, WhatIsThereButDoesNotServeIsNotSaidToBeMissing) {
  const std::string text =
      "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[[program]]\nname=\"p\"\nsource=\"src\"\n"
      "run=[\"./p\"]\ninputs=[\"in\"]\nstdin=\"std\"\n";
  FakeFiles files;
  const ParseOptions options{.max_errors = 20, .files = &files};
  files.present = {{"src", FileKind::kFile},      {"src/./p", FileKind::kFile},
                   {"in", FileKind::kDirectory}, {"std", FileKind::kOther}};
  const std::string unfit = render(parse_plan(text, "t.toml", options).errors);
  EXPECT_THAT(unfit, HasSubstr("source directory 'src' is no directory"));
  EXPECT_THAT(unfit, HasSubstr("program './p' is not executable"));
  EXPECT_THAT(unfit, HasSubstr("hint: chmod +x it"));
  EXPECT_THAT(unfit, Not(HasSubstr("input 'in'"))) << "a directory is copied as it is";
  EXPECT_THAT(unfit, HasSubstr("stdin 'std' is no regular file"));
  EXPECT_THAT(unfit, Not(HasSubstr("does not exist")));
  files.present["in"] = FileKind::kOther;
  EXPECT_THAT(render(parse_plan(text, "t.toml", options).errors), HasSubstr("input 'in' is no regular file"));
  // Of two that have the name the one that serves is meant.
  files.present = {{"src", FileKind::kDirectory}, {"./p", FileKind::kDirectory}, {"src/./p", FileKind::kProgram},
                   {"in", FileKind::kFile},       {"src/in", FileKind::kDirectory}, {"std", FileKind::kFile}};
  EXPECT_EQ(render(parse_plan(text, "t.toml", options).errors), "");
  files.present["src/./p"] = FileKind::kDirectory;
  EXPECT_THAT(render(parse_plan(text, "t.toml", options).errors), HasSubstr("program './p' is a directory"));
}

TEST(Parse, AnInputIsNamedByTheLastOfItsPath) {
  EXPECT_EQ(input_name("fib.lua"), "fib.lua");
  EXPECT_EQ(input_name("../data/fib.lua"), "fib.lua");
  EXPECT_EQ(input_name("../data//"), "data");
  EXPECT_EQ(input_name("."), ".");
  EXPECT_EQ(input_name("/"), "");
  const std::string text =
      "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[[program]]\nname=\"p\"\nrun=[\"./p\"]\ninputs=[\"data/../\"]\n";
  FakeFiles files;
  files.present = {{"./p", FileKind::kProgram}, {"data/../", FileKind::kDirectory}};
  EXPECT_THAT(render(parse_plan(text, "t.toml", {.max_errors = 20, .files = &files}).errors),
              HasSubstr("input 'data/../' has no name that a trial's directory could hold"));
}

TEST(Parse, TwoInputsOfOneNameAreRefused) {
  const auto errors = [](const std::string& inputs) {
    const std::string text = "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[factors]\nsize=[\"a\",\"b\"]\n[[program]]\n"
                             "name=\"p\"\nbuild=\"make {size}\"\nrun=[\"./p\"]\ninputs=[" + inputs + "]\n";
    return render(parse_plan(text, "t.toml", {.max_errors = 20}).errors);
  };
  EXPECT_THAT(errors("\"a/in\", \"b/in\""), HasSubstr("inputs 'a/in' and 'b/in' would both be 'in' in a trial's directory"));
  EXPECT_THAT(errors("\"{size}/in\", \"common/in/\""), HasSubstr("inputs '{size}/in' and 'common/in/' would both be 'in'"));
  EXPECT_EQ(errors("\"a/in\", \"a/in\", \"b/other\", \"{size}\""), "") << "one file twice is one file";
}

// Each input against all before it, one by one: the same words, whatever the order.
TEST(InputNames, SayWhatComparingEachPairSays) {
  const std::string paths[] = {"a/in", "b/in", "c/in", "in", "a/in/", "other", "b/other", "/"};
  Rng rng(3);
  size_t refused = 0;
  for (int round = 0; round < 200; ++round) {
    InputNames names;
    std::vector<std::string> before;
    for (int i = 0; i < 8; ++i) {
      const std::string path = paths[rng.below(std::size(paths))];
      const auto other = std::find_if(before.begin(), before.end(), [&](const std::string& one) {
        return one != path && input_name(one) == input_name(path);
      });
      const std::string expected = other == before.end()
                                       ? std::string()
                                       : "inputs '" + *other + "' and '" + path + "' would both be '" + input_name(path) +
                                             "' in a trial's directory";
      EXPECT_EQ(names.why_not_beside(path), expected);
      refused += !expected.empty();
      before.push_back(path);
    }
  }
  EXPECT_GT(refused, 200u);
}

TEST(Parse, AGitRepositoryThatIsAPathMustBeThere) {
  const auto errors = [](const std::string& git, const FakeFiles& files) {
    const std::string text = "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[[program]]\nname=\"p\"\nrun=[\"./p\"]\n"
                             "source={git=\"" + git + "\",revision=\"v1\"}\nbuild=\"make\"\n";
    return render(parse_plan(text, "t.toml", {.max_errors = 20, .files = &files}).errors);
  };
  FakeFiles files;
  EXPECT_THAT(errors("nodir", files), HasSubstr("git repository 'nodir' does not exist"));
  EXPECT_EQ(errors("https://example.org/nodir", files), "");
  files.present = {{"nodir", FileKind::kDirectory}, {"one.bundle", FileKind::kFile}};
  EXPECT_EQ(errors("nodir", files), "");
  EXPECT_EQ(errors("one.bundle", files), "");
}

TEST(Parse, NamesThatCommandsWouldTakeForOptions) {
  const std::string text = "[experiment]\nname=\"-x\"\nseed=1\nreplicates=2\n[machine]\ncpus=\"3-1\"\n"
                           "[[program]]\nname=\"--json\"\nrun=[\"p\"]\n"
                           "[program.metrics]\nformat=\"google-benchmark\"\nfamilies={\"-f\"=\"BM_*\"}\n"
                           "[[program.workload]]\nname=\"-w\"\n";
  const std::string wrong = render(parse_plan(text, "t.toml").errors);
  for (const char* name : {"experiment name '-x'", "program name '--json'", "workload name '-w'", "family '-f'"})
    EXPECT_THAT(wrong, HasSubstr(std::string(name) + " would be an option of every command"));
  EXPECT_THAT(wrong, HasSubstr("'cpus' '3-1' has a range that ends before it begins"));
  // A database may have such a plan from the time when it was accepted.
  EXPECT_EQ(render(parse_plan(text, "t.toml", {.stored = true}).errors), "");
}

TEST(Parse, SetsOfCpus) {
  const auto errors = [](const std::string& cpus) {
    const std::string text = "[experiment]\nname=\"t\"\nseed=1\nreplicates=2\n[machine]\ncpus=\"" + cpus +
                             "\"\n[[program]]\nname=\"p\"\nrun=[\"p\"]\n";
    return render(parse_plan(text, "t.toml").errors);
  };
  for (const char* good : {"auto", "none", "0", "2-3,5", "3-3", "core:1", "pu:2-4", "numa:0", "package:0", "99999", "1,3-4"})
    EXPECT_EQ(errors(good), "") << good;
  for (const char* backwards : {"3-1", "0,7-6", "core:2-1"}) EXPECT_THAT(errors(backwards), HasSubstr("smaller number first"));
  for (const char* none :
       {"core:pu:numa:1", "core:pu:1", "pu:core:1", "", "-", "1-", "1,", "x", "1-2-3", "123456", "core:", "+1"})
    EXPECT_THAT(errors(none), HasSubstr("is no set of CPUs")) << none;
}

TEST(Parse, RealFilesLookBelowThePlansDirectory) {
  const RealFiles files("/usr/bin");
  EXPECT_TRUE(files.is_in_path("sh"));
  EXPECT_FALSE(files.is_in_path("no-such-command-here"));
  EXPECT_EQ(files.look("./env"), FileKind::kProgram);
  EXPECT_EQ(files.look("/etc/passwd"), FileKind::kFile);
  EXPECT_EQ(files.look("no-such-file"), FileKind::kAbsent);
  EXPECT_EQ(files.look("../bin"), FileKind::kDirectory);
  EXPECT_EQ(files.look("/dev/null"), FileKind::kOther);
}

TEST(Parse, AMissingPlanFileIsAnErrorNotAPlan) {
  const Result<Parsed> result = load_plan("/nonexistent/plan.toml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
}

TEST(Parse, StoppingRulesSetTheNumberOfReplicates) {
  const std::string head = "[experiment]\nname=\"t\"\nseed=1\n";
  const std::string tail = "[[program]]\nname=\"p\"\nrun=[\"p\"]\n";
  EXPECT_EQ(parsed(head + "[stopping]\nrule=\"looks\"\nlooks=[10,20,40]\n" + tail).experiment.replicates, 40);
  EXPECT_EQ(parsed(head + "[stopping]\nrule=\"precision\"\nfirst=5\nmax=60\nhalf_width=\"1%\"\n" + tail)
                .experiment.replicates,
            60);
  EXPECT_EQ(parsed(head + "[stopping]\nrule=\"sequence\"\nmax=60\n" + tail).stopping.first, 8);
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"sequence\"\n" + tail), HasSubstr("write max = 60"));
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"sequence\"\nfirst=9\nmax=8\n" + tail), HasSubstr("larger than 'max'"));
  EXPECT_TRUE(parsed(head + "[stopping]\nrule=\"sequence\"\nmax=8\nuntil=\"worse\"\n" + tail).stopping.until_worse);
  EXPECT_FALSE(parsed(head + "[stopping]\nrule=\"looks\"\nlooks=[4,8]\nuntil=\"settled\"\n" + tail).stopping.until_worse);
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"precision\"\nfirst=5\nmax=60\nhalf_width=\"1%\"\nuntil=\"worse\"\n" + tail),
              HasSubstr("'until' belongs to"));
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"sequence\"\nmax=8\nhalf_width=\"1%\"\n" + tail), HasSubstr("belongs to"));
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"looks\"\nlooks=[10,20]\nmax=20\n" + tail), HasSubstr("belongs to"));
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"looks\"\nlooks=[10,10]\n" + tail), HasSubstr("come after 10"));
  EXPECT_THAT(errors_of(head + "alpha=0.25\n[stopping]\nrule=\"looks\"\nlooks=[10,20]\n" + tail),
              HasSubstr("with several looks 'alpha' is at most 24%"));
  EXPECT_EQ(parsed(head + "alpha=0.25\n[stopping]\nrule=\"looks\"\nlooks=[10]\n" + tail).experiment.alpha, 0.25);
  const std::string accepted_once = head + "alpha=0.242\n[stopping]\nrule=\"looks\"\nlooks=[10,20]\n" + tail;
  EXPECT_TRUE(parse_plan(accepted_once, "t.toml", {.stored = true}).plan) << "it is read for ever";
  EXPECT_THAT(errors_of(head + "[stopping]\nrule=\"fixed\"\nlooks=[10]\n" + tail), HasSubstr("belongs to"));
  EXPECT_THAT(errors_of(head + "order=\"random\"\n[stopping]\nrule=\"looks\"\nlooks=[10,20]\n" + tail),
              HasSubstr("could never stop"));
  EXPECT_THAT(errors_of(head + "replicates=7\n[stopping]\nrule=\"looks\"\nlooks=[10,20]\n" + tail),
              HasSubstr("leave replicates out"));
}

// A program must get the number that the plan says.
TEST(Parse, NumbersOfLevelsKeepTheirDigits) {
  const Plan plan =
      parsed(small_plan("[factors]\ntol=[1e-3, 1e-6, 1e-9, 0.1, 2.0, 1e6, 0.30000000000000004, 6.02214076e23, -1.5e-7]"));
  std::vector<std::string> values;
  for (const Level& level : plan.factors[0].levels) {
    EXPECT_EQ(level.name, level.value);
    values.push_back(level.value);
  }
  EXPECT_THAT(values, ElementsAre("0.001", "0.000001", "1e-9", "0.1", "2.0", "1000000.0", "0.30000000000000004", "6.02214076e23",
                                  "-1.5e-7"));
  EXPECT_EQ(parsed(small_plan("[factors]\ntol=[{ name = \"fine\", value = 1e-12 }]")).factors[0].levels[0].value, "1e-12");
  const Plan excluded = parsed(small_plan("[factors]\ntol=[1e-9, 1e-10]\nopt=[1, 2]\nexclude=[{ tol = 1e-9, opt = 2 }]"));
  EXPECT_EQ(excluded.exclude[0].when.at("tol"), std::vector<std::string>{"1e-9"});
  for (const char* word : {"inf", "nan", "-inf"}) {
    EXPECT_THAT(errors_of(small_plan("[factors]\ntol=[" + std::string(word) + "]")),
                HasSubstr("a level of 'tol' is " + std::string(word) + ", expected a finite number"));
    EXPECT_THAT(errors_of(small_plan("[factors]\ntol=[{ name = \"a\", value = " + std::string(word) + " }]")),
                HasSubstr("the value of a level is " + std::string(word)));
    EXPECT_EQ(parsed(small_plan("[factors]\ntol=[\"" + std::string(word) + "\"]")).factors[0].levels[0].value, word);
  }
}

// One fault is one message: what names a treatment that has one is in order.
TEST(Parse, FaultsOfALevelAreNotThoseOfWhoNamesIt) {
  for (const char* levels : {"[inf, 2]", "[inf]", "3", "[]", "[[1]]"}) {
    const std::string text = "[experiment]\nname=\"t\"\nseed=7\nreplicates=3\n[factors]\nopt=" + std::string(levels) +
                             "\nn=[1, 2]\nexclude=[{ opt = 1, n = 1 }]\n"
                             "[[program]]\nname=\"p\"\nrun=[\"p\", \"{opt}\", \"{n}\"]\n";
    EXPECT_EQ(parse_plan(text, "t.toml").errors.size(), 1u) << errors_of(text);
    EXPECT_THAT(warnings_of(text), IsEmpty());
  }
  EXPECT_EQ(parse_plan(small_plan("[factors]\nopt=[inf, nan]"), "t.toml").errors.size(), 2u);
}

// 1 is one percent to one reader, and all of it to another.
TEST(Parse, WholeNumbersAreNoShares) {
  const auto margin = [](const std::string& value) {
    return "[experiment]\nname=\"t\"\nseed=7\nreplicates=3\nmargin=" + value + "\n[[program]]\nname=\"p\"\nrun=[\"p\"]\n";
  };
  EXPECT_THAT(errors_of(margin("1")),
              ::testing::AllOf(HasSubstr("'margin' is 1: is that 1% or 100%?"), HasSubstr("write \"1%\", or 1.0 for 100%")));
  EXPECT_THAT(errors_of(margin("\"1\"")), HasSubstr("is that 1% or 100%?"));
  EXPECT_THAT(errors_of(margin("2")), ::testing::AllOf(HasSubstr("'margin' is 2, expected a share"), HasSubstr("write \"2%\"")));
  EXPECT_THAT(errors_of(margin("2.5")), HasSubstr("'margin' is 250%, expected 0.0001% to 100%"));
  EXPECT_EQ(parsed(margin("1.0")).experiment.margin, 1);
  EXPECT_EQ(parsed(margin("\"100%\"")).experiment.margin, 1);
  EXPECT_EQ(parsed(margin("\"1%\"")).experiment.margin, 0.01);
  EXPECT_TRUE(parse_plan(margin("1"), "t.toml", {.stored = true}).plan) << "it is read for ever";
}

TEST(Parse, BinariesAreAskedAboutAsTheyAreLinked) {
  EXPECT_EQ(parsed(small_plan("")).experiment.about, About::kPrograms);
  EXPECT_EQ(parsed(small_plan("about = \"binaries\"\n")).experiment.about, About::kBinaries);
  const std::string off = "about = \"binaries\"\n[factors]\ncode = [\"off\"]\n";
  EXPECT_EQ(parsed(small_plan(off + "heap = [\"page\"]\n")).experiment.about, About::kBinaries);
  EXPECT_THAT(errors_of(small_plan(off + "link = { seeds = 4 }\n") + "build = \"make\"\n"),
              HasSubstr("link = { seeds = 4 } draws other links"));
  EXPECT_THAT(errors_of(small_plan("about = \"binaries\"\n[factors]\ncode = [\"off\", \"shuffle\"]\n")),
              HasSubstr("code moves in some of the cells"));
  EXPECT_THAT(errors_of(small_plan("about = \"links\"\n")), HasSubstr("programs"));
}

TEST(Parse, EveryRepeatedOrReservedNameIsRefused) {
  const std::string head = "[experiment]\nname=\"t\"\nseed=1\nreplicates=1\n";
  const std::string program = "[[program]]\nname=\"p\"\nrun=[\"p\"]\n";
  EXPECT_THAT(errors_of(head + program + program), HasSubstr("program 'p' is defined twice"));
  EXPECT_THAT(errors_of(head + program + "[[program.workload]]\nname=\"w\"\n[[program.workload]]\nname=\"w\"\n"),
              HasSubstr("workload 'w' is defined twice"));
  EXPECT_THAT(errors_of(small_plan("[factors]\ncode=[\"off\",\"off\"]")), HasSubstr("twice"));
  EXPECT_THAT(errors_of(small_plan("[counters]\nevents=[\"cycles\",\"cycles\"]")), HasSubstr("listed twice"));
  EXPECT_THAT(errors_of(head + "[[program]]\nname=\"p\"\nrun=[\"p\"]\nenv={STAB=\"x\"}\n"),
              HasSubstr("set by the engine"));
  EXPECT_THAT(errors_of(head + "[[program]]\nname=\"../p\"\nrun=[\"p\"]\n"), HasSubstr("can't name files"));
}

TEST(Parse, ZerosAreMissingOnlyOnTheLogScale) {
  const auto faults = [](const std::string& response) {
    return render(parse_plan("[experiment]\nname = \"x\"\nseed = 1\nreplicates = 2\nresponse = " + response +
                                 "\n[counters]\nevents = [\"page-faults\"]\n[[program]]\nname = \"p\"\nrun = [\"true\"]\n",
                             "p.toml")
                      .errors);
  };
  EXPECT_EQ(faults("{ name = \"wall_time\", zeros = \"missing\" }"), "");
  EXPECT_NE(faults("{ name = \"page-faults\", zeros = \"missing\" }").find("zeros have a value on the raw scale"),
            std::string::npos);
  EXPECT_NE(faults("{ name = \"wall_time\", zeros = \"mising\" }").find("did you mean 'missing'"), std::string::npos);
}

TEST(Parse, MachinesAreReadAndTheirFaultsNamed) {
  const Plan plan = parsed(small_plan("[machines]\ncount = 2\nengine = \"ssh\"\nhosts = [\"a\", \"u@b.c\", \"d\"]\n"
                                      "same = [\"cpu\", \"kernel\"]\ncommand = [\"ssh\", \"-p\", \"22\"]\n"));
  EXPECT_EQ(plan.machines.count, 2);
  EXPECT_EQ(plan.machines.engine, MachineEngineKind::kSsh);
  EXPECT_EQ(plan.machines.hosts.size(), 3u);
  EXPECT_EQ(parsed(small_plan("")).machines.count, 0);
  const auto faults = [](const std::string& machines, const std::string& others = "") {
    return errors_of(small_plan(others + "[machines]\n" + machines));
  };
  EXPECT_THAT(faults("engine = \"ssh\"\nhosts = [\"a\"]\n"), HasSubstr("count"));
  EXPECT_THAT(faults("count = 0\n"), HasSubstr("count"));
  EXPECT_THAT(faults("count = 1\nengine = \"ssh\"\n"), HasSubstr("engine 'ssh' has no hosts"));
  EXPECT_THAT(faults("count = 2\nengine = \"ssh\"\nhosts = [\"a\"]\n"), HasSubstr("1 hosts for 2 slots"));
  EXPECT_THAT(faults("count = 1\nengine = \"ssh\"\nhosts = [\"-oProxyCommand=x\"]\n"), HasSubstr("is no host's name"));
  EXPECT_THAT(faults("count = 1\nengine = \"ssh\"\nhosts = [\"a\", \"a\"]\n"), HasSubstr("named twice"));
  EXPECT_THAT(faults("count = 1\nhosts = [\"a\"]\n"), HasSubstr("hosts are for engine"));
  EXPECT_THAT(faults("count = 1\nsame = [\"cpus\"]\n"), HasSubstr("did you mean 'cpu'"));
  EXPECT_THAT(faults("count = 1\nengine = \"slurm\"\n"), HasSubstr("engine 'slurm' has no spool"));
  EXPECT_THAT(faults("count = 1\nspool = \"here\"\n"), HasSubstr("no absolute path"));
  EXPECT_THAT(faults("count = 1\ncommand = [\"ssh\"]\n"), HasSubstr("'command' is for"));
  EXPECT_THAT(faults("count = 1\n", "[stopping]\nrule = \"looks\"\nlooks = [2, 3]\n"), Not(HasSubstr("machines")));
}

TEST(Parse, ExclusionRulesCompare) {
  const Plan plan = parsed(small_plan("[exclusions]\nrules=[\"migrations > 0\", \"load_1min <= 0.5\"]"));
  EXPECT_TRUE(excludes(plan.exclusions[0], 1));
  EXPECT_FALSE(excludes(plan.exclusions[0], 0));
  EXPECT_TRUE(excludes(plan.exclusions[1], 0.5));
  EXPECT_FALSE(excludes(plan.exclusions[1], 0.6));
}

TEST(Baseline, NamedLevelComesFirstAndNestedFactorsStayAtIt) {
  const Plan plan = parsed(small_plan(
      "[factors]\nopt = [\"-O2\", \"-O3\", \"-Os\"]\n"
      "flags = [{ name = \"plain\", value = \"\" }, { name = \"fast\", value = \"-Ofast\" }]\n"
      "baseline = { opt = \"-Os\", flags = \"fast\" }\n"));
  ASSERT_EQ(plan.factors.size(), 2u);
  EXPECT_EQ(plan.factors[0].levels[0].name, "-Os");
  EXPECT_EQ(plan.factors[0].levels[1].name, "-O2");
  EXPECT_EQ(plan.factors[1].levels[0].value, "-Ofast");
  EXPECT_EQ(plan.factors[1].levels[1].value, "") << "a level may be empty, with a name";
  const Plan treatment = parsed(small_plan("[factors]\nbaseline = [\"a\", \"b\"]\n"));
  EXPECT_EQ(treatment.factors[0].name, "baseline") << "a treatment of that name";
}

TEST(Baseline, WhatIsNoLevelIsRefused) {
  EXPECT_THAT(errors_of(small_plan("[factors]\nopt = [\"-O2\", \"-O3\"]\nbaseline = { opt = \"-O4\" }\n")),
              HasSubstr("t.toml:7:20: error: opt level '-O4' is none of -O2, -O3"));
  EXPECT_THAT(errors_of(small_plan("[factors]\nopt = [\"-O2\", \"-O3\"]\nbaseline = { opd = \"-O2\" }\n")),
              HasSubstr("did you mean 'opt'?"));
  EXPECT_THAT(errors_of(small_plan("[factors]\nopt = [\"-O2\", \"-O3\"]\nbaseline = { opt = [\"-O2\", \"-O3\"] }\n")),
              HasSubstr("the baseline of 'opt' is one level, got 2"));
}

}  // namespace
}  // namespace stab::plan

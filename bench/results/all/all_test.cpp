// SPDX-License-Identifier: Apache-2.0
// Parts are shell scripts here: what a part measures is not the question.
#include "bench/results/all/all.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "bench/results/measurement.hpp"
#include "bench/results/words.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;

class AllPartsTest : public ::testing::Test {
 protected:
  AllPartsTest() : folder_(fs::temp_directory_path() / ("cardan-all-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    for (const char* part : {"a", "b", "c"}) {
      Measurement m{.part = part, .peer = "cardan", .cell = "1p1s", .quantity = "transport", .unit = "us"};
      m.runs = {make_run({100, 101, 99}), make_run({98, 104, 102})};
      write_json((folder_ / (std::string(part) + ".json")).string(), {{"measurements", {to_json(m)}}});
    }
  }
  ~AllPartsTest() override { fs::remove_all(folder_); }

  /// A part that does `script`; `$JSON` is where its result belongs, `$GIVE` writes one there.
  [[nodiscard]] PartRun part(const char* name, const std::string& script) const {
    const std::string give = "cat " + (folder_ / (std::string(name) + ".json")).string() + " > $2";
    std::string text = script;
    if (const auto at = text.find("GIVE"); at != std::string::npos) text.replace(at, 4, give);
    return {name, name, {text + "; :"}, 1};
  }
  [[nodiscard]] AllOptions options(std::vector<PartRun> parts) const {
    // /bin/sh FILE NAME SCRIPT --json PATH: the file runs its second word with the others.
    const fs::path runner = folder_ / "runner";
    std::ofstream(runner) << "shift\nscript=$1\nshift\neval \"$script\"\n";
    return {.parts = std::move(parts),
            .out = (folder_ / "out").string(),
            .program = "/bin/sh",
            .program_arguments = {"sh", runner.string()},
            .least_limit_seconds = 2};
  }
  [[nodiscard]] std::string content(const char* file) const {
    std::ifstream in(folder_ / "out" / file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  [[nodiscard]] std::vector<PartState> state() const { return read_state((folder_ / "out" / "state.json").string()); }
  [[nodiscard]] nlohmann::json results() const { return nlohmann::json::parse(content("results.json")); }
  [[nodiscard]] std::vector<std::string> measured() const {
    std::vector<std::string> parts;
    const auto all = results();
    for (const auto& m : all.at("measurements")) parts.push_back(m.at("part"));
    return parts;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(AllPartsTest, RunsAllAndReports) {
  EXPECT_EQ(run_all_parts(options({part("a", "echo table; echo words >&2; GIVE"), part("b", "GIVE")})), 0);
  EXPECT_EQ(measured(), (Names{"a", "b"}));
  EXPECT_EQ(content("parts/a.txt"), "table\n");
  EXPECT_EQ(content("parts/a.log"), "words\n");
  EXPECT_NE(content("index.html").find("Benchmark report"), std::string::npos);
}

TEST_F(AllPartsTest, ACrashIsReportedAndTheOthersRun) {
  EXPECT_EQ(
      run_all_parts(options({part("a", "echo oh dear >&2; kill -SEGV $$"), part("b", "exit 7"), part("c", "GIVE")})),
      1);
  EXPECT_EQ(measured(), (Names{"c"}));
  ASSERT_EQ(state().size(), 3U);
  EXPECT_NE(state()[0].words.find("signal 11"), std::string::npos) << state()[0].words;
  EXPECT_NE(state()[0].words.find("oh dear"), std::string::npos) << state()[0].words;
  EXPECT_NE(state()[1].words.find("exit code 7"), std::string::npos) << state()[1].words;
  EXPECT_NE(content("index.html").find("oh dear"), std::string::npos);
}

TEST_F(AllPartsTest, APartThatHangsIsEnded) {
  EXPECT_EQ(run_all_parts(options({part("a", "sleep 600"), part("b", "GIVE")})), 1);
  EXPECT_NE(state()[0].words.find("hung"), std::string::npos) << state()[0].words;
  EXPECT_EQ(measured(), (Names{"b"}));
}

TEST_F(AllPartsTest, APartThatLeavesNoResultHasFailed) {
  EXPECT_EQ(run_all_parts(options({part("a", "true"), part("b", "echo '{' > $2"), part("c", "GIVE")})), 1);
  EXPECT_EQ(state()[0].words, "it left no result");
  EXPECT_EQ(state()[1].words, "it left no result");
}

TEST_F(AllPartsTest, MeasurementsOfTwoPartsAreOne) {
  const std::string same = "cat " + (folder_ / "a.json").string() + " > $2";
  EXPECT_EQ(run_all_parts(options({part("a", "GIVE"), part("d", same), part("b", "GIVE")})), 0);
  EXPECT_EQ(measured(), (Names{"a", "b"}));
  const auto all = results().at("measurements");
  EXPECT_EQ(all[0].at("runs").size(), 2 * all[1].at("runs").size());
}

TEST_F(AllPartsTest, LossIsItsExitCode) {
  EXPECT_EQ(run_all_parts(options({part("a", "GIVE; exit 3"), part("b", "GIVE")})), 3);
  EXPECT_EQ(measured(), (Names{"a", "b"}));
}

TEST_F(AllPartsTest, ResumeRunsOnlyWhatIsNotDone) {
  const std::string count = "echo x >> " + (folder_ / "runs").string();
  const PartRun good = part("a", count + "; GIVE");
  EXPECT_EQ(run_all_parts(options({good, part("b", "exit 1")})), 1);
  AllOptions again = options({good, part("b", "GIVE")});
  again.resume = true;
  EXPECT_EQ(run_all_parts(again), 0);
  EXPECT_EQ(fs::file_size(folder_ / "runs"), 2U) << "ran once";
  EXPECT_EQ(measured(), (Names{"a", "b"}));
  again.parts[0].arguments[0] += " ";  // other arguments: another measurement
  EXPECT_EQ(run_all_parts(again), 0);
  EXPECT_EQ(fs::file_size(folder_ / "runs"), 4U);
  fs::remove(folder_ / "out" / "parts" / "a.json");
  EXPECT_EQ(run_all_parts(again), 0);
  EXPECT_EQ(fs::file_size(folder_ / "runs"), 6U) << "its result was gone";
}

TEST_F(AllPartsTest, AnotherRunsResultsAreNotReported) {
  EXPECT_EQ(run_all_parts(options({part("a", "GIVE"), part("b", "GIVE")})), 0);
  EXPECT_EQ(run_all_parts(options({part("b", "GIVE")})), 0);
  EXPECT_EQ(measured(), (Names{"b"}));
}

TEST_F(AllPartsTest, CtrlCEndsThePartInOrderAndReports) {
  std::thread user([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    ::kill(::getpid(), SIGINT);
  });
  // The part ends by itself when it is asked to, with what it has.
  const int code = run_all_parts(
      options({part("a", "GIVE"), part("b", "trap 'exit 1' INT; sleep 1 & wait; sleep 1 & wait; sleep 1 & wait"),
               part("c", "GIVE")}));
  user.join();
  EXPECT_EQ(code, 1);
  EXPECT_EQ(measured(), (Names{"a"}));
  ASSERT_EQ(state().size(), 2U) << "c did not begin";
  EXPECT_FALSE(state()[1].finished());
}

TEST_F(AllPartsTest, AnInvalidStateIsRefused) {
  fs::create_directories(folder_ / "out");
  for (const char* text : {"", "{", "[]", "{\"parts\": 3}", "{\"parts\": [{\"name\": 1}]}"}) {
    std::ofstream(folder_ / "out" / "state.json") << text;
    AllOptions o = options({part("a", "GIVE")});
    o.resume = true;
    EXPECT_EQ(run_all_parts(o), 2) << text;
  }
  std::ofstream(folder_ / "out" / "state.json") << std::string(2 << 20, ' ');
  EXPECT_THROW(static_cast<void>(state()), Error);
}

TEST(Selections, AreKnownAndBounded) {
  const std::vector<std::string> peers{"raw", "uds", "cardan", "cardan-reliable"};
  for (const char* selection : {"quick", "full"}) {
    std::set<std::string> names;  // of files: none may be written twice
    for (const PartRun& part : parts_of_selection(selection, peers, true))
      EXPECT_TRUE(names.insert(part.name).second) << part.name;
    EXPECT_EQ(names, (std::set<std::string>{"transport", "sensors", "readers", "topics", "load", "links", "rates",
                                            "reliability", "runtime", "record", "bridge", "pipeline", "lidar", "v2x"}));
  }
  EXPECT_TRUE(parts_of_selection("", peers, true).empty());
  double seconds = 0;
  for (const PartRun& part : parts_of_selection("quick", peers, true)) {
    seconds += part.expected_seconds;
    for (const std::string& word : part.arguments)
      EXPECT_EQ(word.find("fastdds"), std::string::npos) << part.name << " asks for a peer that is not here";
  }
  EXPECT_LE(seconds, 890) << "a quarter of an hour, with its report";
  // A computer without budgets of CPU time measures the same without one, and the part does not fail.
  for (const bool cpu_budget : {false, true})
    for (const PartRun& part : parts_of_selection("quick", peers, cpu_budget)) {
      if (part.name != "links") continue;
      const auto& words = part.arguments;
      EXPECT_NE(std::find(words.begin(), words.end(), cpu_budget ? "cpu=100" : "none"), words.end());
      EXPECT_NE(std::find(words.begin(), words.end(), "1p1s,2x1p1s,4x1p1s,8x1p1s"), words.end());
    }
  EXPECT_EQ(run_all({.selection = "most"}), 2);
  EXPECT_EQ(run_all({.only = "transport,nothing"}), 2);
}

}  // namespace
}  // namespace cardan::bench

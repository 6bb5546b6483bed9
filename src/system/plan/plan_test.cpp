// SPDX-License-Identifier: Apache-2.0
// A plan as bytes and back: no part of a configuration is lost on the way, and other bytes are refused.
#include "src/system/plan/plan.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "cardan/error.hpp"
#include "src/config/street_file_test.hpp"
#include "src/system/plan/adjust.hpp"

namespace cardan::plan {
namespace {

namespace fs = std::filesystem;

class PlanFiles : public testing::Test {
 protected:
  PlanFiles() {
    char name[] = "/tmp/cardan-plan-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~PlanFiles() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

void expect_the_same(const Plan& plan, const std::string& what) {
  const std::string bytes = encode(plan);
  const Plan back = decode(bytes);
  EXPECT_EQ(back, plan) << what;
  EXPECT_EQ(encode(back), bytes) << what;
  const Fd sealed = seal(plan);
  EXPECT_EQ(plan_of(sealed.get()), plan) << what;
}

TEST(Plans, EveryConfigurationOfTheTreeSurvivesTheWay) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(CARDAN_SOURCES)) {
    const std::string path = entry.path().string();
    const bool is_one = path.starts_with(CARDAN_SOURCES "/examples/") || path.starts_with(CARDAN_SOURCES "/demo/") ||
                        path.starts_with(CARDAN_SOURCES "/tests/") || path.starts_with(CARDAN_SOURCES "/python/");
    if (!is_one || entry.path().extension() != ".json" || !entry.is_regular_file()) continue;
    std::vector<config::Problem> problems;
    const Plan plan = make_plan(path, {}, problems);
    ASSERT_FALSE(plan.files.empty()) << path;
    expect_the_same(plan, path);
    expect_the_same({.configuration = one_process(plan.configuration)}, path + " in one process");
    ++count;
  }
  EXPECT_GE(count, 4U) << "examples and demo";
}

TEST(Plans, EveryKindOfKeySurvivesTheWay) {
  std::vector<config::Problem> problems;
  Plan plan{.configuration = config::parse_configuration(config::kStreet, "street.json", problems)};
  EXPECT_FALSE(config::has_errors(problems));
  config::Component& first = plan.configuration.processes.at(0).components.at(0);
  first.parameters["real"] = -0.0;
  first.parameters["small"] = std::numeric_limits<double>::denorm_min();
  first.parameters["least"] = std::numeric_limits<std::int64_t>::min();
  first.parameters["bytes"] = std::string("\0\xff\xc3(\n", 5);
  plan.configuration.source.file_name = "odd \xe9\xff.json";
  first.parameters["bits"] = std::vector<bool>{true, false, true};
  first.parameters["ids"] = std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 0};
  first.parameters["gains"] = std::vector<double>{-0.0, 1e300};
  first.parameters["names"] = std::vector<std::string>{"", "\xff"};
  first.parameters["none"] = std::vector<std::string>{};
  first.keep = true;
  plan.configuration.processes.push_back(
      {.name = "r", .record = config::Record{.topics = {"*"}, .output = "o", .on = config::RecordTrigger{}}});
  plan.configuration.processes.push_back({.name = "g", .command = {"a", "", "a"}});
  plan.configuration.chains = {
      {.name = "brake", .from = "/a", .to = "/b", .budget = std::chrono::milliseconds{60}, .pointer = "/chains/brake"}};
  plan.configuration.transforms = {{.parent = "base_link",
                                    .child = "lidar",
                                    .place = {.translation = {1.2, -0.0, 1e-300}, .rotation = {0.5, -0.5, 0.5, -0.5}},
                                    .pointer = "/transforms/0"}};
  plan.configuration.transitions.push_back(
      {.when = {.kind = config::Condition::Kind::InTime, .names = {"brake"}, .times = 3}});
  plan.log_levels = {{"", LogLevel::Warning}, {"camera", LogLevel::Error}, {"lidar", LogLevel::Debug}};
  plan.declared = {{"camera", {.topics = {"/street/image"}, .fixed = {"device"}}}, {"lidar", {}}};
  plan.files = {{.path = "/a", .bytes = 3, .checksum = ~0U}};
  expect_the_same(plan, "street");
}

TEST(Plans, ACutOrChangedPlanIsRefusedOrAnotherPlan) {
  std::vector<config::Problem> problems;
  const std::string bytes =
      encode({.configuration = config::parse_configuration(config::kStreet, "street.json", problems)});
  for (std::size_t length = 0; length < bytes.size(); length += 13)
    EXPECT_THROW((void)decode(std::string_view(bytes).substr(0, length)), Error) << length;
  EXPECT_THROW((void)decode(bytes + '\0'), Error);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 3)
    for (const char bit : {'\x01', '\x80'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      try {
        EXPECT_EQ(encode(decode(changed)), changed) << at;
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Incompatible) << e.what();
        ++refused;
      }
    }
  EXPECT_GT(refused, bytes.size() / 12) << "sizes, numbers and enumerations are checked";
}

TEST(Plans, OnlySealedMemoryIsTaken) {
  std::vector<config::Problem> problems;
  const Plan plan{.configuration = config::parse_configuration(config::kStreet, "street.json", problems)};
  const Fd sealed = seal(plan);
  EXPECT_LT(::write(sealed.get(), "x", 1), 0);
  EXPECT_NE(::ftruncate(sealed.get(), 0), 0);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, sealed.get(), 0), MAP_FAILED);
  EXPECT_EQ(::fcntl(sealed.get(), F_GETFD), FD_CLOEXEC);

  const std::string bytes = encode(plan);
  const Fd open{::memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  ASSERT_EQ(::write(open.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  EXPECT_THROW((void)plan_of(open.get()), Error) << "not sealed";
  ASSERT_EQ(::fcntl(open.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), 0);
  EXPECT_THROW((void)plan_of(open.get()), Error) << "more seals could come";
  const Fd huge{::memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  ASSERT_EQ(::ftruncate(huge.get(), static_cast<off_t>(kMaxPlanBytes) + 1), 0);
  ASSERT_EQ(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL), 0);
  EXPECT_THROW((void)plan_of(huge.get()), Error) << "too large";
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  EXPECT_THROW((void)plan_of(pipe[0]), Error);
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_THROW((void)plan_of(-1), Error);
}

constexpr const char* kSmall = R"({"variables": {"n": 1}, "processes": {"p": {"components": {
  "c": {"library": "l.so", "class": "C", "parameters": {"n": "${n}", "m": 1}}}}}})";

TEST_F(PlanFiles, HasAllChangesOfTheCommandLine) {
  const std::string saved = file("saved.json", R"({"parameters": {"c": {"m": 2, "t": "x"}}})");
  const std::string main = file("main.json", kSmall);
  const Plan plan = make_plan(main, {.variables = {"n=7"},
                                     .parameters = saved,
                                     .set = {"c/m=3"},
                                     .log_levels = {"warning", "c=error"},
                                     .domain = "d",
                                     .one_process = true});
  const auto& parameters = plan.configuration.component("c")->parameters;
  EXPECT_EQ(config::text(parameters.at("m")), "3");
  EXPECT_EQ(config::text(parameters.at("t")), "\"x\"");
  EXPECT_EQ(config::text(parameters.at("n")), "7");
  EXPECT_EQ(plan.configuration.domain, "d");
  EXPECT_EQ(plan.log_levels, (std::map<std::string, LogLevel>{{"", LogLevel::Warning}, {"c", LogLevel::Error}}));
  EXPECT_EQ(plan.files.size(), 2U);
  expect_the_same(plan, "all changes");
}

TEST_F(PlanFiles, TheDomainIsThatOfTheOptionsElseOfTheFileElseOfTheEnvironment) {
  const char* const before = std::getenv("CARDAN_DOMAIN");
  const std::string kept = before != nullptr ? before : "";
  const std::string with = file("with.json", R"({"domain": "of-file", "processes": {}})");
  const std::string without = file("without.json", R"({"processes": {}})");
  const auto domain = [](const std::string& path, const std::string& given) {
    std::vector<config::Problem> ignored;
    return make_plan(path, {.domain = given}, ignored).configuration.domain;
  };
  ::setenv("CARDAN_DOMAIN", "of-environment", 1);
  EXPECT_EQ(domain(with, "given"), "given");
  EXPECT_EQ(domain(with, ""), "of-file");
  EXPECT_EQ(domain(without, ""), "of-environment");
  ::unsetenv("CARDAN_DOMAIN");
  EXPECT_EQ(domain(without, ""), "default");
  if (before != nullptr) ::setenv("CARDAN_DOMAIN", kept.c_str(), 1);
}

TEST_F(PlanFiles, KnowsWhichOfItsFilesHaveChanged) {
  const std::string inner = file("inner.json", kSmall);
  const std::string main = file("main.json", R"({"include": [{"file": "inner.json"}], "processes": {}})");
  const Plan plan = make_plan(main);
  EXPECT_EQ(plan.files.size(), 2U);
  EXPECT_TRUE(changed_files(plan).empty());
  file("main.json", R"({"include": [{"file": "inner.json"}], "processes": {}})");
  EXPECT_TRUE(changed_files(plan).empty()) << "written again with the same text";
  file("inner.json", std::string(kSmall) + " ");
  ASSERT_EQ(changed_files(plan).size(), 1U);
  EXPECT_EQ(changed_files(plan)[0].path, inner);
  EXPECT_EQ(changed_files(plan)[0].what, "changed");
  fs::remove(main);
  ASSERT_EQ(changed_files(plan).size(), 2U);
  EXPECT_EQ(changed_files(plan)[0].what, "cannot be read");
}

TEST_F(PlanFiles, AFileWithAnErrorGivesTheProblemsAndNoChanges) {
  const std::string main = file("main.json", R"({"processes": {"p": {"components": {"c": {"class": 7}}}}})");
  std::vector<config::Problem> problems;
  const Plan plan = make_plan(main, {.set = {"nobody/x=1"}}, problems);
  EXPECT_TRUE(config::has_errors(problems));
  expect_the_same(plan, "with errors");
  EXPECT_THROW((void)make_plan(main), Error);
  EXPECT_THROW((void)make_plan(folder_ + "/nothing.json"), Error);
}

}  // namespace
}  // namespace cardan::plan

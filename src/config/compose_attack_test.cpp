// SPDX-License-Identifier: Apache-2.0
// Configurations that would read without end, or make much of little: each is refused with file and line.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <filesystem>
#include <fstream>
#include <functional>

#include "cardan/error.hpp"
#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

const std::string kSystem = R"("processes": {"p": {)" + kOneComponent + "}}";

/// Where the first problem is, and what; `text_of` gives the included files.
std::string first_problem(const std::string& text, const std::function<std::string(const std::string&)>& text_of) {
  std::vector<Problem> problems;
  (void)parse_configuration(text, "car.json", problems,
                            {.read = [&](const std::string& path, std::size_t) { return text_of(path); }});
  for (const Problem& p : problems)
    if (p.severity == Severity::Error) return config::text(p, "car.json");
  return "nothing";
}

void expect_in(const std::string& all, const std::string& part) { EXPECT_NE(all.find(part), std::string::npos) << all; }

TEST(ComposeAttack, Circles) {
  const auto self = [](const std::string&) { return std::string("{\"include\": [\n{\"file\": \"car.json\"}]}"); };
  expect_in(first_problem("{\"include\": [\n{\"file\": \"car.json\"}]}", self),
            "car.json:2:10: error: the files include each other in a circle: car.json → car.json");
  expect_in(first_problem("{\"include\": [{\"file\": \"a.json\"}]}", self),
            "a.json:2:10: error: the files include each other in a circle: car.json → a.json → car.json");
}

TEST(ComposeAttack, DepthHasABound) {
  int made = 0;
  const auto deeper = [&](const std::string&) {
    return fmt::format("{{\"include\": [\n{{\"file\": \"f{}.json\", \"namespace\": \"n\"}}]}}", ++made);
  };
  expect_in(first_problem("{\"include\": [{\"file\": \"f.json\"}]}", deeper),
            "f7.json:2:10: error: files include files more than 8 deep");
  EXPECT_EQ(made, kMaxIncludeDepth);
}

TEST(ComposeAttack, TheNumberOfFilesHasABound) {
  // Each includes the next one twice: 2^8 without a bound.
  int reads = 0;
  const auto twice = [&](const std::string& path) {
    ++reads;
    const std::string next = "f" + path;
    return fmt::format(
        R"({{"include": [{{"file": "{0}", "namespace": "a"}}, {{"file": "{0}", "namespace": "b"}}], {1}}})", next,
        kSystem);
  };
  expect_in(first_problem(R"({"include": [{"file": "f", "namespace": "a"}, {"file": "f", "namespace": "b"}]})", twice),
            "error: ");
  EXPECT_LE(reads, kMaxIncludeDepth);  // each path once
  std::string many = "{\"include\": [";
  for (std::size_t i = 0; i <= kMaxIncludes; ++i)
    many += fmt::format("\n{{\"file\": \"a\", \"namespace\": \"n{}\"}},", i);
  many.back() = ']';
  expect_in(first_problem(many + "}", [](const std::string&) { return "{" + kSystem + "}"; }),
            fmt::format("car.json:{}:10: error: more than {} files are included", kMaxIncludes + 2, kMaxIncludes));
}

TEST(ComposeAttack, TheSizeOfAllFilesHasABound) {
  const std::string large = "{" + kSystem + "}" + std::string(kMaxTextBytes / 3, ' ');
  std::string four = "{\"include\": [";
  for (int i = 0; i < 4; ++i) four += fmt::format("\n{{\"file\": \"a\", \"namespace\": \"n{}\"}},", i);
  four.back() = ']';
  expect_in(first_problem(four + "}", [&](const std::string&) { return large; }),
            "car.json:4:10: error: the files together have more than 2 MiB");
}

TEST(ComposeAttack, VariablesThatGrowHaveABound) {
  // Ten times as long each time.
  std::string file = "{\"variables\": {\"v0\": \"0123456789\"";
  for (int i = 1; i < 12; ++i) {
    file += fmt::format(",\n\"v{}\": \"", i);
    for (int j = 0; j < 10; ++j) file += fmt::format("${{v{}}}", i - 1);
    file += '"';
  }
  expect_in(first_problem(file + "}, " + kSystem + "}", {}),
            "car.json:8:7: error: variables and instances make the configuration larger than 16 MiB");
}

TEST(ComposeAttack, InstancesThatGrowHaveABound) {
  std::string file = R"({"processes": {"p": {"components": {"c": {"library": "l.so", "class": "C",)"
                     "\n\"parameters\": {\"a\": \"" +
                     std::string(100'000, 'x') + "\"}, \"instances\": {";
  for (int i = 0; i < 1000; ++i) file += fmt::format("\"i{}\": {{}},", i);
  file.back() = '}';
  expect_in(first_problem(file + "}}}}}", {}),
            "error: variables and instances make the configuration larger than 16 MiB");
}

TEST(ComposeAttack, VariablesHaveANumber) {
  std::string file = "{\"variables\": {";
  for (std::size_t i = 0; i < 20'000; ++i) file += fmt::format("\"v{}\": {},", i, i);
  file.back() = '}';
  expect_in(first_problem(file + ", " + kSystem + "}", {}), "error: the file has more than 256 variables");
}

class OnDisk : public testing::Test {
 protected:
  OnDisk() {
    std::string name = testing::TempDir() + "cardan-compose-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~OnDisk() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

TEST_F(OnDisk, IncludesRegularFilesOnly) {
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  for (const char* const what : {"pipe", "/dev/zero", ".", "none"}) {
    std::vector<Problem> problems;
    (void)read_configuration(write("car.json", std::string("{\"include\": [\n{\"file\": \"") + what + "\"}]}"),
                             problems);
    ASSERT_EQ(problems.size(), 1U) << what;
    EXPECT_TRUE(problems[0].cause.starts_with("cannot read ")) << problems[0].cause;
    EXPECT_EQ(problems[0].line, 2);
  }
  write("part.json", "{" + kSystem + "}");
  std::vector<Problem> problems;
  const Configuration c = read_configuration(write("car.json", R"({"include": [{"file": "part.json"}]})"), problems);
  EXPECT_TRUE(problems.empty()) << shown(problems);
  EXPECT_EQ(c.file_of(c.processes.at(0).components.at(0)), folder_ + "/part.json");
}

TEST_F(OnDisk, AFileWithoutEndIsRefused) {
  std::vector<Problem> problems;
  try {
    (void)read_configuration("/dev/zero", problems);
    FAIL() << "it was read";
  } catch (const Error& e) {
    EXPECT_NE(e.cause().find("more than 2 MiB"), std::string::npos) << e.cause();
  }
}

TEST_F(OnDisk, ACircleThroughALinkIsOne) {
  const std::string car = write("car.json", R"({"include": [{"file": "link.json"}]})");
  std::filesystem::create_symlink("car.json", folder_ + "/link.json");
  std::vector<Problem> problems;
  (void)read_configuration(car, problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].cause.find("in a circle"), std::string::npos) << problems[0].cause;
}

}  // namespace
}  // namespace cardan::config

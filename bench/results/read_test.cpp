// SPDX-License-Identifier: Apache-2.0
#include "bench/results/read.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/results/synthetic.hpp"
#include "bench/results/words.hpp"
#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

Result read_text(const std::string& text, const ReadLimits& limits = {}) {
  std::istringstream in(text);
  return read_result(in, "some.json", limits);
}

std::string refusal_of(const std::string& text, const ReadLimits& limits = {}) {
  try {
    read_text(text, limits);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::InvalidArgument);
    EXPECT_EQ(e.cause().rfind("some.json: ", 0), 0U) << e.cause();
    return e.cause();
  }
  return "";
}

/// A result with one measurement, in which `field` has the JSON text `value`.
std::string with(const std::string& field, const std::string& value) {
  auto json = to_json(result_of({synthetic({.runs = 1, .samples = 3})}));
  json["measurements"][0][field] = "@@";
  std::string text = json.dump();
  return text.replace(text.find("\"@@\""), 4, value);
}

TEST(ReadResult, ReadsWhatWasWritten) {
  Measurement m = synthetic({.runs = 3, .samples = 20});
  m.due = 60;
  m.lost = 2;
  m.noisy = true;
  m.command = "cardan bench transport --peers cardan --sizes 640*480*3";
  auto json = to_json(result_of({m}));
  json["rows"] = {{{"peer", "cardan"}, {"deep", {1, {2, {3}}}}}};  // what a part adds
  json["left_out"] = {"no iceoryx"};
  json["interrupted"] = true;
  const Result read = read_text(json.dump());
  ASSERT_EQ(read.measurements.size(), 1U);
  const Measurement& r = read.measurements[0];
  EXPECT_EQ(r.identity(), m.identity());
  EXPECT_EQ(r.command, m.command);
  EXPECT_EQ(r.due, m.due);
  EXPECT_EQ(r.lost, m.lost);
  EXPECT_TRUE(r.noisy);
  ASSERT_EQ(r.runs.size(), 3U);
  ASSERT_EQ(r.runs[2].samples.size(), 20U);
  EXPECT_EQ(r.runs[2].count, 20U);
  EXPECT_NEAR(r.runs[2].samples[7], m.runs[2].samples[7], 1e-4);
  EXPECT_EQ(read.host_entry("kernel"), "Linux 6.1");
  EXPECT_EQ(read.left_out, (std::vector<std::string>{"no iceoryx"}));
  EXPECT_TRUE(read.interrupted);
}

TEST(ReadResult, RefusesWhatIsNoResult) {
  for (const char* text : {"", "{", "hello", "{\"measurements\": [NaN]}", "{} {}", "\x80\xff", "{\"a\":\"\x80\"}"})
    EXPECT_NE(refusal_of(text).find("no JSON"), std::string::npos) << text << ": " << refusal_of(text);
  for (const char* text : {"{}", "{\"rows\": []}", "[]", "3"}) EXPECT_NE(refusal_of(text), "") << text;
  EXPECT_NE(refusal_of("{\"measurements\": 3}").find("no list"), std::string::npos);
  EXPECT_NE(refusal_of("{\"measurements\": [3]}"), "");
  EXPECT_NE(refusal_of("{\"measurements\": [[]]}"), "");
  EXPECT_NE(refusal_of("{\"measurements\": [{}]}").find("has no `part`"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(100'000, '[')), "");
  std::string deep = "{\"measurements\": [], \"rows\": ";
  deep += std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  EXPECT_EQ(refusal_of(deep), "") << "what others add may be deep: it is skipped";
}

TEST(ReadResult, RefusesFiguresThatAreNone) {
  EXPECT_EQ(refusal_of(with("rate_hz", "30")), "");
  EXPECT_NE(refusal_of(with("rate_hz", "1e999")).find("out of range"), std::string::npos);
  EXPECT_NE(refusal_of(with("rate_hz", "1e300")).find("no figure"), std::string::npos);
  EXPECT_NE(refusal_of(with("rate_hz", "\"fast\"")).find("`rate_hz` is a text"), std::string::npos);
  EXPECT_NE(refusal_of(with("readers", "-1")).find("no count"), std::string::npos);
  EXPECT_NE(refusal_of(with("lost", "7")).find("more was lost than was due"), std::string::npos);
  EXPECT_NE(refusal_of(with("noisy", "1")).find("`noisy` is a number"), std::string::npos);
  EXPECT_NE(refusal_of(with("peer", "null")).find("`peer` is null"), std::string::npos);
  EXPECT_NE(refusal_of(with("peer", "\"\"")).find("has no `peer`"), std::string::npos);
  for (const char* samples : {"[1, null]", "[1, \"2\"]", "[[1]]", "[{}]", "[1e308]", "[true]"})
    EXPECT_NE(refusal_of(with("runs", std::string("[{\"samples\": ") + samples + "}]")), "") << samples;
  EXPECT_EQ(refusal_of(with("runs", "[{\"samples\": [-1, 0, 2.5e3]}]")), "");
}

TEST(ReadResult, ControlCharactersDoNotReachTheTerminal) {
  const Result r = read_text(with("peer", R"("a\u001b[31mb\u009bc\u202ed")"));
  EXPECT_EQ(r.measurements[0].peer, "a?[31mb?c?d");
}

TEST(ReadResult, RefusesCommandsOfOthers) {
  EXPECT_EQ(refusal_of(with("command", "\"cardan bench record --only pipeline\"")), "");
  for (const char* command :
       {"rm -rf /", "cardan bench x; rm y", "cardan bench $(id)", "cardan bench `id`", "cardan bench a|b"})
    EXPECT_NE(refusal_of(with("command", '"' + std::string(command) + '"')).find("no command of the bench"),
              std::string::npos)
        << command;
}

TEST(ReadResult, RefusesTwoOfOne) {
  auto json = to_json(result_of({synthetic({}), synthetic({.seed = 2})}));
  EXPECT_NE(refusal_of(json.dump()).find("measurement 2 is there twice"), std::string::npos);
}

TEST(ReadResult, LimitsHold) {
  const std::string two = "[{\"samples\": [1,2,3]}, {\"samples\": [1,2,3]}]";
  EXPECT_EQ(refusal_of(with("runs", two), {.samples = 6}), "");
  EXPECT_NE(refusal_of(with("runs", two), {.samples = 5}).find("more than 5 samples"), std::string::npos);
  EXPECT_NE(refusal_of(with("runs", two), {.runs = 1}).find("more than 1 runs"), std::string::npos);
  EXPECT_NE(refusal_of(with("peer", '"' + std::string(501, 'a') + '"')).find("501 bytes"), std::string::npos);
  EXPECT_NE(refusal_of(with("peer", "\"a\""), {.measurements = 0}).find("more than 0 measurements"), std::string::npos);
  std::string hosts = "{\"measurements\": [], \"host\": {";
  for (int i = 0; i < 5000; ++i)
    hosts += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\": \"é" + std::string(2000, 'x') + "\"";
  const Result r = read_text(hosts + "}}");
  EXPECT_EQ(r.host.size(), 1000U);
  EXPECT_LE(r.host[0].second.size(), 500U);
}

// Millions of rows end at the limit, and memory stays what the limits say.
TEST(ReadResult, AHugeFileIsRefusedWithBoundedMemory) {
  const auto path = std::filesystem::temp_directory_path() / ("cardan-read-" + std::to_string(::getpid()) + ".json");
  {
    std::ofstream out(path);
    out << "{\"rows\": [";
    for (int i = 0; i < 2'000'000; ++i) out << "{\"peer\": \"x\", \"samples\": [1, 2]},";
    out << "0], \"measurements\": [{\"runs\": [{\"samples\": [";
    for (int i = 0; i < 9'000'000; ++i) out << "1,";
    out << "1]}]}]}";
  }
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  try {
    static_cast<void>(read_result(path.string()));
    ADD_FAILURE() << "was read";
  } catch (const Error& e) {
    EXPECT_NE(e.cause().find("more than 8000000 samples"), std::string::npos) << e.cause();
  }
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 300 * 1024) << "KiB";
#endif
  std::filesystem::remove(path);
}

TEST(ReadResult, RefusesWhatIsNoFile) {
  EXPECT_THROW(read_result("/nowhere/at/all.json"), Error);
  EXPECT_THROW(read_result("/dev/zero"), Error);
  EXPECT_THROW(read_result("/"), Error);
  const auto path = std::filesystem::temp_directory_path() / ("cardan-fifo-" + std::to_string(::getpid()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(read_result(path.string()), Error) << "would wait for a writer for ever";
  std::filesystem::remove(path);
}

TEST(WriteResult, APartsFileIsReadAgainAndHasAMeasurementALine) {
  const auto path = std::filesystem::temp_directory_path() / ("cardan-write-" + std::to_string(::getpid()) + ".json");
  auto json = to_json(result_of({synthetic({}), synthetic({.runs = 2, .samples = 4})}));
  json["measurements"][1]["peer"] = "other";
  write_json(path.string(), json);
  EXPECT_EQ(read_result(path.string()).measurements.size(), 2U);
  std::ifstream in(path);
  EXPECT_EQ(nlohmann::ordered_json::parse(in)["measurements"], json["measurements"]);
  in.clear();
  in.seekg(0);
  EXPECT_LT(std::count(std::istreambuf_iterator<char>(in), {}, '\n'), 20);
  write_json(path.string(), {{"measurements", {1}}});  // nothing else
  std::ifstream again(path);
  EXPECT_EQ(nlohmann::ordered_json::parse(again)["measurements"].size(), 1U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cardan::bench

// SPDX-License-Identifier: Apache-2.0
// Requests for parameters, however many: what they cost the components is bounded.
#include "src/bridge/foxglove/parameter_desk.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "cardan/error.hpp"

namespace cardan::bridge::foxglove {
namespace {

using nlohmann::json;

class Radar final : public ParameterDesk::Components {
 public:
  host::DomainComponents look() override {
    ++looks;
    host::DomainComponents all;
    host::ComponentReport& radar = all.components.emplace_back();
    radar.name = "radar";
    for (const auto& [name, value] : values) {
      host::ParameterReport& p = radar.parameters.emplace_back();
      p.name = name;
      p.value = value;
    }
    return all;
  }
  void set(const host::ComponentReport&, const std::string& parameter, const config::Value& value) override {
    ++sets;
    std::this_thread::sleep_for(takes);
    values.at(parameter) = value;
  }
  [[nodiscard]] bool stops() const override { return stop; }

  Parameters values{{"gain", 1.5}, {"name", std::string("x")}, {"on", true}, {"rate", std::int64_t{10}}};
  std::chrono::milliseconds takes{0};
  int looks = 0, sets = 0;
  bool stop = false;
};

TEST(FoxgloveParameters, AreReadAndSet) {
  Radar radar;
  ParameterDesk desk(radar);
  EXPECT_EQ(json::parse(desk.answer(GetParameters{.names = {"radar/on", "nobody/nothing"}, .request = "q"})),
            json::parse(R"({"op":"parameterValues","id":"q","parameters":[{"name":"radar/on","value":true}]})"));
  const json set = json::parse(desk.answer(SetParameters{
      .parameters = {{"radar/gain", std::int64_t{2}}, {"radar/rate", std::int64_t{20}}}, .request = "s"}));
  EXPECT_EQ(set["parameters"].size(), 2U);
  EXPECT_EQ(std::get<double>(radar.values["gain"]), 2.0) << "it stays a double";
  EXPECT_EQ(std::get<std::int64_t>(desk.all()["radar/rate"]), 20) << "the new value";
  EXPECT_THROW((void)desk.answer(SetParameters{.parameters = {{"nobody/nothing", true}}, .request = {}}), Error);
}

TEST(FoxgloveParameters, AFloodOfRequestsAsksTheComponentsFewTimes) {
  Radar radar;
  ParameterDesk desk(radar);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 2'000; ++i) (void)desk.answer(GetParameters{});
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(radar.looks, 1 + took / std::chrono::milliseconds(200));
}

TEST(FoxgloveParameters, ARequestThatSetsManyTakesOnlySoLong) {
  Radar radar;
  SetParameters request;
  for (int i = 0; i < 1'000; ++i) {
    radar.values["p" + std::to_string(i)] = false;
    request.parameters["radar/p" + std::to_string(i)] = true;
  }
  radar.takes = std::chrono::milliseconds(1'200);
  ParameterDesk desk(radar);
  EXPECT_THROW((void)desk.answer(request), Error);
  EXPECT_LE(radar.sets, 5) << "six would have begun after more than five seconds";
  radar.stop = true;
  const int before = radar.sets;
  (void)desk.answer(request);
  EXPECT_EQ(radar.sets, before) << "the bridge ends";
}

TEST(FoxgloveParameters, AnErrorIsShortWhateverItsNameIs) {
  Radar radar;
  ParameterDesk desk(radar);
  try {
    (void)desk.answer(SetParameters{.parameters = {{std::string(100'000, 'x'), true}}, .request = {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_LT(std::string(e.what()).size(), 400U);
  }
}

}  // namespace
}  // namespace cardan::bridge::foxglove

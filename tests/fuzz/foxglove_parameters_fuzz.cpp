// SPDX-License-Identifier: Apache-2.0
// Requests for parameters as clients of the Foxglove bridge send them. Must hold: an answer that can be read, and no
// component is asked to set what it does not have, or to another type than a number's.
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "cardan/error.hpp"
#include "src/bridge/foxglove/parameter_desk.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::foxglove_parameters_target {
namespace {

using namespace bridge::foxglove;

class Robot final : public ParameterDesk::Components {
 public:
  host::DomainComponents look() override {
    host::DomainComponents all;
    for (const auto& [name, parameters] : values) {
      host::ComponentReport& component = all.components.emplace_back();
      component.name = name;
      for (const auto& [parameter, value] : parameters) {
        host::ParameterReport& p = component.parameters.emplace_back();
        p.name = parameter;
        p.value = value;
      }
    }
    return all;
  }
  void set(const host::ComponentReport& component, const std::string& parameter, const config::Value& value) override {
    config::Value& is = values.at(component.name).at(parameter);
    require(!std::holds_alternative<double>(is) || !std::holds_alternative<std::int64_t>(value), "1.0 became 1");
    if (is.index() != value.index()) throw Error(ErrorCode::InvalidArgument, "of another type", "give one that fits");
    is = value;
  }
  [[nodiscard]] bool stops() const override { return false; }
  std::map<std::string, Parameters> values{
      {"radar", {{"gain", 1.5}, {"on", true}, {"name", std::string("x")}, {"rate", std::int64_t{10}}}},
      {"", {{"", 0.0}}},
      {"a/b", {{"c", false}}}};
};

void check(const std::string& answer, std::size_t asked) {
  const auto text = nlohmann::json::parse(answer, nullptr, false);
  require(text.is_object() && text.value("op", "") == "parameterValues", "an answer that nobody can read");
  require(text["parameters"].is_array() && text["parameters"].size() <= 6, "more parameters than there are");
  require(answer.size() < 4096 + 6 * asked, "an answer that is much longer than its question");
}

/// Each line is a request.
void run(std::string_view input) {
  Robot robot;
  ParameterDesk desk(robot);
  Input lines(input);
  while (!lines.empty()) {
    const std::string_view line = lines.until('\n');
    const Request request = parse_request(line);
    try {
      if (const auto* get = std::get_if<GetParameters>(&request)) check(desk.answer(*get), line.size());
      if (const auto* set = std::get_if<SetParameters>(&request)) check(desk.answer(*set), input.size());
    } catch (const Error& e) {
      require(!e.cause().empty() && !e.remedy().empty(), "an error without words");
      require(!nlohmann::json::parse(status_text(Level::Error, e.what()), nullptr, false).is_discarded(),
              "an error that nobody can read");
    }
  }
  require(desk.all().size() == 6, "a parameter has come or gone");
}

std::vector<std::string> seeds() {
  return {
      R"({"op":"getParameters","parameterNames":[],"id":"all"})",
      R"({"op":"getParameters","parameterNames":["radar/gain","a/b/c","/"]})",
      R"({"op":"setParameters","id":"s","parameters":[{"name":"radar/gain","value":2},{"name":"radar/rate","value":3}]})"
      "\n"
      R"({"op":"getParameters","parameterNames":["radar/gain"],"id":"again"})",
      R"({"op":"setParameters","parameters":[{"name":"radar/on","value":false},{"name":"radar/name","value":"é\u0000"}]})",
      R"({"op":"setParameters","parameters":[{"name":"/","value":1e308},{"name":"radar/rate","value":1,"type":"float64"}]})",
      R"({"op":"setParameters","parameters":[{"name":"nobody/nothing","value":18446744073709551615}]})",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(foxglove_parameters, run, seeds)
}  // namespace cardan::fuzz::foxglove_parameters_target

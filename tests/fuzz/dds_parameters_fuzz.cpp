// SPDX-License-Identifier: Apache-2.0
// Requests of unknown peers to the parameter services of the DDS bridge's node. Must hold: they get no answer, or one
// of bounded size that begins with the request's numbers; only set_parameters sets.
#include <cstring>
#include <span>

#include "cardan/cdr_writer.hpp"
#include "src/bridge/dds/parameter_answers.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::dds_parameters_target {
namespace {

using namespace cardan::bridge::dds;

class Table final : public ParameterTable {
 public:
  std::vector<RosParameter> all() override {
    return {{.name = "a.threshold", .value = 0.5, .description = "score", .min = config::Value(0.0)},
            {.name = "a.b.name", .value = std::string("small"), .read_only = true},
            {.name = "a.count", .value = std::int64_t{3}},
            {.name = "b", .value = true}};
  }
  std::string set(const std::string& name, const config::Value& /*value*/) override {
    ++sets;
    return name == "b" ? "" : "not this one";
  }
  int sets = 0;
};

/// The first byte names the service.
void run(std::string_view input) {
  constexpr std::size_t kHead = 4, kNumbers = 16;
  Input parts(input);
  const ParameterService service = kParameterServices[parts.byte() % kParameterServices.size()].service;
  const auto request = std::as_bytes(std::span(parts.rest()));
  Table table;
  const auto reply = parameter_answer(service, request, table);
  const bool may_set = service == ParameterService::Set || service == ParameterService::SetAtomically;
  require(table.sets == 0 || may_set, "a question sets");
  if (!reply) return;
  require(reply->size() >= kHead + kNumbers && reply->size() <= kMostReplyBytes, "an answer without bounds");
  const bool little = request.size() > 1 && request[1] == std::byte{1};
  if (little)
    require(std::memcmp(reply->data() + kHead, request.data() + kHead, kNumbers) == 0, "the answer to another request");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < kParameterServices.size(); ++i) {
    std::vector<std::byte> bytes, unused;
    CdrWriter out(bytes, unused, nullptr);
    out.number(std::uint64_t{77});
    out.number(std::int64_t{5});
    const ParameterService service = kParameterServices[i].service;
    if (service == ParameterService::Set || service == ParameterService::SetAtomically) {
      out.count(1);
      out.string("b");
      out.number(std::uint8_t{1});
      out.boolean(true);
      out.number(std::int64_t{1});
      out.number(1.0);
      out.string("one");
      for (int list = 0; list < 5; ++list) out.count(0);
    } else {
      out.count(2);
      out.string("a");
      out.string("a.threshold");
      if (service == ParameterService::List) out.number(std::uint64_t{0});
    }
    all.push_back(static_cast<char>(i) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(dds_parameters, run, seeds)
}  // namespace cardan::fuzz::dds_parameters_target

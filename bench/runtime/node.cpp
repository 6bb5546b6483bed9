// SPDX-License-Identifier: Apache-2.0
// A component that is what its parameters say: the system's benchmark makes hundreds of it.
#include "bench/runtime/node.hpp"

#include <chrono>
#include <deque>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cardan/component.hpp"

namespace cardan::bench {

class Node : public Component {
  void on_start(Context& context) override {
    const auto names = [&](const char* parameter, const char* what) {
      std::istringstream words(*context.parameter(parameter, std::string(), {.description = what, .fixed = true}));
      std::vector<const char*> all;
      for (std::string word; words >> word;) all.push_back(names_.emplace_back(word).c_str());
      return all;
    };
    const auto period = context.parameter("period_us", std::int64_t{0}, {.min = 0, .fixed = true});
    bytes_ = static_cast<std::size_t>(*context.parameter("bytes", std::int64_t{0}, {.min = 0, .fixed = true}));
    for (const char* name : names("outputs", "topics to publish on, separated by spaces"))
      outputs_.push_back(context.output(Topic<NodeFrame>{name, {.max_bytes = bytes_}}));
    for (const char* name : names("inputs", "topics to read, likewise"))
      context.input(Topic<NodeFrame>{name, {.max_bytes = bytes_}}, [this](const Sample<NodeFrame>&) { ++received_; });
    if (*period > 0) context.timer(std::chrono::microseconds(*period), [this] { publish(); });
  }

  void publish() {
    ++number_;
    for (Output<NodeFrame>& out : outputs_) {
      auto loan = out.loan();
      if (!loan) continue;
      loan->number = number_;
      static_cast<void>(loan->data.try_resize(bytes_));
      out.publish(std::move(loan));
    }
  }

  std::deque<std::string> names_;
  std::vector<Output<NodeFrame>> outputs_;
  std::size_t bytes_ = 0;
  std::uint64_t number_ = 0, received_ = 0;
};
CARDAN_COMPONENT(Node)

}  // namespace cardan::bench

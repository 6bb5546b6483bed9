// SPDX-License-Identifier: Apache-2.0
#include "cardan/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cardan/error.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/runtime.hpp"
#include "src/transforms/stamped_transforms.hpp"

namespace cardan {
namespace {

/// The world around the components: what it publishes and reads is declared by the simulation.
class Outside : public Component {
  void on_start(Context&) override {}
};

SimulationOptions with_parts_of(const config::Configuration& file, SimulationOptions options) {
  options.topics.insert(file.topics.begin(), file.topics.end());
  options.chains.insert(options.chains.end(), file.chains.begin(), file.chains.end());
  options.transforms.insert(options.transforms.end(), file.transforms.begin(), file.transforms.end());
  return options;
}

}  // namespace

Simulation::Simulation(SimulationOptions options)
    : runtime_(std::make_unique<Runtime>(RuntimeOptions{.transport = false,
                                                        .threads = false,
                                                        .simulated_time = options.begin,
                                                        .groups = {{.name = std::string(config::kDefaultGroup)}},
                                                        .topics = std::move(options.topics),
                                                        .chains = std::move(options.chains),
                                                        .on_begin = std::move(options.on_begin),
                                                        .on_change = std::move(options.on_change)})),
      ended_(std::move(options.ended)),
      transforms_(std::move(options.transforms)) {
  runtime_->add({.name = "simulation"}, std::make_shared<Outside>());
  auto& core = *runtime_->components().front();
  core.stay_open();
  core.make_context();
}

Simulation::Simulation(const config::Configuration& file, const std::vector<std::string>& without,
                       SimulationOptions options)
    : Simulation(with_parts_of(file, std::move(options))) {
  for (const std::string& name : without)
    if (file.component(name) == nullptr)
      throw Error(ErrorCode::InvalidArgument, fmt::format("the file has no component '{}' to leave out", name),
                  "see: cardan graph FILE");
  for (const config::Process& process : file.processes)
    for (config::Component component : process.components) {
      if (std::find(without.begin(), without.end(), component.name) != without.end()) continue;
      component.library = component_library_path(component.library, file.file_of(component));
      add(std::move(component));
    }
}

Context& Simulation::outside() { return *runtime_->components().front()->context; }

void Simulation::refuse_push(const char* topic) {
  throw Error(ErrorCode::Limit,
              fmt::format("no slot of '{}' is free: its readers keep more samples than they announced", topic),
              "set InputOptions::keeps to the number that a component keeps, or drop samples");
}

void Simulation::add(config::Component settings, std::shared_ptr<Component> component) {
  runtime_->add(std::move(settings), std::move(component));
}

Simulation::~Simulation() = default;

void Simulation::start() {
  const std::vector<TransformStamped> frames = detail::stamped(transforms_);
  runtime_->start();
  if (frames.empty()) return;
  try {
    Topic<TransformMessage> topic = detail::with_room_for(kStaticTransforms, frames.size());
    topic.options.depth = 1;
    const auto out = std::make_shared<Output<TransformMessage>>(outside().output(topic));
    kept_.push_back(out);  // for components that start again
    Loan<TransformMessage> loan = loan_of(*out, topic.name);
    if (!detail::fill(*loan, frames))
      throw Error(ErrorCode::Limit, fmt::format("there is no room for {} transforms in a message", frames.size()),
                  "raise max_bytes of /tf_static in the topics of the simulation or the configuration");
    out->publish(std::move(loan));
  } catch (...) {
    stop();
    throw;
  }
}

void Simulation::stop() noexcept { runtime_->stop(); }

std::int64_t Simulation::now() noexcept { return runtime_->clock().now(); }

Runtime& detail::runtime_of(Simulation& simulation) noexcept { return *simulation.runtime_; }

void Simulation::at(std::int64_t time, std::function<void()> what) { events_.emplace(time, std::move(what)); }

std::size_t Simulation::run() {
  std::size_t ran = 0;
  while (!ended() && runtime_->run_one()) ++ran;
  return ran;
}

std::size_t Simulation::run_until(std::int64_t time) {
  std::size_t ran = run();
  for (;;) {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    if (ended()) return ran;
    const std::int64_t timer = runtime_->next_timer();
    const std::int64_t next = std::min(timer == 0 ? kNever : timer, events_.empty() ? kNever : events_.begin()->first);
    if (next > time || next == kNever) break;
    runtime_->clock().simulate(std::max(next, now()));
    // Messages from outside at this time are there before the timers of this time run.
    while (!events_.empty() && events_.begin()->first <= now()) {
      const auto what = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      what();
    }
    ran += run();
  }
  runtime_->clock().simulate(std::max(time, now()));
  return ran;
}

}  // namespace cardan

// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/component_asker.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/bridge/dds/diagnostics.hpp"

namespace cardan::bridge::dds {
namespace {

/// Diagnostics, which nobody asks for: those before are still there, or those after come soon.
constexpr std::size_t kMostUnasked = 4;
constexpr std::int64_t kFresh = 200'000'000;  ///< ns: the least time between two questions to the components
constexpr auto kDiagnosticPeriod = std::chrono::seconds(1);

std::string full_name(const host::ComponentReport& component, const host::ParameterReport& parameter) {
  return component.name + "." + parameter.name;
}

}  // namespace

/// The components' last answers.
class ComponentAsker::Table final : public ParameterTable {
 public:
  explicit Table(ComponentAsker& asker) : asker_(asker) {}

  std::vector<RosParameter> all() override {
    look();
    std::vector<RosParameter> all;
    for (const host::ComponentReport& component : there_.components)
      for (const host::ParameterReport& p : component.parameters)
        all.push_back({.name = full_name(component, p),
                       .value = p.value,
                       .description = p.description,
                       .min = p.min,
                       .max = p.max,
                       .read_only = p.fixed || !asker_.options_.set_parameters});
    return all;
  }

  std::string set(const std::string& name, const config::Value& value) override {
    if (!asker_.options_.set_parameters)
      return "the bridge lets nobody set parameters: its rules must say \"dds\": {\"set_parameters\": true}";
    {
      const std::lock_guard lock(asker_.mutex_);
      if (asker_.stop_) return "the bridge ends";  // a request may name thousands, and each may take seconds
    }
    try {
      look();
      for (const host::ComponentReport& component : there_.components)
        for (const host::ParameterReport& p : component.parameters) {
          if (full_name(component, p) != name) continue;
          asked_ns_ = 0;
          asker_.control().set_parameter(component, p.name, value);
          return {};
        }
    } catch (const Error& e) {
      return e.what();
    }
    return "no component has this parameter (ros2 param list names them)";
  }

 private:
  void look() {
    const std::int64_t now = steady_now();
    if (asked_ns_ != 0 && now - asked_ns_ < kFresh) return;
    there_ = {};
    try {
      there_ = asker_.control().components();
    } catch (const Error&) {
      // The domain cannot be looked at now: no components are known.
    }
    asked_ns_ = steady_now();
  }

  ComponentAsker& asker_;
  host::DomainComponents there_;
  std::int64_t asked_ns_ = 0;
};

ComponentAsker::ComponentAsker(Options options, std::shared_ptr<Bell> bell)
    : options_(std::move(options)), bell_(std::move(bell)), table_(std::make_unique<Table>(*this)) {
  results_.reserve(kMostWaiting + kMostUnasked);
  thread_ = std::thread([this] { run(); });
}

ComponentAsker::~ComponentAsker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ComponentAsker::want_diagnostics(bool wanted) {
  {
    const std::lock_guard lock(mutex_);
    if (diagnostics_ == wanted) return;
    diagnostics_ = wanted;
  }
  changed_.notify_all();
}

std::optional<std::size_t> ComponentAsker::ask(Question question) {
  std::optional<std::size_t> unanswered;
  {
    const std::lock_guard lock(mutex_);
    if (results_.size() >= kMostWaiting) return question.place;
    const Guid who = question.who;
    if (const auto left_out = questions_.add(who, std::move(question))) unanswered = left_out->place;
  }
  changed_.notify_all();
  return unanswered;
}

std::vector<ComponentAsker::Result> ComponentAsker::results() {
  std::vector<Result> room;  // so that the thread needs no memory to say anything
  room.reserve(kMostWaiting + kMostUnasked);
  const std::lock_guard lock(mutex_);
  return std::exchange(results_, std::move(room));
}

void ComponentAsker::add(Result result) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (results_.size() == results_.capacity()) return;
    results_.push_back(std::move(result));
  }
  bell_->ring();
}

host::ControlClient& ComponentAsker::control() {
  if (!control_) control_ = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = options_.domain});
  return *control_;
}

void ComponentAsker::run() {
  auto due = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (diagnostics_ && std::chrono::steady_clock::now() >= due) {  // first: questions may come without end
      lock.unlock();
      diagnose();
      due = std::chrono::steady_clock::now() + kDiagnosticPeriod;
      lock.lock();
    } else if (const auto question = questions_.take()) {
      lock.unlock();
      answer(*question);
      lock.lock();
    } else if (diagnostics_) {
      changed_.wait_until(lock, due);
    } else {
      changed_.wait(lock);
    }
  }
}

void ComponentAsker::answer(const Question& question) {
  Result result{.place = question.place, .message = {}};
  const ParameterService service = kParameterServices.at(question.place).service;
  try {
    if (auto reply = parameter_answer(service, question.request, *table_)) result.message = std::move(*reply);
  } catch (const std::exception&) {  // no memory: the asking client gets no answer
    result.lost = true;
  }
  add(std::move(result));
}

void ComponentAsker::diagnose() {
  try {
    const host::DomainComponents components = control().components();
    const host::DomainLaunchers launchers = control().launchers();
    add({.place = kParameterServices.size(), .message = diagnostics_of(components, launchers, wall_now())});
  } catch (const std::exception&) {
    // The domain cannot be read now, or memory is short. The next round tries again.
  }
}

}  // namespace cardan::bridge::dds

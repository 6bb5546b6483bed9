// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/foxglove/inquirer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include "cardan/base/error.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostQuestions = 64;
constexpr std::size_t kMostResults = 256;  ///< answers that wait for the other thread
constexpr std::size_t kMostKept = kMostResults + kMostQuestions + 4;
constexpr auto kPeriod = std::chrono::seconds(1);

config::Value as_type_of(const config::Value& like, const config::Value& value) {
  // A viewer writes 1 where the component has 1.0.
  if (std::holds_alternative<double>(like))
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return value;
}

}  // namespace

Inquirer::Inquirer(const Rules& rules)
    : rules_(rules), ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), system_(rules.domain) {
  if (!ready_) throw Error(ErrorCode::Limit, "cannot make an eventfd", "raise ulimit -n of the bridge");
  results_.reserve(kMostKept);
  thread_ = std::thread([this] { run(); });
}

Inquirer::~Inquirer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Inquirer::want(const Wants& wants) {
  {
    const std::lock_guard lock(mutex_);
    if (wants == wants_) return;
    wants_ = wants;
  }
  changed_.notify_all();
}

bool Inquirer::ask(Question question) {
  {
    const std::lock_guard lock(mutex_);
    if (questions_.size() >= kMostQuestions || results_.size() >= kMostResults) return false;
    questions_.push_back(std::move(question));
  }
  changed_.notify_all();
  return true;
}

std::vector<Inquirer::Result> Inquirer::results() {
  std::uint64_t ignored = 0;
  (void)!::read(ready_.get(), &ignored, sizeof(ignored));
  std::vector<Result> room;  // so that the thread needs no memory to say anything
  room.reserve(kMostKept);
  const std::lock_guard lock(mutex_);
  return std::exchange(results_, std::move(room));
}

void Inquirer::add(Result result) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (results_.size() == results_.capacity()) return;  // looks that nobody took
    results_.push_back(std::move(result));
  }
  const std::uint64_t one = 1;
  (void)!::write(ready_.get(), &one, sizeof(one));
}

void Inquirer::run() {
  std::unique_lock lock(mutex_);
  auto due = std::chrono::steady_clock::now();
  while (!stop_) {
    if (!questions_.empty()) {
      const Question question = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      answer(question);
      lock.lock();
      continue;
    }
    if (wants_ == Wants{}) {
      changed_.wait(lock);
      due = std::chrono::steady_clock::now();
      continue;
    }
    if (std::chrono::steady_clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    const Wants wants = wants_;
    lock.unlock();
    ask_all(wants);
    due = std::chrono::steady_clock::now() + kPeriod;
    lock.lock();
  }
}

void Inquirer::ask_all(const Wants& wants) {
  try {
    if (wants.looks)
      add(std::make_shared<const Look>(look_of(look_around({.domain = rules_.domain}), rules_, history_)));
    if (wants.parameters) add(std::make_shared<const Parameters>(parameters()));
    if (wants.system) add(System{system_.json(control())});
  } catch (const std::exception&) {
    // The domain cannot be read now, or memory is short. The next round tries again.
  }
}

host::ControlClient& Inquirer::control() {
  if (!control_) control_ = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = rules_.domain});
  return *control_;
}

Parameters Inquirer::parameters() {
  Parameters all;
  const host::DomainComponents there = control().components();
  for (const host::ComponentReport& component : there.components)
    for (const host::ParameterReport& p : component.parameters) all[component.name + "/" + p.name] = p.value;
  return all;
}

void Inquirer::set(const SetParameters& request) {
  const host::DomainComponents there = control().components();
  for (const auto& [name, value] : request.parameters) {
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;  // each may take seconds
    }
    const host::ComponentReport* owner = nullptr;
    const host::ParameterReport* parameter = nullptr;
    for (const host::ComponentReport& component : there.components)
      for (const host::ParameterReport& p : component.parameters)
        if (component.name + "/" + p.name == name) {
          owner = &component;
          parameter = &p;
        }
    if (parameter == nullptr)
      throw Error(ErrorCode::InvalidArgument, "no component has a parameter '" + name + "'",
                  "cardan param list names them");
    control().set_parameter(*owner, parameter->name, as_type_of(parameter->value, value));
  }
}

void Inquirer::answer(const Question& question) {
  const auto named = [](Parameters all, const std::set<std::string>& names) {
    if (!names.empty()) std::erase_if(all, [&](const auto& one) { return !names.contains(one.first); });
    return all;
  };
  try {
    if (const auto* get = std::get_if<GetParameters>(&question.what)) {
      add(Answer{question.client, parameters_text(named(parameters(), get->names), get->request)});
      return;
    }
    const auto& request = std::get<SetParameters>(question.what);
    set(request);
    std::set<std::string> names;
    for (const auto& [name, value] : request.parameters) names.insert(name);
    add(Answer{question.client, parameters_text(named(parameters(), names), request.request)});
  } catch (const std::exception& e) {
    Answer answer{question.client, {}};
    try {
      answer.text = status_text(Level::Error, e.what());
    } catch (const std::exception&) {  // no memory: it costs the one who asked his answer
    }
    add(std::move(answer));
  }
}

}  // namespace cardan::bridge::foxglove

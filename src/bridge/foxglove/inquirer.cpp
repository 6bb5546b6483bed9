// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/inquirer.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "cardan/error.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::size_t kMostQuestions = 64;
constexpr std::size_t kMostResults = 256;  ///< answers that wait for the other thread
constexpr std::size_t kMostKept = kMostResults + kMostQuestions + 4;
constexpr auto kPeriod = std::chrono::seconds(1);
constexpr auto kDrains = std::chrono::milliseconds(50);  ///< a thread fills its ring with 8,000 events

}  // namespace

Inquirer::Inquirer(const Rules& rules)
    : rules_(rules), ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), system_(rules.domain), chains_(rules.domain) {
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
    if (!wants_.chains) chains_.stop();
    if (wants_ == Wants{}) {
      changed_.wait(lock);
      due = std::chrono::steady_clock::now();
      continue;
    }
    if (std::chrono::steady_clock::now() < due) {
      if (!wants_.chains) {
        changed_.wait_until(lock, due);
        continue;
      }
      changed_.wait_until(lock, std::min(due, std::chrono::steady_clock::now() + kDrains));
      lock.unlock();
      drain();
      lock.lock();
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
      add(std::make_shared<const Look>(
          look_of(look_around({.domain = rules_.domain}, std::string(detail::kEverything)), rules_, history_)));
    if (wants.parameters) add(std::make_shared<const Parameters>(desk_.all()));
    if (wants.system) add(System{system_.json(control())});
    if (wants.chains) add(Chains{chains_.json(control().components())});
  } catch (const std::exception&) {
    // The domain cannot be read now, or memory is short. The next round tries again.
  }
}

void Inquirer::drain() {
  try {
    chains_.drain();
  } catch (const std::exception&) {  // no memory: the events are lost, and the page says that a part is missing
  }
}

host::ControlClient& Inquirer::control() {
  if (!control_) control_ = std::make_unique<host::ControlClient>(host::ControlOptions{.domain = rules_.domain});
  return *control_;
}

bool Inquirer::stops() const {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void Inquirer::answer(const Question& question) {
  try {
    add(Answer{question.client,
               std::visit([this](const auto& request) { return desk_.answer(request); }, question.what)});
  } catch (const std::exception& e) {
    Answer answer{question.client, {}};
    try {
      answer.text = status_text(Level::Error, e.what());
    } catch (const std::exception&) {  // no memory: the asking client gets no answer
    }
    add(std::move(answer));
  }
}

}  // namespace cardan::bridge::foxglove

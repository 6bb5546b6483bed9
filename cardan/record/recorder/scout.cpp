// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/scout.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/record/recorder/selection.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/process.hpp"

namespace cardan::record {

Scout::Scout(const RecorderOptions& options)
    : options_(options), directory_(detail::Process::of(options.domain).directory()), since_ns_(steady_now()) {
  // Before the first look, so that nothing falls between the two. Without a watch (a limit of the user's) the folder is
  // read every now and then instead.
  watch_ = BoundFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (watch_) ::inotify_add_watch(watch_.get(), directory_.path().c_str(), IN_CREATE | IN_MOVED_TO);
  look();
  thread_ = std::thread([this] { run(); });
}

Scout::~Scout() {
  stop_.store(true);
  thread_.join();
}

void Scout::run() {
  constexpr int kInterval = 50;  // ms
  std::array<char, 16384> names;
  bool again = true;
  while (!stop_.load()) {
    pollfd wait{.fd = watch_.get(), .events = POLLIN, .revents = 0};
    const bool told = ::poll(&wait, 1, kInterval) > 0;
    while (told && ::read(watch_.get(), names.data(), names.size()) > 0) {
    }
    if (told || again || !watch_) again = !look();
  }
}

bool Scout::look() {
  bool complete = true;
  for (const detail::TopicEntry& entry : directory_.entries()) {
    const auto topic = directory_.topic_of(entry);
    if (!topic || known_.contains(*topic)) continue;
    std::string problem;
    std::unique_ptr<TopicQueue> queue;
    try {
      const Observer observer(*topic, {.domain = options_.domain});
      const auto streams = observer.streams();
      if (streams.empty()) {  // gone again, too busy to answer, or not for us
        const auto problems = observer.problems();
        if (!problems.empty() && is_selected(options_, *topic, {})) note_problem(*topic, problems.front());
        complete = false;
        continue;
      }
      queue = queue_for(*topic, *streams.front(), problem);
    } catch (const Error& e) {
      queue.reset();
      problem = e.what();
    }
    known_.insert(*topic);
    if (!problem.empty()) note_problem(*topic, problem);
    const std::lock_guard lock(mutex_);
    if (queue != nullptr) {
      problems_.erase(*topic);
      found_.push_back(std::move(queue));
    }
  }
  return complete;
}

/// Null: it is not wanted, or cannot be recorded.
std::unique_ptr<TopicQueue> Scout::queue_for(const std::string& topic, const ObservedStream& stream,
                                             std::string& problem) const {
  TopicSource source{.name = topic,
                     .type = stream.type(),
                     .schema = stream.schema(),
                     .type_hash = stream.type_hash(),
                     .message_bytes = stream.message_bytes(),
                     .max_bytes = stream.max_bytes(),
                     .since_ns = since_ns_};
  if (!is_selected(options_, topic, source.type)) return nullptr;
  auto framing = Framing::of(source);
  if (!framing) {
    problem = "the memory layout of " + source.type +
              " does not follow from its schema — avoid alignas and bit fields in a type that is to be recorded";
    return nullptr;
  }
  auto queue = std::make_unique<TopicQueue>(std::move(source), std::move(*framing), options_);
  queue->attach(options_.domain);
  return queue;
}

void Scout::note_problem(const std::string& topic, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  problems_[topic] = problem;
}

std::vector<std::unique_ptr<TopicQueue>> Scout::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, {});
}

std::map<std::string, std::string> Scout::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace cardan::record

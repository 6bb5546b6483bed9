// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/scout.hpp"

#include <chrono>
#include <utility>

#include "cardan/memory/error.hpp"
#include "cardan/record/recorder/selection.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/process.hpp"

namespace cardan::record {
namespace {

/// What is known of a topic from one of its publishers' memory; empty: they have all gone.
std::optional<TopicSource> source_of(const std::string& topic, const std::string& domain) {
  const Observer observer(topic, {.domain = domain});
  for (const auto& stream : observer.streams())
    return TopicSource{.name = topic,
                       .type = stream->type(),
                       .schema = stream->schema(),
                       .type_hash = stream->type_hash(),
                       .message_bytes = stream->message_bytes(),
                       .max_bytes = stream->max_bytes()};
  return std::nullopt;
}

}  // namespace

Scout::Scout(const RecorderOptions& options) : options_(options) {
  look(false);
  thread_ = std::thread([this] { run(); });
}

Scout::~Scout() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Scout::run() {
  // A look costs each process of the domain a message; between two, only the folder of names is read.
  constexpr auto kInterval = std::chrono::milliseconds(50);
  const detail::RunDirectory& directory = detail::Process::of(options_.domain).directory();
  std::size_t entries_before = ~std::size_t{0};
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kInterval, [this] { return stop_; })) {
    lock.unlock();
    try {
      std::size_t entries = 0;
      for (const auto& entry : directory.entries()) entries = entries * 31 + entry.topic_hash + entry.serial;
      if (entries != entries_before && look(true)) entries_before = entries;
    } catch (const Error&) {
      // The next look will tell.
    }
    lock.lock();
  }
}

bool Scout::look(bool late) {
  bool complete = true;
  const DomainReport report = look_around({.domain = options_.domain});
  for (const PublisherReport& publisher : report.publishers) {
    if (known_.contains(publisher.topic) || !is_selected(options_, publisher.topic, publisher.type)) continue;
    std::string problem;
    std::unique_ptr<TopicQueue> queue;
    try {
      auto source = source_of(publisher.topic, options_.domain);
      if (!source) {  // gone again, or too busy to answer
        complete = false;
        continue;
      }
      source->late = late;
      auto framing = Framing::of(*source);
      if (framing) {
        queue = std::make_unique<TopicQueue>(std::move(*source), std::move(*framing), options_);
        queue->attach(options_.domain);
      } else {
        problem = "the memory layout of " + publisher.type +
                  " does not follow from its schema — avoid alignas and bit fields in a type that is to be recorded";
      }
    } catch (const Error& e) {
      queue.reset();
      problem = e.what();
    }
    known_[publisher.topic] = true;
    const std::lock_guard lock(mutex_);
    if (queue != nullptr) found_.push_back(std::move(queue));
    if (!problem.empty()) problems_[publisher.topic] = problem;
  }
  const std::lock_guard lock(mutex_);
  for (const std::string& topic : report.closed)
    if (is_selected(options_, topic, {})) problems_[topic] = "its access rule does not let us in";
  return complete && report.problems.empty();
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

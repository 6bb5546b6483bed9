// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/scout.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <utility>

#include "cardan/memory/clock.hpp"
#include "cardan/memory/error.hpp"
#include "cardan/record/name_patterns.hpp"
#include "cardan/record/recorder/selection.hpp"
#include "cardan/transport/access.hpp"
#include "cardan/transport/observer.hpp"
#include "cardan/transport/process.hpp"

namespace cardan::record {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// How long somebody who did not answer, or refused, is left alone.
constexpr std::int64_t kAgain = 500'000'000;
/// Problems that are kept. Anybody who can make topics can make many.
constexpr std::size_t kMostProblems = 64;

std::string key_of(const detail::TopicEntry& entry) { return fmt::format("{}.{}", entry.process, entry.serial); }

}  // namespace

Scout::Scout(const RecorderOptions& options, std::function<void()> on_look)
    : options_(options),
      directory_(detail::Process::of(options.domain).directory()),
      since_ns_(steady_now()),
      on_look_(std::move(on_look)) {
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
    // Once more after each: who waits for a look that begins after his announcement must not wait for the next one's.
    if (told || again || !watch_) again = !look() || told;
  }
}

bool Scout::look() {
  bool complete = true;
  const std::int64_t now = steady_now();
  const std::vector<detail::TopicEntry> entries = directory_.entries();
  std::map<std::string, std::int64_t> still_not_now;
  for (const detail::TopicEntry& entry : entries)
    if (const auto it = not_now_.find(key_of(entry)); it != not_now_.end() && it->second > now) {
      still_not_now.insert(*it);
      complete = complete && it->second == kNever;
    }
  not_now_ = std::move(still_not_now);
  for (const detail::TopicEntry& entry : entries) {
    if (not_now_.contains(key_of(entry))) continue;
    const auto topic = directory_.topic_of(entry);
    if (!topic || known_.contains(*topic)) continue;
    std::string problem;
    std::unique_ptr<TopicQueue> queue;
    try {
      const Observer observer(*topic, {.domain = options_.domain});
      const auto stream = accepted(*topic, observer);
      if (stream == nullptr) {  // gone again, too busy to answer, not for us, or nobody we accept
        if (not_now_.contains(key_of(entry))) continue;
        complete = false;
        const auto problems = observer.problems();
        if (problems.empty()) continue;
        if (is_selected(options_, *topic, {})) note_problem(*topic, problems.front());
        not_now_.emplace(key_of(entry), now + kAgain);
        continue;
      }
      queue = queue_for(*topic, *stream, problem);
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
  looked_ns_.store(now);
  on_look_();
  return complete;
}

std::shared_ptr<const ObservedStream> Scout::accepted(const std::string& topic, const Observer& observer) {
  std::shared_ptr<const ObservedStream> first;
  for (const auto& stream : observer.streams()) {
    const std::string no = detail::refusal(options_.access, topic, stream->peer(), directory_.root());
    if (no.empty()) {
      if (first == nullptr) first = stream;
      continue;
    }
    if (!not_now_.emplace(key_of({0, stream->process(), stream->serial()}), kNever).second) continue;
    if (is_selected(options_, topic, stream->type()))
      note_problem(
          topic,
          fmt::format("a publication by pid {} is not recorded: {} — record with another --access", stream->pid(), no),
          1);
  }
  return first;
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
  queue->attach(options_);
  return queue;
}

void Scout::note_problem(const std::string& topic, const std::string& problem, std::uint64_t refused) {
  const std::lock_guard lock(mutex_);
  const auto it = problems_.find(topic);
  if (it == problems_.end()) {
    if (problems_.size() < kMostProblems || fits_one(options_.topics, topic)) problems_[topic] = {problem, refused};
    return;
  }
  it->second.refused += refused;
  if (refused == 0 || it->second.why.empty())
    it->second.why = problem;  // of those that are refused, the first is named
}

std::vector<std::unique_ptr<TopicQueue>> Scout::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, {});
}

std::map<std::string, Scout::Problem> Scout::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace cardan::record

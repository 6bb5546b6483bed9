// SPDX-License-Identifier: Apache-2.0
#include "cardan/record/recorder/scout.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "cardan/base/clock.hpp"
#include "cardan/base/error.hpp"
#include "cardan/record/name_patterns.hpp"
#include "cardan/record/recorder/selection.hpp"
#include "cardan/transport/discovery/access.hpp"
#include "cardan/transport/discovery/process.hpp"
#include "cardan/transport/observer.hpp"

namespace cardan::record {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// How long a process that did not answer, or refused, is not asked again.
constexpr std::int64_t kAgain = 500'000'000;
/// The most problems that are kept: any user that can make topics can cause many.
constexpr std::size_t kMostProblems = 64;
/// Types of one topic that are recorded. Each costs a queue, and anybody whom we accept can make many.
constexpr std::size_t kMostForms = 16;
/// The numbers that MCAP has for channels.
constexpr std::size_t kMostChannels = 65'534;

std::string key_of(const detail::TopicEntry& entry) { return fmt::format("{}.{}", entry.process, entry.serial); }

}  // namespace

Scout::Scout(const RecorderOptions& options, std::function<void()> on_look)
    : options_(options),
      directory_(detail::Process::of(options.domain).directory()),
      since_ns_(steady_now()),
      on_look_(std::move(on_look)),
      selection_(options) {
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
    // Once more after each: a process that waits for a look that starts after its announcement must not wait for the
    // next round.
    if (told || again || !watch_) again = !look() || told;
  }
}

bool Scout::look() {
  bool complete = true;
  const std::int64_t now = steady_now();
  std::map<std::string, std::int64_t> still_not_now;
  std::set<std::string> still_done;
  std::map<std::string, std::vector<std::string>> fresh;  // publications, by topic
  for (const detail::TopicEntry& entry : directory_.entries()) {
    const std::string key = key_of(entry);
    if (done_.contains(key)) {
      still_done.insert(key);
    } else if (const auto it = not_now_.find(key); it != not_now_.end() && it->second > now) {
      still_not_now.insert(*it);
      complete = complete && it->second == kNever;
    } else if (const auto topic = directory_.topic_of(entry)) {
      if (selection_.may_want(*topic))
        fresh[*topic].push_back(key);
      else
        still_done.insert(key);
    }
  }
  not_now_ = std::move(still_not_now);
  done_ = std::move(still_done);
  for (const auto& [topic, publications] : fresh) complete = look_at(topic, publications, now) && complete;
  looked_ns_.store(now);
  on_look_();
  return complete;
}

bool Scout::look_at(const std::string& topic, const std::vector<std::string>& publications, std::int64_t now) {
  std::vector<std::string> problems;
  try {
    const Observer observer(topic, {.domain = options_.domain});
    for (const auto& stream : observer.streams())
      look_at(topic, *stream, key_of({0, stream->process(), stream->serial()}));
    problems = observer.problems();
  } catch (const Error& e) {
    problems = {e.what()};
  }
  bool complete = true;
  for (const std::string& key : publications) {
    if (done_.contains(key) || not_now_.contains(key)) continue;
    complete = false;  // gone again, too busy to answer, or not for us
    if (problems.empty()) continue;
    if (selection_.wants(topic, {})) note_problem(topic, problems.front());
    not_now_.emplace(key, now + kAgain);
  }
  return complete;
}

void Scout::look_at(const std::string& topic, const ObservedStream& stream, const std::string& publication) {
  if (done_.contains(publication) || not_now_.contains(publication)) return;
  const std::string type = stream.type();
  if (const std::string no = detail::refusal(options_.access, topic, stream.peer(), directory_.root()); !no.empty()) {
    not_now_.emplace(publication, kNever);
    // Of a topic that is recorded its subscriber counts them.
    if (selection_.wants(topic, type) && !forms_.contains(topic))
      note_problem(
          topic,
          fmt::format("a publication by pid {} is not recorded: {} — record with another --access", stream.pid(), no),
          1);
    return;
  }
  done_.insert(publication);
  const Form form{type, stream.type_hash(), stream.message_bytes()};
  const auto known = forms_.find(topic);
  if (known != forms_.end() && std::find(known->second.begin(), known->second.end(), form) != known->second.end())
    return;
  if (!selection_.wants(topic, type)) return;
  try {
    attach(topic, stream);
    forms_[topic].push_back(form);
    ++channels_;
  } catch (const Error& e) {
    note_problem(topic, e.what(), 0, 1);
  }
}

/// Throws Error: it cannot be recorded.
void Scout::attach(const std::string& topic, const ObservedStream& stream) {
  TopicSource source{.name = topic,
                     .type = stream.type(),
                     .schema = stream.schema(),
                     .type_hash = stream.type_hash(),
                     .message_bytes = stream.message_bytes(),
                     .max_bytes = stream.max_bytes(),
                     .depth = stream.depth(),
                     .since_ns = since_ns_};
  auto framing = Framing::of(source);
  if (!framing)
    throw Error(ErrorCode::Incompatible, "the memory layout of " + source.type + " does not follow from its schema",
                "avoid alignas and bit fields in recorded types");
  const auto known = forms_.find(topic);
  if ((known != forms_.end() && known->second.size() == kMostForms) || channels_ == kMostChannels)
    throw Error(ErrorCode::Limit,
                channels_ == kMostChannels ? fmt::format("a file has at most {} channels", kMostChannels)
                                           : fmt::format("the topic already had {} types", kMostForms),
                "start another recording");
  auto queue = std::make_unique<TopicQueue>(std::move(source), std::move(*framing), options_);
  queue->attach(options_);
  const std::lock_guard lock(mutex_);
  if (const auto problem = problems_.find(topic); problem != problems_.end() && problem->second.unreadable == 0)
    problems_.erase(problem);
  found_.push_back(std::move(queue));
}

void Scout::note_problem(const std::string& topic, const std::string& problem, std::uint64_t refused,
                         std::uint64_t unreadable) {
  const std::lock_guard lock(mutex_);
  const auto it = problems_.find(topic);
  if (it == problems_.end()) {
    if (problems_.size() < kMostProblems || fits_one(options_.topics, topic))
      problems_[topic] = {problem, refused, unreadable};
    return;
  }
  it->second.refused += refused;
  it->second.unreadable += unreadable;
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

// SPDX-License-Identifier: Apache-2.0
#include "src/transport/topic_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::detail {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// A process that waits for a look that begins after its announcement may note the time of this late, after all looks
/// that the announcement caused: there is another one.
constexpr std::int64_t kLookAgain = 500'000'000;
/// How long a process that did not answer, or refused, is not asked again.
constexpr std::int64_t kAskAgain = 500'000'000;
/// Topics whose publishers are asked at the same time.
constexpr std::size_t kMostAsked = 32;
/// On its own thread, if the system gives one.
constexpr auto kWithThreads = std::launch::async | std::launch::deferred;

std::string publication_key(const TopicEntry& entry) { return fmt::format("{}.{}", entry.process, entry.serial); }

}  // namespace

TopicWatch::TopicWatch(const TopicWatchOptions& options, TopicWatchListener& listener)
    : options_(options), listener_(listener), directory_(Process::of(options.domain).directory()) {
  // Before the first look, so that nothing falls between the two. Without a watch (a limit of the user's) the folder is
  // read every now and then instead.
  watch_ = BoundFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (watch_)
    ::inotify_add_watch(watch_.get(), directory_.path().c_str(),
                        IN_CREATE | IN_MOVED_TO | (options_.report_ends ? IN_DELETE | IN_MOVED_FROM : 0U));
}

TopicWatch::~TopicWatch() { stop(); }

void TopicWatch::start() {
  look();
  thread_ = std::thread([this] { run(); });
}

void TopicWatch::start_on_own_thread() {
  thread_ = std::thread([this] {
    look();
    run();
  });
}

void TopicWatch::stop() noexcept {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

void TopicWatch::run() {
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
    if (told || again || !watch_ || steady_now() - looked_ns_.load() > kLookAgain) again = !look() || told;
  }
}

bool TopicWatch::look() {
  bool complete = true;
  const std::int64_t now = steady_now();
  std::map<std::string, std::int64_t> still_not_now;
  std::set<std::string> still_done;
  std::set<std::string> present;
  std::map<std::string, std::vector<std::string>> fresh;  // publications, by topic
  for (const TopicEntry& entry : directory_.entries()) {
    const std::string key = publication_key(entry);
    if (options_.report_ends) present.insert(key);
    if (done_.contains(key)) {
      still_done.insert(key);
    } else if (const auto it = not_now_.find(key); it != not_now_.end() && it->second > now) {
      still_not_now.insert(*it);
      complete = complete && it->second == kNever;
    } else if (const auto topic = directory_.topic_of(entry)) {
      if (!is_of_service(*topic) && listener_.may_want(*topic))
        fresh[*topic].push_back(key);
      else
        still_done.insert(key);
    }
  }
  not_now_ = std::move(still_not_now);
  done_ = std::move(still_done);
  if (options_.report_ends) end_missing(present);
  // All at the same time: a process that does not answer must not keep the others waiting.
  std::list<Asked> asked;
  for (auto& [topic, publications] : fresh) {
    while (asked.size() >= kMostAsked) complete = look_at_answers(asked, now) && complete;
    asked.push_back({topic, std::move(publications), std::async(kWithThreads, [this, name = topic] {
                       return std::make_unique<const Observer>(name, ObserverOptions{.domain = options_.domain});
                     })});
  }
  while (!asked.empty()) complete = look_at_answers(asked, now) && complete;
  for (const auto& failed : listener_.settle()) {
    const auto known = found_.find(failed.first);
    if (known == found_.end()) continue;
    std::erase_if(known->second, [&failed](const Found& found) { return found.form == failed.second; });
    if (known->second.empty()) found_.erase(known);
  }
  looked_ns_.store(now);
  listener_.looked();
  return complete;
}

void TopicWatch::end_missing(const std::set<std::string>& present) {
  for (auto topic = found_.begin(); topic != found_.end();) {
    std::erase_if(topic->second, [&](Found& found) {
      std::erase_if(found.publications, [&](const std::string& key) { return !present.contains(key); });
      if (!found.publications.empty()) return false;
      listener_.ended(topic->first, found.form);
      return true;
    });
    topic = topic->second.empty() ? found_.erase(topic) : std::next(topic);
  }
}

bool TopicWatch::look_at_answers(std::list<Asked>& asked, std::int64_t now) {
  bool complete = true, any = false;
  for (auto one = asked.begin(); one != asked.end();) {
    // Without a thread for it, it is asked by get().
    if (one->observer.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) {
      ++one;
      continue;
    }
    any = true;
    complete = look_at(*one, now) && complete;
    one = asked.erase(one);
  }
  if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return complete;
}

bool TopicWatch::look_at(Asked& asked, std::int64_t now) {
  const std::string& topic = asked.topic;
  std::vector<std::string> problems;
  try {
    const std::unique_ptr<const Observer> observer = asked.observer.get();
    for (const auto& stream : observer->streams())
      look_at(topic, *stream, fmt::format("{}.{}", stream->process(), stream->serial()));
    problems = observer->problems();
  } catch (const Error& e) {
    problems = {e.what()};
  }
  bool complete = true;
  for (const std::string& key : asked.publications) {
    if (done_.contains(key) || not_now_.contains(key)) continue;
    complete = false;  // gone again, too busy to answer, or not for us
    if (problems.empty()) continue;
    if (listener_.wants(topic, {})) listener_.silent(topic, problems.front());
    not_now_.emplace(key, now + kAskAgain);
  }
  return complete;
}

void TopicWatch::look_at(const std::string& topic, const ObservedStream& stream, const std::string& publication) {
  if (done_.contains(publication) || not_now_.contains(publication)) return;
  const std::string type = stream.type();
  const auto known = found_.find(topic);
  if (const std::string no = refusal(options_.access, topic, stream.peer(), directory_.root()); !no.empty()) {
    not_now_.emplace(publication, kNever);
    if (listener_.wants(topic, type)) listener_.refused(topic, stream, no, known != found_.end());
    return;
  }
  done_.insert(publication);
  const PublicationForm form{type, stream.type_hash(), stream.message_bytes(),
                             options_.by_access ? stream.access() : Access::Owner};
  if (known != found_.end())
    for (Found& found : known->second)
      if (found.form == form) {
        found.publications.insert(publication);
        return;
      }
  if (!listener_.wants(topic, type)) return;
  try {
    listener_.found(topic, stream);
    found_[topic].push_back({form, {publication}});
  } catch (const Error& e) {
    listener_.unusable(topic, e.what());
  }
}

}  // namespace cardan::detail

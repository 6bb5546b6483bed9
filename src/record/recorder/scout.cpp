// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/scout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/name_patterns.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/descriptor_shares.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::record {
namespace {

/// The most problems that are kept: any user that can make topics can cause many.
constexpr std::size_t kMostProblems = 64;
/// Types of one topic that are recorded. Each costs a queue, and anybody whom we accept can make many.
constexpr std::size_t kMostForms = 16;
constexpr std::size_t kMostFormsOfOthers = kMostForms / 2;
/// Topics that are attached at the same time.
constexpr std::size_t kMostAtOnce = 32;
/// On its own thread, if the system gives one.
constexpr auto kWithThreads = std::launch::async | std::launch::deferred;
/// The numbers that MCAP has for channels.
constexpr std::size_t kMostChannels = 65'534;

/// Topics of other users (--access) stay attached, with two descriptors each, after their publishers have ended:
/// without a limit, topics that come and go would leave nothing for ours.
std::size_t most_channels_of_others() {
  constexpr std::size_t kDescriptors = 2;
  return std::min(kMostChannels / 4, detail::DescriptorShares::of_process().most_of_all() / kDescriptors);
}

}  // namespace

Scout::Scout(const RecorderOptions& options, std::function<void()> on_news)
    : options_(options),
      since_ns_(steady_now()),
      on_news_(std::move(on_news)),
      selection_(options),
      watch_({.domain = options.domain, .access = options.access}, *this) {
  watch_.start_on_own_thread();
}

Scout::~Scout() { watch_.stop(); }

void Scout::refused(const std::string& topic, const ObservedStream& stream, const std::string& why, bool again) {
  if (again) return;  // of a topic that is recorded its subscriber counts them
  note_problem(
      topic,
      fmt::format("a publication by pid {} is not recorded: {} — record with another --access", stream.pid(), why), 1);
}

/// Throws Error: it cannot be recorded. It is attached when settle() returns.
void Scout::found(const std::string& topic, const ObservedStream& stream) {
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
  const bool foreign = detail::is_foreign(stream.peer().uid);
  make_sure_of_room(topic, foreign);
  const detail::PublicationForm form{source.type, source.type_hash, source.message_bytes};
  auto queue = std::make_unique<TopicQueue>(std::move(source), std::move(*framing), options_);
  if (attaching_.size() >= kMostAtOnce) attaching_[attaching_.size() - kMostAtOnce].done.wait();
  attaching_.push_back({topic, form, foreign, std::async(kWithThreads, [this, owned = std::move(queue)]() mutable {
                          attach(std::move(owned));
                        })});
  count(topic, foreign, 1);
}

void Scout::make_sure_of_room(const std::string& topic, bool foreign) const {
  const auto known = forms_.find(topic);
  const Number forms = known == forms_.end() ? Number{} : known->second;
  const auto check = [](std::size_t number, std::size_t most, const char* what) {
    if (number >= most) throw Error(ErrorCode::Limit, fmt::format(fmt::runtime(what), most), "start another recording");
  };
  check(channels_.all, kMostChannels, "a file has at most {} channels");
  check(forms.all, kMostForms, "the topic already had {} types");
  if (!foreign) return;
  check(channels_.of_others, most_channels_of_others(), "{} topics of other users are recorded already");
  check(forms.of_others, kMostFormsOfOthers, "the topic already had {} types of other users");
}

void Scout::count(const std::string& topic, bool foreign, int by) {
  for (Number* const number : {&forms_[topic], &channels_}) {
    number->all += static_cast<std::size_t>(by);
    if (foreign) number->of_others += static_cast<std::size_t>(by);
  }
}

/// On its own thread: publishers make room for the samples that we hold, which takes each some 10 ms.
void Scout::attach(std::unique_ptr<TopicQueue> queue) {
  queue->attach(options_);
  {
    const std::lock_guard lock(mutex_);
    if (const auto problem = problems_.find(queue->source().name);
        problem != problems_.end() && problem->second.unreadable == 0)
      problems_.erase(problem);
    found_.push_back(std::move(queue));
  }
  on_news_();
}

std::vector<std::pair<std::string, detail::PublicationForm>> Scout::settle() {
  std::vector<std::pair<std::string, detail::PublicationForm>> failed;
  for (Attaching& one : attaching_) {
    try {
      one.done.get();
    } catch (const Error& e) {
      count(one.topic, one.foreign, -1);
      note_problem(one.topic, e.what(), 0, 1);
      failed.emplace_back(std::move(one.topic), std::move(one.form));
    }
  }
  attaching_.clear();
  return failed;
}

void Scout::note_problem(const std::string& topic, const std::string& problem, std::uint64_t refused,
                         std::uint64_t unreadable) {
  const std::lock_guard lock(mutex_);
  const auto it = problems_.find(topic);
  if (it == problems_.end()) {
    if (problems_.size() < kMostProblems || detail::fits_one(options_.topics, topic))
      problems_[topic] = {problem, refused, unreadable};
    return;
  }
  it->second.refused += refused;
  it->second.unreadable += unreadable;
  if (refused == 0 || it->second.why.empty())
    it->second.why = problem;  // of those that are refused, the first is reported
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

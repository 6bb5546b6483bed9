// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/read_ahead.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "src/record/player/message_form.hpp"

namespace cardan::record {
namespace {

/// Data below are copied: one of them would else keep a whole chunk of small messages in memory.
constexpr std::size_t kCopiedBelow = 16 << 10;

}  // namespace

ReadAhead::ReadAhead(const FileSet& files, WantedChannel wanted, ReadAheadOptions options)
    : files_(files), wanted_(std::move(wanted)), options_(options), thread_([this] { read(); }) {}

ReadAhead::~ReadAhead() { finish(); }

std::vector<FileProblem> ReadAhead::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  cancelled_ = true;
  room_.notify_all();
  if (thread_.joinable()) thread_.join();
  return problems_;
}

ReadAhead::Found ReadAhead::front(const ReadMessage*& message, std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, timeout, [this] { return !ahead_.empty() || ended_; });
  if (!ahead_.empty()) {
    message = &ahead_.front();
    return Found::Message;
  }
  if (failure_) std::rethrow_exception(failure_);
  return ended_ ? Found::End : Found::NotYet;
}

void ReadAhead::pop() {
  ReadMessage taken;  // its bytes go back after the lock has been let go
  {
    const std::lock_guard lock(mutex_);
    taken = std::move(ahead_.front());
    ahead_.pop_front();
    bytes_ -= taken.cost;
  }
  room_.notify_one();
}

void ReadAhead::read() {
  ::pthread_setname_np(::pthread_self(), "read-ahead");
  std::exception_ptr failure;
  try {
    bool any = false;
    for (std::uint64_t lap = 0; read_lap(lap, any) && options_.loop; ++lap) {
      // The first one may be empty because it began at the end; if another one is, all will be.
      if (lap > 0 && !any) break;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
  }
  filled_.notify_all();
}

bool ReadAhead::read_lap(std::uint64_t lap, bool& any) {
  any = false;
  FileMessages messages(files_, lap == 0 ? options_.start : options_.loop_start, options_.end, wanted_, &cancelled_,
                        mcap::ReadOptions{}.most_unpacked_bytes,
                        options_.newest ? mcap::MergedMessages::Before::Newest : mcap::MergedMessages::Before::Latched);
  const void* last_owner = nullptr;
  bool go_on = true;
  while (go_on) {
    const auto next = messages.next();
    if (!next) break;
    any = true;
    const mcap::MessageView& view = next->view;
    ReadMessage message{.file = next->file,
                        .channel = view.channel,
                        .log_time = view.message.log_time,
                        .source_time = options_.log_times ? static_cast<std::int64_t>(view.message.log_time)
                                                          : source_time_of(view.message, files_.wall_clock_ahead()),
                        .lap = lap,
                        .before = next->before_start,
                        .data = view.message.data};
    if (view.message.data.size() < kCopiedBelow) {
      message.copy.assign(view.message.data.begin(), view.message.data.end());
      message.data = message.copy;
      message.cost = sizeof(ReadMessage) + message.copy.size();
    } else {
      // An owner of several messages is counted in full for the first of them.
      message.owner = view.owner;
      message.cost =
          sizeof(ReadMessage) + (view.owner.get() == last_owner ? view.message.data.size() : view.owner_bytes);
      last_owner = view.owner.get();
    }
    go_on = push(std::move(message));
  }
  note(messages.problems());
  return go_on;
}

bool ReadAhead::push(ReadMessage message) {
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return stopping_ || ahead_.empty() || bytes_ + message.cost <= options_.bytes; });
    if (stopping_) return false;
    bytes_ += message.cost;
    ahead_.push_back(std::move(message));
  }
  filled_.notify_one();
  return true;
}

void ReadAhead::note(std::vector<FileProblem> problems) {
  for (FileProblem& problem : problems)
    if (known_problems_.emplace(problem.file, problem.problem.offset).second) problems_.push_back(std::move(problem));
}

}  // namespace cardan::record

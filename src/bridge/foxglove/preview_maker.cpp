// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/preview_maker.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr int kNice = 10;
constexpr auto kLongestRest = std::chrono::milliseconds(100);  ///< after a message that took very long, pages continue

PreviewMaker::Made make_previews(const PreviewMaker::Job& job) {
  PreviewMaker::Made made{.channel = job.channel, .number = job.number};
  for (const Preview& preview : job.previews) {
    try {
      auto frame = std::make_shared<OutgoingFrame>();
      frame->publish_ns = job.frame->publish_ns;
      frame->steady_ns = job.frame->steady_ns;
      frame->source_ns = job.frame->source_ns;
      frame->sequence = job.frame->sequence;
      frame->cdr.prefix = preview_of(*job.frame, preview);
      made.previews.emplace_back(preview, std::move(frame));
    } catch (const std::bad_alloc&) {  // nobody gets this one; the next may fit
    }
  }
  return made;
}

}  // namespace

PreviewMaker::PreviewMaker() : ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!ready_) throw Error(ErrorCode::Limit, "cannot make an eventfd", "raise ulimit -n of the bridge");
  thread_ = std::thread([this] { run(); });
}

PreviewMaker::~PreviewMaker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void PreviewMaker::start(Job job) {
  {
    const std::lock_guard lock(mutex_);
    made_.reserve(made_.size() + under_way_ + 1);  // so that the thread needs no memory to say that it is done
    jobs_.push_back(std::move(job));
    ++under_way_;
  }
  changed_.notify_all();
}

std::vector<PreviewMaker::Made> PreviewMaker::results() {
  std::uint64_t ignored = 0;
  (void)!::read(ready_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  std::vector<Made> room;
  room.reserve(under_way_);
  return std::exchange(made_, std::move(room));
}

void PreviewMaker::rest(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(time, kLongestRest);
  while (!stop_ && changed_.wait_until(lock, end) != std::cv_status::timeout) {
  }
}

void PreviewMaker::run() {
  // Of this thread alone, on Linux. Pictures come later when the computer is busy, and nothing else does.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kNice));
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (jobs_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Made made;
    const std::int64_t begin = steady_now();
    {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      made = make_previews(job);
    }  // the slot is free before anybody hears of it
    const std::chrono::nanoseconds took(steady_now() - begin);
    lock.lock();
    made_.push_back(std::move(made));
    --under_way_;
    const std::uint64_t one = 1;
    (void)!::write(ready_.get(), &one, sizeof(one));
    rest(lock, took);
  }
}

}  // namespace cardan::bridge::foxglove

// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/silence_watch.hpp"

#include <algorithm>
#include <exception>

#include "cardan/log.hpp"
#include "src/transport/endpoint/foreign.hpp"

namespace cardan::launcher {
namespace {

/// Another user's publisher gives any time stamp, and would be taken for a sign of life.
std::vector<std::shared_ptr<const ObservedStream>> ours(std::vector<std::shared_ptr<const ObservedStream>> streams) {
  std::erase_if(streams, [](const auto& stream) { return detail::is_foreign(stream->peer().uid); });
  return streams;
}

}  // namespace

SilenceWatch::SilenceWatch(const std::vector<std::string>& topics, const std::string& domain,
                           std::chrono::nanoseconds look_every) {
  for (const std::string& topic : topics) {
    Watched& watched = topics_[topic];
    watched.observer =
        std::make_unique<Observer>(topic, ObserverOptions{.domain = domain, .timeout = std::chrono::milliseconds{200}});
    watched.streams = ours(watched.observer->streams());
  }
  thread_ = std::thread([this, look_every] { serve(look_every); });
}

SilenceWatch::~SilenceWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void SilenceWatch::look() {
  {
    const std::lock_guard lock(mutex_);
    look_ = true;
  }
  wake_.notify_all();
}

std::int64_t SilenceWatch::last_published(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  const auto found = topics_.find(topic);
  if (found == topics_.end()) return 0;
  read(found->second, stamps_);
  return found->second.last_ns;
}

void SilenceWatch::know(SilenceWatch& before) {
  for (auto& [topic, watched] : topics_) {
    const std::int64_t last = before.last_published(topic);
    const std::lock_guard lock(mutex_);
    watched.last_ns = std::max(watched.last_ns, last);
  }
}

void SilenceWatch::read(Watched& watched, std::vector<ObservedStream::Stamp>& stamps) {
  for (const auto& stream : watched.streams) {
    stream->stamps(stamps);
    if (!stamps.empty()) watched.last_ns = std::max(watched.last_ns, stamps.back().publish_ns);
  }
}

void SilenceWatch::serve(std::chrono::nanoseconds look_every) {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    wake_.wait_for(lock, look_every, [this] { return ends_ || look_; });
    look_ = false;
    for (auto& [topic, watched] : topics_) {
      if (ends_) return;
      read(watched, stamps_);  // streams that end leave their last time
      lock.unlock();           // a process that hangs lets only this thread wait
      bool changed = false;
      try {
        changed = watched.observer->refresh();
      } catch (const std::exception& e) {
        detail::log(LogLevel::Warning, e.what());
      }
      lock.lock();
      if (changed) watched.streams = ours(watched.observer->streams());
    }
  }
}

}  // namespace cardan::launcher

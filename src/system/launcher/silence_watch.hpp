// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cardan/observer.hpp"

namespace cardan::launcher {

/// When topics were last published on, seen in their publishers' memory: no process is disturbed or woken. Publishers
/// of this user and of root count. Its own thread looks for publishers that are new, because a process that hangs
/// may keep it waiting for its answer; asking for a time never waits. Thread safety: any thread.
class SilenceWatch {
 public:
  /// `look_every`: how often to look for new publishers. Throws Error as Observer. Set-up.
  SilenceWatch(const std::vector<std::string>& topics, const std::string& domain, std::chrono::nanoseconds look_every);
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;
  ~SilenceWatch();

  /// Nanoseconds of the steady clock; 0: not yet. Reads shared memory; takes a mutex that is never held for long.
  [[nodiscard]] std::int64_t last_published(const std::string& topic);
  /// Takes over what `before` has seen until now of the topics that both watch: only it knows of publishers that have
  /// ended.
  void know(SilenceWatch& before);
  /// Somebody has started: look for publishers now.
  void look();

 private:
  struct Watched {
    std::unique_ptr<Observer> observer;
    std::vector<std::shared_ptr<const ObservedStream>> streams;
    std::int64_t last_ns = 0;
  };
  void serve(std::chrono::nanoseconds look_every);
  static void read(Watched& watched, std::vector<ObservedStream::Stamp>& stamps);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Watched> topics_;
  std::vector<ObservedStream::Stamp> stamps_;
  bool ends_ = false, look_ = false;
  std::thread thread_;
};

}  // namespace cardan::launcher

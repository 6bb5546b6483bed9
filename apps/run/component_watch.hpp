// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/run/run_view.hpp"

namespace cardan::apps {

/// Asks the components of a domain how they run, once a second, on its own thread: one that hangs keeps nobody
/// else waiting. Thread safety: rows() is for any thread, and takes a mutex.
class ComponentWatch {
 public:
  explicit ComponentWatch(std::string domain);
  ComponentWatch(const ComponentWatch&) = delete;
  ComponentWatch& operator=(const ComponentWatch&) = delete;
  ~ComponentWatch();
  [[nodiscard]] std::vector<ComponentRow> rows();

 private:
  void serve(const std::string& domain);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::vector<ComponentRow> rows_;
  std::thread thread_;
};

}  // namespace cardan::apps

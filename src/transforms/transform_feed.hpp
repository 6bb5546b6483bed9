// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "cardan/subscriber.hpp"
#include "cardan/transforms.hpp"
#include "src/base/bound_fd.hpp"
#include "src/transforms/transform_store.hpp"

namespace cardan::detail {

/// A thread that takes /tf and /tf_static into a store, for a program without components. In a child of fork() it is
/// not there.
class TransformFeed {
 public:
  /// Has taken what running publishers published last. Throws Error as Subscriber.
  TransformFeed(std::shared_ptr<TransformStore> store, const std::string& domain);
  TransformFeed(const TransformFeed&) = delete;
  TransformFeed& operator=(const TransformFeed&) = delete;
  ~TransformFeed();

 private:
  void take() noexcept;
  void run(const std::stop_token& stop) noexcept;

  std::shared_ptr<TransformStore> store_;
  Subscriber<TransformMessage> moving_, static_;
  BoundFd end_;  ///< an eventfd
  std::jthread thread_;
};

}  // namespace cardan::detail

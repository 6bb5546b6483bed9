// SPDX-License-Identifier: Apache-2.0
// ROS 1 through an interface without its headers: they are C++17, and the bench is C++20.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace cardan::bench::ros1 {

/// Joins the master that ROS_MASTER_URI names, as a node of this name. Once in a process, before all else.
void init(const std::string& node);

/// A topic with a queue of one message. The message is one object, which is filled again and again.
/// Not thread safe; publish() serializes the message and hands it to roscpp's own thread.
class Publisher {
 public:
  Publisher(const std::string& topic, std::size_t words);
  ~Publisher();
  [[nodiscard]] std::uint64_t* data() const noexcept;
  [[nodiscard]] unsigned subscribers() const;
  void publish();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> own_;
};

/// Calls `deliver(context, words, count)` for each message, on its own thread, until it is destroyed.
class Subscriber {
 public:
  using Deliver = void (*)(void* context, const std::uint64_t* words, std::size_t count);
  Subscriber(const std::string& topic, Deliver deliver, void* context);
  ~Subscriber();
  [[nodiscard]] unsigned publishers() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> own_;
};

}  // namespace cardan::bench::ros1

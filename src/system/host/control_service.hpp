// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace cardan::host {

struct ControlMessage;

/// Answers the requests of control_message.hpp that come to this process: a thread that sleeps until a request arrives.
/// One request at a time.
class ControlService {
 public:
  struct Reply {
    std::string text;
    std::function<void()> sent{};  ///< called when the answer is on its way
  };
  /// Gets the request and how old it is; called on the service's thread. Its exception becomes the answer.
  using Answer = std::function<Reply(const std::string& request, std::chrono::nanoseconds age)>;

  /// `domain`: empty: $CARDAN_DOMAIN, else "default". Throws Error as Publisher and Subscriber. Set-up.
  ControlService(std::string domain, Answer answer);
  ControlService(const ControlService&) = delete;
  ControlService& operator=(const ControlService&) = delete;
  /// Ends the thread; waits for the request that is being answered.
  ~ControlService();

 private:
  struct Endpoints;
  void serve() noexcept;
  [[nodiscard]] Reply reply(const std::string& request, std::chrono::nanoseconds age);
  void send(const ControlMessage& request, const std::string& text);

  std::string domain_;
  Answer answer_;
  std::unique_ptr<Endpoints> endpoints_;
  std::thread thread_;
};

/// How long the client still waits: "within_ms" of the request less its age, at least 0 and at most a minute. Work that
/// is not done by then must not be done at all. Throws nlohmann::json's exceptions.
[[nodiscard]] std::chrono::nanoseconds time_left(const std::string& request, std::chrono::nanoseconds age);

}  // namespace cardan::host

// SPDX-License-Identifier: Apache-2.0
// Part of socket_server.cpp: it brings in Boost.
#pragma once

#include <boost/asio.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "src/bridge/foxglove/socket_server.hpp"

namespace cardan::bridge::foxglove {

/// Of a descriptor (-1: only of times).
class DescriptorWatch final : public SocketServer::Watch {
 public:
  DescriptorWatch(boost::asio::io_context& io, int fd, std::function<void()> ready)
      : inner_(std::make_shared<Inner>(io, std::move(ready))) {
    if (fd >= 0) inner_->descriptor.assign(fd);
  }
  ~DescriptorWatch() override {
    inner_->ready = nullptr;
    if (inner_->descriptor.is_open()) inner_->descriptor.release();
    inner_->timer.cancel();
  }
  void arm() override {
    if (inner_->waits) return;
    inner_->descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                  [inner = inner_](boost::system::error_code ec) {
                                    inner->waits = false;
                                    if (!ec && inner->ready) inner->call();
                                  });
    inner_->waits = true;
  }
  void arm_at(std::int64_t steady_ns) override {
    inner_->timer.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(steady_ns)));
    inner_->timer.async_wait([inner = inner_](boost::system::error_code ec) {
      if (!ec && inner->ready) inner->call();
    });
  }

 private:
  struct Inner : std::enable_shared_from_this<Inner> {
    Inner(boost::asio::io_context& io, std::function<void()> r) : descriptor(io), timer(io), ready(std::move(r)) {}
    void call() {
      const auto self = shared_from_this();
      try {
        const auto keep = ready;  // it may end the watch
        keep();
      } catch (const std::bad_alloc&) {
        if (!ready) return;
        timer.expires_after(std::chrono::milliseconds(100));
        timer.async_wait([self](boost::system::error_code ec) {
          if (!ec && self->ready) self->call();
        });
      }
    }
    boost::asio::posix::stream_descriptor descriptor;
    boost::asio::steady_timer timer;
    std::function<void()> ready;
    bool waits = false;
  };
  std::shared_ptr<Inner> inner_;
};

}  // namespace cardan::bridge::foxglove

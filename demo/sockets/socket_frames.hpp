// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cardan/detail/fd.hpp"

// The peer that the demo compares Cardan with: frames over a Unix stream socket, as careful programs send them. A frame
// is a length, a sequence number and the time of its publish call, then the bytes. Readers keep the newest complete
// frame only (depth 1, like Cardan's), and continue emptying their sockets while they compute, so that no writer waits
// for them.

namespace cardan::street {

/// Serves one topic at a socket in the file system. Readers may come and go at any time. Not thread-safe.
class SocketServer {
 public:
  /// Throws cardan::Error when the socket cannot be made there.
  explicit SocketServer(std::string path);
  ~SocketServer();  ///< removes the socket
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;

  /// Stamps the frame and writes it to every reader in turn; returns when the kernel has taken all of it (1 s at most:
  /// a slower one is dropped).
  void publish(std::span<const std::byte> frame) noexcept;
  [[nodiscard]] std::uint64_t published() const noexcept { return published_; }
  [[nodiscard]] std::size_t readers() const noexcept { return clients_.size(); }

 private:
  std::string path_;
  Fd listener_;
  std::vector<Fd> clients_;
  std::uint64_t published_ = 0;
};

/// One topic's newest frame. Belongs to an inbox, which also says which thread may call what when.
class SocketReader {
 public:
  static constexpr std::uint64_t kLargest = 1ULL << 30;  ///< bytes; a longer frame is nonsense and ends the connection

  struct Frame {
    std::span<const std::byte> bytes;  ///< aligned to 64, valid until the next take()
    std::uint64_t sequence = 0;
    std::uint64_t missed = 0;    ///< lost between the last frame taken and this one
    std::int64_t published = 0;  ///< steady clock, ns
  };

 private:
  friend class SocketInbox;
  struct Buffer {
    struct Free {
      void operator()(std::byte* p) const noexcept;
    };
    std::unique_ptr<std::byte[], Free> bytes;
    std::size_t capacity = 0, size = 0;
    std::uint64_t sequence = 0;
    std::int64_t published = 0;
    void need(std::size_t wanted);
  };
  struct Head {
    std::uint64_t bytes, sequence;
    std::int64_t published;
  };
  friend class SocketServer;

  explicit SocketReader(std::string path) : path_(std::move(path)) {}
  void pump();  ///< reads what is there; never blocks
  void connect();
  void restart() noexcept;
  std::optional<Frame> take();

  std::string path_;
  Fd socket_;
  Head head_{};
  std::size_t head_read_ = 0, body_read_ = 0;
  Buffer incoming_, ready_, held_;
  bool fresh_ = false;
  std::uint64_t last_taken_ = 0;
};

/// The readers of one process. While its one consumer waits, the consumer reads the sockets itself: no thread is
/// between the kernel and it. While it computes, a helper thread empties them.
class SocketInbox {
 public:
  SocketInbox();
  ~SocketInbox();
  SocketInbox(const SocketInbox&) = delete;
  SocketInbox& operator=(const SocketInbox&) = delete;

  /// Set-up, before the first wait(). The server need not be there yet.
  SocketReader& open(std::string path);

  /// Blocks until one of the readers has a new frame; false once `stopping` says so (looked at every 20 ms).
  bool wait(const std::function<bool()>& stopping);
  /// The newest frame, if there is a new one. After wait().
  std::optional<SocketReader::Frame> take(SocketReader& reader);
  /// From here to the next wait() the consumer computes: the helper thread takes over. After the last take().
  void compute();

 private:
  void drain();
  void pump_all();
  [[nodiscard]] bool any_fresh() const noexcept;

  std::vector<std::unique_ptr<SocketReader>> readers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool computing_ = false, ended_ = false;
  Fd wake_;
  std::thread helper_;
};

}  // namespace cardan::street

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "cardan/arena.hpp"
#include "cardan/clock.hpp"
#include "cardan/message.hpp"
#include "cardan/stop.hpp"
#include "cardan/topic.hpp"
#include "demo/sockets/socket_frames.hpp"

namespace cardan::street {

/// The same interface as CardanBus (cardan_bus.hpp), over Unix sockets: a message is built in this process's memory and
/// its struct and payload go through the kernel, once in and once out.
class SocketBus {
 public:
  template <Message T>
  class Output;
  template <Message T>
  class Input;

  explicit SocketBus(std::string folder) : folder_(std::move(folder)) {}

  /// Blocks until `input` has a new sample, and takes it; an empty sample once a stop is requested.
  template <Message T>
  auto next(Input<T>& input);
  /// Blocks until one of them has, and takes from both; both empty once a stop is requested.
  template <Message A, Message B>
  auto next_of(Input<A>& a, Input<B>& b);

  /// "/street/camera/image" → FOLDER/street.camera.image
  [[nodiscard]] std::string path_of(std::string_view topic) const {
    std::string name{topic.substr(1)};
    for (char& c : name) {
      if (c == '/') c = '.';
    }
    return folder_ + "/" + name;
  }

 private:
  // The message's struct, then its payload on the next multiple of 64: at both ends, so that offsets stay right.
  static constexpr std::size_t room_for(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::string folder_;
  SocketInbox inbox_;
};

template <Message T>
class SocketBus::Output {
 public:
  class Loan {
   public:
    explicit operator bool() const noexcept { return message_ != nullptr; }
    T* operator->() const noexcept { return message_; }
    T& operator*() const noexcept { return *message_; }

   private:
    friend class Output;
    explicit Loan(T* message) : message_(message) {}
    T* message_;
  };

  Output(SocketBus& bus, const Topic<T>& topic)
      : server_(bus.path_of(topic.name)),
        max_bytes_(topic.options.max_bytes),
        bytes_(static_cast<std::byte*>(
            ::operator new[](kArena + room_for(sizeof(T)) + max_bytes_ + 1, std::align_val_t{64}))) {
    static_assert(sizeof(shm::Arena) <= kArena && alignof(T) <= 64);
    arena_ = new (bytes_.get()) shm::Arena{};
  }

  [[nodiscard]] Loan loan() {
    T* const message = new (bytes_.get() + kArena) T{};
    arena_->place(bytes_.get() + kArena + room_for(sizeof(T)), max_bytes_);
    if constexpr (shm::has_vectors<T>) shm::bind(*message, *arena_);
    return Loan{message};
  }
  void publish(Loan&&) noexcept { server_.publish({bytes_.get() + kArena, room_for(sizeof(T)) + arena_->used}); }
  [[nodiscard]] std::uint64_t published() const noexcept { return server_.published(); }

 private:
  static constexpr std::size_t kArena = 64;
  struct Free {
    void operator()(std::byte* p) const noexcept { ::operator delete[](p, std::align_val_t{64}); }
  };
  SocketServer server_;
  std::size_t max_bytes_;
  std::unique_ptr<std::byte[], Free> bytes_;
  shm::Arena* arena_ = nullptr;
};

template <Message T>
class SocketBus::Input {
 public:
  /// Valid until the next sample of this input. Read-only.
  class Sample {
   public:
    Sample() = default;
    explicit operator bool() const noexcept { return message_ != nullptr; }
    const T* operator->() const noexcept { return message_; }
    const T& operator*() const noexcept { return *message_; }
    [[nodiscard]] std::uint64_t sequence() const noexcept { return frame_.sequence; }
    [[nodiscard]] std::uint64_t missed() const noexcept { return frame_.missed; }
    [[nodiscard]] std::int64_t publish_time() const noexcept { return frame_.published; }
    std::int64_t asked = 0, received = 0;

   private:
    friend class Input;
    const T* message_ = nullptr;
    SocketReader::Frame frame_;
  };

  Input(SocketBus& bus, const Topic<T>& topic)
      : inbox_(bus.inbox_), reader_(bus.inbox_.open(bus.path_of(topic.name))) {}

 private:
  friend class SocketBus;
  [[nodiscard]] Sample take(std::int64_t asked) {
    Sample sample;
    const auto frame = inbox_.take(reader_);
    if (!frame || frame->bytes.size() < room_for(sizeof(T))) return sample;
    std::memcpy(copy_, frame->bytes.data(), sizeof(T));
    T* const message = std::launder(reinterpret_cast<T*>(copy_));
    if constexpr (shm::has_vectors<T>) {
      const auto payload = frame->bytes.subspan(room_for(sizeof(T)));
      if (!shm::adopt(*message, reinterpret_cast<const T*>(frame->bytes.data()), payload.data(), payload.size()))
        return sample;
    }
    sample.message_ = message;
    sample.frame_ = *frame;
    sample.asked = asked;
    sample.received = steady_now();
    return sample;
  }

  SocketInbox& inbox_;
  SocketReader& reader_;
  alignas(64) std::byte copy_[sizeof(T)];
};

template <Message T>
auto SocketBus::next(Input<T>& input) {
  const std::int64_t asked = steady_now();
  typename Input<T>::Sample sample;
  while (!sample && inbox_.wait(&stopping)) sample = input.take(asked);
  inbox_.compute();
  return sample;
}

template <Message A, Message B>
auto SocketBus::next_of(Input<A>& a, Input<B>& b) {
  const std::int64_t asked = steady_now();
  std::pair<typename Input<A>::Sample, typename Input<B>::Sample> samples;
  while (!samples.first && !samples.second && inbox_.wait(&stopping)) {
    samples.first = a.take(asked);
    samples.second = b.take(asked);
  }
  inbox_.compute();
  return samples;
}

}  // namespace cardan::street

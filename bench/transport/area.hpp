// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bench/transport/options.hpp"
#include "cardan/detail/fd.hpp"

namespace cardan::bench {

/// Anonymous shared memory that goes with its last user: nothing remains, however the bench ends.
Fd make_memory(const char* name, std::size_t bytes);

/// A shared mapping with every page present, so that no page fault falls into a measurement.
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, std::size_t bytes);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

inline constexpr std::size_t kMostRoles = 128;
inline constexpr std::size_t kMostDescriptors = 64;

/// One publisher or reader process: its task, and its results.
struct alignas(64) RoleSlot {
  // Written by the harness before the start.
  std::int32_t cpu = 0;
  std::uint32_t descriptor_count = 0;
  std::array<std::int32_t, kMostDescriptors> descriptors{};
  // Written by the role.
  std::int64_t cpu_ns = 0;         ///< CPU time of the process in the measured window
  std::int64_t wall_ns = 0;        ///< length of that window
  std::int64_t reading_ns = 0;     ///< readers: the part between receipt and the last byte read, with the work after it
  std::uint64_t messages = 0;      ///< published or received in the window
  std::uint64_t torn = 0;          ///< measured frames that held words of another
  std::uint64_t refused = 0;       ///< publishers: frames for which the peer gave no memory
  std::uint64_t found = 0;         ///< stages of a pipeline: things that they found in the measured frames
  std::uint64_t memory_bytes = 0;  ///< Discover: by how much the process has grown
  std::array<char, 512> error{};   ///< why the role gave up, in words
};

/// A frame's stamps; publisher: before filling, just before publish; reader: in hand, every byte read. 0: never.
struct Stamps {
  std::int64_t first = 0;
  std::int64_t second = 0;
  std::int64_t handing_ns = 0;  ///< publisher: time in the peer's loan and publish
};

/// The work of the roles of a run: the rows' frames, or a single operation of Cardan.
enum class Task : std::uint32_t {
  Frames,
  HandOver,  ///< loan + publish, hot, `endpoints` subscribers polling and taking every message
  Traced,    ///< HandOver by a publisher whose process is traced
  Chains,    ///< HandOver, one subscriber, by a callback whose sample rests on the beginnings of `endpoints` chains
  Besieged,  ///< loan + publish once a millisecond, a subscriber with `endpoints` threads that wait; more than one:
             ///< another user's, which announced one
  Attach,    ///< a subscriber of a process that knows the publisher's already
  Discover,  ///< `endpoints` topics of one process, listed and then subscribed to by another
};

/// The work of one run, the start signal, and everything that the roles measure. The harness makes it before the run;
/// the roles touch one line of their own in it per message.
struct alignas(64) AreaHeader {
  Contender contender;
  Cell cell;
  Task task = Task::Frames;
  std::uint32_t endpoints = 1;
  char topic[64]{};
  alignas(64) std::atomic<std::uint32_t> ready{0};  ///< roles that are set up
  std::atomic<std::uint32_t> go{0};
  std::atomic<std::int64_t> start_ns{0};
  alignas(64) std::atomic<std::uint32_t> readers_done{0};
  /// HandOver: the last frame that every subscriber has taken. Discover: 1 when the reader has measured its memory, 2
  /// when the publisher has.
  alignas(64) std::atomic<std::uint64_t> acknowledged{0};
  std::array<RoleSlot, kMostRoles> roles{};
};

class Area {
 public:
  /// Makes the area of a run: roles are the publishers, then the readers.
  Area(const Contender& contender, const Cell& cell, std::string_view topic);
  /// Opens the area that the harness handed over.
  explicit Area(int fd);

  [[nodiscard]] AreaHeader& header() const noexcept { return *header_; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] RoleSlot& role(std::size_t index) const { return header_->roles.at(index); }
  [[nodiscard]] std::uint32_t publishers() const noexcept { return header_->cell.scenario.publishers; }
  [[nodiscard]] std::uint32_t subscribers() const noexcept { return header_->cell.scenario.subscribers; }

  /// Stamps of frames 1 … frames (index 0 unused).
  [[nodiscard]] std::span<Stamps> published(std::uint32_t publisher) const;
  [[nodiscard]] std::span<Stamps> received(std::uint32_t reader, std::uint32_t publisher) const;

  void set_error(std::size_t role_index, std::string_view words) const noexcept;
  /// Reports this role as set up and waits for the start; false when the harness has gone.
  bool arrive_and_wait() const noexcept;

 private:
  [[nodiscard]] std::span<Stamps> column(std::size_t index) const;

  Fd fd_;
  Mapping mapping_;
  AreaHeader* header_ = nullptr;
};

}  // namespace cardan::bench

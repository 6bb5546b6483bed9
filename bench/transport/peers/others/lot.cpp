// SPDX-License-Identifier: Apache-2.0
// `lot`: the mechanism of "Low Overhead Transport" (LOT) §III, in our words: one shared writable segment, in which
// messages are allocated with Boost.Interprocess, a queue per reader with a mutex and a condition variable in shared
// memory, and shared pointers with a reference count as its items. The reader that drops the last pointer frees the
// message. The addition of LOTROS, a thread that forwards each item to ROS' own queue, is left out: it would cost a
// second wake-up. A full queue drops its oldest item.
#include <sys/mman.h>

#include <array>
#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/indexes/iset_index.hpp>
#include <boost/interprocess/managed_external_buffer.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/smart_ptr/shared_ptr.hpp>
#include <boost/interprocess/sync/interprocess_condition.hpp>
#include <boost/interprocess/sync/interprocess_mutex.hpp>
#include <boost/interprocess/sync/scoped_lock.hpp>
#include <string>
#include <utility>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"

namespace cardan::bench {
namespace {

namespace ipc = boost::interprocess;

using Segment = ipc::basic_managed_external_buffer<char, ipc::rbtree_best_fit<ipc::mutex_family>, ipc::iset_index>;
using Manager = Segment::segment_manager;

/// Frees a message in whatever process drops the last pointer.
struct Free {
  using pointer = ipc::offset_ptr<std::uint64_t>;
  ipc::offset_ptr<Manager> manager;
  void operator()(const pointer& message) const { manager->deallocate(message.get()); }
};
using Message = ipc::shared_ptr<std::uint64_t, ipc::allocator<void, Manager>, Free>;

constexpr std::size_t kDepth = 2;

/// The paper's ShmQueue.
class Queue {
 public:
  void push(const Message& message) {
    Message dropped;  // freed after the lock
    {
      const ipc::scoped_lock lock(mutex_);
      if (count_ == kDepth) {
        dropped.swap(items_[first_]);
        first_ = (first_ + 1) % kDepth;
        --count_;
      }
      items_[(first_ + count_++) % kDepth] = message;
    }
    filled_.notify_one();
  }
  void pop(Message& into) {
    ipc::scoped_lock lock(mutex_);
    while (count_ == 0) filled_.wait(lock);
    into.swap(items_[first_]);
    first_ = (first_ + 1) % kDepth;
    --count_;
  }

 private:
  ipc::interprocess_mutex mutex_;
  ipc::interprocess_condition filled_;
  std::array<Message, kDepth> items_;
  std::size_t first_ = 0, count_ = 0;
};

/// Messages that can exist at once: in every queue and hand, and one being filled by each publisher.
std::size_t size_of(const Cell& cell) {
  const std::uint32_t publishers = cell.scenario.publishers;
  const std::uint32_t subscribers = cell.scenario.subscribers;
  return (std::size_t{subscribers} * (kDepth + 1) + std::size_t{publishers} * 2) * round_up(cell.bytes + kPage) +
         (1U << 20U);
}

std::string queue_name(std::uint32_t reader) { return "queue" + std::to_string(reader); }

class SharedSegment {
 public:
  explicit SharedSegment(const Area& area)
      : mapping_(area.role(0).descriptors[0], size_of(area.header().cell)),
        segment_(ipc::open_only, mapping_.data(), mapping_.size()) {}
  [[nodiscard]] Segment& get() noexcept { return segment_; }
  [[nodiscard]] Queue& queue(std::uint32_t reader) { return *segment_.find<Queue>(queue_name(reader).c_str()).first; }

 private:
  Mapping mapping_;
  Segment segment_;
};

class LotWriter {
 public:
  LotWriter(const Area& area, std::uint32_t /*index*/) : bytes_(area.header().cell.bytes), segment_(area) {
    for (std::uint32_t i = 0; i < area.subscribers(); ++i) queues_.push_back(&segment_.queue(i));
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    void* const memory = segment_.get().allocate_aligned(bytes_, 64, std::nothrow);
    if (memory == nullptr) return {};
    Manager* const manager = segment_.get().get_segment_manager();
    filling_ = Message(static_cast<std::uint64_t*>(memory), ipc::allocator<void, Manager>(manager), Free{manager});
    return {filling_.get().get(), bytes_ / sizeof(std::uint64_t)};
  }
  void publish(std::uint64_t) noexcept {
    for (Queue* const queue : queues_) queue->push(filling_);
    Message().swap(filling_);
  }

 private:
  std::size_t bytes_;
  SharedSegment segment_;
  std::vector<Queue*> queues_;
  Message filling_;
};

class LotReader {
 public:
  LotReader(const Area& area, std::uint32_t index)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)),
        segment_(area),
        queue_(segment_.queue(index - area.publishers())) {}
  std::span<const std::uint64_t> next() noexcept {
    queue_.pop(held_);
    return {held_.get().get(), words_};
  }
  void release() noexcept { Message().swap(held_); }

 private:
  std::size_t words_;
  SharedSegment segment_;
  Queue& queue_;
  Message held_;
};

Wiring wire_lot(const Cell& cell) {
  Wiring wiring;
  wiring.shared.push_back(make_memory("cardan-bench-lot", size_of(cell)));
  const Mapping mapping(wiring.shared.front().get(), size_of(cell));
  Segment segment(ipc::create_only, mapping.data(), mapping.size());
  for (std::uint32_t i = 0; i < cell.scenario.subscribers; ++i) segment.construct<Queue>(queue_name(i).c_str())();
  return wiring;
}

const RegisteredPeer kLot({.peer = Peer{"lot"},
                           .place = 47,
                           .waits = block_only,
                           .wire = wire_lot,
                           .play = play_with<LotWriter, LotReader>,
                           .links = links_with<LotWriter, LotReader>()});

}  // namespace
}  // namespace cardan::bench

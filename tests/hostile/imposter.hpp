// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cardan/publisher.hpp"
#include "cardan/topic.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/support/child.hpp"
#include "tests/support/raw_peer.hpp"

namespace cardan::test {

inline constexpr std::uint64_t kHonest = 7;  ///< the writer whose frames are right

/// A process in the run directory as a subscriber sees it, all by hand: socket, entries, handshake; the area is laid
/// out by the library and then spoilt.
template <Message T>
class Imposter {
 public:
  explicit Imposter(const Topic<T>& topic)
      : topic_(topic), folder_(std::string(std::getenv("CARDAN_RUN_DIR")) + "/" + std::getenv("CARDAN_DOMAIN")) {
    std::random_device device;
    char id[17];
    std::snprintf(id, sizeof(id), "%08x%08x", device(), device());
    id_ = id;
    listener_ = socket::listen_at(folder_ + "/p." + id_);
    fresh_area();
  }
  ~Imposter() {
    announce_nothing();
    ::unlink((folder_ + "/p." + id_).c_str());
  }

  void fresh_area() {
    core_ = std::make_unique<detail::PublisherCore>(topic_.name, detail::message_type_of<T>(), topic_.options,
                                                    PublisherOptions{});
    area_fd_ = -1;
    bytes_ = core_->area().size();
  }
  /// A new entry, so that the victim attaches (again).
  void announce() {
    announce_nothing();
    char name[64];
    std::snprintf(name, sizeof(name), "/t.%016llx.%s.%u",
                  static_cast<unsigned long long>(detail::hash_name(topic_.name)), id_.c_str(), ++serial_);
    entry_ = folder_ + name;
    if (::symlink(topic_.name, entry_.c_str()) != 0) std::perror("symlink");
  }
  void announce_nothing() {
    if (!entry_.empty()) ::unlink(entry_.c_str());
    entry_.clear();
  }

  [[nodiscard]] layout::Header& header() const { return *reinterpret_cast<layout::Header*>(core_->area().data()); }
  [[nodiscard]] std::byte* at(std::size_t offset) const { return core_->area().data() + offset; }
  [[nodiscard]] detail::PublisherCore& core() const { return *core_; }
  [[nodiscard]] detail::BellBoard& bells() { return bells_; }
  void hand_over(int fd, std::size_t bytes) {  ///< instead of the area
    area_fd_ = fd;
    bytes_ = bytes;
  }

  /// Serves everyone that connects, for `length`; `spoil_answer` may change the text of the answer to an attach.
  template <class F>
  void serve(std::chrono::microseconds length, F spoil_answer) {
    const auto until = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < until && !heard()) {
      if (Fd fd = socket::accept_from(listener_.get())) peers_.emplace_back(std::move(fd));
      for (auto it = peers_.begin(); it != peers_.end();) {
        socket::Message m;
        const auto got = socket::receive(it->fd(), m);
        if (got == socket::Received::Closed) {
          it = peers_.erase(it);
          continue;
        }
        if (got == socket::Received::Message) answer(*it, m, spoil_answer);
        ++it;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  void serve(std::chrono::microseconds length) {
    serve(length, [](std::string&) {});
  }
  [[nodiscard]] std::uint64_t attached() const { return attached_; }

 private:
  template <class F>
  void answer(const RawPeer& peer, const socket::Message& m, F spoil_answer) {
    if (m.text.find("\"op\":\"hello\"") != std::string::npos) peer.send(handshake::Hello{.pid = 1, .name = "imposter"});
    if (m.text.find("\"op\":\"attach\"") == std::string::npos) return;
    std::string text =
        handshake::encode(handshake::Attached{.id = id_of(m), .bytes = bytes_, .bell = 0, .bell_bytes = bells_.size()});
    spoil_answer(text);
    std::vector<int> fds{area_fd_ >= 0 ? area_fd_ : core_->area().read_only_fd()};
    if (m.text.find("\"observer\":true") == std::string::npos) fds.push_back(bells_.read_only_fd());
    peer.send(text, fds);
    ++attached_;
  }

  Topic<T> topic_;
  std::string folder_;
  std::string id_;
  std::string entry_;
  unsigned serial_ = 0;
  Fd listener_;
  std::vector<RawPeer> peers_;
  std::unique_ptr<detail::PublisherCore> core_;
  detail::BellBoard bells_;
  int area_fd_ = -1;
  std::size_t bytes_ = 0;
  std::uint64_t attached_ = 0;
};

}  // namespace cardan::test

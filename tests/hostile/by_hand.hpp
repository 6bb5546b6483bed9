// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "src/base/area.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/protocol/layout.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/raw_peer.hpp"

/// Both sides of the handshake made by hand, with any identity that the test needs.
namespace cardan::test {

inline constexpr Topic<Small> kOpen{"/open", {.depth = 4, .access = Access::Everyone}};
inline constexpr Topic<Small> kOwn{"/own", {}};

inline std::string domain_folder() {
  return std::string(std::getenv("CARDAN_RUN_DIR")) + "/" + std::getenv("CARDAN_DOMAIN");
}

/// The process that publishes a topic, and the serial of the entry.
struct Target {
  std::string socket, serial;
};
inline Target target_of(const std::string& topic) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(domain_folder(), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("t.") && std::filesystem::read_symlink(it->path(), error) == topic)
      return {domain_folder() + "/p." + name.substr(19, 16), name.substr(36)};
  }
  return {};
}

/// An attach to a topic of messages of this type.
template <Message T>
handshake::Attach attach_request(const Target& target, const std::string& topic, std::uint64_t id) {
  using Traits = message_traits<T>;
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(Traits::type_hash()));
  return {.id = id,
          .serial = static_cast<std::uint32_t>(std::strtoul(target.serial.c_str(), nullptr, 10)),
          .topic = topic,
          .type = std::string(Traits::type_name()),
          .hash = hash,
          .announced = handshake::Announcement{}};
}
inline handshake::Attach attach_to(const Target& target, const std::string& topic, std::uint64_t id) {
  return attach_request<Small>(target, topic, id);
}
inline handshake::Attach observe(const Target& target, const std::string& topic, std::uint64_t id) {
  auto request = attach_to(target, topic, id);
  request.observer = true;
  return request;
}
/// The same with any announcement, which may be wrong.
inline std::string attach_with(handshake::Attach request, const std::string& announced) {
  request.announced.reset();
  std::string text = handshake::encode(request);
  return text.insert(text.size() - 1, "," + announced);
}

inline detail::Area subscriber_page() {
  constexpr std::size_t kBytes = layout::align_up(sizeof(layout::SubscriberPage), layout::kPage);
  detail::Area page("by hand", kBytes);
  page.commit(0, kBytes);
  auto* words = new (page.data()) layout::SubscriberPage{};
  words->magic = layout::kMagic;
  words->version = layout::kVersion;
  return page;
}

/// A process in the run directory that says what the test wants it to say.
class FalseProcess {
 public:
  FalseProcess() {
    std::random_device device;
    char id[17];
    std::snprintf(id, sizeof(id), "%08x%08x", device(), device());
    id_ = id;
    listener_ = socket::listen_at(socket_path());
  }
  FalseProcess(const FalseProcess&) = delete;
  FalseProcess& operator=(const FalseProcess&) = delete;
  ~FalseProcess() {
    for (const auto& entry : entries_) ::unlink(entry.c_str());
    ::unlink(socket_path().c_str());
  }
  [[nodiscard]] std::string socket_path() const { return domain_folder() + "/p." + id_; }

  void announce(const std::string& topic) {
    char name[64];
    std::snprintf(name, sizeof(name), "/t.%016llx.%s.%u", static_cast<unsigned long long>(detail::hash_name(topic)),
                  id_.c_str(), ++serial_);
    entries_.push_back(domain_folder() + name);
    if (::symlink(topic.c_str(), entries_.back().c_str()) != 0) std::perror("symlink");
  }

  /// `answer(peer, message)` for each message, until `done()`; false: this peer is hung up on.
  template <class Answer, class Done>
  void serve(Answer answer, Done done) {
    while (!done()) {
      if (Fd fd = socket::accept_from(listener_.get())) {
        peers_.emplace_back(std::move(fd));
        ++accepted_;
      }
      std::erase_if(peers_, [&](const RawPeer& peer) {
        socket::Message m;
        const auto got = socket::receive(peer.fd(), m);
        if (got == socket::Received::Nothing) return false;
        return got != socket::Received::Message || !answer(peer, m);
      });
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }
  void hang_up_on_all() { peers_.clear(); }
  [[nodiscard]] bool is_knocked_at() const {  ///< somebody has connected and was not accepted yet
    pollfd p{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&p, 1, 0) > 0;
  }
  void withdraw() {  ///< its topics
    for (const auto& entry : entries_) ::unlink(entry.c_str());
    entries_.clear();
  }
  void die() {  ///< its names stay, as those of a killed process do
    peers_.clear();
    listener_ = {};
  }
  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  [[nodiscard]] std::size_t open() const { return peers_.size(); }

 private:
  std::string id_;
  Fd listener_;
  unsigned serial_ = 0;
  std::size_t accepted_ = 0;
  std::vector<std::string> entries_;
  std::vector<RawPeer> peers_;
};

inline bool is_op(const socket::Message& m, const std::string& op) {
  return m.text.find("\"op\":\"" + op + "\"") != std::string::npos;
}
inline bool greet(const RawPeer& peer, const std::string& name = "false") {
  return peer.send(handshake::Hello{.pid = 1, .name = name});
}
/// The honest answer to the attach `m`, with the memory of `core`; `now`: the next publication is the first.
inline bool send_attached(const RawPeer& peer, const socket::Message& m, const detail::PublisherCore& core,
                          const detail::BellBoard& bells, bool now = false) {
  return peer.send(handshake::Attached{.id = id_of(m),
                                       .bytes = core.area().size(),
                                       .bell = 0,
                                       .bell_bytes = bells.size(),
                                       .cursor = now ? core.floor_for_late_joiner() : 0,
                                       .owed_from = now ? core.published() : 0},
                   {core.area().read_only_fd(), bells.read_only_fd()});
}

inline long descriptors_of(pid_t pid) {
  std::error_code error;
  long count = 0;
  for (std::filesystem::directory_iterator it("/proc/" + std::to_string(pid) + "/fd", error), end; !error && it != end;
       it.increment(error))
    ++count;
  return count;
}

inline void limit_descriptors(rlim_t most) {
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// All that this process may have. A helper thread may still close one that it used for what came before, so those that
/// come free within 200 ms are taken too.
inline std::vector<Fd> use_up_descriptors() {
  std::vector<Fd> all;
  for (int look = 0; look < 20; ++look) {
    for (Fd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); fd; fd = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)))
      all.push_back(std::move(fd));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return all;
}

}  // namespace cardan::test

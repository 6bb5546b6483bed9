// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "src/transport/discovery/run_directory.hpp"
#include "tests/fuzz/speech.hpp"
#include "tests/support/raw_peer.hpp"

namespace cardan::fuzz {

/// A hostile process in a domain's folder, with its own name each time: a process that broke the handshake is not
/// asked again.
class Imposter {
 public:
  explicit Imposter(const std::string& domain) {
    static std::uint64_t number = 0;
    char id[17];
    std::snprintf(id, sizeof(id), "%016llx", static_cast<unsigned long long>(++number));
    socket_ = domain + "/p." + id;
    listener_ = socket::listen_at(socket_);
    char name[64];
    const auto hash = static_cast<unsigned long long>(detail::hash_name("/fuzz"));
    std::snprintf(name, sizeof(name), "/t.%016llx.%s.1", hash, id);
    entry_ = domain + name;
  }
  Imposter(const Imposter&) = delete;
  Imposter& operator=(const Imposter&) = delete;
  ~Imposter() {
    ::unlink(entry_.c_str());
    ::unlink(socket_.c_str());
  }

  /// As publisher of /fuzz.
  void announce() const { require(::symlink("/fuzz", entry_.c_str()) == 0, "cannot announce"); }
  /// Waits for the next connection; none after withdraw().
  [[nodiscard]] test::RawPeer accept() const {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, 5000);
    return test::RawPeer(socket::accept_from(listener_.get()));
  }
  void withdraw() const { ::shutdown(listener_.get(), SHUT_RDWR); }

 private:
  std::string socket_, entry_;
  Fd listener_;
};

}  // namespace cardan::fuzz

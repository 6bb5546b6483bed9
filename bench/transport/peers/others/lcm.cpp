// SPDX-License-Identifier: Apache-2.0
// `lcm`: LCM's UDP multicast within this computer (ttl 0), with the largest receive buffer that the kernel gives, up to
// 64 MiB. The payload is sent from where it was filled, and copied out of LCM's buffer as a generated decoder does.
// Only on request: LCM does not send lost fragments again, so messages beyond the receive buffer do not arrive.
#include <lcm/lcm.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

// Its own group and port, so that the bench neither hears nor disturbs an LCM system.
constexpr const char* kProvider = "udpm://239.255.76.98:7698?ttl=0&recv_buf_size=";
constexpr long kMostBuffer = 64L << 20U;

// LCM complains on standard error about a buffer that the kernel does not give.
std::string provider() {
  long most = 212'992;  // the kernel's default
  std::ifstream("/proc/sys/net/core/rmem_max") >> most;
  return kProvider + std::to_string(std::min(most, kMostBuffer));
}

class Lcm {
 public:
  explicit Lcm(const Area& area) : channel_(area.header().topic), lcm_(::lcm_create(provider().c_str())) {
    if (lcm_ == nullptr)
      throw Error(ErrorCode::System, "LCM cannot use UDP multicast",
                  "ip link set lo multicast on; ip route add 224.0.0.0/4 dev lo; or leave lcm out of --peers");
  }
  Lcm(const Lcm&) = delete;
  Lcm& operator=(const Lcm&) = delete;
  ~Lcm() { ::lcm_destroy(lcm_); }
  [[nodiscard]] ::lcm_t* get() const noexcept { return lcm_; }
  [[nodiscard]] const char* channel() const noexcept { return channel_; }

 private:
  const char* channel_;
  ::lcm_t* lcm_;
};

/// It cannot know its readers: the harness gives the start signal when all of them have joined the group.
class LcmWriter {
 public:
  LcmWriter(const Area& area, std::uint32_t /*index*/)
      : lcm_(area), words_(area.header().cell.bytes / sizeof(std::uint64_t)) {}
  std::span<std::uint64_t> loan(std::uint64_t) noexcept { return words_; }
  void publish(std::uint64_t) noexcept {
    ::lcm_publish(lcm_.get(), lcm_.channel(), words_.data(),
                  static_cast<unsigned>(words_.size() * sizeof(std::uint64_t)));
  }

 private:
  Lcm lcm_;
  std::vector<std::uint64_t> words_;
};

struct Receipt {
  FrameChecker checker;
  std::vector<std::uint64_t> words;
};

void receive(const ::lcm_recv_buf_t* received, const char* /*channel*/, void* user) {
  auto& receipt = *static_cast<Receipt*>(user);
  std::memcpy(receipt.words.data(), received->data,
              std::min<std::size_t>(received->data_size, receipt.words.size() * sizeof(std::uint64_t)));
  receipt.checker.check(receipt.words, now_ns());
  receipt.checker.note();
}

void play(const Area& area, std::uint32_t index) {
  if (index < area.publishers()) {
    LcmWriter out(area, index);
    return publish_frames(area, index, out);
  }
  Receipt receipt{FrameChecker(area, index - area.publishers()),
                  std::vector<std::uint64_t>(area.header().cell.bytes / sizeof(std::uint64_t))};
  const Lcm lcm(area);
  ::lcm_subscription_t* const subscription = ::lcm_subscribe(lcm.get(), lcm.channel(), receive, &receipt);
  if (subscription == nullptr) throw Error(ErrorCode::System, "LCM cannot subscribe", "leave lcm out of --peers");
  ::lcm_subscription_set_queue_capacity(subscription,
                                        1);  // as the depth of the others; LCM drops what comes while it is full
  if (!area.arrive_and_wait()) return;
  while (!receipt.checker.all_ended() && ::lcm_handle(lcm.get()) == 0) {
  }
  area.header().readers_done.fetch_add(1, std::memory_order_release);
}

const RegisteredPeer kLcm({.peer = Peer{"lcm"}, .place = 55, .on_request = true, .waits = block_only, .play = play});

}  // namespace
}  // namespace cardan::bench

// SPDX-License-Identifier: Apache-2.0
// `iceoryx`: the untyped publisher and subscriber, no history, a queue of 2, the frame filled and read in the chunk.
// `block` waits in a WaitSet, `spin` polls. Its daemon RouDi is started with the bench, with chunks for the largest
// frame and process monitoring off, so that its own wake-ups do not disturb anybody's measurement.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <memory>
#include <optional>
#include <string>

#include "bench/helper.hpp"
#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::size_t kMostBytes = 64U << 20U;  // of a chunk
constexpr std::int64_t kStarted = 2'000'000'000;

iox::capro::ServiceDescription service_of(const Area& area) {
  const iox::capro::IdString_t topic(iox::cxx::TruncateToCapacity, area.header().topic);
  return {"cardan", "bench", topic};
}

/// Once in a process, whatever number of ends it has.
void init() {
  const std::string name = fmt::format("cardan-bench-{}", ::getpid());
  iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name));
}

class IceoryxWriter {
 public:
  IceoryxWriter(const Area& area, std::uint32_t /*index*/)
      : bytes_(static_cast<std::uint32_t>(area.header().cell.bytes)) {
    iox::popo::PublisherOptions options;
    options.historyCapacity = 0;
    out_.emplace(service_of(area), options);
    wait_until(kNoReaders, [&] { return out_->hasSubscribers(); });
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    chunk_ = nullptr;
    out_->loan(bytes_, alignof(std::uint64_t)).and_then([&](auto& chunk) { chunk_ = chunk; });
    if (chunk_ == nullptr) return {};
    return {static_cast<std::uint64_t*>(chunk_), bytes_ / sizeof(std::uint64_t)};
  }
  void publish(std::uint64_t) noexcept { out_->publish(chunk_); }

 private:
  std::uint32_t bytes_;
  std::optional<iox::popo::UntypedPublisher> out_;
  void* chunk_ = nullptr;
};

class IceoryxReader {
 public:
  IceoryxReader(const Area& area, std::uint32_t /*index*/)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)), spins_(area.header().contender.wait == Wait::Spin) {
    iox::popo::SubscriberOptions options;
    options.queueCapacity = 2;
    options.historyRequest = 0;
    in_.emplace(service_of(area), options);
    if (!spins_ && waitset_.attachState(*in_, iox::popo::SubscriberState::HAS_DATA).has_error())
      throw Error(ErrorCode::System, "iceoryx cannot attach to its WaitSet", "leave iceoryx out of --peers");
    wait_until(kNoPublishers, [&] { return in_->getSubscriptionState() == iox::SubscribeState::SUBSCRIBED; });
  }
  std::span<const std::uint64_t> next() noexcept {
    for (;;) {
      chunk_ = nullptr;
      in_->take().and_then([&](const void* chunk) { chunk_ = chunk; });
      if (chunk_ != nullptr) return {static_cast<const std::uint64_t*>(chunk_), words_};
      if (!spins_) static_cast<void>(waitset_.wait());
    }
  }
  void release() noexcept { in_->release(chunk_); }

 private:
  std::size_t words_;
  bool spins_;
  std::optional<iox::popo::UntypedSubscriber> in_;
  iox::popo::WaitSet<> waitset_;
  const void* chunk_ = nullptr;
};

void play(const Area& area, std::uint32_t index) {
  init();
  play_with<IceoryxWriter, IceoryxReader>(area, index);
}

std::unique_ptr<LinkWriter> writer(const Area& area, std::uint32_t index) {
  init();
  return open_writer<IceoryxWriter>(area, index);
}

std::unique_ptr<LinkReader> reader(const Area& area, std::uint32_t index, FrameSink& sink) {
  init();
  return open_pulled<IceoryxReader>(area, index, sink);
}

std::shared_ptr<void> start_roudi(const std::string& folder) {
  const std::string program = find_program("iox-roudi", {"/usr/bin", "/usr/local/bin"});
  if (program.empty())
    throw Error(ErrorCode::Unavailable, "iceoryx's daemon iox-roudi is not there",
                "make bench-peers installs it (iceoryx)");
  const std::string file = folder + "/roudi.toml";
  std::ofstream out(file);
  out << "[general]\nversion = 1\n\n[[segment]]\n";
  for (const auto& [size, count] : {std::pair<std::size_t, int>{256, 2000},
                                    {8192, 1000},
                                    {131072, 100},
                                    {2U << 20U, 60},
                                    {16U << 20U, 30},
                                    {kMostBytes, 4}})
    out << fmt::format("\n[[segment.mempool]]\nsize = {}\ncount = {}\n", size, count);
  out.close();
  auto roudi = std::make_shared<Helper>(
      launcher::ChildOptions{.program = program, .arguments = {"iox-roudi", "-c", file, "-m", "off", "-l", "error"}});
  if (const auto ending = roudi->wait(now_ns() + kStarted))
    throw Error(ErrorCode::Unavailable, fmt::format("iceoryx's daemon {}: {}", text(*ending), roudi->last_line()),
                "end another iox-roudi of this computer, or leave iceoryx out of --peers");
  return roudi;
}

const RegisteredPeer kIceoryx(
    {.peer = Peer{"iceoryx"},
     .place = 80,
     .waits = [](const std::vector<Wait>& wanted) { return waits_of({Wait::Block}, {Wait::Spin}, wanted); },
     .start_companion = start_roudi,
     .play = play,
     .links = {writer, reader}});

}  // namespace
}  // namespace cardan::bench

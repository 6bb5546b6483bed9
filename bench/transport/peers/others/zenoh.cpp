// SPDX-License-Identifier: Apache-2.0
// `zenoh` and `zenoh-shm`: peers over tcp/127.0.0.1 without scouting, priority RealTime, express, Drop on congestion;
// the second fills its frames in Zenoh's shared memory. Frames are stamped on Zenoh's own thread. rust/zenoh is their
// crate.
#include <memory>
#include <string>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

struct ZenohWriter;
struct ZenohReader;
extern "C" {
using ZenohDeliver = void (*)(void* context, const std::uint64_t* words, std::size_t count);
ZenohWriter* cardan_bench_zenoh_writer(const char* topic, const char* file, std::size_t words, bool shared);
ZenohReader* cardan_bench_zenoh_reader(const char* topic, const char* files, bool shared, ZenohDeliver deliver,
                                       void* context);
bool cardan_bench_zenoh_is_heard(const ZenohWriter* writer);
std::size_t cardan_bench_zenoh_connections(const ZenohWriter* writer);
std::size_t cardan_bench_zenoh_writers(const ZenohReader* reader);
std::uint64_t* cardan_bench_zenoh_loan(ZenohWriter* writer);
void cardan_bench_zenoh_publish(ZenohWriter* writer);
void cardan_bench_zenoh_end_writer(ZenohWriter* writer);
void cardan_bench_zenoh_end_reader(ZenohReader* reader);
}

namespace cardan::bench {
namespace {

constexpr std::string_view kShared = "zenoh-shm";

bool is_shared(const Area& area) { return name_of(area.header().contender.peer) == kShared; }

template <class T>
T* made(T* endpoint) {
  if (endpoint == nullptr)
    throw Error(ErrorCode::System, "Zenoh cannot open its session (the reason is above)", "leave zenoh out of --peers");
  return endpoint;
}

class Writer {
 public:
  Writer(const Area& area, std::uint32_t index)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)),
        out_(made(cardan_bench_zenoh_writer(area.header().topic, file_of_publisher("zenoh", area, index).c_str(),
                                            words_, is_shared(area))),
             cardan_bench_zenoh_end_writer) {
    wait_until(kNoReaders, [&] {
      return cardan_bench_zenoh_connections(out_.get()) >= area.subscribers() &&
             cardan_bench_zenoh_is_heard(out_.get());
    });
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    std::uint64_t* const words = cardan_bench_zenoh_loan(out_.get());
    if (words == nullptr) return {};
    return {words, words_};
  }
  void publish(std::uint64_t) noexcept { cardan_bench_zenoh_publish(out_.get()); }

 private:
  std::size_t words_;
  std::unique_ptr<ZenohWriter, decltype(&cardan_bench_zenoh_end_writer)> out_;
};

/// Calls deliver() of the receiver on Zenoh's own thread, for each frame.
template <class Receiver>
class Reader {
 public:
  Reader(const Area& area, Receiver& receiver)
      : in_(made(cardan_bench_zenoh_reader(
                area.header().topic, files_of(area).c_str(), is_shared(area),
                [](void* context, const std::uint64_t* words, std::size_t count) {
                  const std::int64_t in_hand = now_ns();
                  static_cast<Receiver*>(context)->deliver({words, count}, in_hand);
                },
                &receiver)),
            cardan_bench_zenoh_end_reader) {
    wait_until(kNoPublishers, [&] { return cardan_bench_zenoh_writers(in_.get()) >= area.publishers(); });
  }

 private:
  static std::string files_of(const Area& area) {
    std::string files;
    for (std::uint32_t p = 0; p < area.publishers(); ++p) files += file_of_publisher("zenoh", area, p) + ";";
    return files;
  }

  std::unique_ptr<ZenohReader, decltype(&cardan_bench_zenoh_end_reader)> in_;
};

PeerKind kind(std::string_view name, int place) {
  return {.peer = Peer{name},
          .place = place,
          .waits = block_only,
          .play = play_delivered<Writer, Reader>,
          .links = {open_writer<Writer>, open_delivered<Reader>}};
}

const RegisteredPeer kZenoh(kind("zenoh", 56));
const RegisteredPeer kZenohShared(kind(kShared, 57));

}  // namespace
}  // namespace cardan::bench

// SPDX-License-Identifier: Apache-2.0
// `iceoryx2`: slices with safe overflow and a buffer of two samples, filled and read in place. `block` waits in an
// event listener that is notified after each send, `spin` polls. rust/iceoryx2 is its crate.
#include <memory>
#include <string>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

struct Iceoryx2Writer;
struct Iceoryx2Reader;
extern "C" {
Iceoryx2Writer* cardan_bench_iceoryx2_writer(const char* topic, std::size_t words);
Iceoryx2Reader* cardan_bench_iceoryx2_reader(const char* topic, bool spins);
std::size_t cardan_bench_iceoryx2_readers(const Iceoryx2Writer* writer);
std::size_t cardan_bench_iceoryx2_writers(const Iceoryx2Reader* reader);
std::uint64_t* cardan_bench_iceoryx2_loan(Iceoryx2Writer* writer);
void cardan_bench_iceoryx2_publish(Iceoryx2Writer* writer);
const std::uint64_t* cardan_bench_iceoryx2_next(Iceoryx2Reader* reader, std::size_t* words);
void cardan_bench_iceoryx2_release(Iceoryx2Reader* reader);
void cardan_bench_iceoryx2_end_writer(Iceoryx2Writer* writer);
void cardan_bench_iceoryx2_end_reader(Iceoryx2Reader* reader);
}

namespace cardan::bench {
namespace {

template <class T>
T* made(T* endpoint) {
  if (endpoint == nullptr)
    throw Error(ErrorCode::System, "iceoryx2 cannot make its services (the reason is above)",
                "leave iceoryx2 out of --peers");
  return endpoint;
}

class Writer {
 public:
  Writer(const Area& area, std::uint32_t /*index*/)
      : words_(area.header().cell.bytes / sizeof(std::uint64_t)),
        out_(made(cardan_bench_iceoryx2_writer(area.header().topic, words_)), cardan_bench_iceoryx2_end_writer) {
    wait_until(kNoReaders, [&] { return cardan_bench_iceoryx2_readers(out_.get()) >= area.subscribers(); });
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    std::uint64_t* const words = cardan_bench_iceoryx2_loan(out_.get());
    if (words == nullptr) return {};
    return {words, words_};
  }
  void publish(std::uint64_t) noexcept { cardan_bench_iceoryx2_publish(out_.get()); }

 private:
  std::size_t words_;
  std::unique_ptr<Iceoryx2Writer, decltype(&cardan_bench_iceoryx2_end_writer)> out_;
};

class Reader {
 public:
  Reader(const Area& area, std::uint32_t /*index*/)
      : in_(made(cardan_bench_iceoryx2_reader(area.header().topic, area.header().contender.wait == Wait::Spin)),
            cardan_bench_iceoryx2_end_reader) {
    wait_until(kNoPublishers, [&] { return cardan_bench_iceoryx2_writers(in_.get()) >= area.publishers(); });
  }
  std::span<const std::uint64_t> next() noexcept {
    std::size_t words = 0;
    const std::uint64_t* const at = cardan_bench_iceoryx2_next(in_.get(), &words);
    if (at == nullptr) return {};
    return {at, words};
  }
  void release() noexcept { cardan_bench_iceoryx2_release(in_.get()); }

 private:
  std::unique_ptr<Iceoryx2Reader, decltype(&cardan_bench_iceoryx2_end_reader)> in_;
};

const RegisteredPeer kIceoryx2(
    {.peer = Peer{"iceoryx2"},
     .place = 85,
     .waits = [](const std::vector<Wait>& wanted) { return waits_of({Wait::Block}, {Wait::Spin}, wanted); },
     .play = play_with<Writer, Reader>,
     .links = links_with<Writer, Reader>()});

}  // namespace
}  // namespace cardan::bench

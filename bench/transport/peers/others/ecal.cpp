// SPDX-License-Identifier: Apache-2.0
// `ecal` and `ecal-zero-copy`: eCAL's shared memory alone, one memory file for a publisher, as large as the frame. The
// frame is written by a CPayloadWriter, eCAL's way to save a copy: into a buffer of the publisher, which eCAL copies
// into the file and out of it (`ecal`), or into the file, in which it is also read (`ecal-zero-copy`). Frames are
// stamped in the callback, on eCAL's own thread.
#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <streambuf>
#include <string>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/others/ecal_api.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

namespace fs = std::filesystem;

constexpr Peer kZeroCopy{"ecal-zero-copy"};
constexpr std::string_view kVersion = "v6.1.";  // which ecal_api.hpp describes
constexpr const char* kFolder = "ecal-";        // of a role, in the folder of the run
constexpr const char* kFile = "ecal.yaml";
constexpr const char* kSharedMemory = "/dev/shm/";
constexpr std::size_t kHeaders = 4096;  // more than eCAL's own words in a memory file

/// eCAL reads it from $ECAL_DATA. The port is the bench's own, so that it neither hears nor disturbs an eCAL system.
/// A file without the priorities sets them to none, and then nothing is sent. Ends find each other four times as fast
/// as by default, which is not measured.
std::string configuration(const Area& area) {
  return fmt::format(R"(communication_mode: local
registration: {{registration_refresh: 250, local: {{transport_type: udp, udp: {{port: 14698}}}}}}
publisher:
  priority_local: [shm]
  priority_network: []
  layer:
    shm: {{enable: true, zero_copy_mode: {}, memfile_buffer_count: 1, memfile_min_size_bytes: {}}}
    udp: {{enable: false}}
    tcp: {{enable: false}}
subscriber: {{layer: {{shm: {{enable: true}}, udp: {{enable: false}}, tcp: {{enable: false}}}}}}
)",
                     area.header().contender.peer == kZeroCopy, area.header().cell.bytes + kHeaders);
}

/// eCAL in this process, whatever number of ends it has.
class Session {
 public:
  static std::shared_ptr<Session> of(const Area& area) {
    static std::weak_ptr<Session> made;
    std::shared_ptr<Session> session = made.lock();
    if (session == nullptr) made = session = std::make_shared<Session>(area);
    return session;
  }
  explicit Session(const Area& area) {
    if (!eCAL::GetVersionString().starts_with(kVersion))
      throw Error(ErrorCode::Unavailable, "eCAL " + eCAL::GetVersionString() + " is not the version 6.1",
                  "make bench-peers installs that one");
    const char* const run = std::getenv("CARDAN_RUN_DIR");
    const fs::path folder = fs::path(run != nullptr ? run : "/tmp") / (kFolder + std::to_string(::getpid()));
    fs::create_directory(folder);
    std::ofstream(folder / kFile) << configuration(area);
    ::setenv("ECAL_DATA", folder.c_str(), 1);
    // It says on standard output which file it read; there the bench's table is.
    std::streambuf* const out = std::cout.rdbuf(nullptr);
    const bool started = eCAL::Initialize("cardan-bench", eCAL::Init::kPublisher | eCAL::Init::kSubscriber);
    std::cout.rdbuf(out);
    if (!started) throw Error(ErrorCode::System, "eCAL cannot be initialized", "leave ecal out of --peers");
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { eCAL::Finalize(); }
};

/// eCAL's memory is there only while Send() runs, and the bench's frame between loan() and publish(). So Send() has a
/// stack of its own, on the same thread: it is left when the memory is there, and entered again when that is filled.
class Writer final : private eCAL::CPayloadWriter {
 public:
  Writer(const Area& area, std::uint32_t /*index*/)
      : session_(Session::of(area)),
        words_(area.header().cell.bytes / sizeof(std::uint64_t)),
        out_(area.header().topic, {}, eCAL::GetPublisherConfiguration()) {
    wait_until(kNoReaders, [&] { return out_.GetSubscriberCount() >= area.subscribers(); });
    ::getcontext(&sending_);
    sending_.uc_stack.ss_sp = stack_.get();
    sending_.uc_stack.ss_size = kStack;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    // It hands over integers alone.
    ::makecontext(&sending_, reinterpret_cast<void (*)()>(send), 2, static_cast<unsigned>(self >> 32U),
                  static_cast<unsigned>(self));
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() override {
    if (!lent_.empty()) publish(0);
  }

  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    ::swapcontext(&bench_, &sending_);
    return lent_;
  }
  void publish(std::uint64_t) noexcept { ::swapcontext(&bench_, &sending_); }

 private:
  static constexpr std::size_t kStack = 256 * 1024;

  static void send(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<Writer*>((static_cast<std::uintptr_t>(high) << 32U) | low);
    for (;;) {
      self->out_.Send(*self, -1);  // false: nobody is there, and no memory was lent
      self->lent_ = {};
      ::swapcontext(&self->sending_, &self->bench_);
    }
  }
  bool WriteFull(void* memory, std::size_t bytes) override {
    lent_ = {static_cast<std::uint64_t*>(memory), bytes / sizeof(std::uint64_t)};
    ::swapcontext(&sending_, &bench_);
    return true;
  }
  std::size_t GetSize() override { return words_ * sizeof(std::uint64_t); }

  std::shared_ptr<Session> session_;
  std::size_t words_;
  eCAL::CPublisher out_;
  std::span<std::uint64_t> lent_;
  ucontext_t bench_{}, sending_{};
  std::unique_ptr<std::byte[]> stack_ = std::make_unique<std::byte[]>(kStack);
};

/// Calls deliver() of the receiver on eCAL's own thread, for each frame. One call at a time, also of several
/// publishers.
template <class Receiver>
class Reader {
 public:
  Reader(const Area& area, Receiver& receiver)
      : session_(Session::of(area)), in_(area.header().topic, {}, eCAL::GetSubscriberConfiguration()) {
    in_.SetReceiveCallback([&receiver](const eCAL::STopicId& /*publisher*/, const eCAL::SDataTypeInformation& /*type*/,
                                       const eCAL::SReceiveCallbackData& data) {
      const std::int64_t in_hand = now_ns();
      receiver.deliver({static_cast<const std::uint64_t*>(data.buffer), data.buffer_size / sizeof(std::uint64_t)},
                       in_hand);
    });
    wait_until(kNoPublishers, [&] { return in_.GetPublisherCount() >= area.publishers(); });
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { in_.RemoveReceiveCallback(); }

 private:
  std::shared_ptr<Session> session_;
  eCAL::CSubscriber in_;
};

/// The memory files that roles of this run read, also those that eCAL has made again: a reader's event is named after
/// the file and the reader's process. An event that is older than the role was another process's of the same number.
std::set<std::string> memory_files_of(const fs::path& run) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& role : fs::directory_iterator(run, ignored)) {
    const std::string folder = role.path().filename().string();
    if (!folder.starts_with(kFolder)) continue;
    const std::string process = "_" + folder.substr(std::string_view(kFolder).size()) + "_";
    const auto since = fs::last_write_time(role.path() / kFile, ignored);
    for (const auto& entry : fs::directory_iterator(kSharedMemory, ignored)) {
      const std::string event = entry.path().filename().string();
      const auto end = event.find(process);
      if (event.starts_with("ecal_") && end != std::string::npos && fs::last_write_time(entry.path(), ignored) >= since)
        names.insert(event.substr(0, end));
    }
  }
  return names;
}

/// The remains of roles that were killed: memory files, and the events and locks that are named after them.
void remove_files_of(const fs::path& run) {
  const std::set<std::string> names = memory_files_of(run);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(kSharedMemory, ignored)) {
    const std::string file = entry.path().filename().string();
    for (const std::string& name : names)
      if (file == name || file.starts_with(name + "_")) fs::remove(entry.path(), ignored);
  }
}

/// No program: it clears up after the roles when the bench ends.
std::shared_ptr<void> start_sweeper(const std::string& folder) {
  return {new fs::path(folder), [](const fs::path* run) {
            remove_files_of(*run);
            delete run;
          }};
}

PeerKind kind(Peer peer, int place) {
  return {.peer = peer,
          .place = place,
          .waits = block_only,
          .start_companion = start_sweeper,
          .play = play_delivered<Writer, Reader>,
          .links = {open_writer<Writer>, open_delivered<Reader>}};
}

const RegisteredPeer kEcal(kind(Peer{"ecal"}, 90));
const RegisteredPeer kEcalZeroCopy(kind(kZeroCopy, 91));

}  // namespace
}  // namespace cardan::bench

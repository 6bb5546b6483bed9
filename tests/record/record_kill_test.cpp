// SPDX-License-Identifier: Apache-2.0
// A recorder is killed at random moments: what it leaves is read as it is, nothing in it is torn or missing, and it can
// be finished.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "cardan/cdr.hpp"
#include "cardan/clock.hpp"
#include "cardan/detail/publisher_end.hpp"
#include "cardan/local_message.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "cardan/mcap/verify.hpp"
#include "cardan/publisher.hpp"
#include "cardan/recorder.hpp"
#include "tests/support/child.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/run_directory.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::test::Big;
using cardan::test::Child;
using cardan::test::Small;

constexpr std::size_t kWords = 20'000;  // 160,000 bytes: no multiple of a block
// Reliable: however late the recorder gets to run on a busy computer, nothing may be missing. The counts of its losses
// would die with it. (Otherwise the next publish overwrites a sample that is as old as the depth when it attaches.)
const cardan::Topic<Small> kSmall{"/record/small", {.depth = 1024, .reliable = true, .reliable_timeout = 30s}};
const cardan::Topic<Big> kBig{"/record/big",
                              {.max_bytes = kWords * 8, .depth = 256, .reliable = true, .reliable_timeout = 30s}};

/// Publishes when all that its readers must take has been taken, as a player does. A publish that had to wait for a
/// recorder that is killed meanwhile would count as its fault, and the next recorders were not waited for.
template <class T>
class Patient {
 public:
  explicit Patient(const cardan::Topic<T>& topic)
      : end_(topic.name, cardan::detail::message_type_of<T>(), topic.options, {}) {}
  void publish_next(std::uint64_t who, std::size_t count, const std::atomic<bool>& stop) {
    while (!end_.wait_for_room(cardan::steady_now() + 10'000'000))
      if (stop) return;
    auto loan = cardan::detail::typed<T>(end_.loan());
    ASSERT_TRUE(loan);
    cardan::test::fill(*loan, cardan::test::key_of(who, end_.published() + 1), count);
    EXPECT_TRUE(cardan::detail::PublisherEnd::publish(cardan::detail::take_out(loan)));
  }

 private:
  cardan::detail::PublisherEnd end_;
};

}  // namespace

// recorder FILE MODE
CARDAN_ROLE(recorder) {
  cardan::record::RecorderOptions options{.path = args[0]};
  options.chunk_time = 20ms;
  options.sync_interval = 50ms;
  options.min_space = 0;
  options.reliable = true;
  options.queue_bytes = std::uint64_t{1} << 30;  // no loss when the disk is slow, either
  options.queue_time = 0s;
  options.split_bytes = 8 << 20;
  if (args[1] == "threads") options.use_io_uring = false;
  if (args[1] == "plain") options.mode = cardan::record::DiskMode::Plain;
  if (args[1] == "lz4") options.compression = cardan::mcap::Compression::Lz4;
  const cardan::record::Recorder recorder(options);
  cardan::test::say("ready");
  while (!cardan::test::heard()) std::this_thread::sleep_for(1ms);
  return 0;
}

namespace {

template <class T>
bool is_intact(cardan::mcap::View cdr, std::uint64_t sequence) {
  cardan::LocalMessage<T> message(kWords * 8);
  return static_cast<bool>(cardan::from_cdr(cdr, *message)) && cardan::test::intact(*message) &&
         cardan::test::number_of(message->key) == sequence;
}

/// Every message whole, and none missing between the first and the last of a topic. Returns how many there are.
std::size_t check(const std::string& path) {
  const cardan::mcap::Reader reader(path);
  std::map<std::string, std::uint32_t> last;
  std::size_t count = 0;
  cardan::mcap::Messages messages = reader.messages();
  while (const auto m = messages.next()) {
    ++count;
    const bool big = m->channel->topic == kBig.name;
    EXPECT_TRUE(big ? is_intact<Big>(m->message.data, m->message.sequence)
                    : is_intact<Small>(m->message.data, m->message.sequence))
        << path << ": " << m->channel->topic << " " << m->message.sequence;
    std::uint32_t& before = last[m->channel->topic];
    EXPECT_TRUE(before == 0 || m->message.sequence == before + 1) << path << ": " << m->channel->topic << " " << before;
    before = m->message.sequence;
  }
  EXPECT_TRUE(messages.problems().empty()) << path;
  return count;
}

class RecordKill : public cardan::test::OwnRunDirectory {
 protected:
  RecordKill() {
    std::string name = (std::filesystem::temp_directory_path() / "cardan-record-kill-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RecordKill() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(RecordKill, AtAnyMomentTheContentOfTheFileIsWholeAndCanBeFinished) {
  const int rounds = cardan::test::deep() ? 1000 : 24;
  std::mt19937 random(static_cast<std::uint32_t>(::getpid()));
  Patient<Small> small{kSmall};
  Patient<Big> big{kBig};
  std::atomic<bool> stop{false};
  std::thread publisher([&] {
    for (int i = 0; !stop; ++i) {
      small.publish_next(1, 0, stop);
      if (i % 4 == 0) big.publish_next(2, kWords, stop);
      std::this_thread::sleep_for(500us);
    }
  });
  const std::vector<std::string> modes{"best", "best", "threads", "plain", "lz4"};
  std::size_t recorded = 0, unfinished = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    const std::string mode = modes[static_cast<std::size_t>(round) % modes.size()];
    SCOPED_TRACE("round " + std::to_string(round) + ", " + mode);
    {
      Child recorder("recorder", {folder_ + "/a.mcap", mode});
      if (round % 7 != 6) recorder.expect("ready");  // else while it starts
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
      recorder.kill();
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::string path = entry.path().string();
      if (std::filesystem::file_size(path) == 0) continue;  // killed between making it and its first block
      const bool active = path.ends_with(".active");
      EXPECT_TRUE(active || cardan::mcap::verify(path).good()) << path;
      // Room was asked for before the first block was written: a file of zeros is not a recording yet.
      std::size_t count = 0;
      try {
        count = check(path);
      } catch (const cardan::Error&) {
        EXPECT_TRUE(active);
        continue;
      }
      recorded += count;
      if (!active) continue;
      ++unfinished;
      cardan::mcap::RewriteOptions repair{.replace = true};
      repair.open = {.rescan = true, .scanning = {.search = true}};
      const std::string finished = folder_ + "/recovered.out";
      EXPECT_GE(cardan::mcap::rewrite({path}, finished, repair).messages, count);
      EXPECT_TRUE(cardan::mcap::verify(finished).good());
      EXPECT_GE(check(finished), count);
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::filesystem::remove(entry.path());
  }
  stop = true;
  publisher.join();
  EXPECT_GT(recorded, static_cast<std::size_t>(rounds) * 20);
  EXPECT_GT(unfinished, static_cast<std::size_t>(rounds) / 2);
  std::printf("%d kills, %zu messages in %zu unfinished files and those before them, none torn\n", rounds, recorded,
              unfinished);
}

}  // namespace

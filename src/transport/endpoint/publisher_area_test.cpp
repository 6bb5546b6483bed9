// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/publisher_area.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/message.hpp"
#include "cardan/publisher.hpp"
#include "src/transport/endpoint/answer_times.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/support/child.hpp"

namespace {

struct List {
  std::uint64_t key;
  cardan::shm::vector<std::uint64_t> words;
};

}  // namespace

CARDAN_MESSAGE(List, "test_msgs/msg/List", key, words);

namespace {

using namespace cardan;
using namespace cardan::detail;
using layout::Header;

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A publisher's area and the means to corrupt it. Each area is also read as another process would read it.
struct Made {
  explicit Made(std::size_t max_bytes, std::uint32_t depth = 1)
      : core("/made", message_type_of<List>(), {.max_bytes = max_bytes, .depth = depth}, {}) {}
  [[nodiscard]] Header& header() const { return *reinterpret_cast<Header*>(core.area().data()); }
  [[nodiscard]] Fd fd() const { return Fd(::fcntl(core.area().read_only_fd(), F_DUPFD_CLOEXEC, 0)); }
  [[nodiscard]] PublisherArea map(bool foreign = true) const {
    return PublisherArea::map(fd(), core.area().size(), foreign);
  }
  PublisherCore core;
};

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::Incompatible);
    return e.what();
  }
  return {};
}

ReaderContract contract(std::size_t max_bytes) {
  const MessageType type = message_type_of<List>();
  return {type.hash, type.bytes, type.alignment, max_bytes};
}

TEST(PublisherArea, PayloadsHaveMemoryThoughTheirStrideIsThatOfTheRecords) {
  MessageType type = message_type_of<List>();
  type.bytes = 65'536 - 128;
  const TopicOptions options{.max_bytes = 65'536};
  PublisherCore core("/equal", type, options, {});
  ASSERT_EQ(core.header().payload_stride, core.header().slot_stride);
  for (int i = 0; i < 3; ++i) {
    const int slot = core.loan();
    ASSERT_GE(slot, 0);
    std::memset(core.payload(slot), 0x5a, options.max_bytes);
    core.publish(slot, options.max_bytes, 0);
  }
  const std::int64_t backed =
      ::lseek(core.area().read_only_fd(), static_cast<off_t>(core.header().payload_offset), SEEK_HOLE);
  EXPECT_GE(static_cast<std::uint64_t>(backed),
            core.header().payload_offset + core.hot().committed.load() * core.header().payload_stride);
}

TEST(PublisherArea, TheLayoutOfAPublisherIsAccepted) {
  for (const std::size_t max_bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{65'535},
                                      std::size_t{65'536}, std::size_t{921'600}, 7 * kMiB + 1})
    for (const std::uint32_t depth : {1U, 7U, 1024U}) {
      if (max_bytes * depth > 64 * kMiB) continue;
      const Made made(max_bytes, depth);
      const PublisherArea area = made.map();
      EXPECT_EQ(area.slots, made.core.hot().committed) << max_bytes;
      EXPECT_NO_THROW(area.check(contract(max_bytes))) << max_bytes;
      EXPECT_TRUE(area.fd);
      EXPECT_FALSE(made.map(false).fd) << "one descriptor less for each publisher of our own";
    }
}

TEST(PublisherArea, PayloadsLargerThanTheContractAreRefusedWithBothNumbers) {
  const Made made(4 * kMiB);
  const std::string why = refusal([&] { made.map().check(contract(kMiB)); });
  EXPECT_NE(why.find("4194304"), std::string::npos) << why;
  EXPECT_NE(why.find("1048576"), std::string::npos) << why;
  EXPECT_NE(refusal([&] { Made(1).map().check(contract(0)); }), "") << "0 bytes: none";
  EXPECT_NO_THROW(Made(0).map().check(contract(0)));
  EXPECT_NO_THROW(Made(100).map().check(contract(99))) << "both reserve 128";
  EXPECT_NO_THROW(Made(kMiB).map().check(contract(2 * kMiB)));
}

TEST(PublisherArea, NoPartIsLargerThanItsContents) {
  struct Spoilt {
    const char* name;
    std::function<void(Header&)> spoil;
  };
  const Spoilt all[] = {
      {"slot_stride", [](Header& h) { h.slot_stride += h.payload_stride + layout::kPage; }},
      {"payload_stride", [](Header& h) { h.payload_stride *= 2; }},
      {"few slots", [](Header& h) { h.max_slots = 4; }},
      {"schema", [](Header& h) { h.schema_bytes = 32 * kMiB; }},
      {"slots_offset", [](Header& h) { h.slots_offset += 16 * layout::kPage; }},
      {"message_offset", [](Header& h) { h.message_offset = 2 * layout::kPage; }},
      {"payload_bytes", [](Header& h) { h.payload_bytes = 64; }},
      {"chain entries beyond the slot", [](Header& h) { h.chain_entries = layout::kMaxChainEntries; }},
      {"too many chain entries", [](Header& h) { h.chain_entries = 1U << 31U; }},
  };
  for (const Spoilt& one : all) {
    const Made made(kMiB, 8);
    one.spoil(made.header());
    EXPECT_NE(refusal([&] { (void)made.map(); }), "") << one.name;
  }
}

TEST(PublisherArea, CommittedSlotsHaveMemory) {
  const Made made(kMiB);
  made.core.hot().committed = made.header().max_slots;
  EXPECT_NE(refusal([&] { (void)made.map(); }), "");
  made.core.hot().committed = 0;
  EXPECT_NE(refusal([&] { (void)made.map(); }), "") << "no slot at all";
}

TEST(PublisherArea, SlotsThatComeLaterAreLookedAt) {
  const Made made(kMiB);
  const PublisherArea area = made.map();
  const auto more = [&] { return slots_there(area.header, area.hot(), area.slots, area.fd.get()).count; };
  EXPECT_EQ(more(), area.slots);
  made.core.hot().committed = area.slots + 1;  // a false value
  struct stat before{};
  ::fstat(area.fd.get(), &before);
  EXPECT_EQ(more(), area.slots);
  EXPECT_EQ(slots_there(area.header, area.hot(), area.slots, -1).count, area.slots + 1) << "our own user is believed";
  struct stat after{};
  ::fstat(area.fd.get(), &after);
  EXPECT_EQ(before.st_blocks, after.st_blocks);
  const Header& h = area.header;
  made.core.area().commit(h.slots_offset + area.slots * h.slot_stride, h.slot_stride);
  EXPECT_EQ(more(), area.slots) << "the payload is still a hole";
  made.core.area().commit(h.payload_offset + area.slots * h.payload_stride, h.payload_stride);
  EXPECT_EQ(more(), area.slots + 1);
  made.core.hot().committed = ~0U;
  EXPECT_LE(slots_there(area.header, area.hot(), area.slots, -1).count, h.max_slots);
  made.core.hot().committed = 0;
  EXPECT_EQ(more(), area.slots) << "what was there stays";
}

/// Exhausts the user's time for answers, until it is destroyed.
struct UsedUp {
  explicit UsedUp(uid_t whose) : uid(whose) {
    auto& times = AnswerTimes::of_process();
    EXPECT_GT(times.begin(uid, steady_now()), 0);
    times.spent(uid, 2'000'000'000);
    times.done(uid);
  }
  UsedUp(const UsedUp&) = delete;
  UsedUp& operator=(const UsedUp&) = delete;
  ~UsedUp() { AnswerTimes::of_process().spent(uid, -2'000'000'000); }
  uid_t uid;
};

TEST(PublisherArea, AnUnansweredPageIsNeitherThereNorAHole) {
  constexpr uid_t kWhose = 4711;
  const Made made(kMiB);
  const auto map = [&] { return PublisherArea::map(made.fd(), made.core.area().size(), true, kWhose); };
  const PublisherArea area = map();
  const Header& h = area.header;
  made.core.area().commit(h.slots_offset + area.slots * h.slot_stride, h.slot_stride);
  made.core.area().commit(h.payload_offset + area.slots * h.payload_stride, h.payload_stride);
  made.core.hot().committed = area.slots + 1;
  const auto there = [&] { return slots_there(h, area.hot(), area.slots, area.fd.get(), kWhose); };
  {
    const UsedUp used_up(kWhose);
    try {
      (void)map();
      ADD_FAILURE() << "it was looked at without time for it";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::Limit) << "it is reported as another program than Cardan: " << e.what();
    }
    EXPECT_EQ(there().count, area.slots);
    EXPECT_FALSE(there().answered) << "it is said to lie";
  }
  EXPECT_EQ(there().count, area.slots + 1);
  EXPECT_TRUE(there().answered);
  EXPECT_NO_THROW((void)map());
}

TEST(AnswerTimes, OtherUsersLeaveEachUserItsFirstQuestion) {
  AnswerTimes times;
  constexpr std::int64_t kNow = 1'000'000'000'000;
  for (uid_t uid = 1; uid <= 6; ++uid) {
    EXPECT_EQ(times.begin(uid, kNow), 1'000'000'000) << uid;
    times.spent(uid, 1'000'000'000);
    times.done(uid);
    EXPECT_EQ(times.begin(uid, kNow), 0);
  }
  EXPECT_GT(times.begin(7, kNow), 0) << "six others used the time up";
  times.done(7);
  times.spent(7, 20'000'000);
  EXPECT_EQ(times.begin(7, kNow), 0) << "there is a bound, too";
  AnswerTimes threads;  // threads that wait forever
  for (uid_t uid = 1; uid <= 32; ++uid)
    EXPECT_TRUE(threads.begin(uid, kNow) > 0 && (uid > 16 || threads.begin(uid, kNow) > 0)) << uid;
  EXPECT_GT(threads.begin(100, kNow), 0);
  EXPECT_EQ(threads.begin(100, kNow), 0);
  EXPECT_EQ(times.begin(1, kNow + 61'000'000'000), 1'000'000'000) << "a minute later";
}

/// While it lives, this thread has one processor, which it shares with `kThreads` threads that never sleep.
class OnABusyProcessor {
 public:
  OnABusyProcessor() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    std::size_t first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ::sched_setaffinity(0, sizeof(one), &one);  // new threads inherit it
    for (auto& thread : threads_)
      thread = std::thread([this] {
        while (!end_.load(std::memory_order_relaxed)) {
        }
      });
  }
  OnABusyProcessor(const OnABusyProcessor&) = delete;
  OnABusyProcessor& operator=(const OnABusyProcessor&) = delete;
  ~OnABusyProcessor() {
    end_ = true;
    for (auto& thread : threads_) thread.join();
    ::sched_setaffinity(0, sizeof(before_), &before_);
  }

 private:
  static constexpr std::size_t kThreads = 8;
  cpu_set_t before_{};
  std::atomic<bool> end_{false};
  std::array<std::thread, kThreads> threads_;
};

TEST(AnswerTimes, TimeWithoutAProcessorCostsTheOwnerNothing) {
  if (::access("/proc/thread-self/schedstat", R_OK) != 0) GTEST_SKIP() << "this kernel does not count it";
  constexpr uid_t kWhose = 4712;
  const Made made(kMiB);
  const auto left = [] {
    const std::int64_t ns = AnswerTimes::of_process().begin(kWhose, steady_now());
    if (ns != 0) AnswerTimes::of_process().done(kWhose);
    return ns;
  };
  const std::int64_t before = left();
  const std::int64_t began = steady_now();
  {
    const OnABusyProcessor busy;
    while (steady_now() - began < 1'000'000'000) try {
        (void)PublisherArea::map(made.fd(), made.core.area().size(), true, kWhose);
      } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::Limit) << e.what();
      }
  }
  EXPECT_LT(before - left(), (steady_now() - began) / 4);
}

/// Whether MADV_POPULATE_READ (22) works here: an emulator of another architecture may take it and do nothing.
bool kernel_faults_in() {
  void* const pages = ::mmap(nullptr, kMiB, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const long before = test::number_in("/proc/self/status", "RssShmem");
  const bool done = ::madvise(pages, kMiB, 22) == 0;
  const long grown = test::number_in("/proc/self/status", "RssShmem") - before;
  ::munmap(pages, kMiB);
  return done && grown >= 512;
}

TEST(PublisherArea, OfAnotherUsersAreaALimitedPartIsFaultedIn) {
  if (!kernel_faults_in()) GTEST_SKIP() << "this kernel, or an emulator of it, faults no pages in";
  const Made made(24 * kMiB, 4);
  const PublisherArea area = made.map();
  const auto grown = [&](std::size_t most) {
    const PublisherArea again = made.map();
    const long before = test::number_in("/proc/self/status", "RssShmem");
    again.prefault(most);
    return test::number_in("/proc/self/status", "RssShmem") - before;
  };
  EXPECT_LE(grown(32 * kMiB), 33 * 1024) << "KiB";
  EXPECT_GE(grown(~std::size_t{0}), 100 * 1024) << "KiB";
}

TEST(PublisherArea, ADefaultTopicOfLargePayloadsReservesLittle) {
  EXPECT_LE(Made(8 * kMiB).core.area().size(), 320 * kMiB);
  EXPECT_GE(Made(8 * kMiB).header().max_slots, 32U) << "but room for readers";
  EXPECT_GE(Made(1000).header().max_slots, 512U);
  EXPECT_GE(Made(8 * kMiB, 8).header().max_slots, 5 * 8U) << "readers with queues as long as the publisher's";
}

}  // namespace

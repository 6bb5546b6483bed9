// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/wire.hpp"

#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/q_protocol.h>
#include <dds/ddsi/q_radmin.h>
#include <dds/ddsrt/log.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cardan/cdr_writer.hpp"
#include "src/bridge/dds/component_asker.hpp"
#include "src/bridge/dds/dds_reader.hpp"
#include "src/bridge/dds/participant.hpp"
#include "tests/support/run_directory.hpp"

namespace {

/// A domain for this process alone: tests of another run at the same time would be heard. A socket without a file lies
/// in the same network namespace as the domain, and goes with its process.
int own_domain() {
  static const int domain = [] {
    for (int one = 60; one < 100; ++one) {  // above, its ports would be those that the kernel gives away
      const std::string name = "cardan-test-dds-" + std::to_string(one);
      sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
      std::copy(name.begin(), name.end(), std::begin(address.sun_path) + 1);
      const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
      if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) return one;  // it stays open
      ::close(fd);
    }
    throw std::runtime_error("other tests have all domains from 60 to 99");
  }();
  return domain;
}
/// Allocations without exceptions fail while it is set.
thread_local bool no_memory = false;
/// Every allocation of this size fails, on any thread.
std::atomic<std::size_t> too_much{SIZE_MAX};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = size < too_much ? std::malloc(std::max<std::size_t>(size, 1)) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

// As the library's own, which call the throwing form of the same kind: sanitizers tell the two kinds apart.
void* operator new(std::size_t size, const std::nothrow_t& /*quiet*/) noexcept {
  if (no_memory) return nullptr;
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& /*quiet*/) noexcept {
  if (no_memory) return nullptr;
  try {
    return ::operator new[](size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace cardan::bridge::dds {
namespace {

/// Cyclone on loopback alone, and a topic of it.
class Wire : public testing::Test {
 protected:
  Rules rules_{};
  Participant participant_{DomainChoice{.id = own_domain()}, rules_, "wire-test", std::make_shared<Bell>()};
  WireTopic topic_ = make_topic(participant_.entity(), "rt/wire", "std_msgs::msg::dds_::String_", nullptr);
  Entity writer_{::dds_create_writer(participant_.entity(), topic_.topic.get(), nullptr, nullptr)};
  std::shared_ptr<SendTally> tally_ = std::make_shared<SendTally>();

  /// Three pieces, with the bytes 0, 1, 2 … of the whole.
  WireMessage message(std::size_t prefix, std::size_t payload, std::size_t suffix) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(prefix + payload + suffix);
    for (std::size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<std::byte>(i % 251);
    // Each piece with its own memory, so that none continues in the next.
    auto pieces = std::make_shared<std::array<std::vector<std::byte>, 3>>();
    const auto at = [&](std::size_t from, std::size_t size) {
      return std::vector<std::byte>(bytes->begin() + static_cast<std::ptrdiff_t>(from),
                                    bytes->begin() + static_cast<std::ptrdiff_t>(from + size));
    };
    *pieces = {at(0, prefix), at(prefix, payload), at(prefix + payload, suffix)};
    return {.pieces = {(*pieces)[0], (*pieces)[1], (*pieces)[2]}, .keep = pieces};
  }
};

TEST_F(Wire, AFragmentAcrossASeamNeedsNoMemoryWhenItIsSent) {
  constexpr std::size_t kFragment = 1344;
  WireMessage sent = message(100, 10000, 7);
  constexpr std::size_t kSize = 100 + 10000 + 7;
  ::ddsi_serdata* const data = new_message(topic_, std::move(sent), tally_);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(tally_->held.load(), 1U);
  for (int again = 0; again < 2; ++again) {  // as when it is sent again, while the first reference is still there
    std::vector<::ddsrt_iovec_t> ranges;
    no_memory = true;
    for (std::size_t from = 0; from < kSize; from += kFragment) {
      ::ddsrt_iovec_t range{};
      const std::size_t size = std::min(kFragment, (kSize - from + 3) / 4 * 4);
      ASSERT_EQ(::ddsi_serdata_to_ser_ref(data, from, size, &range), data);
      ASSERT_EQ(range.iov_len, size);
      const auto* const bytes = static_cast<const std::byte*>(range.iov_base);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(bytes[i], static_cast<std::byte>(from + i < kSize ? (from + i) % 251 : 0)) << from + i;
      ranges.push_back(range);
      no_memory = false;
      if (again == 1) ::ddsi_serdata_to_ser_unref(data, &range);
      no_memory = true;
    }
    no_memory = false;
    if (again == 0)
      for (const ::ddsrt_iovec_t& range : ranges) ::ddsi_serdata_to_ser_unref(data, &range);
  }
  // The first fragment and the last, which has the second seam and the padding; the second time they are there already.
  EXPECT_EQ(tally_->gathered.load(), kFragment + (kSize % kFragment + 3) / 4 * 4);
  ::ddsi_serdata_unref(data);
  EXPECT_EQ(tally_->held.load(), 0U);
}

TEST_F(Wire, AWholeMessageIsThereAsLongAsTheMessage) {
  // With DDS Security, Cyclone asks for all of it, and gives the reference back with the address of its encrypted copy.
  constexpr std::size_t kSize = 100 + 200'000 + 7;
  ::ddsi_serdata* const data = new_message(topic_, message(100, 200'000, 7), tally_);
  ASSERT_NE(data, nullptr);
  std::array<std::byte, 8> encrypted{};
  for (int again = 0; again < 2; ++again) {
    ::ddsrt_iovec_t range{};
    ASSERT_EQ(::ddsi_serdata_to_ser_ref(data, 0, (kSize + 3) / 4 * 4, &range), data);
    const auto* const bytes = static_cast<const std::byte*>(range.iov_base);
    for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(bytes[i], static_cast<std::byte>(i % 251)) << i;
    range.iov_base = encrypted.data();
    range.iov_len = encrypted.size();
    ::ddsi_serdata_to_ser_unref(data, &range);
  }
  EXPECT_EQ(tally_->gathered.load(), (kSize + 3) / 4 * 4) << "once";
  ::ddsi_serdata_unref(data);
  EXPECT_EQ(tally_->held.load(), 0U);
}

TEST_F(Wire, WithoutMemoryAMessageIsRefusedAndTheNextOneGoesOut) {
  no_memory = true;
  const dds_return_t code = write(writer_.get(), topic_, message(100, 1U << 20U, 0), tally_);
  no_memory = false;
  EXPECT_EQ(code, DDS_RETCODE_OUT_OF_RESOURCES);
  EXPECT_EQ(tally_->held.load(), 0U) << "all is freed";
  EXPECT_EQ(write(writer_.get(), topic_, message(100, 1U << 20U, 0), tally_), DDS_RETCODE_OK);
}

TEST_F(Wire, AnInboxWithoutMemoryCountsALoss) {
  Inbox inbox(1U << 20U);
  Inbox::Buffer buffer;
  no_memory = true;
  EXPECT_FALSE(inbox.room(1000, buffer));
  no_memory = false;
  EXPECT_EQ(inbox.take_lost(), 1U);
  EXPECT_TRUE(inbox.room(1000, buffer));
  EXPECT_FALSE(inbox.admits(2U << 20U));
  EXPECT_EQ(inbox.take_refused(), 1U);
}

/// Packets as Cyclone's receive threads have them, in its own buffers.
class Arrivals : public testing::Test {
 protected:
  static constexpr std::uint32_t kBuffer = 1U << 20U, kPacket = 128U << 10U;
  static constexpr std::uint32_t kHeader = sizeof(::Header_t) + sizeof(::DataFrag_t);

  ~Arrivals() override {
    topic_ = {};
    ::nn_rbufpool_free(pool_);
  }

  /// A message in fragments of `each` bytes, the next of which begins `overlap` bytes before the end of the one before.
  /// Between two, `between` bytes of others' packets arrive.
  ::nn_rdata* arrive(std::uint32_t size, std::uint32_t each, std::uint32_t overlap = 0, std::uint32_t between = 0) {
    ++sequence_;
    ::nn_rdata* first = nullptr;
    ::nn_rdata** next = &first;
    for (std::uint32_t from = 0; from < size; from += each - overlap) {
      const std::uint32_t end = std::min(from + each, size);
      ::nn_rmsg* const packet = new_packet(end - from);
      auto* const bytes = NN_RMSG_PAYLOAD(packet);
      auto* const data = reinterpret_cast<::Data_DataFrag_common_t*>(bytes + sizeof(::Header_t));
      std::memset(bytes, 7, sizeof(::Header_t));
      data->writerId.u = 0x103;
      data->writerSN = {.high = 0, .low = sequence_};
      for (std::uint32_t i = from; i < end; ++i) bytes[kHeader + i - from] = static_cast<unsigned char>(i % 251);
      *next = ::nn_rdata_new(packet, from, end, sizeof(::Header_t), kHeader, 0);
      ::ddsrt_atomic_inc32(&packet->refcount);
      ::nn_rmsg_commit(packet);
      packets_.push_back(packet);
      next = &(*next)->nextfrag;
      for (std::uint32_t other = 0; other < between; other += kPacket / 2) {
        ::nn_rmsg* const garbage = new_packet(kPacket / 2);
        ::ddsrt_atomic_inc32(&garbage->refcount);
        ::nn_rmsg_commit(garbage);
        others_.push_back(garbage);
      }
    }
    return first;
  }
  ::ddsi_serdata* receive(::nn_rdata* fragments, std::size_t size) {
    ::ddsi_serdata* const data = ::ddsi_serdata_from_ser(topic_.type, SDK_DATA, fragments, size);
    ::nn_fragchain_unref(fragments);  // as Cyclone, once it has delivered
    return data;
  }
  static Received taken(::ddsi_serdata* data) {
    ::dds_sample_info_t info{};
    info.valid_data = true;
    return {data, info};
  }
  static void expect_whole(const Received& message, std::size_t size) {
    std::vector<std::span<const std::byte>> room;
    std::size_t at = 0;
    for (const auto& piece : message.pieces(room))
      for (const std::byte b : piece) ASSERT_EQ(b, static_cast<std::byte>(at++ % 251));
    EXPECT_EQ(at, size);
  }
  [[nodiscard]] std::uint32_t references() const {
    std::uint32_t sum = 0;
    for (const ::nn_rmsg* packet : packets_) sum += ::ddsrt_atomic_ld32(&packet->refcount);
    return sum;
  }

  Rules rules_{};
  Participant participant_{DomainChoice{.id = own_domain()}, rules_, "wire-test", std::make_shared<Bell>()};
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>(4U << 20U, Inbox::Way::Kept);
  WireTopic topic_ = make_topic(participant_.entity(), "rt/wire", "std_msgs::msg::dds_::String_", inbox_);
  std::vector<::nn_rmsg*> packets_, others_;

 private:
  ::nn_rmsg* new_packet(std::uint32_t payload) {
    ::nn_rmsg* const packet = ::nn_rmsg_new(pool_);
    ::nn_rmsg_setsize(packet, kHeader + payload);
    return packet;
  }
  ::ddsrt_log_cfg_t quiet_{};
  ::nn_rbufpool* pool_ = ::nn_rbufpool_new(&quiet_, kBuffer, kPacket);
  std::uint32_t sequence_ = 0;
};

TEST_F(Arrivals, ALargeMessageStaysInItsPacketsUntilItIsRead) {
  constexpr std::uint32_t kSize = 3'000'001;
  ::ddsi_serdata* const data = receive(arrive(kSize, 65'000), kSize);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(references(), packets_.size()) << "ours alone";
  EXPECT_EQ(inbox_->take_copied(), 0U);
  {
    const Received message = taken(data);
    EXPECT_EQ(message.size(), kSize);
    EXPECT_TRUE(message.bytes().empty());
    expect_whole(message, kSize);
  }
  // The packets have been freed; their buffers too, unless the pool still uses them.
  EXPECT_TRUE(inbox_->keep(16U << 20U)) << "nothing is kept any more";
}

TEST_F(Arrivals, FragmentsThatOverlapGiveEachByteOnce) {
  constexpr std::uint32_t kSize = 200'000;
  expect_whole(taken(receive(arrive(kSize, 5'000, 1'234), kSize)), kSize);
  expect_whole(taken(receive(arrive(kSize, 60'000, 59'000), kSize)), kSize);
}

TEST_F(Arrivals, ASmallMessageIsCopied) {
  ::ddsi_serdata* const data = receive(arrive(1'000, 300, 100), 1'000);
  EXPECT_EQ(inbox_->take_copied(), 1'000U);
  const Received message = taken(data);
  EXPECT_EQ(message.bytes().size(), 1'000U);
  expect_whole(message, 1'000);
}

TEST_F(Arrivals, AMessageThatWouldKeepMuchMoreThanItselfIsCopied) {
  constexpr std::uint32_t kSize = 100'000;
  const Received message = taken(receive(arrive(kSize, 5'000, 0, kBuffer), kSize));
  EXPECT_EQ(inbox_->take_copied(), kSize) << "each of its packets lies in a buffer with others";
  expect_whole(message, kSize);
  const Received tiny = taken(receive(arrive(kSize, 100), kSize));
  EXPECT_EQ(inbox_->take_copied(), kSize) << "too many pieces";
  expect_whole(tiny, kSize);
  for (::nn_rmsg* packet : others_)
    if (::ddsrt_atomic_dec32_nv(&packet->refcount) == 0) ::nn_rmsg_free(packet);
}

TEST_F(Arrivals, OnlySoMuchIsKeptAndTheRestIsCopied) {
  constexpr std::uint32_t kSize = 3'000'000;
  std::vector<Received> kept;
  while (inbox_->take_copied() == 0 && kept.size() < 20) kept.push_back(taken(receive(arrive(kSize, 65'000), kSize)));
  EXPECT_GE(kept.size(), 3U);
  EXPECT_LE(kept.size(), 6U) << "16 MiB";
  for (const Received& one : kept) expect_whole(one, kSize);
}

TEST_F(Arrivals, GapsInTheWritersNumbersAreLosses) {
  const auto arrives = [&] { (void)taken(receive(arrive(100, 100), 100)); };
  arrives();
  EXPECT_EQ(inbox_->take_lost(), 0U);
  for (int i = 0; i < 3; ++i) ::nn_fragchain_unref(arrive(100, 100));  // Cyclone has dropped them
  arrives();
  EXPECT_EQ(inbox_->take_lost(), 3U);
  arrives();
  EXPECT_EQ(inbox_->take_lost(), 0U);
}

TEST_F(Arrivals, WithoutMemoryForAMessageItIsLost) {
  no_memory = true;
  ::ddsi_serdata* const none = receive(arrive(100, 100), 100);
  no_memory = false;
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(inbox_->take_lost(), 1U);
  (void)taken(receive(arrive(5U << 20U, 65'000), 5U << 20U));
  EXPECT_EQ(inbox_->take_refused(), 1U);
}

TEST_F(Wire, LinesThatOthersCauseAreFew) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) ::dds_log(DDS_LC_WARNING, __FILE__, __LINE__, __func__, "malformed packet %d\n", i);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("malformed packet 0"), std::string::npos) << said;
  EXPECT_LE(std::count(said.begin(), said.end(), '\n'), 10);
}

class Reading : public test::OwnRunDirectory {
 protected:
  Rules rules_ = [] {
    Rules rules;
    rules.in = {TopicRule{}};
    return rules;
  }();
  Participant participant_{DomainChoice{.id = own_domain()}, rules_, "wire-test", std::make_shared<Bell>()};
};

TEST_F(Reading, OnlyTopicsWhoseWritersHaveChangedAreLookedAtAgain) {
  const Entity other(::dds_create_participant(static_cast<dds_domainid_t>(own_domain()), nullptr, nullptr));
  std::vector<WireTopic> topics;
  for (const char* const name : {"rt/a", "rt/b", "rt/c"})
    topics.push_back(make_topic(other.get(), name, "std_msgs::msg::dds_::String_", nullptr));
  const auto write_to = [&](const WireTopic& topic) {
    return Entity(::dds_create_writer(other.get(), topic.topic.get(), nullptr, nullptr));
  };
  const Entity a = write_to(topics[0]), b = write_to(topics[1]);
  EXPECT_EQ(participant_.update(), (std::set<std::string>{"/a", "/b"}));
  EXPECT_EQ(participant_.update(), std::set<std::string>{});
  Entity second = write_to(topics[1]);
  EXPECT_EQ(participant_.update(), std::set<std::string>{"/b"});
  EXPECT_EQ(participant_.writers_of("/b").size(), 2U);
  second.reset();
  EXPECT_EQ(participant_.update(), std::set<std::string>{"/b"});
  EXPECT_EQ(participant_.writers_of("/b").size(), 1U);
  EXPECT_TRUE(participant_.writers_of("/c").empty());
}

TEST_F(Reading, WritersThatComeAndGoAreForgotten) {
  const Entity other(::dds_create_participant(static_cast<dds_domainid_t>(own_domain()), nullptr, nullptr));
  const WireTopic topic = make_topic(other.get(), "rt/a", "std_msgs::msg::dds_::String_", nullptr);
  const WireTopic stays = make_topic(other.get(), "rt/b", "std_msgs::msg::dds_::String_", nullptr);
  const Entity last(::dds_create_writer(other.get(), stays.topic.get(), nullptr, nullptr));
  for (int i = 0; i < 600; ++i) {
    const Entity writer(::dds_create_writer(other.get(), topic.topic.get(), nullptr, nullptr));
    EXPECT_TRUE(participant_.update().contains("/a"));
  }
  EXPECT_EQ(participant_.update(), std::set<std::string>{"/a"});
  EXPECT_TRUE(participant_.writers_of("/a").empty());
  EXPECT_EQ(participant_.writers_of("/b").size(), 1U);
  EXPECT_LE(participant_.known(), 258U);
}

TEST_F(Reading, AParticipantWithWritersWithoutEndKeepsNoOtherOut) {
  constexpr std::size_t kMany = 9'000, kMost = 8'192;
  const Entity enemy(::dds_create_participant(static_cast<dds_domainid_t>(own_domain()), nullptr, nullptr)),
      other(::dds_create_participant(static_cast<dds_domainid_t>(own_domain()), nullptr, nullptr));
  const auto topic_of = [](const Entity& participant) {
    return make_topic(participant.get(), "rt/a", "std_msgs::msg::dds_::String_", nullptr);
  };
  const WireTopic enemys = topic_of(enemy), others = topic_of(other);
  const Entity publisher(::dds_create_publisher(enemy.get(), nullptr, nullptr));
  for (std::size_t i = 0; i < kMany; ++i)
    ASSERT_GT(::dds_create_writer(publisher.get(), enemys.topic.get(), nullptr, nullptr), 0);
  (void)participant_.update();
  EXPECT_EQ(participant_.known(), kMost);
  for (const std::size_t writers : {1U, 2U}) {
    const Entity honest(::dds_create_writer(other.get(), others.topic.get(), nullptr, nullptr));
    EXPECT_EQ(participant_.update(), std::set<std::string>{"/a"});
    const auto there = participant_.writers_of("/a");
    EXPECT_EQ(std::count_if(there.begin(), there.end(),
                            [&](const RemoteWriter* one) { return one->guid == guid_of(honest.get()); }),
              1)
        << writers;
    EXPECT_EQ(there.size(), kMost);
    EXPECT_LE(participant_.known(), kMost + 256);
  }
}

TEST_F(Reading, AMessageThatIsThereBeforeItsWriterWasSeenComesIn) {
  DdsReader reader(participant_, "/late", AnyType::of_definition("std_msgs/msg/String", "string data\n"), TopicRule{},
                   {.reliable = true, .depth = 10}, {});
  (void)participant_.update();
  // Of another participant, as of another program. Nobody looks around before its message is read.
  const Entity other(::dds_create_participant(static_cast<dds_domainid_t>(own_domain()), nullptr, nullptr));
  const WireTopic topic = make_topic(other.get(), "rt/late", "std_msgs::msg::dds_::String_", nullptr);
  const Entity writer(::dds_create_writer(other.get(), topic.topic.get(), nullptr, nullptr));
  const auto bytes = std::make_shared<std::vector<std::byte>>(13);
  (*bytes)[1] = std::byte{1};
  (*bytes)[4] = std::byte{5};  // "late"
  std::memcpy(&(*bytes)[8], "late", 5);
  ASSERT_EQ(write(writer.get(), topic, {.pieces = {*bytes}, .keep = bytes}, nullptr), DDS_RETCODE_OK);
  for (int tries = 0; tries < 1000 && reader.report().counts.carried + reader.report().counts.lost == 0; ++tries) {
    (void)reader.carry(participant_);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(reader.report().counts.carried, 1U);
  EXPECT_EQ(reader.report().counts.lost, 0U);
  EXPECT_EQ(participant_.update(), std::set<std::string>{"/late"}) << "the bridge hears of the writer";
}

TEST(ComponentAsker, ARequestWithoutMemoryForItsAnswerIsLostAndTheNextOneIsAnswered) {
  const auto bell = std::make_shared<Bell>();
  ComponentAsker asker({}, bell);
  std::vector<std::byte> request, unused;
  CdrWriter out(request, unused, nullptr);
  out.number(std::uint64_t{1});
  out.number(std::int64_t{1});
  constexpr std::size_t kNames = 4096;
  out.count(kNames);
  for (std::size_t i = 0; i < kNames; ++i) out.string("name");
  const auto answer = [&] {
    std::vector<ComponentAsker::Result> results;
    while (results.empty()) results = asker.results();
    return results.front();
  };
  too_much = kNames * sizeof(std::string);
  ASSERT_FALSE(asker.ask({.place = 1, .request = request}));
  EXPECT_TRUE(answer().lost);
  too_much = SIZE_MAX;
  ASSERT_FALSE(asker.ask({.place = 1, .request = request}));
  const ComponentAsker::Result next = answer();
  EXPECT_FALSE(next.lost);
  EXPECT_GT(next.message.size(), kNames);
}

}  // namespace
}  // namespace cardan::bridge::dds

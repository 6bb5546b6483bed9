// SPDX-License-Identifier: Apache-2.0
// The bridge's looks for one message are counted: they must not grow with the topics that are only there.
#include "src/bridge/dds/dds_bridge.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"
#include "src/bridge/dds/environment.hpp"
#include "tests/support/run_directory.hpp"

namespace {
/// At readers and writers of DDS, and at subscribers of Cardan that have nothing.
std::atomic<std::uint64_t> looks{0};

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
}  // namespace

extern "C" {
dds_return_t dds_takecdr(dds_entity_t reader, ddsi_serdata** data, std::uint32_t most, dds_sample_info_t* info,
                         std::uint32_t mask) {
  static auto* const real = next<decltype(dds_takecdr)>("dds_takecdr");
  ++looks;
  return real(reader, data, most, info, mask);
}
dds_return_t dds_get_publication_matched_status(dds_entity_t writer, dds_publication_matched_status_t* status) {
  static auto* const real = next<decltype(dds_get_publication_matched_status)>("dds_get_publication_matched_status");
  ++looks;
  return real(writer, status);
}
int eventfd_read(int fd, eventfd_t* value) {
  static auto* const real = next<decltype(eventfd_read)>("eventfd_read");
  ++looks;
  return real(fd, value);
}
}

namespace cardan::bridge::dds {
namespace {

using namespace std::chrono_literals;

constexpr int kDomain = 96;
constexpr int kMessages = 20;
/// More than a message costs, and fewer than there are topics. Passes that find nothing look at nothing.
constexpr std::uint64_t kMostLooks = 40;
constexpr std::size_t kManyTopics = 100;

class Crowd : public test::OwnRunDirectory {
 protected:
  static Rules rules() {
    Rules rules;
    rules.dds = {.parameters = false, .rosout = false, .diagnostics = false};
    return rules;
  }
  template <class Holds>
  static void until(DdsBridge& bridge, const Holds& holds, const std::string& what) {
    for (int tries = 0; !holds(); ++tries) {
      ASSERT_LT(tries, 30'000) << what;
      bridge.turn(1ms);
    }
  }
  /// Work under way comes to its end.
  static void settle(DdsBridge& bridge) { bridge.turn(300ms); }

  static std::uint64_t carried(const DdsBridge& bridge, const std::string& topic) {
    for (const TopicReport& one : bridge.topics())
      if (one.topic == topic) return one.counts.carried;
    return 0;
  }
  static std::shared_ptr<const std::vector<std::byte>> text(const char* said) {
    const std::size_t size = std::strlen(said) + 1;
    auto cdr = std::make_shared<std::vector<std::byte>>(8 + size);
    (*cdr)[1] = std::byte{1};
    (*cdr)[4] = static_cast<std::byte>(size);
    std::memcpy(&(*cdr)[8], said, size);
    return cdr;
  }

  /// Looks for each message that comes in on one of this many topics.
  static std::uint64_t looks_in(std::size_t topics) {
    Rules all = rules();
    all.in = {{}};
    DdsBridge bridge(all, {.id = kDomain});
    const Entity other(checked(::dds_create_participant(kDomain, nullptr, nullptr), "come in"));
    std::vector<WireTopic> wires;
    std::vector<Entity> writers;
    for (std::size_t i = 0; i < topics; ++i) {
      wires.push_back(make_topic(other.get(), "rt/t" + std::to_string(i), "std_msgs::msg::dds_::String_", nullptr));
      writers.emplace_back(
          checked(::dds_create_writer(other.get(), wires.back().topic.get(), nullptr, nullptr), "write"));
    }
    until(bridge, [&] { return bridge.topics().size() == topics; }, "all are read");
    settle(bridge);
    const std::uint64_t before = looks;
    for (std::uint64_t i = 1; i <= kMessages; ++i) {
      const auto cdr = text("hello");
      EXPECT_EQ(write(writers[0].get(), wires[0], {.pieces = {*cdr}, .keep = cdr}, nullptr), DDS_RETCODE_OK);
      until(bridge, [&] { return carried(bridge, "/t0") == i; }, "it comes in");
    }
    return (looks - before) / kMessages;
  }

  /// Looks for each message that leaves by one of this many topics, which are all read.
  static std::uint64_t looks_out(std::size_t topics) {
    Rules all = rules();
    all.out = {{.owner = true}};
    DdsBridge bridge(all, {.id = kDomain});
    const Entity other(checked(::dds_create_participant(kDomain, nullptr, nullptr), "come in"));
    std::vector<std::unique_ptr<Publisher<Clock>>> publishers;
    std::vector<WireTopic> wires;
    std::vector<Entity> readers;
    for (std::size_t i = 0; i < topics; ++i) {
      const std::string name = "/t" + std::to_string(i);
      publishers.push_back(std::make_unique<Publisher<Clock>>(Topic<Clock>{name.c_str(), {}}));
      wires.push_back(make_topic(other.get(), "rt" + name, "rosgraph_msgs::msg::dds_::Clock_",
                                 std::make_shared<Inbox>(std::uint64_t{1} << 20U)));
      readers.emplace_back(
          checked(::dds_create_reader(other.get(), wires.back().topic.get(), nullptr, nullptr), "read"));
    }
    const auto all_read = [&] {
      const auto there = bridge.topics();
      return there.size() == topics &&
             std::all_of(there.begin(), there.end(), [](const TopicReport& one) { return one.receivers == 1; }) &&
             std::all_of(publishers.begin(), publishers.end(), [](const auto& p) { return p->subscribers() == 1; });
    };
    until(bridge, all_read, "all are read");
    settle(bridge);
    const std::uint64_t before = looks;
    for (std::uint64_t i = 1; i <= kMessages; ++i) {
      publishers[0]->publish(publishers[0]->loan());
      until(bridge, [&] { return carried(bridge, "/t0") == i; }, "it leaves");
    }
    return (looks - before) / kMessages;
  }
};

TEST_F(Crowd, AMessageThatComesInCostsTheSameAmongManyTopics) {
  const std::uint64_t alone = looks_in(1), beside = looks_in(kManyTopics);
  RecordProperty("alone", static_cast<int>(alone));
  RecordProperty("beside", static_cast<int>(beside));
  EXPECT_LE(beside, kMostLooks) << "alone: " << alone;
}

TEST_F(Crowd, AMessageThatLeavesCostsTheSameAmongManyTopics) {
  const std::uint64_t alone = looks_out(1), beside = looks_out(kManyTopics);
  RecordProperty("alone", static_cast<int>(alone));
  RecordProperty("beside", static_cast<int>(beside));
  EXPECT_LE(beside, kMostLooks) << "alone: " << alone;
}

TEST_F(Crowd, AParticipantWithTopicsWithoutEndKeepsNoOtherOut) {
  constexpr std::size_t kMost = 1024, kTopics = 1100;
  Rules all = rules();
  all.in = {{}};
  DdsBridge bridge(all, {.id = kDomain});
  const Entity enemy(checked(::dds_create_participant(kDomain, nullptr, nullptr), "come in"));
  const Entity honest(checked(::dds_create_participant(kDomain, nullptr, nullptr), "come in"));
  std::vector<WireTopic> wires;
  std::vector<Entity> writers;
  const auto announce = [&](const Entity& who, const std::string& topic) {
    wires.push_back(make_topic(who.get(), "rt/" + topic, "std_msgs::msg::dds_::String_", nullptr));
    writers.emplace_back(checked(::dds_create_writer(who.get(), wires.back().topic.get(), nullptr, nullptr), "write"));
  };
  const auto is_read = [&](const std::string& topic) {
    const auto there = bridge.topics();
    return std::any_of(there.begin(), there.end(), [&](const TopicReport& one) { return one.topic == topic; });
  };
  for (std::size_t i = 0; i < kTopics; ++i) announce(enemy, "evil" + std::to_string(i));
  until(bridge, [&] { return bridge.topics().size() == kMost; }, "as many as may be are read");
  for (const char* const topic : {"one", "two"}) {
    announce(honest, topic);
    until(bridge, [&] { return is_read(std::string("/") + topic); }, "the other's is read");
    EXPECT_EQ(bridge.topics().size(), kMost);
  }
  settle(bridge);
  EXPECT_TRUE(is_read("/one"));
}

bool has_note(const DdsBridge& bridge, const std::string& part) {
  const auto notes = bridge.notes();
  return std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return note.find(part) != note.npos; });
}

/// Makes a topic with messages of up to `max_bytes`, and a DDS reader. Returns whether the bridge warns of lost
/// messages.
bool notes_losses(dds_reliability_kind_t reliability, std::uint32_t max_bytes) {
  Rules all;
  all.dds = {.parameters = false, .rosout = false, .diagnostics = false};
  all.out = {{.owner = true}};
  DdsBridge bridge(all, {.id = kDomain});
  const Publisher<Image> camera(Topic<Image>{"/camera", {.max_bytes = max_bytes}});
  const Entity other(checked(::dds_create_participant(kDomain, nullptr, nullptr), "come in"));
  const WireTopic wire = make_topic(other.get(), "rt/camera", "sensor_msgs::msg::dds_::Image_",
                                    std::make_shared<Inbox>(std::uint64_t{1} << 20U));
  const Qos qos(::dds_create_qos());
  ::dds_qset_reliability(qos.get(), reliability, DDS_SECS(1));
  const Entity reader(checked(::dds_create_reader(other.get(), wire.topic.get(), qos.get(), nullptr), "read"));
  const auto is_read = [&] { return !bridge.topics().empty() && bridge.topics()[0].receivers == 1; };
  for (int tries = 0; !is_read() && tries < 30'000; ++tries) bridge.turn(1ms);
  EXPECT_TRUE(is_read());
  return has_note(bridge, "receivers on this computer");
}

class Notes : public test::OwnRunDirectory {};

TEST_F(Notes, ABridgeThatIsAloneSaysWhereNodesOfRos2UsuallyAre) {
  const std::string note = "--discovery subnet";
  EXPECT_FALSE(has_note(DdsBridge({}, {.id = kDomain}), note)) << "the user chose loopback";
  DdsBridge bridge({}, {.id = kDomain, .is_usual = true});
  EXPECT_TRUE(has_note(bridge, note));
  const Entity other(checked(::dds_create_participant(kDomain, nullptr, nullptr), "come in"));
  for (int tries = 0; has_note(bridge, note) && tries < 30'000; ++tries) bridge.turn(1ms);
  EXPECT_FALSE(has_note(bridge, note)) << "it is not alone";
}

TEST_F(Notes, AReaderOfLargeMessagesIsNotedWhereBuffersAreSmall) {
  const bool small = !notes_on(receive_buffers(), false, true).empty();
  EXPECT_EQ(notes_losses(DDS_RELIABILITY_BEST_EFFORT, 1920 * 1200 * 3), small);
  EXPECT_EQ(notes_losses(DDS_RELIABILITY_RELIABLE, 1920 * 1200 * 3), small) << "newer ones replace it meanwhile";
  EXPECT_FALSE(notes_losses(DDS_RELIABILITY_BEST_EFFORT, 64 * 48 * 3)) << "it fits";
}

}  // namespace
}  // namespace cardan::bridge::dds

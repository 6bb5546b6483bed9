// SPDX-License-Identifier: Apache-2.0
// Whose publications a recorder takes, and what those of another user cost it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

#include "src/record/recorder/recording_test.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/support/child.hpp"

namespace cardan::record {
namespace {

using namespace test;
using cardan::test::Child;

constexpr unsigned kStranger = 47113;
constexpr std::size_t kLarge = std::size_t{4} << 20;
constexpr Topic<Imu> kBoth{"/both", {.depth = 64, .access = Access::Everyone}};
constexpr Topic<Image> kTheirs{"/theirs", {.max_bytes = 4096, .access = Access::Everyone}};
constexpr Topic<Image> kDamaged{"/damaged", {.max_bytes = kLarge, .depth = 8, .access = Access::Everyone}};
constexpr Topic<Imu> kOurs{"/ours", {.depth = 1024}};

class RecorderAccess : public RecorderTest {
 protected:
  RecorderAccess() { ::chmod(cardan::test::run_directory().c_str(), 01777); }
};

}  // namespace
}  // namespace cardan::record

/// Another user's publisher of a topic that is ours too, with another type than ours, and of one that is theirs alone.
CARDAN_ROLE(their_topics) {
  using namespace cardan::record;
  constexpr cardan::Topic<cardan::Image> kOther{kBoth.name, {.max_bytes = 64, .access = cardan::Access::Everyone}};
  cardan::Publisher same{kOther};
  cardan::Publisher own{kTheirs};
  cardan::test::say("ready");
  while (!cardan::test::heard()) {
    for (auto* out : {&same, &own})
      if (auto loan = out->loan()) {
        (void)loan->resize(1, 1, "bgr8");
        out->publish(std::move(loan));
      }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return 0;
}

/// Full frames whose checksums are wrong, as fast as it can; one of sixteen is right.
CARDAN_ROLE(damaged_images) {
  using namespace cardan;
  using namespace cardan::record;
  auto& process = detail::Process::of({});
  const auto core = std::make_shared<detail::PublisherCore>(kDamaged.name, detail::message_type_of<Image>(),
                                                            kDamaged.options, PublisherOptions{});
  process.add(core);
  cardan::test::say("ready");
  std::uint64_t n = 0;
  const layout::Header& h = core->header();
  while (!cardan::test::heard()) {
    auto loan = detail::loan_of<Image>(core);
    if (!loan) continue;
    (void)loan->resize(1024, 1024, "bgr8");
    auto* const meta = [&] {
      const detail::Filled filled = detail::take_out(loan);
      core->set_checksum(++n % 16 == 0);
      core->publish(filled.slot, filled.payload_bytes, 0);
      return reinterpret_cast<layout::SlotMeta*>(core->area().data() + h.slots_offset +
                                                 static_cast<std::size_t>(filled.slot) * h.slot_stride);
    }();
    if (n % 16 == 0) continue;
    meta->checksum = 1;
    meta->has_checksum = 1;
  }
  process.remove(core);
  return 0;
}

/// One of our topics with other types, and topics of its own: how many is in the arguments.
CARDAN_ROLE(topics_without_end) {
  using namespace cardan;
  auto& process = detail::Process::of({});
  const auto add = [&](const std::string& topic, const std::string& type_ending) {
    detail::MessageType type = detail::message_type_of<Imu>();
    type.name += type_ending;
    process.add(std::make_shared<detail::PublisherCore>(topic, type, record::kBoth.options, PublisherOptions{}));
  };
  for (int i = 0; i < std::stoi(args.at(0)); ++i) add(record::kBoth.name, std::to_string(i));
  for (int i = 0; i < std::stoi(args.at(1)); ++i) add("/z/" + std::to_string(i), "");
  cardan::test::say("ready");
  cardan::test::hear();
  return 0;
}

/// Records everyone's topics; says how many of others it has when no more come, and at the end how many of ours.
CARDAN_ROLE(recorder_of_everyone) {
  using namespace cardan::record;
  RecorderOptions options{.path = args.at(0), .min_space = 0};
  options.access = cardan::Access::Everyone;
  Recorder recorder(options);
  std::ptrdiff_t before = 0, there = 0;
  do {
    before = std::exchange(there, 0);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (const TopicReport& topic : recorder.report().topics)
      there += topic.topic.starts_with("/z/") && topic.problem.empty() ? 1 : 0;
  } while (there == 0 || there != before);
  cardan::test::say("others " + std::to_string(there));
  cardan::test::hear();
  recorder.stop();
  std::uint64_t recorded = 0;
  for (const TopicReport& topic : recorder.report().topics)
    recorded += topic.topic.starts_with("/z/") ? 0 : topic.recorded;
  cardan::test::say("recorded " + std::to_string(recorded));
  return 0;
}

namespace cardan::record {
namespace {

class RecorderAmongOthers : public RecorderAccess {
 protected:
  /// Records everyone's topics with 512 descriptors, while another user has this many types of /both and other topics,
  /// and then two topics of ours. Returns how many other topics it took.
  int take_ours_beside(const std::string& types, const std::string& topics) {
    (void)detail::Process::of({});
    Child stranger("topics_without_end", {types, topics}, cardan::test::as_user(kStranger));
    stranger.expect("ready", 120s);
    Child recorder("recorder_of_everyone", {folder_ + "/all.mcap"}, [] {
      const rlimit limit{512, 512};
      ::setrlimit(RLIMIT_NOFILE, &limit);
    });
    const int others = std::stoi(recorder.expect("others", 180s));
    Publisher ours{kOurs}, both{kBoth};
    for (std::uint32_t i = 1; i <= 50; ++i) {
      publish_imu(ours, i);
      publish_imu(both, i);
    }
    std::this_thread::sleep_for(2s);  // it comes to know them; what is published before is in their slots
    recorder.say("end");
    EXPECT_EQ(recorder.expect("recorded", 60s), "100");
    EXPECT_EQ(recorder.end(), 0);
    stranger.close_input();
    EXPECT_EQ(stranger.end(), 0);
    return others;
  }
};

TEST_F(RecorderAmongOthers, TheirTopicsLeaveDescriptorsForOurs) {
  SKIP_UNLESS_ROOT();
  EXPECT_LE(take_ours_beside("0", "300"), 64) << "two descriptors each, a quarter of all";
}

TEST_F(RecorderAmongOthers, TheirTypesOfATopicLeaveRoomForOurs) {
  SKIP_UNLESS_ROOT();
  EXPECT_EQ(take_ours_beside("20", "1"), 1);
}

TEST_F(RecorderAccess, OtherUsersPublicationsAreNotRecordedUnlessAsked) {
  SKIP_UNLESS_ROOT();
  (void)detail::Process::of({});  // makes the domain's folder
  Child stranger("their_topics", {}, cardan::test::as_user(kStranger));
  stranger.expect("ready");
  for (const bool all : {false, true}) {
    SCOPED_TRACE(all);
    RecorderOptions options = this->options();
    options.path = folder_ + (all ? "/all.mcap" : "/ours.mcap");
    options.topics = {kBoth.name, "/th*"};
    if (all) {
      options.topics = {kTheirs.name};
      options.access = Access::Everyone;
    }
    Recorder recorder(options);
    Publisher out{kBoth};
    for (std::uint32_t i = 1; i <= 50; ++i) {
      publish_imu(out, i);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_TRUE(reaches([&] {
      return of_topic(recorder.report(), all ? kTheirs.name : kBoth.name).recorded >= (all ? 10U : 40U);
    })) << "recorded too little";
    recorder.stop();
    const RecorderReport report = recorder.report();
    const TopicReport& theirs = of_topic(report, kTheirs.name);
    if (all) {
      EXPECT_EQ(theirs.refused, 0U);
      EXPECT_EQ(report.refused, 0U);
      continue;
    }
    EXPECT_EQ(theirs.recorded, 0U);
    EXPECT_EQ(theirs.refused, 1U);
    EXPECT_NE(theirs.problem.find(std::to_string(stranger.pid())), std::string::npos) << theirs.problem;
    EXPECT_NE(theirs.problem.find(std::to_string(kStranger)), std::string::npos) << theirs.problem;
    const TopicReport& both = of_topic(report, kBoth.name);
    EXPECT_EQ(both.type, std::string(message_traits<Imu>::type_name())) << "the type is what we accept";
    EXPECT_EQ(both.refused, 1U);
    EXPECT_EQ(report.refused, 2U);
  }
  EXPECT_EQ(stranger.end(), 0);
}

TEST_F(RecorderAccess, AStreamOfDamagedFramesCostsNoOtherTopic) {
  (void)detail::Process::of({});
  Child stranger("damaged_images", {}, cardan::test::is_root() ? cardan::test::as_user(kStranger) : nullptr);
  stranger.expect("ready");
  RecorderOptions options = this->options();
  options.topics = {kDamaged.name, kOurs.name};
  options.access = Access::Everyone;
  Publisher out{kOurs};
  Recorder recorder(options);
  constexpr std::uint32_t kCount = 1500;
  for (std::uint32_t i = 1; i <= kCount; ++i) {
    publish_imu(out, i);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  stranger.close_input();
  recorder.stop();
  const RecorderReport report = recorder.report();
  EXPECT_GE(of_topic(report, kOurs.name).recorded, kCount * 9 / 10) << of_topic(report, kOurs.name).lost_in_all();
  EXPECT_EQ(stranger.end(), 0);
}

}  // namespace
}  // namespace cardan::record

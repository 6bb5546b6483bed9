// SPDX-License-Identifier: Apache-2.0
// Whose publications a recorder takes, and what those of another user cost it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "cardan/record/recorder/recording_test.hpp"
#include "cardan/transport/discovery/process.hpp"
#include "cardan/transport/endpoint/publisher_core.hpp"
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

namespace cardan::record {
namespace {

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

// SPDX-License-Identifier: Apache-2.0
// Publishers run while a recorder attaches to them, or start while it runs: nothing that they publish is lost.
#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <vector>

#include "src/record/recorder/recording_test.hpp"
#include "tests/support/child.hpp"

namespace cardan::record {
namespace {

using namespace test;
using cardan::test::Child;

constexpr int kPublishers = 9;
constexpr std::uint32_t kAttachRows = 100, kAttachColumns = 220;  // 66,000 bytes: held in the publisher's slots
// Together with the rate: a busy computer may keep the recorder waiting for six seconds.
constexpr TopicOptions kAttachOptions{.max_bytes = kAttachRows * kAttachColumns * 3, .depth = 128};

}  // namespace
}  // namespace cardan::record

/// Publishes on a topic twenty times a second, at once.
CARDAN_ROLE(attach_publisher) {
  using namespace cardan::record;
  cardan::Publisher out{cardan::Topic<cardan::Image>{args.at(0).c_str(), kAttachOptions}};
  bool said = false;
  while (!cardan::test::heard()) {
    if (auto loan = out.loan()) {
      (void)loan->resize(kAttachRows, kAttachColumns, "bgr8");
      out.publish(std::move(loan));
    }
    if (!std::exchange(said, true)) cardan::test::say("ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  cardan::test::say("published " + std::to_string(out.published()));
  return 0;
}

namespace cardan::record {
namespace {

class RecorderAttach : public RecorderTest {
 protected:
  static std::vector<Child> publishers(const std::string& prefix, int count) {
    std::vector<Child> all;
    for (int i = 0; i < count; ++i)
      all.emplace_back("attach_publisher", cardan::test::Args{prefix + std::to_string(i)});
    return all;
  }
  /// They do not answer from now on.
  static void freeze(std::vector<Child>& children) {
    for (Child& child : children) {
      child.expect("ready");
      child.signal(SIGSTOP);
    }
  }
  static bool all_recorded(const Recorder& recorder, const std::string& prefix, std::uint64_t samples) {
    const RecorderReport report = recorder.report();
    for (int i = 0; i < kPublishers; ++i)
      if (of_topic(report, prefix + std::to_string(i)).recorded < samples) return false;
    return true;
  }
  static void expect_no_loss(const RecorderReport& report, const std::string& prefix) {
    for (int i = 0; i < kPublishers; ++i) {
      const TopicReport& topic = of_topic(report, prefix + std::to_string(i));
      // How slow the disk is does not matter here.
      for (const LossCause cause : {LossCause::Lapped, LossCause::TooLate})
        EXPECT_EQ(topic.lost[static_cast<std::size_t>(cause)], 0U) << topic.topic << " " << to_string(cause);
    }
  }
  [[nodiscard]] RecorderOptions attaching() const {
    RecorderOptions o = options();
    o.queue_time = 60s;
    return o;
  }
};

TEST_F(RecorderAttach, NothingIsLostOfPublishersThatRun) {
  auto frozen = publishers("/zz", 8);  // one after the other, their answers would take eight seconds
  freeze(frozen);
  auto running = publishers("/camera", kPublishers);
  for (Child& child : running) child.expect("ready");
  Recorder recorder(attaching());
  EXPECT_GT(recorder.report().ready_ns, 0);
  EXPECT_TRUE(reaches([&] { return all_recorded(recorder, "/camera", 100); }, 120s));
  recorder.stop();
  expect_no_loss(recorder.report(), "/camera");
}

TEST_F(RecorderAttach, NothingIsLostOfPublishersThatStartLater) {
  Recorder recorder(attaching());
  auto running = publishers("/camera", kPublishers);
  EXPECT_TRUE(reaches([&] { return all_recorded(recorder, "/camera", 100); }, 120s));
  std::vector<std::uint64_t> published;
  for (Child& child : running) {
    child.close_input();
    published.push_back(std::stoull(child.expect("published")));
    child.end();
  }
  recorder.stop();
  expect_no_loss(recorder.report(), "/camera");
  for (int i = 0; i < kPublishers; ++i) {
    const RecorderReport report = recorder.report();
    const TopicReport& topic = of_topic(report, "/camera" + std::to_string(i));
    EXPECT_EQ(topic.recorded + topic.lost_in_all(), published[static_cast<std::size_t>(i)])
        << "from the first sample to the last";
  }
}

}  // namespace
}  // namespace cardan::record

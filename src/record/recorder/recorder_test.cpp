// SPDX-License-Identifier: Apache-2.0
#include "cardan/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "cardan/cardan.hpp"
#include "cardan/error.hpp"
#include "cardan/local_message.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/mcap/verify.hpp"
#include "src/record/chunks/aligned_buffer.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace recorder_test {
// Two programs that mean different things by one name.
struct One {
  std::uint32_t a = 0;
};
struct Other {
  double b = 0;
  std::uint8_t c = 0;
};
}  // namespace recorder_test
CARDAN_MESSAGE(recorder_test::One, "x_msgs/msg/X", a);
CARDAN_MESSAGE(recorder_test::Other, "x_msgs/msg/X", b, c);

namespace cardan::record {
namespace {

using namespace std::chrono_literals;
using recorder_test::One;
using recorder_test::Other;

using namespace test;

struct Way {
  std::optional<DiskMode> mode;
  bool io_uring;
  bool copy;
};

class RecorderWays : public RecorderTest, public testing::WithParamInterface<Way> {};

TEST_P(RecorderWays, EverythingIsInTheFile) {
  Publisher camera{kCamera};
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.mode = GetParam().mode;
  o.use_io_uring = GetParam().io_uring;
  o.copy = GetParam().copy;
  o.metadata = {{"configuration", {{"file", "street.json"}}}};
  std::unique_ptr<Recorder> recorder;
  try {
    recorder = std::make_unique<Recorder>(o);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::Unavailable) GTEST_SKIP() << e.what();
    throw;
  }
  constexpr std::uint32_t kFrames = 60;
  for (std::uint32_t i = 1; i <= kFrames; ++i) {
    publish_image(camera, i);
    for (std::uint32_t k = 1; k <= 10; ++k) publish_imu(imu, (i - 1) * 10 + k);
    std::this_thread::sleep_for(2ms);
  }
  recorder->stop();
  const RecorderReport report = recorder->report();
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.lost, 0U);
  EXPECT_EQ(report.recorded, kFrames * 11);
  EXPECT_EQ(report.held_bytes, 0U);
  ASSERT_EQ(report.files, std::vector<std::string>{o.path});
  EXPECT_EQ(numbers_in(o.path, kCamera.name), up_to(kFrames));
  EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(kFrames * 10));
  expect_good(o.path);
  EXPECT_FALSE(std::filesystem::exists(o.path + ".active"));
  if (GetParam().copy)
    EXPECT_GE(report.copied_bytes, kFrames * kRows * kColumns * 3);
  else
    EXPECT_LT(report.copied_bytes, kFrames * (kBlock + 1024) + kFrames * 10 * 1024);
  const mcap::Reader reader(o.path);
  EXPECT_EQ(reader.summary().metadata().size(), 4U);  // the mark, ours, Cardan's, the losses
}

INSTANTIATE_TEST_SUITE_P(Ways, RecorderWays,
                         testing::Values(Way{std::nullopt, true, false}, Way{std::nullopt, true, true},
                                         Way{std::nullopt, false, false}, Way{DiskMode::DontCache, true, false},
                                         Way{DiskMode::SyncRange, true, false}, Way{DiskMode::Plain, false, false}));

TEST_F(RecorderTest, SourceStampsAreKeptAlsoInAFileThatNobodyFinished) {
  Publisher camera{kCamera};
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.chunk_time = 20ms;
  Recorder recorder(o);
  const auto stamp_of = [](std::uint32_t number) {
    return number % 3 == 0 ? std::int64_t{0} : 1'700'000'000'000'000'000 + number;
  };
  constexpr std::uint32_t kFrames = 12;
  for (std::uint32_t i = 1; i <= kFrames; ++i) {
    auto frame = camera.loan();
    ASSERT_TRUE(frame);
    (void)frame->resize(kRows, kColumns, "bgr8");
    frame.set_source_time(stamp_of(i));
    camera.publish(std::move(frame));
    auto sample = imu.loan();
    ASSERT_TRUE(sample);
    sample.set_source_time(stamp_of(i));
    imu.publish(std::move(sample));
  }
  const auto expect_stamps = [&](const std::string& path) {
    const mcap::Reader reader(path);
    mcap::Messages messages = reader.messages();
    std::uint32_t found = 0;
    while (const auto one = messages.next()) {
      EXPECT_EQ(one->message.source_time, stamp_of(one->message.sequence)) << one->channel->topic;
      ++found;
    }
    EXPECT_TRUE(messages.problems().empty());
    return found;
  };
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 2 * kFrames; }));
  EXPECT_EQ(expect_stamps(o.path + ".active"), 2 * kFrames) << "as a crash would leave it";
  recorder.stop();
  EXPECT_EQ(expect_stamps(o.path), 2 * kFrames);
  expect_good(o.path);
}

TEST_F(RecorderTest, ATopicThatComesLateIsThereFromItsFirstSample) {
  Recorder recorder(options());
  Publisher camera{kCamera};
  for (std::uint32_t i = 1; i <= 5; ++i) publish_image(camera, i);  // no more than its depth
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kCamera.name).recorded == 5; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
  EXPECT_EQ(numbers_in(options().path, kCamera.name), up_to(5));
}

TEST_F(RecorderTest, SamplesBeforeALateAttachAreCounted) {
  Recorder recorder(options());
  Publisher camera{kShallow};
  for (std::uint32_t i = 1; i <= 20; ++i) publish_image(camera, i);
  ASSERT_TRUE(reaches([&] {
    const RecorderReport now = recorder.report();
    return now.recorded + now.lost == 20;
  }));
  recorder.stop();
  const TopicReport topic = of_topic(recorder.report(), kShallow.name);
  EXPECT_GE(topic.recorded, 8U);  // its depth
  EXPECT_EQ(topic.lost[static_cast<std::size_t>(LossCause::TooLate)] +
                topic.lost[static_cast<std::size_t>(LossCause::Lapped)] + topic.recorded,
            20U);
}

TEST_F(RecorderTest, SplitsWithoutAGap) {
  Publisher camera{kCamera};
  RecorderOptions o = options();
  o.split_bytes = 2 << 20;
  Recorder recorder(o);
  // A disk decides when the next file is there, so the frames continue until three files are finished.
  std::uint32_t frames = 0;
  ASSERT_TRUE(reaches(
      [&] {
        publish_image(camera, ++frames);
        std::this_thread::sleep_for(frames < 60 ? 4ms : 20ms);
        return frames >= 60 && recorder.report().files.size() >= 3;
      },
      60s));
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == frames; }));
  recorder.stop();
  const auto files = recorder.report().files;
  EXPECT_GE(files.size(), 4U);
  std::vector<std::uint32_t> all;
  for (const std::string& file : files) {
    expect_good(file);
    const auto here = numbers_in(file, kCamera.name);
    all.insert(all.end(), here.begin(), here.end());
  }
  EXPECT_EQ(all, up_to(frames));
  // Nothing is left of the file that was prepared in vain.
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    entries += entry.path().extension() == ".mcap" ? 1U : 100U;
  EXPECT_EQ(entries, files.size());
}

TEST_F(RecorderTest, AFlightRecorderKeepsTheLastAndWhatFollows) {
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.keep_last = 400ms;
  o.chunk_time = 20ms;
  const auto publish = [&](int samples) {
    for (int i = 0; i < samples; ++i) {
      publish_imu(imu, static_cast<std::uint32_t>(imu.published()) + 1);
      std::this_thread::sleep_for(4ms);
    }
  };
  const auto stop = [&](Recorder& recorder, std::uint64_t samples) {
    EXPECT_TRUE(reaches([&] { return recorder.report().recorded == samples; }));  // with what its depth keeps
    recorder.stop();
    std::vector<std::uint32_t> kept;
    for (const std::string& file : recorder.report().files) {
      expect_good(file);
      const auto here = numbers_in(file, kImu.name);
      const auto before = mcap::Reader(file).before_start();
      const auto repeated = static_cast<std::ptrdiff_t>(before ? before->messages.at(kImu.name) : 0);
      kept.insert(kept.end(), here.begin() + repeated, here.end());
    }
    return kept;
  };
  {
    Recorder recorder(o);
    publish(300);
    EXPECT_TRUE(stop(recorder, 300).empty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }
  Recorder recorder(o);
  // The recorder first writes what the topic keeps. How soon a file is finished and forgotten is the disk's matter, so
  // the trigger comes after the first file is gone.
  const std::string first = folder_ + "/a_0001.mcap";
  const auto forgotten = [&] {
    const auto files = recorder.report().files;
    return !files.empty() && files.front() != first;
  };
  publish(250);
  ASSERT_TRUE(reaches(
      [&] {
        publish(5);
        return forgotten();
      },
      60s));
  recorder.trigger();
  const auto triggered = static_cast<std::uint32_t>(imu.published());
  publish(50);
  const auto kept = stop(recorder, imu.published());
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.back(), imu.published());
  EXPECT_LT(kept.front(), triggered - 50);  // what came before the trigger
  EXPECT_GT(kept.front(), 1U);              // not all of it
  for (std::size_t i = 1; i < kept.size(); ++i) EXPECT_EQ(kept[i], kept[i - 1] + 1);
}

TEST_F(RecorderTest, SelectsAndThins) {
  Publisher camera{kCamera};
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.types = {"sensor_msgs/msg/I*"};
  o.exclude = {"/cam*"};
  o.rules = {{.pattern = "/i*", .every = 5, .compression = mcap::Compression::Zstd}};
  Recorder recorder(o);
  for (std::uint32_t i = 1; i <= 50; ++i) publish_imu(imu, i), publish_image(camera, i);
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kImu.name).recorded == 10; }));
  recorder.stop();
  const RecorderReport report = recorder.report();
  EXPECT_EQ(report.topics.size(), 1U);
  EXPECT_EQ(of_topic(report, kImu.name).left_out, 40U);
  EXPECT_EQ(report.lost, 0U);
  EXPECT_EQ(numbers_in(o.path, kImu.name).size(), 10U);
  EXPECT_EQ(mcap::Reader(o.path).summary().chunks().at(0).compression, "zstd");
}

TEST_F(RecorderTest, NothingIsRecordedOrLostWhilePaused) {
  Publisher imu{kImu};
  Recorder recorder(options());
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  recorder.pause(true);
  ASSERT_TRUE(reaches([&] { return recorder.report().paused; }));
  for (std::uint32_t i = 2; i <= 10; ++i) publish_imu(imu, i);
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kImu.name).left_out == 9; }));
  recorder.pause(false);
  ASSERT_TRUE(reaches([&] { return !recorder.report().paused; }));
  publish_imu(imu, 11);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 2; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
  EXPECT_EQ(numbers_in(options().path, kImu.name), (std::vector<std::uint32_t>{1, 11}));
}

/// No file of this process may grow beyond, as long as it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// A full disk as the kernel reports it, without filling one: no file may grow beyond a limit.
TEST_F(RecorderTest, AFullDiskEndsTheRecordingWithAFileOfWhatFitted) {
  Publisher camera{kCamera};
  const FileSizeLimit limit(3 << 20);
  std::signal(SIGXFSZ, SIG_IGN);
  {
    Recorder recorder(options());
    for (std::uint32_t i = 1; i <= 40 && !recorder.ended(); ++i) {
      publish_image(camera, i);
      std::this_thread::sleep_for(4ms);
    }
    EXPECT_TRUE(reaches([&] { return recorder.ended(); }));
    recorder.stop();
    const RecorderReport report = recorder.report();
    EXPECT_NE(report.failure.find("File too large"), std::string::npos) << report.failure;
    EXPECT_GE(report.recorded, 1U);  // a busy computer writes more at once, and loses that at the limit
    EXPECT_GE(of_topic(report, kCamera.name).lost[static_cast<std::size_t>(LossCause::DiskFailed)], 1U);
    ASSERT_EQ(report.files.size(), 1U);
    EXPECT_EQ(numbers_in(report.files[0], kCamera.name), up_to(static_cast<std::uint32_t>(report.recorded)));
    expect_good(report.files[0]);
  }
}

TEST_F(RecorderTest, SaysWhatIsWrong) {
  const auto refused = [](const RecorderOptions& o, const std::string& word) {
    try {
      const Recorder recorder(o);
      ADD_FAILURE() << "no error: " << word;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  RecorderOptions o = options();
  o.path = folder_ + "/none/a.mcap";
  refused(o, "/none");
  o = options();
  {
    const Recorder first(o);
  }
  refused(o, "already exists");
  o.path = folder_ + "/b.mcap";
  o.on_full = OnFull::DeleteOldest;
  refused(o, "split");
  o = options();
  o.path = folder_ + "/c.mcap";
  o.attachments = {folder_ + "/nothing"};
  refused(o, "nothing");
  o.path = "";
  refused(o, "no file");
}

TEST_F(RecorderTest, SchedulesAsItIsTold) {
  RecorderOptions o = options();
  o.schedule.policy = SchedulePolicy::Asap;
  Publisher camera{kCamera};
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return camera.subscribers() == 1; }));
  publish_image(camera, 1);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 1; }));
  recorder.stop();
  const ScheduleReport schedule = recorder.report().schedule;
  EXPECT_EQ(schedule.policy, SchedulePolicy::Asap);
  EXPECT_EQ(schedule.of(WriteReason::Asap).bytes, schedule.bytes);
  o.path = folder_ + "/b.mcap";
  o.schedule.force_share = 2;
  EXPECT_THROW(Recorder{o}, Error);
}

TEST_F(RecorderTest, FilesOfAnEarlierRecordingAreRefusedAtOnce) {
  RecorderOptions o = options();
  o.split_bytes = 1 << 20;
  std::ofstream(folder_ + "/a_0007.mcap") << "x";
  try {
    Recorder recorder(o);
    ADD_FAILURE() << "it records";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("a_0007.mcap"), std::string::npos) << e.what();
  }
  o.path = folder_ + "/other.mcap";
  Recorder recorder(o);
  recorder.stop();
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/other_0001.mcap"));
}

TEST_F(RecorderTest, PublishersThatWereThereBeforeOweNothing) {
  Publisher first{kImu};
  Publisher second{kImu};
  for (std::uint32_t i = 1; i <= 3000; ++i) publish_imu(first, i), publish_imu(second, i);
  Recorder recorder(options());
  ASSERT_TRUE(reaches([&] { return first.subscribers() == 1 && second.subscribers() == 1; }));
  publish_imu(first, 3001);
  publish_imu(second, 3001);
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded >= 2; }));
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
}

TEST_F(RecorderTest, TypesOfOneNameKeepTheirOwnSchemas) {
  Publisher one{Topic<One>{"/one", {}}};
  Publisher other{Topic<Other>{"/other", {}}};
  one.publish(One{1});
  other.publish(Other{2, 3});
  Recorder recorder(options());
  ASSERT_TRUE(reaches([&] { return recorder.report().recorded == 2; }));
  recorder.stop();
  const mcap::Reader reader(options().path);
  std::set<std::string> texts;
  for (const auto& [id, channel] : reader.summary().channels()) {
    const mcap::Schema& schema = reader.summary().schemas().at(channel.schema_id);
    EXPECT_EQ(schema.name, "x_msgs/msg/X");
    texts.insert(channel.topic + ": " +
                 std::string(reinterpret_cast<const char*>(schema.data.data()), schema.data.size()));
  }
  EXPECT_EQ(texts, (std::set<std::string>{"/one: uint32 a\n", "/other: float64 b\nuint8 c\n"}));
}

TEST_F(RecorderTest, LogTimesOfASimulation) {
  RecorderOptions o = options();
  o.topics = {kImu.name};
  o.simulated_clock = true;
  Publisher imu{kImu};
  Publisher clock{Topic<Clock>{"/clock", {}}};
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return imu.subscribers() == 1 && clock.subscribers() == 1; }));
  publish_imu(imu, 1);
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), kImu.name).left_out == 1; }));
  clock.publish({5'000'000'000});
  std::uint32_t published = 1;
  ASSERT_TRUE(reaches([&] {
    publish_imu(imu, ++published);
    return of_topic(recorder.report(), kImu.name).recorded > 0;
  }));
  recorder.stop();
  EXPECT_EQ(recorder.report().recorded + of_topic(recorder.report(), kImu.name).left_out, published);
  EXPECT_FALSE(recorder.report().no_clock);
  const mcap::Reader reader(o.path);
  const auto& statistics = reader.summary().statistics();
  EXPECT_EQ(statistics.message_start_time, 5'000'000'000U);
  EXPECT_EQ(statistics.message_end_time, 5'000'000'000U);
}

TEST_F(RecorderTest, TellsOfItselfOnATopic) {
  RecorderOptions o = options();
  Publisher imu{kImu};
  Subscriber<RecorderStatistics> told{kRecorderStatistics};
  Recorder recorder(o);
  for (std::uint32_t i = 1; i <= 7; ++i) publish_imu(imu, i);
  bool all = false;
  ASSERT_TRUE(reaches([&] {
    if (const auto now = told.take(); now && now->recorded == 7 && now->topics.size() == 1)
      all = now->topics[0].topic == kImu.name && now->topics[0].recorded == 7 && now->lost == 0 &&
            std::string_view(now->file).ends_with("a.mcap.active");
    return all;
  }));
  recorder.stop();
  EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(7));  // and none of its samples
  const mcap::Reader reader(o.path);
  EXPECT_EQ(reader.summary().channels().size(), 1U);
}

}  // namespace
}  // namespace cardan::record

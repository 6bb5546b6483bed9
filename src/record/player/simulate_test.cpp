// SPDX-License-Identifier: Apache-2.0
// Components on what a file holds: what they are given, what they make of it, and that it is the same twice.
#include "src/record/player/simulate.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "cardan/component.hpp"
#include "cardan/error.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/bag_test.hpp"

namespace cardan::record::test {

/// An object that is not a message, with a codec.
struct Remark {
  std::string text;
};

constexpr Topic<Wheel> kWheel{"/wheel", {.max_bytes = 4096}};
constexpr Topic<Image> kImage{"/image", {.max_bytes = 1 << 20}};
constexpr Topic<Imu> kSum{"/sum", {}};
constexpr Topic<Wheel> kCopy{"/copy", {.max_bytes = 4096, .depth = 4}};
constexpr Topic<Remark> kRemark{"/remark", {}};
constexpr Topic<Imu> kLeft{"/left", {.depth = 16}};
constexpr Topic<CanFrame> kRight{"/right", {.depth = 16}};
constexpr Topic<CanFrame> kPairs{"/pairs", {.depth = 16}};

}  // namespace cardan::record::test

namespace cardan {
template <>
struct codec<record::test::Remark> {
  static std::string type_name() { return "test.Remark"; }
  static std::string schema() { return "\n\x01x"; }
  static bool encode(const record::test::Remark& object, std::vector<std::byte>& to) {
    const auto bytes = std::as_bytes(std::span(object.text));
    to.assign(bytes.begin(), bytes.end());
    return true;
  }
  static bool decode(std::span<const std::byte> bytes, record::test::Remark& object) {
    object.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return !bytes.empty();
  }
};
}  // namespace cardan

namespace cardan::record::test {

/// Adds up what comes, publishes the sum on a timer, and copies wheels, two for one.
class PlayerTestSum : public Component {
  void on_start(Context& context) override {
    sum_ = context.output(kSum);
    copy_ = context.output(kCopy);
    remark_ = context.output(kRemark);
    context.input(kWheel, [this, &context](const Sample<Wheel>& wheel) {
      total_ += wheel->speed;
      for (const float r : wheel->ranges) total_ += r;
      for (const std::int64_t time : {context.now(), wheel.source_time(), wheel.publish_time()})
        times_ = times_ * 31 + static_cast<std::uint64_t>(time);
      for (int i = 0; i < 2; ++i) {
        auto copy = copy_.loan();
        copy->number = wheel->number;
        copy->ranges.assign(wheel->ranges.span());
        copy_.publish(std::move(copy));
      }
      if (wheel->number == 13) throw std::runtime_error("thirteen");
    });
    context.input(kImage, [this](const Sample<Image>& image) {
      for (const std::uint8_t pixel : image->data.span()) total_ += pixel;
    });
    context.timer(std::chrono::milliseconds(30), [this, &context] {
      Imu imu;
      imu.header.stamp = context.now();
      imu.linear_acceleration.x = total_;
      imu.linear_acceleration.y = static_cast<double>(times_ % 1'000'003);
      sum_.publish(imu);
      remark_.publish(Remark{"total " + std::to_string(total_)});
    });
  }
  Output<Imu> sum_;
  Output<Wheel> copy_;
  Output<Remark> remark_;
  double total_ = 0;
  std::uint64_t times_ = 1;
};
CARDAN_COMPONENT(PlayerTestSum)

/// A driver: it makes /wheel itself.
class PlayerTestDriver : public Component {
  void on_start(Context& context) override {
    out_ = context.output(kWheel);
    context.timer(std::chrono::milliseconds(100), [this] {
      auto wheel = out_.loan();
      wheel->number = 200;
      out_.publish(std::move(wheel));
    });
  }
  Output<Wheel> out_;
};
CARDAN_COMPONENT(PlayerTestDriver)

/// Joins what carries the same source stamp, and publishes the stamp of each set.
class PlayerTestJoin : public Component {
  void on_start(Context& context) override {
    out_ = context.output(kPairs);
    context.fuse(
        exact(),
        [this](const Sample<Imu>& a, const Sample<CanFrame>&) {
          auto pair = out_.loan();
          pair.set_source_time(a.source_time());
          out_.publish(std::move(pair));
        },
        {.name = "pairs"}, kLeft, kRight);
  }
  Output<CanFrame> out_;
};
CARDAN_COMPONENT(PlayerTestJoin)

/// Joins what is near in time: /left and /right by their source stamps, /left and /sum by their headers.
class PlayerTestNear : public Component {
  void on_start(Context& context) override {
    using namespace std::chrono_literals;
    context.fuse(
        approximate({.tolerance = 20ms}), [](const Sample<Imu>&, const Sample<CanFrame>&) {}, {.name = "source"}, kLeft,
        kRight);
    context.fuse(
        approximate({.tolerance = 20ms, .time = FusionTime::HeaderStamp}),
        [](const Sample<Imu>&, const Sample<Imu>&) {}, {.name = "header", .inputs = {{.name = "left by header"}}},
        kLeft, kSum);
  }
};
CARDAN_COMPONENT(PlayerTestNear)

/// Publishes on /left what comes on /right, without a stamp.
class PlayerTestFollower : public Component {
  void on_start(Context& context) override {
    out_ = context.output(kLeft);
    context.input(kRight, [this](const Sample<CanFrame>&) { out_.publish(Imu{}); });
  }
  Output<Imu> out_;
};
CARDAN_COMPONENT(PlayerTestFollower)

/// Keeps what it reads of objects.
class PlayerTestListener : public Component {
 public:
  static inline std::vector<std::string> heard;

 private:
  void on_start(Context& context) override {
    context.input(kRemark, [](const Sample<Remark>& remark) { heard.push_back(remark->text); });
  }
};
CARDAN_COMPONENT(PlayerTestListener)

namespace {

using mcap::test::FileOnDisk;

config::Configuration configuration(const std::vector<std::pair<std::string, std::string>>& components) {
  config::Configuration c;
  c.name = "test";
  c.processes.push_back({.name = "all"});
  for (const auto& [name, class_name] : components)
    c.processes[0].components.push_back({.name = name, .class_name = class_name});
  return c;
}

mcap::Bytes drive(bool with_hash = true) {
  Bag bag({.chunk_bytes = 5000});
  const auto wheel_channel = bag.add<Wheel>("/wheel", with_hash), image_channel = bag.add<Image>("/image");
  for (std::uint32_t i = 0; i < 100; ++i) {
    LocalMessage<Wheel> wheel(1 << 12);
    wheel->number = static_cast<std::uint8_t>(i);
    wheel->speed = 1.0 / (i + 1);
    for (std::uint32_t k = 0; k < i; ++k) wheel->ranges.push_back(static_cast<float>(k) / 3);
    bag.write(wheel_channel, i * 10'000'000 + i % 7, *wheel);
    if (i % 5 != 0) continue;
    LocalMessage<Image> image(1 << 12);
    auto pixels = image->resize(10, 10 + i, "mono8");
    std::fill(pixels.begin(), pixels.end(), static_cast<std::uint8_t>(i));
    bag.write(image_channel, i * 10'000'000 + 3, *image);
  }
  return bag.bytes();
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A name for a file that is not there yet.
class OutputPath {
 public:
  OutputPath()
      : path_((std::filesystem::temp_directory_path() /
               ("cardan-simulate-" + std::to_string(::getpid()) + "-" + std::to_string(++number)))
                  .string()) {}
  ~OutputPath() { std::filesystem::remove(path_); }
  OutputPath(const OutputPath&) = delete;
  OutputPath& operator=(const OutputPath&) = delete;
  operator const std::string&() const { return path_; }  // NOLINT(google-explicit-constructor)

 private:
  static inline int number = 0;
  std::string path_;
};

std::map<std::string, SimulatedTopic> by_name(const std::vector<SimulatedTopic>& topics) {
  std::map<std::string, SimulatedTopic> all;
  for (const SimulatedTopic& topic : topics) all[topic.topic] = topic;
  return all;
}

TEST(Simulate, TheSameFileGivesTheSameOutputByteForByte) {
  const FileOnDisk file(drive());
  const OutputPath first, second;
  const auto c = configuration({{"sum", "PlayerTestSum"}});
  const SimulateReport report = simulate(c, {file.path()}, {.output = first});
  EXPECT_EQ(simulate(c, {file.path()}, {.output = second}).output_bytes, report.output_bytes);
  const std::string bytes = content(first);
  EXPECT_EQ(bytes.size(), report.output_bytes);
  EXPECT_GT(bytes.size(), 20'000U);
  EXPECT_TRUE(bytes == content(second));

  auto fed = by_name(report.fed), made = by_name(report.made);
  EXPECT_EQ(fed["/wheel"].messages, 100U);
  EXPECT_EQ(fed["/image"].messages, 20U);
  EXPECT_EQ(made["/copy"].messages, 200U);
  EXPECT_EQ(made["/sum"].messages, 33U);
  EXPECT_EQ(made["/remark"].messages, 33U);
  EXPECT_FALSE(made.contains("/wheel")) << "that came from the file";
  EXPECT_EQ(report.failures, 1U) << "thirteen";
  EXPECT_EQ(report.simulated_ns, 990'000'001);
  EXPECT_TRUE(report.left_out.empty());
}

TEST(Simulate, TheOutputSaysWhatWasPublishedWhen) {
  const FileOnDisk file(drive());
  const OutputPath output;
  (void)simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()}, {.output = output});
  const mcap::Reader reader(output);
  EXPECT_TRUE(reader.complete());
  mcap::Messages messages = reader.messages();
  std::uint64_t sums = 0, copies = 0, remarks = 0, last = 0;
  while (const auto one = messages.next()) {
    EXPECT_GE(one->message.log_time, last);
    last = one->message.log_time;
    if (one->channel->topic == "/sum") {
      Imu imu;
      const CdrResult read = from_cdr(one->message.data, imu);
      ASSERT_TRUE(read) << read.text();
      ++sums;
      EXPECT_EQ(imu.header.stamp, static_cast<std::int64_t>(one->message.log_time));
      EXPECT_EQ(one->message.log_time, kBegin + sums * 30'000'000);
      EXPECT_EQ(one->message.sequence, sums);
    } else if (one->channel->topic == "/copy") {
      LocalMessage<Wheel> wheel(1 << 12);
      ASSERT_TRUE(from_cdr(one->message.data, *wheel));
      EXPECT_EQ(wheel->number, copies / 2);
      EXPECT_EQ(wheel->ranges.size(), copies / 2);
      EXPECT_EQ(one->message.log_time, kBegin + copies / 2 * 10'000'000 + copies / 2 % 7);
      ++copies;
      EXPECT_EQ(type_hash_of(*one->channel), message_traits<Wheel>::type_hash());
      EXPECT_EQ(one->schema->encoding, "ros2msg");
    } else {
      ++remarks;
      EXPECT_EQ(one->schema->name, "test.Remark");
      EXPECT_EQ(one->channel->message_encoding, "protobuf");
    }
  }
  EXPECT_EQ(sums, 33U);
  EXPECT_EQ(copies, 200U);
  EXPECT_EQ(remarks, 33U);
}

TEST(Simulate, OutputsCanBeFedAgain) {
  const FileOnDisk file(drive());
  const OutputPath output;
  (void)simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()}, {.output = output});
  PlayerTestListener::heard.clear();
  const SimulateReport report = simulate(configuration({{"listener", "PlayerTestListener"}}), {output}, {});
  EXPECT_EQ(by_name(report.fed)["/remark"].messages, 33U);
  ASSERT_EQ(PlayerTestListener::heard.size(), 33U);
  EXPECT_TRUE(PlayerTestListener::heard[0].starts_with("total "));
}

TEST(Simulate, ATypeWithoutItsHashIsThatOfItsReader) {
  const FileOnDisk with(drive()), without(drive(false));
  const OutputPath first, second;
  const auto c = configuration({{"sum", "PlayerTestSum"}});
  (void)simulate(c, {with.path()}, {.output = first});
  const SimulateReport report = simulate(c, {without.path()}, {.output = second});
  EXPECT_EQ(by_name(report.fed)["/wheel"].messages, 100U);
  EXPECT_TRUE(content(first) == content(second));
}

TEST(Simulate, TopicsThatAComponentPublishesAreNotTakenFromTheFileUnlessItIsLeftOut) {
  const FileOnDisk file(drive());
  const auto c = configuration({{"driver", "PlayerTestDriver"}, {"sum", "PlayerTestSum"}});
  const SimulateReport own = simulate(c, {file.path()}, {});
  EXPECT_EQ(own.recomputed, (std::vector<std::string>{"/wheel"}));
  EXPECT_FALSE(by_name(own.fed).contains("/wheel"));
  EXPECT_EQ(by_name(own.made)["/wheel"].messages, 9U);
  const SimulateReport recorded = simulate(c, {file.path()}, {.without = {"driver"}});
  EXPECT_TRUE(recorded.recomputed.empty());
  EXPECT_EQ(by_name(recorded.fed)["/wheel"].messages, 100U);
  EXPECT_THROW((void)simulate(c, {file.path()}, {.without = {"nobody"}}), Error);
  const SimulateReport process = simulate(c, {file.path()}, {.without = {"all"}});
  EXPECT_TRUE(process.fed.empty());
}

/// The recording of two drivers that stamp by one clock and take 3 and 40 ms to publish.
mcap::Bytes stamped_pairs(int count, bool stamps_right) {
  Bag bag({.chunk_bytes = 3000});
  const auto left = bag.add<Imu>("/left"), right = bag.add<CanFrame>("/right");
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i) * 50'000'000;
    const std::int64_t stamp = 1'000'000'000'000 + i;
    bag.write(left, at + 3'000'000, Imu{}, stamp);
    bag.write(right, at + 40'000'000, CanFrame{}, stamps_right ? stamp : 0);
  }
  return bag.bytes();
}

TEST(Simulate, AFusionMakesTheSetsThatItMadeWhenItWasRecorded) {
  const FileOnDisk file(stamped_pairs(102, true));
  const OutputPath output, again;
  auto c = configuration({{"join", "PlayerTestJoin"}});
  c.chains = {{.name = "left", .from = "/left", .to = "/pairs", .budget = std::chrono::milliseconds(30)}};
  const SimulateReport report = simulate(c, {file.path()}, {.output = output});
  EXPECT_EQ(by_name(report.made)["/pairs"].messages, 102U);
  ASSERT_EQ(report.chains.size(), 1U);
  EXPECT_EQ(report.chains[0].component + " " + report.chains[0].chain, "join left");
  EXPECT_EQ(report.chains[0].late, 102U);
  EXPECT_EQ(report.chains[0].age_greatest, 37'000'000) << "it waited for the right one";
  ASSERT_EQ(report.fusions.size(), 1U);
  EXPECT_EQ(report.fusions[0].component + " " + report.fusions[0].fusion, "join pairs");
  EXPECT_EQ(report.fusions[0].fired, 102U);
  EXPECT_EQ(report.fusions[0].silent, "");
  // Its results keep its stamps, too.
  const mcap::Reader reader(output);
  mcap::Messages messages = reader.messages();
  std::int64_t sets = 0;
  while (const auto one = messages.next()) EXPECT_EQ(one->message.source_time, 1'000'000'000'000 + sets++);
  EXPECT_EQ(sets, 102);
  (void)simulate(c, {file.path()}, {.output = again});
  EXPECT_TRUE(content(output) == content(again));
}

TEST(Simulate, AFusionThatMakesNoSetIsReportedWithTheReason) {
  const FileOnDisk file(stamped_pairs(20, false));
  const SimulateReport report = simulate(configuration({{"join", "PlayerTestJoin"}}), {file.path()}, {});
  ASSERT_EQ(report.fusions.size(), 1U);
  EXPECT_EQ(report.fusions[0].fired, 0U);
  EXPECT_TRUE(report.fusions[0].every_input_had);
  EXPECT_NE(report.fusions[0].silent, "");
}

std::map<std::string, std::uint64_t> fired(const SimulateReport& report) {
  std::map<std::string, std::uint64_t> all;
  for (const SimulatedFusion& fusion : report.fusions) all[fusion.fusion] = fusion.fired;
  return all;
}

enum class Stamps : std::uint8_t { None, Wall, Steady };
/// /left stamped by this clock; /right and /sum have no stamps, which live are steady publish times.
mcap::Bytes near_each_other(Stamps stamps) {
  constexpr std::uint64_t kUp = 5'000'000'000'000;
  Bag bag;
  bag.up_for(kUp);
  const auto left = bag.add<Imu>("/left"), right = bag.add<CanFrame>("/right"), sum = bag.add<Imu>("/sum");
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t at = i * 50'000'000;
    const std::uint64_t of_clock = stamps == Stamps::Wall ? kBegin : kUp;
    const auto stamp = stamps == Stamps::None ? 0 : static_cast<std::int64_t>(of_clock + at - 2000);
    Imu imu;
    imu.header.stamp = stamp;
    bag.write(left, at, imu, stamp);
    bag.write(right, at + 1'000'000, CanFrame{});
    bag.write(sum, at + 1'000'000, Imu{});
  }
  return bag.bytes();
}

TEST(Simulate, AFusionOfTwoClocksMakesNoSetsAsWhenItWasRecorded) {
  const FileOnDisk file(near_each_other(Stamps::Wall));
  const SimulateReport report = simulate(configuration({{"near", "PlayerTestNear"}}), {file.path()}, {});
  EXPECT_EQ(fired(report), (std::map<std::string, std::uint64_t>{{"source", 0}, {"header", 0}}));
  for (const SimulatedFusion& fusion : report.fusions) EXPECT_NE(fusion.silent, "") << fusion.fusion;
}

TEST(Simulate, AFusionOfStampsOfTheSteadyClockAndOfPublishTimesMakesThemAsWhenItWasRecorded) {
  const FileOnDisk file(near_each_other(Stamps::Steady));
  const SimulateReport report = simulate(configuration({{"near", "PlayerTestNear"}}), {file.path()}, {});
  EXPECT_GE(fired(report)["source"], 19U);
}

TEST(Simulate, AFusionOfMessagesWithoutStampsMakesThem) {
  const FileOnDisk file(near_each_other(Stamps::None));
  const SimulateReport report = simulate(configuration({{"near", "PlayerTestNear"}}), {file.path()}, {});
  EXPECT_GE(fired(report)["source"], 19U);
  EXPECT_GE(fired(report)["header"], 19U);
  // Also of a recorded topic and one that is computed.
  const SimulateReport computed =
      simulate(configuration({{"follower", "PlayerTestFollower"}, {"near", "PlayerTestNear"}}), {file.path()}, {});
  EXPECT_EQ(computed.recomputed, (std::vector<std::string>{"/left"}));
  EXPECT_GE(fired(computed)["source"], 19U);
}

TEST(Simulate, APartOfTheFile) {
  const FileOnDisk file(drive());
  const SimulateReport report =
      simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()},
               {.start = std::chrono::milliseconds(200), .until = std::chrono::milliseconds(500)});
  EXPECT_EQ(by_name(report.fed)["/wheel"].messages, 30U);
  EXPECT_EQ(by_name(report.made)["/sum"].messages, 9U);
}

TEST(Simulate, ATypeThatIsNotThatOfTheReaderIsLeftOut) {
  Bag bag;
  const auto channel = bag.add<Imu>("/wheel");
  bag.write(channel, 0, Imu{});
  const FileOnDisk file(bag.bytes());
  const SimulateReport report = simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()}, {});
  ASSERT_EQ(report.left_out.size(), 1U);
  EXPECT_NE(report.left_out[0].why.find("player_test_msgs/msg/Wheel"), std::string::npos) << report.left_out[0].why;
}

TEST(Simulate, LossesOfAFileAreReported) {
  Bag bag({.chunks = false});
  bag.write(bag.add<Imu>("/lost"), 0, Imu{});
  std::string bytes(reinterpret_cast<const char*>(bag.bytes().data()), bag.bytes().size());
  for (std::size_t at = 0; (at = bytes.find("/lost", at)) != std::string::npos; ++at)
    bytes[at - 17] = '\x80';  // the channel's opcode: of a private record, which readers skip
  const auto damaged = std::as_bytes(std::span(bytes));
  const FileOnDisk file(mcap::Bytes(damaged.begin(), damaged.end()));
  EXPECT_EQ(simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()}, {}).problems.size(), 1U);
}

TEST(Simulate, ATypeOfTheSameNameWithOtherFieldsIsLeftOut) {
  Bag bag;
  const auto channel = bag.add("/wheel", "player_test_msgs/msg/Wheel", "ros2msg",
                               "uint8 number\nuint64 speed\nstring name\nfloat32[] ranges\n", "cdr", {});
  LocalMessage<Wheel> wheel(1 << 12);
  bag.write(channel, 0, *wheel);
  const FileOnDisk file(bag.bytes());
  const SimulateReport report = simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()}, {});
  ASSERT_EQ(report.left_out.size(), 1U);
  EXPECT_NE(report.left_out[0].why.find("other fields"), std::string::npos) << report.left_out[0].why;
}

TEST(Simulate, TheOutputDoesNotReplaceAnythingByItself) {
  const FileOnDisk file(drive());
  const std::string before = content(file.path());
  const auto c = configuration({{"sum", "PlayerTestSum"}});
  EXPECT_THROW((void)simulate(c, {file.path()}, {.output = file.path()}), Error);
  EXPECT_THROW((void)simulate(c, {file.path()}, {.output = file.path(), .replace = true}), Error);
  EXPECT_TRUE(content(file.path()) == before);
}

TEST(Simulate, StopsWhenItIsTold) {
  const FileOnDisk file(drive());
  const OutputPath output;
  const SimulateReport report = simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()},
                                         {.output = output, .progress = [](double done) { return done < 0.3; }});
  EXPECT_TRUE(report.stopped);
  EXPECT_LT(by_name(report.fed)["/wheel"].messages, 80U);
  EXPECT_FALSE(std::filesystem::exists(static_cast<const std::string&>(output)));
}

TEST(Simulate, StopsInAGapOfTheFile) {
  Bag bag;
  const auto channel = bag.add<Wheel>("/wheel");
  LocalMessage<Wheel> wheel(1 << 12);
  for (const std::uint64_t at : {0U, 1U, 3600U}) bag.write(channel, at * kSecond, *wheel);
  const FileOnDisk file(bag.bytes());
  // An hour in which nothing comes and timers run: whoever wants it to end is asked meanwhile.
  std::vector<double> heard;
  const SimulateReport report =
      simulate(configuration({{"sum", "PlayerTestSum"}}), {file.path()}, {.max_gap = {}, .progress = [&](double done) {
                                                                            heard.push_back(done);
                                                                            return done < 0.01;
                                                                          }});
  EXPECT_TRUE(report.stopped);
  EXPECT_EQ(by_name(report.fed)["/wheel"].messages, 2U);
  ASSERT_FALSE(heard.empty());
  EXPECT_LT(heard.back(), 0.9);
  EXPECT_LT(report.simulated_ns, std::int64_t{3600} * 1'000'000'000);
}

}  // namespace
}  // namespace cardan::record::test

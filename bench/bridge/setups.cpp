// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/setups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/bridge/parts.hpp"
#include "bench/bridge/publish_cost.hpp"
#include "bench/bridge/running_bridge.hpp"
#include "bench/results/statistics.hpp"
#include "bench/temporary_folder.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::bench::bridging {
namespace {

using nlohmann::json;

constexpr int kWidth = 1920, kHeight = 1200;
constexpr double kFrameBytes = kWidth * kHeight * 3;
constexpr double kCameraHz = 30, kZenohHz = 10;
constexpr double kFoxgloveHz = 225e6 / kFrameBytes;
constexpr int kDomainId = 97;
constexpr int kPort = 8765;  // in our own network
constexpr int kZenohPort = 7447;
constexpr const char* kZenohTitle = "cardan bridge zenoh to another domain of Cardan over TCP, 6.9 MB at 10 Hz";
constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000 * kMs;
constexpr std::int64_t kMeetWithin = 30 * kSecond;
constexpr std::int64_t kLast = kSecond;                 // what is under way at the end arrives
constexpr std::int64_t kBeforeDiscovery = 3 * kSecond;  // peers that do not say when they have met

/// The frames of the camera.
struct Pictures {
  const char* what;
  int width, height;
  const char* encoding;
  double hz;
};
constexpr Pictures kLarge{"1920×1200×3 at 30 Hz", kWidth, kHeight, "bgr8", kCameraHz};
constexpr Pictures kSmall{"4 KiB at 100 Hz", 64, 64, "mono8", 100};

struct Stop {};  // the user has asked for it

/// The processes of one run.
class Run {
 public:
  /// `other`: where its second computer is; null: here.
  explicit Run(const Setting& setting, const OtherNetwork* other = nullptr) : setting_(setting), other_(other) {
    for (const char* name : {"one", "two"}) std::filesystem::create_directory(folder_.path() + "/" + name);
  }

  /// The run directory of the vehicle's computer, or of another one.
  [[nodiscard]] std::string computer(bool other = false) const { return folder_.path() + (other ? "/two" : "/one"); }

  std::unique_ptr<Actor> start(const json& job, bool on_other = false) {
    return ready(std::make_unique<Actor>("bridge", job, computer(on_other)));
  }
  std::unique_ptr<Actor> camera(double hz) {
    return camera(Pictures{.what = "", .width = kWidth, .height = kHeight, .encoding = "bgr8", .hz = hz});
  }
  std::unique_ptr<Actor> camera(const Pictures& pictures) {
    return start({{"part", "camera"},
                  {"width", pictures.width},
                  {"height", pictures.height},
                  {"encoding", pictures.encoding},
                  {"hz", pictures.hz},
                  {"seconds", setting_.seconds}});
  }
  std::unique_ptr<Actor> viewer(bool on_other = false) { return start({{"part", "viewer"}}, on_other); }
  std::unique_ptr<Actor> browser(int pause_ms = 0) {
    return start({{"part", "browser"}, {"port", kPort}, {"pause_ms", pause_ms}});
  }
  std::unique_ptr<Actor> fastdds_reader() { return fastdds({"read", std::to_string(kDomainId), "rt/camera"}); }
  std::unique_ptr<Actor> fastdds_writer(double hz) {
    return fastdds({"write", std::to_string(kDomainId), "rt/camera", std::to_string(kWidth), std::to_string(kHeight),
                    std::to_string(hz), std::to_string(setting_.seconds)});
  }

  std::unique_ptr<RunningBridge> dds(const std::vector<std::string>& more) {
    std::vector<std::string> words{"dds", "--domain-id", std::to_string(kDomainId), "--owner"};
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<RunningBridge>(words, computer());
  }
  std::unique_ptr<RunningBridge> foxglove() {
    auto bridge = std::make_unique<RunningBridge>(
        std::vector<std::string>{"foxglove", "--port", std::to_string(kPort), "--topic", "/camera"}, computer());
    until(*bridge, [&] { return bridge->report().is_object(); }, "the Foxglove bridge listens");
    return bridge;
  }
  std::unique_ptr<RunningBridge> zenoh_out() {
    return std::make_unique<RunningBridge>(
        std::vector<std::string>{"zenoh", "--form", "cardan", "--listen", zenoh_address(), "--topic", "/camera"},
        computer());
  }
  std::unique_ptr<RunningBridge> zenoh_in() {
    const OtherNetwork::Inside inside(other_);
    return std::make_unique<RunningBridge>(
        std::vector<std::string>{"zenoh", "--form", "cardan", "--connect", zenoh_address(), "--in", "/camera",
                                 "--topic", "/nothing"},
        computer(true));
  }

  void until(RunningBridge& bridge, const std::function<bool()>& holds, const char* what) {
    for (const std::int64_t end = now_ns() + kMeetWithin; !holds();) {
      check();
      if (now_ns() >= end)
        throw Error(ErrorCode::Unavailable,
                    fmt::format("it did not happen within 30 s that {}; the bridge's last report: {}", what,
                                bridge.report().dump()),
                    {});
      bridge.listen(100 * kMs);
    }
  }
  /// Somebody beyond the bridge reads the camera, or somebody here reads what comes in.
  void until_met(RunningBridge& bridge, const std::string& direction = "out") {
    until(bridge, [&] { return bridge.counts("/camera", direction).receivers > 0; }, "somebody receives /camera");
  }
  /// Sleeps, and hears what the bridges say.
  void rest(std::int64_t ns, const std::vector<RunningBridge*>& bridges = {}) {
    for (const std::int64_t end = now_ns() + ns; now_ns() < end;) {
      check();
      for (RunningBridge* const bridge : bridges) bridge->listen(0);
      sleep_until(std::min(end, now_ns() + 100 * kMs));
    }
  }
  /// One image that is not counted, by which all meet.
  void first_image(Actor& camera, const std::vector<RunningBridge*>& bridges = {}) {
    camera.go();
    rest(kSecond / 2, bridges);
  }
  /// The camera sends its frames, and the last one arrives.
  void film(Actor& camera, const std::vector<RunningBridge*>& bridges = {}) {
    camera.go();
    const auto look = [&] {
      for (RunningBridge* const bridge : bridges) bridge->listen(0);
    };
    camera.await_done(now_ns() + static_cast<std::int64_t>(3 * setting_.seconds * 1e9) + kMeetWithin, setting_.stopped,
                      look);
    rest(kLast + kSecond, bridges);  // a bridge reports once a second
  }
  /// Ends it and takes its result.
  json result(Actor& actor) {
    check();
    actor.end();
    return actor.await_result(now_ns() + kMeetWithin);
  }
  [[nodiscard]] double seconds() const { return setting_.seconds; }
  /// How long the camera sends, with the frames before those that are measured.
  [[nodiscard]] double filmed(double hz) const { return setting_.seconds + static_cast<double>(kWarmUpFrames) / hz; }
  void check() const {
    if (setting_.stopped()) throw Stop{};
  }

 private:
  std::unique_ptr<Actor> ready(std::unique_ptr<Actor> actor) {
    actor->await_ready(setting_.stopped);
    check();
    return actor;
  }
  std::unique_ptr<Actor> fastdds(std::vector<std::string> words) {
    words.insert(words.begin(), "cardan-bench-fastdds");
    return ready(std::make_unique<Actor>(
        words[0], launcher::ChildOptions{.program = launcher::own_program(words[0]), .arguments = words}));
  }

  [[nodiscard]] std::string zenoh_address() const {
    return fmt::format("tcp/{}:{}", other_ != nullptr ? OtherNetwork::kHere : "127.0.0.1", kZenohPort);
  }

  const Setting& setting_;
  const OtherNetwork* const other_;
  const TemporaryFolder folder_{"cardan-bench-bridge"};
};

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// Milliseconds of {latency_ns}.
Summary latency_ms(const json& result) {
  auto ms = result.at("latency_ns").get<std::vector<double>>();
  for (double& value : ms) value /= 1e6;
  return summarize(std::move(ms));
}

void add_arrival(Row& row, const json& sent, const json& received, std::optional<Target> target) {
  row.add("arrived", "%", percent(received.at("received"), sent.at("sent")), target);
  const Summary ms = latency_ms(received);
  row.add("latency p50", "ms", ms.p50);
  row.add("latency p99", "ms", ms.p99);
}

constexpr Target kAll{.at_most = false, .limit = 100};

void measure_dds_out(const Setting& setting, Row& row) {
  Run run(setting);
  const auto camera = run.camera(kCameraHz);
  const auto reader = run.fastdds_reader();
  const auto bridge = run.dds({"--topic", "/camera"});
  run.until_met(*bridge);
  run.first_image(*camera, {bridge.get()});
  const double before = bridge->cpu();
  run.film(*camera, {bridge.get()});
  const double cpu = bridge->cpu() - before;
  const BridgeCounts counts = bridge->counts("/camera", "out");
  const json read = run.result(*reader), sent = run.result(*camera);
  bridge->end();
  add_arrival(row, sent, read, kAll);
  row.add("bridge", "% of a core", percent(cpu, run.filmed(kCameraHz)), Target{.limit = 6});
  row.add("copied of what was sent", "%",
          percent(static_cast<double>(counts.copied), static_cast<double>(counts.bytes)), Target{.limit = 1});
}

void measure_dds_native(const Setting& setting, Row& row) {
  Run run(setting);
  const auto reader = run.fastdds_reader();
  const auto writer = run.fastdds_writer(kCameraHz);
  run.rest(kBeforeDiscovery);
  run.first_image(*writer);
  run.film(*writer);
  const json read = run.result(*reader), sent = run.result(*writer);
  add_arrival(row, sent, read, {});
}

void measure_dds_in(const Setting& setting, Row& row) {
  Run run(setting);
  const auto viewer = run.viewer();
  const auto bridge = run.dds({"--in", "/camera", "--topic", "/nothing"});
  const auto writer = run.fastdds_writer(kCameraHz);
  run.rest(kBeforeDiscovery, {bridge.get()});
  run.first_image(*writer, {bridge.get()});
  run.until_met(*bridge, "in");
  const double before = bridge->cpu();
  run.film(*writer, {bridge.get()});
  const double cpu = bridge->cpu() - before;
  const BridgeCounts counts = bridge->counts("/camera", "in");
  const json read = run.result(*viewer), sent = run.result(*writer);
  bridge->end();
  add_arrival(row, sent, read, kAll);
  row.add("bridge", "% of a core", percent(cpu, run.seconds()), Target{.limit = 10});
  row.add("copies", "of each byte",
          counts.bytes > 0 ? static_cast<double>(counts.copied) / static_cast<double>(counts.bytes) : 0,
          Target{.limit = 1});
}

void measure_foxglove(const Setting& setting, Row& row) {
  for (const bool beside : {false, true}) {
    Run run(setting);
    const auto bridge = run.foxglove();
    const auto camera = run.camera(kFoxgloveHz);
    const auto browser = run.browser();
    const auto slow = beside ? run.browser(1000) : nullptr;
    run.until_met(*bridge);
    run.first_image(*camera, {bridge.get()});
    const double before = bridge->cpu();
    run.film(*camera, {bridge.get()});
    const double cpu = bridge->cpu() - before, memory = private_memory_mib(bridge->pid());
    bridge->end();
    const json read = run.result(*browser), sent = run.result(*camera);
    const Summary ms = latency_ms(read);
    const std::string with = beside ? " with a slow one" : "";
    row.add("arrived" + with, "%", percent(read.at("received"), sent.at("sent")));
    row.add("latency p50" + with, "ms", ms.p50, Target{.limit = 10});
    row.add("own memory" + with, "MiB", memory, Target{.limit = 24});
    if (!beside) row.add("bridge", "% of a core", percent(cpu, run.filmed(kFoxgloveHz)));
  }
}

void measure_zenoh(const Setting& setting, Row& row) {
  const std::string way = setting.other != nullptr ? "between two network namespaces over a veth pair"
                                                   : "over loopback: " + setting.no_other;
  row.title = fmt::format("{}, {}", kZenohTitle, way);
  const OtherNetwork::Joined joined(setting.other);
  Run run(setting, setting.other);
  const auto camera = run.camera(kZenohHz);
  const auto viewer = run.viewer(true);
  const auto out = run.zenoh_out();
  run.until(*out, [&] { return out->report().is_object(); }, "the bridge listens");
  const auto in = run.zenoh_in();
  run.until_met(*out);
  run.first_image(*camera, {out.get(), in.get()});
  run.until_met(*in, "in");
  const double before_out = out->cpu(), before_in = in->cpu();
  run.film(*camera, {out.get(), in.get()});
  const double cpu_out = out->cpu() - before_out, cpu_in = in->cpu() - before_in;
  const json read = run.result(*viewer), sent = run.result(*camera);
  in->end();
  out->end();
  add_arrival(row, sent, read, kAll);
  row.add("bridge that sends", "% of a core", percent(cpu_out, run.filmed(kZenohHz)), Target{.limit = 6});
  row.add("bridge that receives", "% of a core", percent(cpu_in, run.filmed(kZenohHz)));
}

/// The bridges that are here, each with a client that reads the camera.
class Bridges {
 public:
  /// The camera is there, and sends nothing yet. Returns when all have met.
  Bridges(Run& run, const Setting& setting) {
    if (setting.foxglove) {
      RunningBridge& bridge = add(run.foxglove());
      clients_.push_back(run.browser());
      run.until_met(bridge);
    }
    if (setting.dds && setting.fastdds) {
      clients_.push_back(run.fastdds_reader());
      run.until_met(add(run.dds({"--topic", "/camera"})));
    }
    if (setting.zenoh) {
      clients_.push_back(run.viewer(true));
      RunningBridge& out = add(run.zenoh_out());
      run.until(out, [&] { return out.report().is_object(); }, "the bridge listens");
      add(run.zenoh_in());
      run.until_met(out);
    }
  }
  [[nodiscard]] std::vector<RunningBridge*> all() const {
    std::vector<RunningBridge*> some;
    for (const auto& bridge : bridges_) some.push_back(bridge.get());
    return some;
  }

 private:
  RunningBridge& add(std::unique_ptr<RunningBridge> bridge) { return *bridges_.emplace_back(std::move(bridge)); }

  std::vector<std::unique_ptr<RunningBridge>> bridges_;
  std::vector<std::unique_ptr<Actor>> clients_;
};

/// The publications with one subscriber on this computer.
struct Published {
  std::vector<double> us;  ///< of each publish()
  double wakes = 0;        ///< system calls to wake readers, for each publication
};

Published publish_all(const Setting& setting, const Pictures& pictures, bool with_bridges) {
  Run run(setting);
  const auto viewer = run.viewer();
  const auto camera = run.camera(pictures);
  std::optional<Bridges> bridges;
  if (with_bridges) bridges.emplace(run, setting);
  const auto running = bridges ? bridges->all() : std::vector<RunningBridge*>{};
  run.first_image(*camera, running);
  run.film(*camera, running);
  const json result = run.result(*camera);
  Published all{.us = result.at("publish_ns").get<std::vector<double>>()};
  for (double& value : all.us) value /= 1e3;
  if (!all.us.empty()) all.wakes = result.at("wakes").get<double>() / static_cast<double>(all.us.size());
  return all;
}

void measure_publish(const Setting& setting, Row& row, const Pictures& pictures) {
  std::vector<std::string> names, left_out;
  const auto name = [&](const char* bridge, bool here) { (here ? names : left_out).emplace_back(bridge); };
  name("dds", setting.dds && setting.fastdds);
  name("foxglove", setting.foxglove);
  name("zenoh", setting.zenoh);
  if (names.empty())
    throw Error(ErrorCode::Unavailable, "no bridge runs, or it has no client",
                "the end of the report says how to have them");
  row.title = publish_title(pictures.what, names, left_out);
  Published without = publish_all(setting, pictures, false);
  Published with = publish_all(setting, pictures, true);
  row.add("wake-ups without", "per publish", without.wakes);
  row.add("wake-ups with", "per publish", with.wakes);
  add_publish_round(row, std::move(without.us), std::move(with.us), names.size());
}

void measure_publish_large(const Setting& setting, Row& row) { measure_publish(setting, row, kLarge); }
void measure_publish_small(const Setting& setting, Row& row) { measure_publish(setting, row, kSmall); }

/// Nothing is added when the user has stopped it.
template <void (*kMeasure)(const Setting&, Row&)>
void stoppable(const Setting& setting, Row& row) {
  Row all = row;
  try {
    kMeasure(setting, all);
  } catch (const Stop&) {
    return;
  } catch (const Error&) {
    if (setting.stopped()) return;
    throw;
  }
  if (!setting.stopped()) row = std::move(all);
}

}  // namespace

const std::vector<Setup>& all_setups() {
  static const std::vector<Setup> kAllSetups{
      {.name = "publish",
       .title = "publish() of 1920×1200×3 at 30 Hz, without bridges and with all that are here",
       .measure = stoppable<measure_publish_large>},
      {.name = "publish-small",
       .title = "publish() of 4 KiB at 100 Hz, without bridges and with all that are here",
       .measure = stoppable<measure_publish_small>},
      {.name = "dds-out",
       .title = "cardan bridge dds to Fast DDS, 1920×1200×3 at 30 Hz, socket buffers of 4 MiB",
       .measure = stoppable<measure_dds_out>,
       .needs_fastdds = true,
       .needs_dds = true},
      {.name = "dds-native",
       .title = "the same from Fast DDS to Fast DDS, with its own transports",
       .measure = stoppable<measure_dds_native>,
       .needs_fastdds = true},
      {.name = "dds-in",
       .title = "Fast DDS to Cardan by cardan bridge dds, 1920×1200×3 at 30 Hz",
       .measure = stoppable<measure_dds_in>,
       .needs_fastdds = true,
       .needs_dds = true},
      {.name = "foxglove",
       .title = "cardan bridge foxglove, 225 MB/s to one client; then together with one that reads a message a second",
       .measure = stoppable<measure_foxglove>,
       .needs_foxglove = true},
      {.name = "zenoh", .title = kZenohTitle, .measure = stoppable<measure_zenoh>, .needs_zenoh = true},
  };
  return kAllSetups;
}

}  // namespace cardan::bench::bridging

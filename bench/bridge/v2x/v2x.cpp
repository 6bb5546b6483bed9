// SPDX-License-Identifier: Apache-2.0
#include "bench/bridge/v2x/v2x.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "bench/actor.hpp"
#include "bench/bridge/network.hpp"
#include "bench/bridge/running_bridge.hpp"
#include "bench/bridge/v2x/parts.hpp"
#include "bench/bridge/v2x/report.hpp"
#include "bench/results/arguments.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/temporary_folder.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/progress.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/own_program.hpp"

namespace cardan::bench {
namespace v2x {
namespace {

using nlohmann::json;

constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000 * kMs;
constexpr std::int64_t kEndWithin = 20 * kSecond;
constexpr int kDepth = 10;                // messages
constexpr int kMostMessages = 1'000'000;  // their round trips come in one report
constexpr int kBridgeDomain = 97, kNativeDomain = 98;
constexpr int kUdpPort = 7001, kTcpPort = 7002, kZenohPort = 7447;  // in our own networks

struct Stop {};
void check() {
  if (is_stopped()) throw Stop{};
}

bool can_run(const char* program) { return ::access(launcher::own_program(program).c_str(), X_OK) == 0; }

/// The peers that talk over the link.
struct Peer {
  const char* name;
  const char* title;
  /// Programs that it needs besides the bench.
  std::vector<const char*> programs;
  const char* remedy;
};
const std::vector<Peer>& all_v2x_peers() {
  static const std::vector<Peer> kPeers{
      {"udp", "UDP", {}, ""},
      {"tcp", "TCP with TCP_NODELAY", {}, ""},
      {"cardan-dds",
       "Cardan, a cardan bridge dds in each network, reliable",
       {"cardan", "cardan-bridge-dds"},
       "apt-get install cyclonedds-dev, and build again"},
      {"cardan-zenoh",
       "Cardan, a cardan bridge zenoh in each network, over TCP",
       {"cardan", "cardan-bridge-zenoh", "cardan-zenoh"},
       "make zenoh"},
      {"fastdds",
       "Fast DDS to Fast DDS, reliable",
       {"cardan-bench-fastdds"},
       "apt-get install libfastrtps-dev libfastcdr-dev, and build again"},
  };
  return kPeers;
}

/// The second network, and the link to it: the kernel's netem on a veth pair, or, where it has none, two taps whose
/// frames go through this process.
class Networks {
 public:
  /// Throws Error (Unavailable).
  explicit Networks(const Link& link) : tc_(find_program("tc", {"/sbin", "/usr/sbin"})) {
    std::string why;
    const bool has_netem = netem("add", "lo", nullptr, link, why) && netem("del", "lo", nullptr, link, why);
    other_ = std::make_unique<OtherNetwork>(has_netem ? OtherNetwork::Cable::Veth : OtherNetwork::Cable::Taps);
    joined_ = std::make_unique<OtherNetwork::Joined>(other_.get());
    if (!has_netem) {
      radio_ = std::make_unique<Radio>(other_->tap_here(), other_->tap_there(), link);
      how_ = "a link made by the bench (" + why + ")";
    } else if (netem("add", OtherNetwork::kDeviceHere, nullptr, link, why) &&
               netem("add", OtherNetwork::kDeviceThere, other_.get(), link, why)) {
      how_ = "tc netem";
    } else {
      throw Error(ErrorCode::Unavailable, why, "run it as root");
    }
  }
  [[nodiscard]] const OtherNetwork* other() const { return other_.get(); }
  [[nodiscard]] const std::string& how() const { return how_; }

 private:
  bool netem(const char* verb, const char* device, const OtherNetwork* where, const Link& link,
             std::string& why) const {
    if (tc_.empty()) {
      why = "no tc; iproute2 has it";
      return false;
    }
    const OtherNetwork::Inside inside(where);
    std::vector<std::string> words{"tc", "qdisc", verb, "dev", device, "root"};
    for (const std::string& word : link.netem()) words.push_back(word);
    Helper helper({.program = tc_, .arguments = words});
    const auto ending = helper.wait(now_ns() + kEndWithin);
    if (ending && ending->in_order()) return true;
    why = "tc netem: " + helper.last_line();
    why.erase(why.find_last_not_of(".\n") + 1);
    return false;
  }

  std::string tc_;
  std::unique_ptr<OtherNetwork> other_;
  std::unique_ptr<OtherNetwork::Joined> joined_;
  std::unique_ptr<Radio> radio_;  // ends before its devices
  std::string how_;
};

/// One peer in one run. All its processes are gone with it.
class Talk {
 public:
  Talk(const Peer& peer, const Options& options, const Networks& networks, const std::string& folder, int late_ms)
      : peer_(peer), options_(options), networks_(networks), folder_(folder), late_ms_(late_ms) {}

  /// Returns when question and answer have met. Throws Error.
  void meet() {
    const std::string name = peer_.name;
    {
      const OtherNetwork::Inside inside(networks_.other());
      answerer_ = start(false, folder_ + "/two");
    }
    await(*answerer_);
    if (name == "cardan-dds") {
      bridge({"dds", "--domain-id", std::to_string(kBridgeDomain), "--discovery", "subnet", "--owner"}, false);
      bridge({"dds", "--domain-id", std::to_string(kBridgeDomain), "--discovery", "subnet", "--owner"}, true);
    } else if (name == "cardan-zenoh") {
      const std::string address = fmt::format("tcp/{}:{}", OtherNetwork::kHere, kZenohPort);
      bridge({"zenoh", "--form", "cardan", "--listen", address, "--owner"}, false);
      for (const std::int64_t end = now_ns() + kEndWithin; !bridges_.front()->report().is_object() && now_ns() < end;) {
        check();
        bridges_.front()->listen(100 * kMs);
      }
      bridge({"zenoh", "--form", "cardan", "--connect", address, "--owner"}, true);
    }
    asker_ = start(true, folder_ + "/one");
    await(*asker_);
  }
  void go() const { asker_->go(); }
  void look() {
    for (const auto& bridge : bridges_) bridge->listen(0);
  }
  /// Waits for its end. Throws Error.
  void take(PeerResult& result) {
    asker_->await_done(now_ns() + static_cast<std::int64_t>(options_.seconds * 1e9) + kEndWithin, is_stopped,
                       [this] { look(); });
    check();
    asker_->end();
    const json said = asker_->await_result(now_ns() + kEndWithin);
    answerer_->end();
    static_cast<void>(answerer_->await_result(now_ns() + kEndWithin));
    for (const auto& bridge : bridges_) bridge->end();
    auto ms = said.at("round_trip_ns").get<std::vector<double>>();
    for (double& value : ms) value /= 1e6;
    result.sent += said.at("sent").get<std::uint64_t>();
    result.answered += ms.size();
    result.runs.push_back(std::move(ms));
  }

 private:
  std::unique_ptr<Actor> start(bool asks, const std::string& run_dir) {
    const std::string name = peer_.name;
    if (name == "fastdds") {
      std::vector<std::string> words{"cardan-bench-fastdds", asks ? "ask" : "answer", std::to_string(kNativeDomain),
                                     "rt/v2x", std::to_string(options_.bytes)};
      if (asks) {
        for (const double value : {options_.hz, options_.seconds}) words.push_back(fmt::format("{}", value));
        words.push_back(std::to_string(late_ms_));
      }
      return std::make_unique<Actor>(
          words[0], launcher::ChildOptions{.program = launcher::own_program(words[0]), .arguments = words});
    }
    const bool is_socket = name == "udp" || name == "tcp";
    const json job{{"part", asks ? "ask" : "answer"},
                   {"peer", is_socket ? name : "cardan"},
                   {"name", topic_name()},
                   {"address", OtherNetwork::kThere},
                   {"port", name == "udp" ? kUdpPort : kTcpPort},
                   {"bytes", options_.bytes},
                   {"hz", options_.hz},
                   {"seconds", options_.seconds},
                   {"late_ms", late_ms_}};
    return std::make_unique<Actor>("v2x", job, run_dir);
  }
  /// Names of ROS 2's topics have no hyphen.
  [[nodiscard]] std::string topic_name() const {
    std::string name = peer_.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
  void bridge(std::vector<std::string> words, bool is_there) {
    const std::string topic = fmt::format("/v2x/{}/", topic_name());
    const std::string out = topic + (is_there ? "answer" : "question");
    const std::string in = topic + (is_there ? "question" : "answer");
    // As rules: --reliable is for what is sent, and images are read best effort. After a loss, several come at once.
    const std::string side = folder_ + (is_there ? "/two" : "/one");
    const std::string rules = fmt::format("{}-{}.json", side, topic_name());
    std::ofstream(rules) << json{{"out", json::array({{{"topics", out}, {"reliable", true}, {"depth", kDepth}}})},
                                 {"in", json::array({{{"topics", in}, {"reliable", true}, {"depth", kDepth}}})}}
                                .dump();
    words.push_back(rules);
    const OtherNetwork::Inside inside(is_there ? networks_.other() : nullptr);
    bridges_.push_back(std::make_unique<RunningBridge>(words, side));
  }
  static void await(Actor& actor) {
    actor.await_ready(is_stopped);
    check();
  }

  const Peer& peer_;
  const Options& options_;
  const Networks& networks_;
  std::string folder_;
  int late_ms_;
  std::unique_ptr<Actor> answerer_, asker_;
  std::vector<std::unique_ptr<RunningBridge>> bridges_;
};

template <class T>
void set(T& to, const std::optional<T>& given, T least, T most, const char* option) {
  if (!given) return;
  check_range(option, *given, least, most);
  to = *given;
}

Options parse_v2x(const V2xArguments& a) {
  Options o{.seconds = a.quick ? 15.0 : 30.0, .runs = a.quick ? 1 : 3, .json = a.json};
  set(o.seconds, a.seconds, 1.0, 3600.0, "--seconds");
  set(o.hz, a.hz, 0.5, 1000.0, "--hz");
  set(o.runs, a.runs, 1, 100, "--runs");
  set(o.bytes, a.bytes, 16, 60000, "--bytes");
  set(o.link.delay_ms, a.delay_ms, 0.0, 1000.0, "--delay-ms");
  set(o.link.jitter_ms, a.jitter_ms, 0.0, 1000.0, "--jitter-ms");
  set(o.link.loss_percent, a.loss_percent, 0.0, 90.0, "--loss");
  set(o.link.rate_mbit, a.rate_mbit, 0.1, 10000.0, "--rate-mbit");
  if (const double messages = o.seconds * o.hz; messages < 1 || messages > kMostMessages)
    refuse(fmt::format("--seconds {:g} at --hz {:g} are {:g} messages", o.seconds, o.hz, messages),
           fmt::format("use 1 to {} in a round", kMostMessages));
  o.only = some_of("--only", a.only, names_of_v2x_peers());
  return o;
}

class V2xBench {
 public:
  explicit V2xBench(Options options) { report_.options = std::move(options); }

  int run() {
    catch_stop();
    report_.host = describe_host();
    const CpuTicks before = read_cpu_ticks();
    std::unique_ptr<Networks> networks;
    try {
      enter_own_network();
      networks = std::make_unique<Networks>(report_.options.link);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::Unavailable) throw;
      // No rights here; the other parts of `cardan bench all` are not to blame
      report_.left_out.push_back(fmt::format("V2X is left out: {}", e.what()));
      return finish();
    }
    report_.how = networks->how();
    choose();
    if (peers_.empty()) return finish();
    progress_.line(fmt::format("{} B at {:g} Hz over {}: {}; {} peers at once, {} rounds of {:g} s",
                               report_.options.bytes, report_.options.hz, report_.how, report_.options.link.text(),
                               peers_.size(), report_.options.runs, report_.options.seconds));
    for (int round = 0; round < report_.options.runs && !is_stopped(); ++round) {
      progress_.now(fmt::format("round {} of {}", round + 1, report_.options.runs));
      try {
        measure(*networks);
        progress_.plain(fmt::format("round {} of {}", round + 1, report_.options.runs));
      } catch (const Stop&) {
      }
    }
    report_.steal_percent = steal_percent(before, read_cpu_ticks());
    return finish();
  }

 private:
  void choose() {
    for (const Peer& peer : all_v2x_peers()) {
      const auto& only = report_.options.only;
      if (std::find(only.begin(), only.end(), peer.name) == only.end()) continue;
      if (!std::all_of(peer.programs.begin(), peer.programs.end(), can_run)) {
        report_.left_out.push_back(fmt::format("{} is left out; to have it: {}.", peer.name, peer.remedy));
        progress_.line(report_.left_out.back());
        continue;
      }
      peers_.push_back(&peer);
      report_.peers.push_back({.name = peer.name, .title = peer.title});
    }
  }

  /// One round: all peers talk at once, one after the other within a period.
  void measure(const Networks& networks) {
    const TemporaryFolder folder("cardan-bench-v2x");
    for (const char* name : {"one", "two"}) std::filesystem::create_directory(folder.path() + "/" + name);
    std::vector<std::pair<std::unique_ptr<Talk>, PeerResult*>> talks;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const int late_ms =
          static_cast<int>(1000 / report_.options.hz * static_cast<double>(i) / static_cast<double>(peers_.size()));
      auto talk = std::make_unique<Talk>(*peers_[i], report_.options, networks, folder.path(), late_ms);
      if (attempt(*peers_[i], [&] { talk->meet(); })) talks.emplace_back(std::move(talk), &report_.peers[i]);
    }
    if (talks.empty()) return;
    for (auto& [talk, result] : talks) talk->go();
    for (const std::int64_t end = now_ns() + static_cast<std::int64_t>(report_.options.seconds * 1e9);
         now_ns() < end;) {
      check();
      for (auto& [talk, result] : talks) attempt(result->name, [&, t = talk.get()] { t->look(); });
      sleep_until(std::min(end, now_ns() + 200 * kMs));
    }
    for (auto& [talk, result] : talks) attempt(result->name, [&, t = talk.get(), r = result] { t->take(*r); });
  }

  /// False: it failed, which is noted once for each peer.
  template <class Do>
  bool attempt(const std::string& name, Do what) {
    try {
      what();
      return true;
    } catch (const Error& e) {
      check();
      const std::string words = fmt::format("{}: {}", name, e.what());
      if (std::find(report_.failures.begin(), report_.failures.end(), words) == report_.failures.end()) {
        report_.failures.push_back(words);
        progress_.line("failed: " + words);
      }
      return false;
    }
  }
  template <class Do>
  bool attempt(const Peer& peer, Do what) {
    return attempt(std::string(peer.name), what);
  }

  int finish() {
    report_.interrupted = is_stopped();
    std::erase_if(report_.peers, [](const PeerResult& p) { return p.runs.empty(); });
    const auto lost = std::find_if(report_.peers.begin(), report_.peers.end(), [](const PeerResult& p) {
      return p.name.starts_with("cardan-") && p.answered < p.sent;
    });
    const std::string loss =
        lost == report_.peers.end()
            ? ""
            : fmt::format("{}: {} of {} messages got no answer", lost->name, lost->sent - lost->answered, lost->sent);
    return bench::finish(report_, to_table(report_), report_.options.json, to_json(report_), loss);
  }

  Report report_;
  std::vector<const Peer*> peers_;
  Progress progress_;
};

}  // namespace
}  // namespace v2x

std::string names_of_v2x_peers() {
  std::string names;
  for (const v2x::Peer& peer : v2x::all_v2x_peers()) names += (names.empty() ? "" : ",") + std::string(peer.name);
  return names;
}

int run_v2x_bench(const V2xArguments& arguments) {
  if (!arguments.part.empty()) return play_v2x_part(arguments.part.c_str());
  return exit_code_of("v2x", [&] { return v2x::V2xBench(v2x::parse_v2x(arguments)).run(); });
}

}  // namespace cardan::bench

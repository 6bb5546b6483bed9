// SPDX-License-Identifier: Apache-2.0
// The program `cardan-bench`, which `cardan bench` becomes: measures Cardan against its peers on this computer.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/program.hpp"
#ifdef CARDAN_HAS_BRIDGE_BENCH
#include "bench/bridge/bridge.hpp"
#include "bench/bridge/v2x/v2x.hpp"
#endif
#ifdef CARDAN_HAS_RECORD_BENCH
#include "bench/record/record.hpp"
#endif
#include "bench/own_shared_memory.hpp"
#include "bench/pipeline/pipeline.hpp"
#include "bench/results/commands.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/results/host.hpp"
#include "bench/runtime/runtime.hpp"
#include "bench/transport/options.hpp"
#include "bench/transport/peer_modules.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/sensors.hpp"
#include "bench/transport/transport.hpp"

namespace cardan::bench {
namespace {

/// The file of all parts' results. Its folder is looked at before minutes of measuring, which would be for nothing.
void add_json_option(CLI::App& command, std::string& json) {
  command.add_option("--json", json, "Write everything to this file")
      ->check(CLI::Validator(
          [](const std::string& path) -> std::string {
            const auto folder = std::filesystem::absolute(path).parent_path();
            if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
            return fmt::format("cannot write in {}: {}; give a file in a folder that you may write", folder.string(),
                               std::strerror(errno));
          },
          ""));
}

/// A part of the bench, whose `run` returns the exit code.
template <class Arguments>
struct PartOptions {
  template <class Run>
  PartOptions(CLI::App& group, const char* name, const std::string& about, const char* examples, Run run)
      : command(*group.add_subcommand(name, about)), a(*arguments) {
    command.footer(examples);
    add_json_option(command, a.json);
    command.callback([kept = arguments, run] {
      if (const int code = run(*kept); code != 0) throw CLI::RuntimeError(code);
    });
  }
  /// How the bench starts its own processes.
  template <class T>
  void add_hidden(const char* option, T& value) {
    command.add_option(option, value)->group("");
  }

  CLI::App& command;
  std::shared_ptr<Arguments> arguments = std::make_shared<Arguments>();
  Arguments& a;
};

constexpr const char* kExamples = R"(Examples:
  cardan bench transport                                  all peers, the usual sizes, ten minutes
  cardan bench transport --quick                          a look in a minute
  cardan bench transport --peers raw,cardan --sizes 640*480*3 --waits block,prewake
  cardan bench transport --scenarios 1p10s --sizes 4K,4M --runs 5 --json out.json
  cardan bench transport --sensors imu,cv,radar           messages of sensors, as in the Oops! paper
  cardan bench transport --full --scenarios 1p1s          5 x 1000 frames a cell, as in the SIM paper

Exit codes: 0 ok, 1 a run failed or was interrupted, 2 wrong options, 3 a reader of cardan lost or tore a frame.)";

constexpr const char* kRuntimeExamples = R"(Examples:
  cardan bench runtime                    FastCycle's workload, one component to eight, data fusion, some minutes
  cardan bench runtime --quick            a first look
  cardan bench runtime --sizes 32K,4M --runs 10 --json out.json

ROS 1 nodelets are measured too where they are installed; scripts/setup.sh --for bench installs them where it can.
Exit codes: 0 ok, 1 failed or interrupted, 2 wrong options, 3 a component of cardan lost a frame.)";

void add_runtime_bench(CLI::App& group) {
  PartOptions<RuntimeArguments> part(group, "runtime",
                                     "Latency and jitter between components of one process, against a bare "
                                     "hand-over between threads and ROS 1 nodelets; data fusion",
                                     kRuntimeExamples,
                                     [](const RuntimeArguments& a) { return run_runtime_bench(a, allowed_cpus()); });
  auto& a = part.a;
  CLI::App* const command = &part.command;
  command->add_option("--sizes", a.sizes, "Payloads: 32K,256K,1M,4M … to 1G");
  command->add_option("--runs", a.runs, "Rounds over everything, interleaved (default: 5)");
  command->add_option("--frames", a.frames,
                      "Frames per run (default: 1000); the first tenth is discarded. A fusion takes 3 ms for each");
  command->add_option("--publisher-cpu", a.publisher_cpu,
                      "Pin the publisher's thread to this CPU (default: the first)");
  command->add_option("--reader-cpu", a.reader_cpu, "Pin the readers' thread to this one (default: the second)");
  command->add_flag("--quick", a.quick, "One round, one size");
}

#ifdef CARDAN_HAS_RECORD_BENCH
constexpr const char* kRecordExamples = R"(Examples:
  cardan bench record --quick                             a first look
  cardan bench record --folder /mnt/nvme --json out.json  all parts, on the disk of that folder
  cardan bench record --only cameras --peers fio,cardan,rosbag2 --seconds 10
  cardan bench record --full                              10 s a run, five rounds, whole scenes, as in the SPEED paper

fio and ROS 1's rosbag are measured too where they are installed; scripts/setup.sh --for bench installs them where it can.
Exit codes: 0 ok, 1 failed or interrupted, 2 wrong options, 3 Cardan's recorder lost messages that the disk could take.)";

void add_record_bench(CLI::App& group) {
  PartOptions<RecordArguments> part(group, "record",
                                    "Recording: rate, loss, CPU and the effect on other programs, against fio, "
                                    "rosbag2 and rosbag",
                                    kRecordExamples,
                                    [](const RecordArguments& a) { return run_record_bench(a, allowed_cpus()); });
  auto& a = part.a;
  CLI::App* const command = &part.command;
  command->add_option("--only", a.only, "Some of rate,phases,cameras,mix,task,bystander,pipeline (default: all)");
  command->add_option("--peers", a.peers, "Some of fio,cardan,speed,rosbag2,rosbag (default: all)");
  command->add_option("--folder", a.folder, "A folder on the disk to be measured (default: where this was built)");
  command->add_option("--seconds", a.seconds, "How long sensors send in a run (default: 5)");
  command->add_option("--runs", a.runs,
                      "Rounds, interleaved (default: 3; of task and bystander 7, of the cameras' sweep 1)");
  command->add_option("--cameras", a.cameras, "Where the sweep over cameras ends (default: where the disk does)");
  command->add_option("--schedule", a.schedule,
                      "When the sweep's cameras send: absolute, integer-ms as rosbag2's benchmark, or both (default)");
  command->add_option("--producer-cpu", a.producer_cpu, "Pin the sensors to this CPU (default: the first)");
  command->add_option("--task-cpu", a.task_cpu,
                      "Pin the task, the pipeline and the other reader to this one (default: the last)");
  command->add_flag("--keep", a.keep, "Leave the recorded files; they are many, and large");
  command->add_flag("--quick", a.quick, "Short runs, one round, at most two cameras in the sweep");
  command->add_flag("--full", a.full, "10 s a run, five rounds, whole scenes (hours)");
  part.add_hidden("--part", a.part);
}
#endif

#ifdef CARDAN_HAS_BRIDGE_BENCH
constexpr const char* kBridgeExamples = R"(Examples:
  cardan bench bridge                           every row, three rounds, some minutes
  cardan bench bridge --quick                   a first look
  cardan bench bridge --only foxglove,zenoh --json out.json

It runs in its own network namespace (root, or user namespaces). Fast DDS and Zenoh are measured where they are:
apt-get install libfastrtps-dev libfastcdr-dev before the build; make zenoh.
Exit codes: 0 ok, 1 failed or interrupted, 2 wrong options, 3 a bridge lost messages.)";

void add_bridge_bench(CLI::App& group) {
  PartOptions<BridgeArguments> part(
      group, "bridge", "Bridges: arrival, latency, CPU and memory with Fast DDS, Zenoh and a Foxglove client",
      kBridgeExamples, [](const BridgeArguments& a) { return run_bridge_bench(a); });
  auto& a = part.a;
  CLI::App* const command = &part.command;
  command->add_option("--only", a.only, "Some of " + names_of_bridge_rows() + " (default: all)");
  command->add_option("--seconds", a.seconds, "How long the camera sends in a run (default: 10)");
  command->add_option("--runs", a.runs, "Rounds, interleaved (default: 3)");
  command->add_flag("--quick", a.quick, "One round of 2 s");
  part.add_hidden("--part", a.part);
}

constexpr const char* kV2xExamples = R"(Examples:
  cardan bench v2x                              every peer, three rounds of 30 s
  cardan bench v2x --quick                      a first look
  cardan bench v2x --only udp,cardan-dds --bytes 300 --loss 5 --json out.json

Two network namespaces, and a link like Wi-Fi between them (tc netem, or the bench's own where the kernel has no netem).
A small message goes there and back: by UDP and TCP, through cardan bridge dds and zenoh in each, and by Fast DDS. All at
once, one after the other within a period. It needs root or user namespaces, and removes all that it made.
Exit codes: 0 ok, 1 failed or interrupted, 2 wrong options, 3 a message through a bridge of cardan got no answer.)";

void add_v2x_bench(CLI::App& group) {
  PartOptions<V2xArguments> part(group, "v2x",
                                 "The round trip of a small message between two networks over a link like Wi-Fi",
                                 kV2xExamples, [](const V2xArguments& a) { return run_v2x_bench(a); });
  auto& a = part.a;
  CLI::App* const command = &part.command;
  command->add_option("--only", a.only, "Some of " + names_of_v2x_peers() + " (default: all)");
  command->add_option("--bytes", a.bytes, "Of a message: 16 to 60000 (default: 1000)");
  command->add_option("--hz", a.hz, "Messages a second (default: 10)");
  command->add_option("--seconds", a.seconds, "How long they are sent in a run (default: 30)");
  command->add_option("--runs", a.runs, "Rounds (default: 3)");
  command->add_option("--delay-ms", a.delay_ms, "Of the link in each direction (default: 2)");
  command->add_option("--jitter-ms", a.jitter_ms, "Its standard deviation (default: 1)");
  command->add_option("--loss", a.loss_percent,
                      "Percent of the packets that the link loses in each direction (default: 1)");
  command->add_option("--rate-mbit", a.rate_mbit, "Mbit/s of the link (default: 6)");
  command->add_flag("--quick", a.quick, "One round of 15 s");
  // How the bench starts both ends.
  part.add_hidden("--part", a.part);
}
#endif

constexpr const char* kPipelineExamples = R"(Examples:
  cardan bench pipeline                                   all peers on the street video, some minutes
  cardan bench pipeline --quick                           a first look
  cardan bench pipeline --peers raw,cardan,uds --camera drive.mp4 --detector yolov8n.onnx --json out.json
  cardan bench pipeline --peers uds --links results=cardan   one link made by another peer
  cardan bench pipeline --chain lidar                     the LiDAR's pipeline on the simulated street
  cardan bench pipeline --chain lidar --from drive.mcap --topic /lidar/points

camera: camera -> lane finder, detector, tracker -> fusion. lidar: LiDAR -> preprocessing -> localization by NDT ->
perception -> planning -> decision. Each stage is a separate process. The table has the latency of each stage, of the
whole, the ratio of transmission to processing, losses and CPU; of the LiDAR's also how often NDT gives a pose, and how
much sooner the vehicle brakes. The first needs a build with OpenCV, the second one with PCL.
Exit codes: 0 ok, 1 failed or interrupted, 2 wrong options, 3 a link made by cardan lost or tore a frame.)";

void add_pipeline_bench(CLI::App& group) {
  PartOptions<PipelineArguments> part(
      group, "pipeline", "Pipelines with real algorithms in five or six processes, over each peer in turn",
      kPipelineExamples, [](const PipelineArguments& a) { return run_pipeline_bench(a, allowed_cpus()); });
  auto& a = part.a;
  CLI::App* const command = &part.command;
  command->add_option("--chain", a.chain, "camera or lidar (default: camera)");
  command->add_option("--peers", a.peers, "Some of " + names_of_peers() + " (default: all)");
  command->add_option("--waits", a.waits, "How stages wait: some of block,spin,prewake,anticipate (default: block)");
  command->add_option("--links", a.links,
                      "Links that another peer makes: pictures,results,targets of camera, "
                      "scans,points,located,obstacles,plans of lidar, as results=PEER (default: none)");
  command->add_option("--camera", a.inputs.camera,
                      "A video file, or `drawn` (default: the street video, or drawn where there is none)");
  command->add_option("--detector", a.inputs.detector, "An ONNX file (default: OpenCV's pedestrian detector)");
  command->add_option("--threads", a.inputs.threads, "Of OpenCV in the detector (default: as many as there are CPUs)");
  command->add_option("--lidar", a.inputs.lidar,
                      "A pcap file of a Velodyne or a folder of KITTI scans (default: the simulated street)");
  command->add_option("--from", a.inputs.from, "A recording (MCAP) with images or point clouds instead");
  command->add_option("--topic", a.inputs.topic, "Its topic (default: the only one of that kind)");
  command->add_option("--rate", a.rate_hz, "Pictures or scans per second (default: 5 or 10)");
  command->add_option("--frames", a.frames, "Pictures or scans per run (default: 60); the first tenth is discarded");
  command->add_option("--runs", a.runs, "Rounds over all peers, interleaved (default: 3)");
  command->add_flag("--quick", a.quick, "One round of 30 pictures or scans");
  part.add_hidden("--role-fd", a.role_fd);
  part.add_hidden("--role-index", a.role_index);
}

void add_transport_bench(CLI::App& group) {
  PartOptions<TransportArguments> part(
      group, "transport",
      "Latency, loss and CPU of handing frames over: cardan, raw shared memory, SIM, Unix sockets, TCP", kExamples,
      [](const TransportArguments& a) {
        return exit_code_of("transport", [&] { return run_transport_bench(parse_options(a, allowed_cpus())); });
      });
  auto& a = part.a;
  CLI::App* const command = &part.command;
  command->add_option("--peers", a.peers, "Some of " + names_of_peers() + " (default: all)");
  command->add_option("--scenarios", a.scenarios,
                      "Publishers and readers: 1p1s,1p5s,1p10s,5p1s; 4x1p1s: four such links at once");
  command->add_option("--sizes", a.sizes, "Payloads: 128,4K,64K,640*480*3,4M,8M … to 1G; none, with --micro");
  command->add_option("--sensors", a.sensors,
                      "Messages of the papers' sensors at their rates: all, or some of " + names_of_sensors());
  command->add_option("--waits", a.waits,
                      "How readers wait: some of block,spin,prewake,anticipate (default: all), soon");
  command->add_option(
      "--rate", a.rates,
      "Frames per second of each publisher, also several: 20,40,80 (default: 100 up to 64 KiB, 30 above)");
  command->add_option("--conditions", a.conditions,
                      "Surroundings of the frames, one after the other: some of none (default), work=MS, "
                      "load=THREADSxPERCENT, cpu=PERCENT, fifo; several at once as work=20+fifo");
  command->add_option("--runs", a.runs, "Rounds over everything, interleaved (default: 5)");
  command->add_option("--frames", a.frames, "Frames per run; the first tenth (at least 10) is discarded");
  command->add_option("--minutes", a.minutes, "Start no round that would end later");
  command->add_option("--publisher-cpu", a.publisher_cpu, "Pin publishers to this CPU (default: the first)");
  command->add_option("--reader-cpus", a.reader_cpus, "Pin readers to these in turn (default: all others)");
  command->add_flag("--full", a.full, "5 rounds of 1000 frames, 100 discarded, all sizes and scenarios (hours)");
  command->add_flag("--quick", a.quick, "One round, two sizes");
  command->add_flag("--micro", a.micro, "Also single operations: loan + publish, attach, discovery");
  part.add_hidden("--role-fd", a.role_fd);
  part.add_hidden("--role-index", a.role_index);
}

/// Whether this process is one that the bench has started. It loads the peers' modules that it needs.
bool is_role(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* word) {
    return std::string_view(word) == "--role-fd" || std::string_view(word) == "--part";
  });
}

void add_bench(CLI::App& app) {
  auto* const group = app.add_subcommand("bench", "Measure Cardan against its peers on this computer");
  group->require_subcommand(1);
  add_result_commands(*group);
  add_runtime_bench(*group);
#ifdef CARDAN_HAS_RECORD_BENCH
  add_record_bench(*group);
#endif
#ifdef CARDAN_HAS_BRIDGE_BENCH
  add_bridge_bench(*group);
  add_v2x_bench(*group);
#endif
  add_pipeline_bench(*group);
  add_transport_bench(*group);
}

}  // namespace
}  // namespace cardan::bench

int main(int argc, char** argv) {
  if (!cardan::bench::is_role(argc, argv)) {
    cardan::bench::enter_own_shared_memory();  // before a peer's library starts a thread
    const std::vector<std::string> failures = cardan::bench::load_all_modules();
    // A page of help or a comparison needs no peer.
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    const auto says = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    if ((says("transport") || says("pipeline")) && !says("--help") && !says("-h"))
      for (const std::string& failure : failures) fmt::print(stderr, "cardan bench: {}\n", failure);
  }
  CLI::App app{"The benchmarks of Cardan", "cardan"};
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  cardan::bench::add_bench(app);
  return cardan::apps::run_program(app, {argv + 1, argv + argc});
}

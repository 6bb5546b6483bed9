// SPDX-License-Identifier: Apache-2.0
#include "bench/record/record_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "bench/record/peers/fio.hpp"
#include "bench/record/pipeline.hpp"
#include "bench/record/recorder_process.hpp"
#include "bench/record/work.hpp"
#include "bench/results/words.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::recording {
namespace {

constexpr double kEaseOfDisk = 0.8;       // of fio's rate: what a disk takes without a queue
constexpr double kReserve = 3e9;          // bytes that stay free: the recorder keeps 1 GiB, and files are rounded up
constexpr double kOverload = 1.3;         // of fio's rate: more than any recorder can write
constexpr std::uint32_t kMixCameras = 8;  // SPEED's Fig. 9
constexpr std::uint32_t kGigabyteCameras = 5;  // 995 MB/s
constexpr std::uint32_t kPipelineCameras = 3;
constexpr std::uint32_t kMostSweep = 24;

std::string described(Peer peer) { return fmt::format("{} ({})", name_of(peer), how_of(peer)); }

}  // namespace

RecordBench::RecordBench(const RecordOptions& options, Stopped asked)
    : options_(options),
      folder_(options.folder, options.keep),
      setting_{.run_dir = run_directory_.path(),
               .producer_cpu = options.producer_cpu,
               .task_cpu = options.task_cpu,
               .unit_steps = calibrate_unit(),
               .stopped = asked} {
  circumstances_.host = describe_host();
  circumstances_.file_system = folder_.file_system();
  const double least = bytes_per_second(recording::cameras(1)) * options_.seconds + kReserve;
  if (static_cast<double>(folder_.free_bytes()) < least)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("the disk of {} has {:.1f} GB free, the least that is needed is {:.1f} GB", folder_.path(),
                            static_cast<double>(folder_.free_bytes()) / 1e9, least / 1e9),
                "choose another with --folder, or fewer --seconds");
  if (options_.has(Peer::Fio) && find_fio().empty())
    leave_out("fio left out, and with it the disk's limit; to have it: apt-get install fio.");
  if (options_.has(Peer::Rosbag) && options_.has(Part::Cameras))
    if (std::string why = why_no_rosbag(); !why.empty()) leave_out(std::move(why));
}

void RecordBench::leave_out(std::string sentence) {
  auto& all = circumstances_.left_out;
  if (std::find(all.begin(), all.end(), sentence) != all.end()) return;
  progress_.line(sentence);
  all.push_back(std::move(sentence));
}

void RecordBench::fail(std::string sentence) {
  progress_.line("failed: " + sentence);
  circumstances_.failures.push_back(std::move(sentence));
}

std::vector<Peer> RecordBench::those_here(std::vector<Peer> peers) const {
  std::erase_if(peers, [&](Peer peer) {
    if (!options_.has(peer) || failed_.contains(peer)) return true;
    if (peer == Peer::Fio || peer == Peer::FioBuffered) return find_fio().empty();
    if (peer == Peer::Rosbag) return !why_no_rosbag().empty();
    return false;
  });
  return peers;
}

Row& RecordBench::row_for(Peer peer, const Load& load) {
  for (Row& row : rows_)
    if (row.part == load.part && row.peer == peer && row.schedule == load.schedule && row.cameras == load.cameras &&
        row.scene == load.scene)
      return row;
  Row& row = rows_.emplace_back();
  row.part = load.part;
  row.peer = peer;
  row.schedule = load.schedule;
  row.cameras = load.cameras;
  row.scene = load.scene;
  row.bytes_per_second = bytes_per_second(load.sensors);
  return row;
}

double RecordBench::fio_rate(Peer peer) const {
  for (const Row& row : rows_)
    if (row.part == Part::Rate && row.peer == peer && !row.runs.empty())
      return row.median_of([](const RunFigures& run) { return run.bytes_per_second(); });
  return 0;
}

std::optional<RunFigures> RecordBench::measure(Peer peer, const Load& load, std::uint32_t round) {
  const double needed = bytes_per_second(load.sensors) * load.seconds * 1.05 + kReserve;
  if (peer != Peer::Alone && peer != Peer::Unrecorded && static_cast<double>(folder_.free_bytes()) < needed) {
    leave_out(fmt::format("{}, {} cameras: left out, because {:.0f} GB would have to be free on the disk.",
                          name_of(load.part), load.cameras, needed / 1e9));
    return std::nullopt;
  }
  RunSpec spec{.peer = peer,
               .sensors = load.sensors,
               .schedule = load.schedule,
               .seconds = load.seconds,
               .reader = load.reader,
               .task = load.task,
               .scene = load.scene};
  const std::string what =
      fmt::format("{}{}, {}{}, round {}", name_of(load.part), load.scene != 0 ? fmt::format(" {}", load.scene) : "",
                  described(peer), load.cameras > 0 ? fmt::format(", {} cameras", load.cameras) : "", round + 1);
  auto best = least_disturbed(
      [&](int attempt) -> std::optional<RunFigures> {
        progress_.now(what + (attempt > 0 ? " (again: steal)" : ""));
        folder_.clear();
        spec.file = folder_.file(fmt::format("{}-{}-{}-{}-{}-{}", name_of(load.part), static_cast<int>(peer),
                                             load.cameras, rows_.size(), round, attempt));
        try {
          return run_once(spec, setting_);
        } catch (const std::exception& e) {
          if (stopped()) return std::nullopt;
          fail(fmt::format("{}: {}", what, e.what()));
          if (peer == Peer::Rosbag) failed_.insert(peer);
          return std::nullopt;
        }
      },
      1);
  folder_.clear();
  if (stopped()) return std::nullopt;
  if (best) {
    Row& row = row_for(peer, load);
    row.stolen = row.stolen || best->steal_percent > kMostStealPercent;
    row.runs.push_back(*best);
    progress_.plain(
        fmt::format("{}: {:.2f} % recorded, {:.0f} MB/s", what, 100 * best->share(), best->bytes_per_second() / 1e6));
  }
  return best;
}

void RecordBench::compare(const std::vector<Peer>& peers, const Load& load, std::uint32_t runs) {
  const std::vector<Peer> here = those_here(peers);
  for (std::uint32_t round = 0; round < runs; ++round)
    for (std::size_t turn = 0; turn < here.size() && !stopped(); ++turn)
      measure(here[(turn + round) % here.size()], load, round);
}

void RecordBench::run_fio_once(bool direct, std::uint32_t round) {
  const Peer peer = direct ? Peer::Fio : Peer::FioBuffered;
  const auto room = static_cast<std::uint64_t>(std::max(0.0, static_cast<double>(folder_.free_bytes()) - kReserve));
  const std::uint64_t bytes = std::min(options_.rate_bytes, room);
  const auto figures = least_disturbed(
      [&](int /*attempt*/) -> std::optional<RunFigures> {
        progress_.now(fmt::format("rate, {}, round {}", described(peer), round + 1));
        folder_.clear();
        const CpuTicks before = read_cpu_ticks();
        try {
          const FioResult fio = run_fio(folder_.file("fio"), direct, bytes, options_.rate_seconds, setting_.stopped);
          if (stopped()) return std::nullopt;
          const CpuTicks after = read_cpu_ticks();
          circumstances_.fio_version = fio.version;
          auto& commands = circumstances_.fio_commands;
          if (std::find(commands.begin(), commands.end(), fio.command) == commands.end())
            commands.push_back(fio.command);
          return RunFigures{.file_bytes = fio.bytes,
                            .seconds = fio.seconds,
                            .recording_cpu_s = cpu_seconds(before, after),
                            .steal_percent = steal_percent(before, after)};
        } catch (const std::exception& e) {
          if (!stopped()) fail(fmt::format("rate, {}: {}", described(peer), e.what()));
          failed_.insert(peer);
          return std::nullopt;
        }
      },
      1);
  if (figures) {
    Row& row = row_for(peer, {});
    row.stolen = row.stolen || figures->steal_percent > kMostStealPercent;
    row.runs.push_back(*figures);
    progress_.plain(fmt::format("rate, {}: {:.0f} MB/s", described(peer), figures->bytes_per_second() / 1e6));
  }
  folder_.clear();
}

void RecordBench::run() {
  const CpuTicks before = read_cpu_ticks();
  const auto part = [&](Part which, void (RecordBench::*measure_part)()) {
    if (options_.has(which) && !stopped()) (this->*measure_part)();
  };
  // The disk's limit also says where the cameras' sweep ends, and what a recorder may be blamed for.
  if (!options_.has(Part::Rate) && (options_.has(Part::Cameras) || options_.has(Part::Mix)) &&
      !those_here({Peer::Fio}).empty())
    run_fio_once(true, 0);
  part(Part::Rate, &RecordBench::rate);
  part(Part::Phases, &RecordBench::phases);
  part(Part::Cameras, &RecordBench::cameras);
  part(Part::Mix, &RecordBench::mix);
  part(Part::Task, &RecordBench::task);
  part(Part::Bystander, &RecordBench::bystander);
  part(Part::Pipeline, &RecordBench::pipeline);
  circumstances_.steal_percent = steal_percent(before, read_cpu_ticks());
  circumstances_.interrupted = stopped();
}

void RecordBench::rate() {
  const std::vector<Peer> contenders{Peer::Fio,        Peer::FioBuffered, Peer::Cardan,
                                     Peer::CardanAsap, Peer::Speed,       Peer::Rosbag2};
  for (std::uint32_t round = 0; round < options_.runs; ++round) {
    std::vector<Peer> here = those_here(contenders);
    // The first round has fio first, because the others need its figure; later ones rotate.
    std::rotate(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(here.empty() ? 0 : round % here.size()),
                here.end());
    for (const Peer peer : here) {
      if (stopped()) return;
      if (peer == Peer::Fio || peer == Peer::FioBuffered) {
        run_fio_once(peer == Peer::Fio, round);
        continue;
      }
      // More cameras than the disk takes, for as long as fio needed for its bytes.
      const double limit = fio_rate(peer == Peer::Rosbag2 ? Peer::FioBuffered : Peer::Fio);
      const double offered = limit > 0 ? kOverload * limit : 3e9;
      const auto count = static_cast<std::uint32_t>(offered / bytes_per_second(recording::cameras(1))) + 1;
      const double seconds = std::min(options_.rate_seconds, static_cast<double>(options_.rate_bytes) /
                                                                 bytes_per_second(recording::cameras(count)));
      // Rows are found by the number of cameras: in all rounds that of the first.
      const Row* known = nullptr;
      for (const Row& row : rows_)
        if (row.part == Part::Rate && row.peer == peer) known = &row;
      const std::uint32_t fixed = known != nullptr ? known->cameras : count;
      measure(peer, {.part = Part::Rate, .sensors = recording::cameras(fixed), .cameras = fixed, .seconds = seconds},
              round);
    }
  }
}

void RecordBench::phases() {
  compare({Peer::Cardan, Peer::Speed, Peer::Rosbag2, Peer::Rosbag2Topics},
          {.part = Part::Phases, .sensors = recording::cameras(1), .cameras = 1, .seconds = 2 * options_.seconds},
          options_.runs);
}

void RecordBench::cameras() {
  for (std::uint32_t round = 0; round < options_.camera_runs; ++round)
    for (const Schedule schedule : options_.schedules) sweep(schedule, round);
}

void RecordBench::sweep(Schedule schedule, std::uint32_t round) {
  std::uint32_t last = options_.most_cameras > 0 ? options_.most_cameras : kMostSweep;
  if (const double limit = fio_rate(Peer::Fio); limit > 0 && options_.most_cameras == 0)
    last = static_cast<std::uint32_t>(kOverload * limit / bytes_per_second(recording::cameras(1))) + 1;
  const auto whole = [&](Peer peer, std::uint32_t count) -> std::optional<bool> {
    const auto figures = measure(peer,
                                 {.part = Part::Cameras,
                                  .sensors = recording::cameras(count),
                                  .cameras = count,
                                  .schedule = schedule,
                                  .seconds = options_.seconds},
                                 round);
    return figures ? std::optional(figures->whole()) : std::nullopt;
  };
  for (const Peer peer : those_here({Peer::Cardan, Peer::Speed, Peer::Rosbag2, Peer::Rosbag2Topics, Peer::Rosbag})) {
    std::uint32_t before = 0;
    for (std::uint32_t count = 1; count <= last && !stopped(); count += count < 4 ? 1 : 2) {
      const auto fitted = whole(peer, count);
      if (!fitted) break;
      if (*fitted) {
        before = count;
        continue;
      }
      // The number between, and one beyond, so that the fall is seen.
      if (count == before + 2) static_cast<void>(whole(peer, count - 1));
      if (count + 1 <= last) static_cast<void>(whole(peer, count + 1));
      break;
    }
  }
}

void RecordBench::mix() {
  const Sensors all = all_sensors(kMixCameras);
  if (const double limit = fio_rate(Peer::Fio); limit > 0 && bytes_per_second(all) > limit)
    leave_out(fmt::format("Eight cameras and all other sensors make {:.2f} GB/s, which this disk does not take.",
                          bytes_per_second(all) / 1e9));
  compare({Peer::Cardan, Peer::Speed, Peer::Rosbag2, Peer::Rosbag2Topics},
          {.part = Part::Mix, .sensors = all, .cameras = kMixCameras, .seconds = options_.seconds}, options_.runs);
}

void RecordBench::task() {
  compare(
      {Peer::Alone, Peer::Unrecorded, Peer::Cardan, Peer::CardanAsap, Peer::Speed, Peer::Rosbag2, Peer::Rosbag2Topics},
      {.part = Part::Task,
       .sensors = recording::cameras(kGigabyteCameras),
       .cameras = kGigabyteCameras,
       .seconds = options_.seconds,
       .task = true},
      options_.task_runs);
}

void RecordBench::bystander() {
  compare({Peer::Unrecorded, Peer::Cardan, Peer::Speed, Peer::Rosbag2Topics},
          {.part = Part::Bystander,
           .sensors = recording::cameras(1),
           .cameras = 1,
           .seconds = options_.seconds,
           .reader = true},
          options_.bystander_runs);
}

void RecordBench::pipeline() {
  for (const Scene& scene : kScenes)
    compare({Peer::Unrecorded, Peer::Cardan, Peer::CardanAsap, Peer::Rosbag2Topics},
            {.part = Part::Pipeline,
             .sensors = pipeline_sensors(kPipelineCameras),
             .cameras = kPipelineCameras + 1,
             .seconds = std::max(0.5, scene.seconds * options_.scene_share),
             .scene = scene.name},
            options_.pipeline_runs);
}

std::uint64_t RecordBench::lost_within_reach() const {
  const double reach = kEaseOfDisk * fio_rate(Peer::Fio);
  std::uint64_t lost = 0;
  for (const Row& row : rows_) {
    if (!is_ours(row.peer)) continue;
    for (const RunFigures& run : row.runs) {
      lost += run.damaged;
      if (row.bytes_per_second <= reach) lost += run.made - std::min(run.made, run.recorded);
    }
  }
  return lost;
}

}  // namespace cardan::bench::recording

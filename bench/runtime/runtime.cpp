// SPDX-License-Identifier: Apache-2.0
#include "bench/runtime/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/results/arguments.hpp"
#include "bench/results/exit_code.hpp"
#include "bench/results/host.hpp"
#include "bench/results/measurement.hpp"
#include "bench/results/occasion.hpp"
#include "bench/results/words.hpp"
#include "bench/runtime/fusion_report.hpp"
#include "bench/runtime/nodelet/nodelet.hpp"
#include "bench/runtime/system_report.hpp"
#include "bench/runtime/workload.hpp"
#include "bench/transport/options.hpp"
#include "bench/transport/progress.hpp"
#include "cardan/error.hpp"
#include "src/system/launcher/system_lock.hpp"

namespace cardan::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A peer in a cell, over all runs.
struct RuntimeRow {
  RuntimePeer peer{};
  RuntimeCell cell{};
  std::uint32_t runs = 0;
  std::uint64_t sent = 0, lost = 0;
  double steal_percent = 0;
  bool stolen = false;
  std::vector<double> latency{}, rtt{}, first{}, last{};
  std::vector<double> run_means{};
  std::vector<MeasuredRun> latency_runs{}, rtt_runs{}, spread_runs{}, last_runs{};
  std::vector<double> p50_ratio{}, mean_ratio{}, p99_ratio{}, tail_ratio{}, std_ratio{},
      rtt_ratio{};  ///< to handover of the same run
};

double tail_of(const Summary& s) { return s.p99 - s.p50; }

Json figures_of(const std::vector<double>& samples) { return to_json(summarize(samples)); }

Json to_json(const RuntimeRow& row, const RuntimeBenchOptions& options) {
  Json out;
  out["peer"] = name_of(row.peer);
  out["wait"] = variant_of(row.peer);
  out["scenario"] = row.cell.echo ? "fastcycle" : fmt::format("1p{}c", row.cell.readers);
  out["bytes"] = row.cell.bytes;
  out["rate_hz"] = 1e9 / static_cast<double>(options.interval_ns);
  out["runs"] = row.runs;
  out["sent"] = row.sent;
  out["lost"] = row.lost;
  out["transport_us"] = figures_of(row.latency);
  const auto ci = confidence95(row.run_means);
  out["transport_us"]["ci95"] = ci ? Json{rounded(ci->first), rounded(ci->second)} : Json(nullptr);
  if (!row.rtt.empty()) out["rtt_us"] = figures_of(row.rtt);
  if (!row.last.empty()) {
    out["first_us"] = figures_of(row.first);
    out["last_us"] = figures_of(row.last);
  }
  out["steal_percent"] = rounded(row.steal_percent);
  out["stolen"] = row.stolen;
  if (row.peer != RuntimePeer::Handover && !row.mean_ratio.empty())
    out["ratio_to_handover"] = {
        {"transport_mean", rounded(median(row.mean_ratio))},
        {"transport_p50", rounded(median(row.p50_ratio))},
        {"transport_p99", rounded(median(row.p99_ratio))},
        {"transport_p99_minus_p50", rounded(median(row.tail_ratio))},
        {"transport_std", rounded(median(row.std_ratio))},
        {"rtt_mean", row.rtt_ratio.empty() ? Json(nullptr) : Json(rounded(median(row.rtt_ratio)))}};
  return out;
}

std::vector<Measurement> measurements_of(const RuntimeRow& row, const RuntimeBenchOptions& options) {
  const Measurement frame{.part = "runtime",
                          .peer = std::string(name_of(row.peer)),
                          .setup = std::string(variant_of(row.peer)),
                          .cell = row.cell.echo ? "fastcycle" : fmt::format("1p{}c", row.cell.readers),
                          .unit = "us",
                          .bytes = static_cast<double>(row.cell.bytes),
                          .rate_hz = 1e9 / static_cast<double>(options.interval_ns),
                          .publishers = 1,
                          .readers = row.cell.readers,
                          .noisy = row.stolen,
                          .command = fmt::format("cardan bench runtime --sizes {} --runs {} --frames {}",
                                                 row.cell.bytes, options.runs, options.frames)};
  std::vector<Measurement> all;
  const auto add = [&](const char* quantity, const std::vector<MeasuredRun>& runs) {
    if (runs.empty()) return;
    all.push_back(frame);
    all.back().quantity = quantity;
    all.back().runs = runs;
  };
  add("transport", row.latency_runs);
  all.back().due = row.sent * row.cell.readers;
  all.back().lost = std::min(row.lost, *all.back().due);
  add("round trip", row.rtt_runs);
  add("first to last reader", row.spread_runs);
  add("last reader", row.last_runs);
  return all;
}

std::string title_of(const RuntimeCell& cell) {
  return cell.echo ? fmt::format("FastCycle's workload: {} each millisecond, and back", name_of_bytes(cell.bytes))
                   : fmt::format("1 component to {}: {} each millisecond, callbacks that only stamp", cell.readers,
                                 name_of_bytes(cell.bytes));
}

std::string table_line(const RuntimeRow& row) {
  const Summary s = summarize(row.latency);
  std::string line = fmt::format("  {:<9}{:<9}", name_of(row.peer), variant_of(row.peer));
  line += fmt::format("{:>9}{:>9}{:>9}{:>9}{:>9}", three_digits(s.mean), three_digits(s.p50), three_digits(s.p99),
                      three_digits(s.max), three_digits(s.std));
  line += fmt::format("{:>9}", row.rtt.empty() ? "" : three_digits(summarize(row.rtt).mean));
  line += fmt::format("{:>9}{:>9}", row.last.empty() ? "" : three_digits(summarize(row.first).p50),
                      row.last.empty() ? "" : three_digits(summarize(row.last).p50));
  line += fmt::format("{:>7}{:>6}", row.sent, row.lost);
  if (row.peer != RuntimePeer::Handover && !row.mean_ratio.empty())
    line += fmt::format("   {:.2f} / {:.2f}   {:.2f} / {:.2f}", median(row.mean_ratio), median(row.p99_ratio),
                        median(row.tail_ratio), median(row.std_ratio));
  return line + (row.stolen ? "  stolen\n" : "\n");
}

void add(RuntimeRow& row, const RuntimeSamples& run, const RuntimeSamples& reference) {
  ++row.runs;
  row.sent += run.sent;
  row.lost += run.lost;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(row.latency, run.latency_us);
  append(row.rtt, run.rtt_us);
  append(row.first, run.first_us);
  append(row.last, run.last_us);
  row.latency_runs.push_back(make_run(run.latency_us, run.steal_percent));
  if (!run.rtt_us.empty()) row.rtt_runs.push_back(make_run(run.rtt_us, run.steal_percent));
  if (!run.last_us.empty()) {
    std::vector<double> spread;
    for (std::size_t i = 0; i < run.last_us.size(); ++i) spread.push_back(run.last_us[i] - run.first_us[i]);
    row.spread_runs.push_back(make_run(std::move(spread), run.steal_percent));
    row.last_runs.push_back(make_run(run.last_us, run.steal_percent));
  }
  const Summary s = summarize(run.latency_us);
  const Summary r = summarize(reference.latency_us);
  row.run_means.push_back(s.mean);
  if (s.count == 0 || r.count == 0) return;
  row.mean_ratio.push_back(s.mean / r.mean);
  row.p50_ratio.push_back(s.p50 / r.p50);
  row.p99_ratio.push_back(s.p99 / r.p99);
  if (tail_of(r) > 0) row.tail_ratio.push_back(tail_of(s) / tail_of(r));
  if (r.std > 0) row.std_ratio.push_back(s.std / r.std);
  if (!run.rtt_us.empty() && !reference.rtt_us.empty())
    row.rtt_ratio.push_back(summarize(run.rtt_us).mean / summarize(reference.rtt_us).mean);
}

RuntimeBenchOptions options_of(const RuntimeArguments& a, const std::vector<int>& cpus) {
  RuntimeBenchOptions o;
  o.publisher_cpu = choose_cpu("--publisher-cpu", a.publisher_cpu, 0, cpus);
  o.reader_cpu = choose_cpu("--reader-cpu", a.reader_cpu, 1, cpus);
  if (a.quick) o.runs = 1;
  if (a.runs != 0) o.runs = static_cast<std::uint32_t>(std::clamp(a.runs, 1, 1000));
  if (a.frames != 0) o.frames = static_cast<std::uint32_t>(std::clamp(a.frames, 20, 1'000'000));
  o.warmup = std::max(10U, o.frames / 10);
  // 3 s for 1000 frames; a first look has half of it. Less than a second has too few sets.
  o.fusion_cycles = std::max(10U, o.frames * (a.quick ? 15 : 30) / 1000);
  for (const std::string& word : split(a.sizes.empty() ? (a.quick ? "4M" : "32K,256K,1M,4M") : a.sizes))
    o.cells.push_back({parse_size(word), 1, true});
  o.cells.push_back({o.cells.back().bytes, 8, false});
  return o;
}

class RuntimeBench {
 public:
  explicit RuntimeBench(const RuntimeBenchOptions& options) : options_(options), fusion_(options) {
    if (std::string why = why_no_nodelets(); why.empty())
      peers_.insert(peers_.end(), {RuntimePeer::Nodelet, RuntimePeer::NodeletNew});
    else
      occasion_.left_out.push_back(std::move(why));
    for (const RuntimeCell& cell : options_.cells)
      for (const RuntimePeer peer : peers_) rows_.push_back({.peer = peer, .cell = cell});
  }

  void run() {
    for (std::uint32_t round = 0; round < options_.runs; ++round) {
      for (std::size_t cell = 0; cell < options_.cells.size(); ++cell) {
        if (is_stopped()) return;
        run_cell(round, cell);
      }
      run_fusions(round);
    }
  }

  [[nodiscard]] const std::vector<RuntimeRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] const FusionReport& fusion() const noexcept { return fusion_; }
  [[nodiscard]] Occasion& occasion() noexcept { return occasion_; }

 private:
  void run_cell(std::uint32_t round, std::size_t cell) {
    std::vector<std::optional<RuntimeSamples>> samples(peers_.size());
    for (const std::size_t i : order_of(peers_.size(), round)) {
      RuntimeRow& row = rows_[cell * peers_.size() + i];
      progress_.now(fmt::format("round {} of {}: {}, {} {}", round + 1, options_.runs, title_of(row.cell),
                                name_of(row.peer), variant_of(row.peer)));
      samples[i] = least_disturbed([&](int /*repetition*/) -> std::optional<RuntimeSamples> {
        if (is_stopped()) return std::nullopt;
        const CpuTicks before = read_cpu_ticks();
        auto run = run_peer(row);
        if (run) run->steal_percent = steal_percent(before, read_cpu_ticks());
        return run;
      });
      if (is_stopped()) return;
      if (!samples[i]) continue;
      row.steal_percent = std::max(row.steal_percent, samples[i]->steal_percent);
      row.stolen = row.stolen || samples[i]->steal_percent > kMostStealPercent;
    }
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (samples[i]) add(rows_[cell * peers_.size() + i], *samples[i], *samples[0]);
    progress_.plain(fmt::format("round {} of {}: {}", round + 1, options_.runs, title_of(options_.cells[cell])));
  }

  void run_fusions(std::uint32_t round) {
    const std::string where = fmt::format("round {} of {}", round + 1, options_.runs);
    fusion_.run_round(round, is_stopped,
                      [&](const std::string& what) { progress_.now(fmt::format("{}: {}", where, what)); });
    if (!is_stopped()) progress_.plain(where + ": fusion of four topics");
  }

  /// Empty: it failed, now or before, which only a peer that is a program of others may do.
  std::optional<RuntimeSamples> run_peer(const RuntimeRow& row) {
    if (row.peer == RuntimePeer::Handover) return run_handover(row.cell, options_);
    if (is_cardan(row.peer)) return run_components(row.cell, row.peer, options_);
    if (!occasion_.failures.empty()) return std::nullopt;
    try {
      return run_nodelet(row.cell, row.peer, options_, is_stopped);
    } catch (const Error& e) {
      occasion_.failures.push_back(fmt::format("nodelet (ROS 1): {}", e.what()));
      progress_.line("failed: " + occasion_.failures.back());
      return std::nullopt;
    }
  }

  const RuntimeBenchOptions& options_;
  std::vector<RuntimePeer> peers_{RuntimePeer::Handover, RuntimePeer::Pointer,
                                  RuntimePeer::Slot};  // the reference first
  std::vector<RuntimeRow> rows_;
  FusionReport fusion_;
  Occasion occasion_;
  Progress progress_;
};

}  // namespace

int run_runtime_bench(const RuntimeArguments& arguments, const std::vector<int>& cpus) {
  return exit_code_of("runtime", [&] {
    const RuntimeBenchOptions options = options_of(arguments, cpus);
    const launcher::SystemLock lock("bench-runtime", "");  // two at once would spoil each other's figures
    catch_stop();
    if (cpus.size() < 2) fmt::print(stderr, "cardan bench runtime: one CPU only: publisher and readers share it\n");

    const CpuTicks before = read_cpu_ticks();
    RuntimeBench bench(options);
    bench.run();
    Occasion& occasion = bench.occasion();
    occasion.steal_percent = steal_percent(before, read_cpu_ticks());
    occasion.host = describe_host();
    const SystemReport system = is_stopped() ? SystemReport() : measure_system(arguments.quick, is_stopped);
    occasion.interrupted = is_stopped();

    std::string table = head_of(occasion);
    std::vector<Measurement> measurements = system.measurements();
    for (Measurement& m : bench.fusion().measurements()) measurements.push_back(std::move(m));
    Json json = to_json(occasion);
    json["rows"] = Json::array();
    bool lost = system.lost() || bench.fusion().lost();
    const RuntimeRow* last = nullptr;
    for (const RuntimeRow& row : bench.rows()) {
      if (row.runs == 0) continue;
      if (last == nullptr || last->cell.bytes != row.cell.bytes || last->cell.readers != row.cell.readers)
        table += fmt::format(
            "\n{}\n  peer     how           mean      p50      p99      max      std      rtt    first     last   sent"
            "  lost   × handover: mean / p99   p99−p50 / std\n",
            title_of(row.cell));
      table += table_line(row);
      json["rows"].push_back(to_json(row, options));
      for (Measurement& m : measurements_of(row, options)) measurements.push_back(std::move(m));
      last = &row;
      lost = lost || (is_cardan(row.peer) && row.lost != 0);
    }
    table += fmt::format("{}\nTimes in µs.\n{}{}", bench.fusion().text(), system.text(), tail_of(occasion));
    for (const auto& rows : {bench.fusion().rows(), system.rows()})
      for (const Json& row : rows) json["rows"].push_back(row);
    json["measurements"] = to_json(measurements);
    return finish(occasion, table, arguments.json, json, lost ? "components of cardan lost frames" : "");
  });
}

}  // namespace cardan::bench

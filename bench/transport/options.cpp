// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "bench/transport/peer_modules.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/sensors.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kCamera = 640 * 480 * 3;
constexpr std::size_t kSmallestPayload = 16;
constexpr std::size_t kLargestPayload = 1024 * kMiB;
constexpr std::uint32_t kMostProcesses = 64;  // that publish on a topic, or read it
constexpr std::uint32_t kMostLinks = 64;
constexpr std::uint32_t kMostProcessesOfAll = 2 * kMostProcesses;
constexpr int kMostFrames = 1'000'000;
constexpr std::string_view kAsk = "ask";
constexpr int kMostRuns = 1'000;
constexpr double kSlowestHz = 0.1, kFastestHz = 100'000;
// Starting and joining the processes of one run, measured with some reserve.
constexpr double kSetUpSeconds = 0.2;
constexpr double kSetUpSecondsOfLink = 0.05;  // of each further link
// The single operations of --micro, once.
constexpr double kOperationsSeconds = 10;

std::optional<std::uint64_t> to_number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::size_t> unit_of(std::string_view suffix) {
  if (suffix.empty() || suffix == "B") return 1;
  if (suffix == "K" || suffix == "k" || suffix == "KiB") return kKiB;
  if (suffix == "M" || suffix == "MiB") return kMiB;
  if (suffix == "G" || suffix == "GiB") return 1024 * kMiB;
  return std::nullopt;
}

std::vector<Wait> parse_waits(const std::string& text) {
  std::vector<Wait> waits;
  for (const auto& word : split(text)) {
    const auto all = {Wait::Block, Wait::Spin, Wait::Prewake, Wait::Soon, Wait::Anticipate};
    const auto found = std::find_if(all.begin(), all.end(), [&](Wait w) { return name_of(w) == word; });
    if (found == all.end()) {
      refuse(fmt::format("--waits: unknown wait strategy `{}`", word),
             "use some of block,spin,prewake,soon,anticipate");
    }
    waits.push_back(*found);
  }
  return waits;
}

std::vector<const PeerKind*> parse_peers(const std::string& text) {
  std::vector<const PeerKind*> peers;
  for (const auto& word : split(text)) {
    const PeerKind* const found = find_peer(word);
    if (found == nullptr)
      refuse(fmt::format("--peers: unknown peer `{}`", word),
             module_remedy(word).empty() ? fmt::format("use some of {}", names_of_peers()) : module_remedy(word));
    if (std::find(peers.begin(), peers.end(), found) == peers.end()) peers.push_back(found);
  }
  return peers;
}

std::vector<Contender> make_contenders(const std::vector<const PeerKind*>& peers, const std::vector<Wait>& waits) {
  std::vector<Contender> out;
  for (const PeerKind* const kind : peers)
    for (const Wait wait : kind->waits(waits)) out.push_back({kind->peer, wait});
  return out;
}

std::vector<int> parse_cpus(const std::string& text, const std::vector<int>& allowed) {
  std::vector<int> out;
  for (const auto& word : split(text)) {
    const auto number = to_number(word);
    if (!number || *number > 1 << 16)
      refuse(fmt::format("--reader-cpus: `{}` is not a CPU", word), "use numbers such as 1,2,3");
    out.push_back(choose_cpu("--reader-cpus", static_cast<int>(*number), 0, allowed));
  }
  return out;
}

std::vector<const Sensor*> parse_sensors(const std::string& text) {
  std::vector<const Sensor*> sensors;
  for (const auto& word : split(text == "all" ? names_of_sensors() : text)) {
    const Sensor* const found = find_sensor(word);
    if (found == nullptr)
      refuse(fmt::format("--sensors: unknown sensor `{}`", word),
             fmt::format("use all or some of {}", names_of_sensors()));
    if (std::find(sensors.begin(), sensors.end(), found) == sensors.end()) sensors.push_back(found);
  }
  return sensors;
}

/// Single operations alone.
bool has_no_frames(const TransportArguments& a) { return a.sizes == "none" && a.sensors.empty(); }

std::vector<double> parse_rates(const std::string& text) {
  std::vector<double> rates;
  for (const auto& word : split(text)) {
    const auto rate = number_in(word, kSlowestHz, kFastestHz);
    if (!rate)
      refuse(fmt::format("--rate {} is out of range", word),
             fmt::format("use {:g} to {:g} Hz; several are separated by commas", kSlowestHz, kFastestHz));
    if (std::find(rates.begin(), rates.end(), *rate) == rates.end()) rates.push_back(*rate);
  }
  return rates;
}

void set_frames(Cell& cell, const TransportArguments& arguments) {
  const bool fast = cell.rate_hz > 50;
  std::uint32_t frames = fast ? 80 : 40;
  if (arguments.quick) frames = 40;
  if (arguments.full) frames = 1000;
  if (arguments.frames > 0) frames = static_cast<std::uint32_t>(arguments.frames);
  cell.frames = frames;
  cell.warmup = std::min(std::max(frames / 10, 10U), frames / 2);
}

Cell make_cell(Scenario scenario, std::size_t bytes, const TransportArguments& arguments, double rate_hz = 0) {
  Cell cell{.scenario = scenario, .bytes = bytes};
  cell.rate_hz = rate_hz > 0 ? rate_hz : usual_rate_hz(bytes);
  set_frames(cell, arguments);
  return cell;
}

// All links together may have what one topic may have: peers keep several frames of each.
void check_memory(const Cell& cell) {
  if (cell.scenario.links > 1 && cell.bytes > kLargestPayload / cell.scenario.links)
    refuse(fmt::format("--scenarios: {} of {} need more than 1 GiB for a frame of each link", name_of(cell.scenario),
                       name_of_bytes(cell.bytes)),
           "use fewer links or smaller frames");
}

std::vector<Cell> make_grid(const TransportArguments& arguments) {
  if (has_no_frames(arguments)) return {};
  std::vector<Scenario> scenarios;
  for (const auto& word : split(arguments.scenarios)) scenarios.push_back(parse_scenario(word));
  std::vector<std::size_t> sizes;
  for (const auto& word : split(arguments.sizes)) sizes.push_back(parse_size(word));
  const std::vector<const Sensor*> sensors = parse_sensors(arguments.sensors);

  const std::vector<Scenario> fan{{1, 5}, {1, 10}, {5, 1}};
  std::vector<Cell> cells;
  if (scenarios.empty() && sizes.empty() && sensors.empty() && !arguments.full) {
    // The selection that answers most questions within ten minutes.
    if (arguments.quick)
      sizes = {128, kCamera};
    else
      sizes = {128, 4 * kKiB, 64 * kKiB, kCamera, 4 * kMiB, 8 * kMiB};
    for (const std::size_t bytes : sizes) cells.push_back(make_cell({1, 1}, bytes, arguments));
    if (!arguments.quick) {
      for (const Scenario& s : fan) cells.push_back(make_cell(s, 4 * kKiB, arguments));
    }
    return cells;
  }
  if (sizes.empty() && sensors.empty()) {
    if (arguments.full)
      sizes = {128, 4 * kKiB, 64 * kKiB, kCamera, kMiB, 4 * kMiB, 8 * kMiB, 16 * kMiB};
    else
      sizes = {4 * kKiB, kCamera};
  }
  if (scenarios.empty()) {
    scenarios = {{1, 1}};
    if (arguments.full) scenarios.insert(scenarios.end(), fan.begin(), fan.end());
  }
  for (const Scenario& s : scenarios) {
    for (const std::size_t bytes : sizes) {
      const Cell cell = make_cell(s, bytes, arguments);
      check_memory(cell);
      if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
    }
    for (const Sensor* const sensor : sensors) {
      Cell cell = make_cell(s, sensor->bytes, arguments, sensor->rate_hz);
      cell.sensor = ShortName(sensor->name);
      check_memory(cell);
      cells.push_back(cell);
    }
  }
  return cells;
}

/// The grid at each rate, under all conditions that can be had here.
std::vector<Cell> make_cells(const TransportArguments& arguments, std::vector<std::string>& left_out) {
  const std::vector<double> rates = parse_rates(arguments.rates);
  std::vector<Conditions> all;
  for (const auto& word : split(arguments.conditions)) {
    const Conditions conditions = parse_conditions(word);
    if (std::find(all.begin(), all.end(), conditions) != all.end()) continue;
    if (const std::string why = why_not(conditions); !why.empty())
      left_out.push_back(fmt::format("{} is left out: {}", name_of(conditions), why));
    else
      all.push_back(conditions);
  }
  if (all.empty() && left_out.empty()) all.emplace_back();
  if (all.empty()) refuse(fmt::format("--conditions: {}", fmt::join(left_out, "; ")), "give others, or leave them out");
  std::vector<Cell> cells;
  for (const Cell& cell : make_grid(arguments))
    for (const Conditions& conditions : all)
      for (std::size_t i = 0; i < std::max<std::size_t>(rates.size(), 1); ++i) {
        Cell variant = cell;
        variant.conditions = conditions;
        if (!rates.empty()) variant.rate_hz = rates[i];
        set_frames(variant, arguments);
        cells.push_back(variant);
      }
  return cells;
}

void check_numbers(const TransportArguments& a) {
  if (a.full && a.quick) refuse("--full and --quick exclude each other", "give one of them");
  check_if_given("--runs", a.runs, 1, kMostRuns);
  check_if_given("--frames", a.frames, 4, kMostFrames);
  if (a.minutes < 0 || !std::isfinite(a.minutes))
    refuse(fmt::format("--minutes {} is out of range", a.minutes), "use a number above 0");
}

}  // namespace

std::string_view name_of(const ShortName& name) noexcept { return name.name.data(); }

std::string_view name_of(Wait wait) noexcept {
  constexpr std::array<std::string_view, 6> kNames{"block", "spin", "poll", "prewake", "soon", "anticipate"};
  return kNames.at(static_cast<std::size_t>(wait));
}

std::string name_of(Scenario scenario) {
  if (scenario.asks) return std::string(kAsk);
  const std::string link = fmt::format("{}p{}s", scenario.publishers, scenario.subscribers);
  return scenario.links == 1 ? link : fmt::format("{}x{}", scenario.links, link);
}

std::string name_of(const Cell& cell) {
  const std::string_view sensor = name_of(cell.sensor);
  std::string name = name_of(cell.scenario);
  if (!sensor.empty()) name += fmt::format(" {}", sensor);
  if (!(cell.conditions == Conditions{})) name += fmt::format(" {}", name_of(cell.conditions));
  return name;
}

std::string name_of_bytes(std::size_t n) {
  if (n >= kMiB && n % kMiB == 0) return fmt::format("{} MiB", n / kMiB);
  if (n >= kKiB && n % kKiB == 0) return fmt::format("{} KiB", n / kKiB);
  return fmt::format("{} B", n);
}

std::size_t parse_size(std::string_view word) {
  const std::string remedy = "use bytes as 128, 4K, 64K, 640*480*3, 8M: a multiple of 8 from 16 to 1G";
  std::size_t product = 1;
  const auto factors = split(word, '*');
  if (factors.empty() || word.front() == '*' || word.back() == '*')
    refuse(fmt::format("--sizes: `{}` is not a size", word), remedy);
  for (const auto& factor : factors) {
    const auto digits = std::min(factor.find_first_not_of("0123456789"), factor.size());
    const auto number = to_number(std::string_view(factor).substr(0, digits));
    const auto unit = unit_of(std::string_view(factor).substr(digits));
    if (!number || !unit || *number == 0) refuse(fmt::format("--sizes: `{}` is not a size", word), remedy);
    if (*number > kLargestPayload || product > kLargestPayload / (*number) / (*unit)) {
      refuse(fmt::format("--sizes: {} is more than 1 GiB", word), remedy);
    }
    product *= static_cast<std::size_t>(*number) * *unit;
  }
  if (product < kSmallestPayload || product % 8 != 0) {
    refuse(fmt::format("--sizes: {} B cannot be measured", product), remedy);
  }
  return product;
}

Scenario parse_scenario(std::string_view word) {
  if (word == kAsk) return {.asks = true};
  const std::string cause = fmt::format("--scenarios: unknown scenario `{}`", word);
  const std::string remedy = fmt::format(
      "write publishers and readers as 1p1s, 1p5s, 1p10s or 5p1s (each from 1 to {}), and several such links at once "
      "such as 4x1p1s (at most {} links and {} processes), or ask",
      kMostProcesses, kMostLinks, kMostProcessesOfAll);
  const auto x = word.find('x');
  const std::string_view link = x == std::string_view::npos ? word : word.substr(x + 1);
  const auto p = link.find('p');
  if (p == std::string_view::npos || link.back() != 's') refuse(cause, remedy);
  const auto links = x == std::string_view::npos ? std::optional<std::uint64_t>(1) : to_number(word.substr(0, x));
  const auto publishers = to_number(link.substr(0, p));
  const auto subscribers = to_number(link.substr(p + 1, link.size() - p - 2));
  const auto within = [](const std::optional<std::uint64_t>& n, std::uint32_t most) {
    return n && *n >= 1 && *n <= most;
  };
  if (!within(links, kMostLinks) || !within(publishers, kMostProcesses) || !within(subscribers, kMostProcesses) ||
      *links * (*publishers + *subscribers) > kMostProcessesOfAll)
    refuse(cause, remedy);
  return {static_cast<std::uint32_t>(*publishers), static_cast<std::uint32_t>(*subscribers),
          static_cast<std::uint32_t>(*links)};
}

double usual_rate_hz(std::size_t bytes) noexcept { return bytes <= 64 * kKiB ? 100 : 30; }

std::vector<Peer> peers_of(const std::vector<Contender>& contenders) {
  std::vector<Peer> peers;
  for (const Contender& c : contenders)
    if (std::find(peers.begin(), peers.end(), c.peer) == peers.end()) peers.push_back(c.peer);
  return peers;
}

bool fits(const Contender& contender, const Cell& cell, std::size_t reader_cpus) noexcept {
  if (cell.scenario.asks) {
    const PeerKind* const kind = find_peer(name_of(contender.peer));
    return kind != nullptr && kind->play_ask != nullptr &&
           (contender.wait == Wait::Block || (contender.wait == Wait::Spin && !cell.conditions.fifo));
  }
  if (contender.wait != Wait::Spin) return true;
  const Scenario& s = cell.scenario;
  if (s.publishers > 1 || cell.conditions.fifo) return false;
  return s.links == 1 ? s.subscribers <= reader_cpus : s.links * (1 + s.subscribers) <= 1 + reader_cpus;
}

double expected_seconds(const Cell& cell) noexcept {
  // A reader that computes for longer than a period keeps senders that block.
  const double set_up = kSetUpSeconds + kSetUpSecondsOfLink * (cell.scenario.links - 1);
  return set_up + static_cast<double>(cell.frames) *
                      std::max(1 / cell.rate_hz, cell.scenario.publishers * cell.conditions.work_ms / 1e3);
}

double expected_seconds(const TransportOptions& options) noexcept {
  double seconds = 0;
  for (const Cell& cell : options.cells) {
    const auto count = std::count_if(options.contenders.begin(), options.contenders.end(),
                                     [&](const Contender& c) { return fits(c, cell, options.reader_cpus.size()); });
    seconds += static_cast<double>(count) * expected_seconds(cell);
  }
  if (options.micro) seconds += kOperationsSeconds;
  return seconds * options.runs;
}

TransportOptions parse_options(const TransportArguments& arguments, const std::vector<int>& cpus) {
  TransportOptions options;
  if (arguments.role_fd >= 0) {
    options.is_role = true;
    options.role_fd = arguments.role_fd;
    options.role_index = static_cast<std::uint32_t>(std::max(arguments.role_index, 0));
    return options;
  }
  check_numbers(arguments);
  if (has_no_frames(arguments) && !arguments.micro)
    refuse("--sizes none leaves nothing to measure", "give --micro, too, or sizes");
  if (cpus.empty()) refuse("this process may use no CPU", "check its affinity with taskset -p");

  const auto peers = parse_peers(arguments.peers.empty() ? names_of_peers() : arguments.peers);
  const auto waits = parse_waits(arguments.waits.empty() ? "block,spin,prewake,anticipate" : arguments.waits);
  if (peers.empty()) refuse("--peers names nobody", fmt::format("use some of {}", names_of_peers()));
  if (waits.empty()) refuse("--waits names nothing", "use some of block,spin,prewake,soon,anticipate");
  options.contenders = make_contenders(peers, waits);
  options.cells = make_cells(arguments, options.left_out);
  options.runs = arguments.runs > 0 ? static_cast<std::uint32_t>(arguments.runs) : (arguments.quick ? 1U : 5U);
  options.micro = arguments.micro;
  options.json = arguments.json;

  options.publisher_cpu = choose_cpu("--publisher-cpu", arguments.publisher_cpu, 0, cpus);
  options.reader_cpus = parse_cpus(arguments.reader_cpus, cpus);
  if (options.reader_cpus.empty()) {
    std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(options.reader_cpus),
                 [&](int cpu) { return cpu != options.publisher_cpu; });
    if (options.reader_cpus.empty()) options.reader_cpus = {options.publisher_cpu};  // a single CPU: they share it
  }
  // Only the selection that nobody changed promises an end within ten minutes.
  const bool chosen = arguments.full || !arguments.sizes.empty() || !arguments.sensors.empty() ||
                      !arguments.scenarios.empty() || arguments.runs > 0 || arguments.frames > 0 ||
                      !arguments.rates.empty() || !arguments.conditions.empty();
  options.minutes = arguments.minutes > 0 ? arguments.minutes : (chosen ? 0 : 9.5);
  return options;
}

}  // namespace cardan::bench

// SPDX-License-Identifier: Apache-2.0
// The figures of `cardan top`: one measurement of all reports of a domain's processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cardan/observer_report.hpp"
#include "src/system/host/component_report.hpp"
#include "src/system/host/control_client.hpp"
#include "src/system/launcher/usage.hpp"

namespace cardan::apps::top {

/// A subscriber within a measurement.
struct Reader {
  SubscriberReport now;
  std::uint64_t received = 0, lost = 0;  ///< lost: missed and bad
  LatencyHistogram latency, age;
};

/// A publisher within a measurement.
struct Writer {
  PublisherReport now;
  double rate_hz = 0, bytes_per_s = 0;
  LatencyHistogram latency, age;
  std::vector<Reader> readers;
};

struct TopicFigures {
  std::string name;
  std::string type;  ///< several: with ", "
  double rate_hz = 0, bytes_per_s = 0;
  std::size_t readers = 0;
  std::uint64_t lost = 0;      ///< within the measurement, of all readers
  std::uint64_t lost_all = 0;  ///< since the first measurement
  LatencyHistogram latency, age;
  std::vector<Writer> writers;
  std::vector<double> recent_hz{};  ///< of the last measurements, the newest last; a view keeps them
};

struct CallbackFigures {
  std::string component, process;
  int pid = 0;
  host::CallbackReport counts;   ///< within the measurement
  double rate_hz = 0;            ///< of calls
  double busy_percent = -1;      ///< of the time in which it ran, from the middles of the buckets; −1: it has not run
  std::uint64_t lost_all = 0;    ///< since the first measurement; of a timer the periods that it skipped
  std::uint64_t failed_all = 0;  ///< exceptions since the first measurement
};

/// Publications of a component at the end of a chain.
struct ChainFigures {
  std::string component, process;
  int pid = 0;
  host::ChainReport counts;    ///< within the measurement
  double rate_hz = 0;          ///< of publications
  std::uint64_t late_all = 0;  ///< since the first measurement
};

/// A server of a service.
struct ServiceFigures {
  std::string name;
  PublisherReport server;        ///< of its card: its subscribers are the clients
  ServiceReport counts;          ///< within the measurement
  double rate_hz = 0;            ///< of answers
  std::uint64_t failed = 0;      ///< questions within the measurement that were declined or had expired
  std::uint64_t failed_all = 0;  ///< since the first measurement
};

struct ProcessFigures {
  std::string name;  ///< in the configuration of `cardan run`, else of the program
  std::string program;
  int pid = 0;             ///< 0: it does not run
  std::string state = "";  ///< as `cardan run` says; empty: it did not start it
  std::uint64_t restarts = 0;
  double cpu_percent = -1;         ///< of one core; −1: not measured yet
  std::uint64_t memory_bytes = 0;  ///< 0: not known
  double out_hz = 0, out_bytes_per_s = 0;
  std::size_t publishes = 0, subscribes = 0;  ///< streams
  std::vector<std::string> components;
  std::vector<double> recent_percent{};  ///< CPU of the last measurements, the newest last; a view keeps them
};

struct Figures {
  std::int64_t time_ns = 0;  ///< since 1970
  double seconds = 0;        ///< that were measured; 0: this is the first look
  std::vector<TopicFigures> topics;
  std::vector<CallbackFigures> callbacks;
  std::vector<ChainFigures> chains;
  std::vector<ServiceFigures> services;
  std::vector<ProcessFigures> processes;
  std::vector<std::string> problems;  ///< in words: which processes did not answer
  std::vector<std::string> closed;    ///< topics that do not let this user in
  std::size_t left_out = 0;           ///< processes beyond kMostProcesses, whose use of the computer is not looked up
  std::uint64_t lost = 0;             ///< samples within the measurement, of all readers and callbacks
};

/// Looks at a domain without taking part in it. One look is one question to each process, however many topics it has.
/// One thread.
class Collector {
 public:
  /// The CPU time of at most this number of processes is read, because any publisher can make a process appear in the
  /// list.
  static constexpr std::size_t kMostProcesses = 1024;

  explicit Collector(std::string domain) : domain_(std::move(domain)) {}

  /// Figures since the look before; the first one has totals only. Throws Error (Unavailable, InvalidArgument).
  /// Blocks until the domain's processes have answered: at most half a second for each silent one.
  [[nodiscard]] Figures look();

 private:
  using StreamKey = std::pair<std::string, std::uint32_t>;  ///< process and serial
  using CallbackKey = std::pair<std::string, std::string>;  ///< component and callback

  void add_topics(Figures& into);
  void add_service(Figures& into, const PublisherReport& card);
  void add_callbacks(Figures& into);
  void add_chains(Figures& into, const host::ComponentReport& now, const host::ComponentReport* before, double seconds);
  void add_processes(Figures& into);
  [[nodiscard]] Writer measure(const PublisherReport& now, double seconds) const;

  std::string domain_;
  std::int64_t looked_ns_ = 0;
  std::map<StreamKey, PublisherReport> publishers_;
  std::map<StreamKey, ServiceReport> first_of_services_;  ///< as they were when this began
  std::map<std::string, std::uint64_t> lost_of_topics_;
  std::unique_ptr<host::ControlClient> client_;
  std::vector<host::ComponentReport> components_;
  std::int64_t asked_ns_ = 0;
  std::map<CallbackKey, std::pair<std::uint64_t, std::uint64_t>> lost_of_callbacks_;  ///< and failed
  std::map<CallbackKey, std::uint64_t> late_;                                         ///< by component and chain
  host::DomainLaunchers launchers_;
  struct Used {
    launcher::Usage usage;
    std::int64_t at_ns = 0;
  };
  std::map<int, Used> used_;  ///< by pid
  std::vector<ProcessFigures> processes_;
};

/// A process's own data are gone while it does not answer: keeps those of the look before that a problem names
/// and that are still there, and says so in their state. `is_there`: whether the pid is a process.
void keep_silent(Figures& into, const std::vector<ProcessFigures>& before, bool (*is_there)(int pid));

/// As JSON, one line without its end.
[[nodiscard]] std::string json_of(const Figures& figures);

}  // namespace cardan::apps::top

// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/operations.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <utility>

namespace cardan::bench {
namespace {

constexpr std::uint32_t kSmallBytes = 128;
constexpr std::uint32_t kHandOvers = 5'000;
constexpr std::uint32_t kSieges = 500;
constexpr std::uint32_t kCrowd = 400;
constexpr std::uint32_t kAttaches = 200;

constexpr std::uint32_t kTopics[] = {1, 10, 100, 1'000};

bool by_publisher(Task task) {
  return task == Task::HandOver || task == Task::Traced || task == Task::Chains || task == Task::Besieged;
}

}  // namespace

Operation::Operation(std::string name, Task task, std::uint32_t endpoints, std::uint32_t count, std::string detail)
    : name_(std::move(name)), task_(task), endpoints_(endpoints), count_(count), detail_(std::move(detail)) {}

std::string Operation::run(const TransportOptions& options, const std::string& run_dir, QuietSignals& signals) {
  try {
    // The rate only bounds how long the harness waits: ten seconds and three times count / rate.
    const Cell cell{.scenario = {1, 1}, .bytes = kSmallBytes, .rate_hz = 100, .frames = count_, .warmup = 0};
    const Area area({kCardan, Wait::Spin}, cell, fresh_topic());
    area.header().task = task_;
    area.header().endpoints = endpoints_;
    if (task_ == Task::Besieged && ::chmod(run_dir.c_str(), 01777) != 0)
      return "cannot open the run directory to others";
    double steal = 0;
    std::string failure = run_roles(area, options, run_dir, signals, steal);
    if (!failure.empty()) return failure;
    const auto stamps = by_publisher(task_) ? area.published(0) : area.received(0, 0);
    // The first tenth warms up what a hot operation finds warm; set-up operations are as they come.
    for (std::uint32_t n = by_publisher(task_) ? count_ / 10 : 1; n <= count_; ++n) {
      if (by_publisher(task_)) {
        samples_.push_back(static_cast<double>(stamps[n].handing_ns) / 1e3);
      } else {
        samples_.push_back(static_cast<double>(stamps[n].first) / 1e6);
        if (task_ == Task::Discover) attaching_.push_back(static_cast<double>(stamps[n].second) / 1e6);
      }
    }
    if (task_ == Task::Discover && area.role(0).memory_bytes > 0 && area.role(1).memory_bytes > 0)
      memory_.push_back(static_cast<double>(area.role(0).memory_bytes + area.role(1).memory_bytes) / 1024 / endpoints_);
    return {};
  } catch (const std::exception& e) {
    return e.what();
  }
}

void Operation::add_figures(std::vector<Figure>& figures) const {
  if (samples_.empty()) return;
  figures.push_back({name_, by_publisher(task_) ? "us" : "ms", summarize(samples_), detail_, samples_});
  if (attaching_.empty()) return;
  const std::string topics = fmt::format("topics_{}_", endpoints_);
  figures.push_back({topics + "subscribed", "ms", summarize(attaching_),
                     "a subscriber for each of them, until all are attached", attaching_});
  if (memory_.empty()) return;
  figures.push_back({topics + "memory", "KiB", summarize(memory_),
                     "that one of them costs both processes together, 128 B, before its first message", memory_});
}

std::vector<Operation> all_operations() {
  std::vector<Operation> all{
      {"loan_publish_hot_1", Task::HandOver, 1, kHandOvers,
       "128 B, one polling subscriber takes every message; the clock's own cost taken off"},
      {"loan_publish_hot_50", Task::HandOver, 50, kHandOvers / 10,
       "the same with 50 polling subscribers, polled by one thread"},
      {"loan_publish_traced", Task::Traced, 1, kHandOvers,
       "as loan_publish_hot_1 while the publisher's process is traced, which writes one event"},
      {"loan_publish_chains_1", Task::Chains, 1, kHandOvers,
       "as loan_publish_hot_1 by a component whose trigger rests on the beginning of one configured chain"},
      {"loan_publish_chains_8", Task::Chains, 8, kHandOvers, "the same with the beginnings of eight chains"},
      {"loan_publish_waited_for", Task::Besieged, 1, kSieges, "128 B every millisecond, one subscriber sleeps"},
  };
  if (::geteuid() == 0)  // it takes a second user
    all.emplace_back("loan_publish_besieged", Task::Besieged, kCrowd, kSieges,
                     "the same, and the sleepers are 400 threads of another user that announced one");
  all.emplace_back("attach", Task::Attach, 1, kAttaches, "construct a subscriber until its publisher is attached");
  for (const std::uint32_t topics : kTopics)
    all.emplace_back(fmt::format("topics_{}_listed", topics), Task::Discover, topics, 1,
                     "another process's topics, until all are known by name and type");
  return all;
}

}  // namespace cardan::bench

// SPDX-License-Identifier: Apache-2.0
// The time of a lookup in a tree of 200 frames that move at 1 kHz, in Cardan and in tf2.
//
//   bench_transforms [SECONDS]   of each row; default 5
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/transforms/tf2_tree.hpp"
#include "cardan/clock.hpp"
#include "cardan/local_message.hpp"
#include "src/transforms/transform_store.hpp"

namespace {

using namespace cardan;

constexpr int kFrames = 200;
constexpr std::int64_t kPeriod = 1'000'000, kHistory = 10'000'000'000;

std::string frame(int i) { return i < 0 ? std::string("root") : "frame" + std::to_string(i); }

/// Chains of `links` frames under one root, each in the one before.
int parent_of(int i, int links) { return i % links == 0 ? -1 : i - 1; }

class Ours {
 public:
  explicit Ours(int links) : message_(1 << 17) {
    message_->transforms.resize(kFrames);
    for (int i = 0; i < kFrames; ++i) {
      TransformStamped& one = message_->transforms[static_cast<std::size_t>(i)];
      one.header.frame_id = FrameId(frame(parent_of(i, links)));
      one.child_frame_id = FrameId(frame(i));
    }
  }
  void put(std::int64_t stamp, const Transform& place) {
    for (TransformStamped& one : message_->transforms) one.header.stamp = stamp, one.transform = place;
    store_.take(*message_, false, {.stream = 1, .program = "bench", .pid = 1});
  }
  bool lookup(const std::string& target, const std::string& source, std::int64_t stamp) {
    return static_cast<bool>(store_.lookup(target, source, stamp));
  }

 private:
  LocalMessage<TransformMessage> message_;
  detail::TransformStore store_{{.log_problems = false}};
};

class Theirs {
 public:
  explicit Theirs(int links) : links_(links) {}
  void put(std::int64_t stamp, const Transform& t) {
    const auto& [v, q] = t;
    for (int i = 0; i < kFrames; ++i)
      tree_.put(frame(parent_of(i, links_)), frame(i), stamp, {v.x, v.y, v.z, q.x, q.y, q.z, q.w}, false);
  }
  bool lookup(const std::string& target, const std::string& source, std::int64_t stamp) {
    Tf2Tree::Numbers into{};
    return tree_.lookup(target, source, stamp, into);
  }

 private:
  int links_;
  Tf2Tree tree_{static_cast<double>(kHistory) / 1e9};
};

struct Row {
  double p50 = 0, p99 = 0, p999 = 0;  ///< nanoseconds
  std::uint64_t lookups = 0, failed = 0;
  double late = 0;  ///< share of the periods in which the writer did not keep up
};

template <class Tree>
Row measure(int links, std::chrono::seconds span) {
  Tree tree(links);
  std::int64_t stamp = kPeriod;
  const auto place_at = [](std::int64_t n) {
    const double angle = static_cast<double>(n / kPeriod % 6283) / 1000;
    return Transform{.translation = {1, 2, angle}, .rotation = from_rpy(0.1, 0.2, angle)};
  };
  for (; stamp < kHistory; stamp += kPeriod) tree.put(stamp, place_at(stamp));  // as after ten seconds
  std::atomic<std::int64_t> newest{stamp - kPeriod};
  std::atomic<bool> ended{false};
  std::uint64_t periods = 0, late = 0;
  std::jthread writer([&] {
    for (std::int64_t next = steady_now() + kPeriod; !ended; next += kPeriod, stamp += kPeriod) {
      tree.put(stamp, place_at(stamp));
      newest = stamp;
      ++periods;
      const std::int64_t left = next - steady_now();
      late += left <= 0 ? 1U : 0U;
      if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
    }
  });
  const std::string target = frame(links - 1), source = frame(2 * links - 1);
  std::vector<std::int64_t> took;
  Row row;
  const std::int64_t until = steady_now() + std::chrono::nanoseconds(span).count();
  for (std::int64_t k = 0; steady_now() < until; ++k) {
    const std::int64_t at = newest - kPeriod / 2 - k % 50 * kPeriod;
    const std::int64_t begin = steady_now();
    row.failed += tree.lookup(target, source, at) ? 0U : 1U;
    took.push_back(steady_now() - begin);
    if (k % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds{200});  // not all of a processor
  }
  ended = true;
  writer.join();
  std::sort(took.begin(), took.end());
  const auto at = [&](double share) {
    return static_cast<double>(took[static_cast<std::size_t>(share * static_cast<double>(took.size() - 1))]);
  };
  row.p50 = at(0.5), row.p99 = at(0.99), row.p999 = at(0.999);
  row.lookups = took.size();
  row.late = static_cast<double>(late) / static_cast<double>(std::max<std::uint64_t>(1, periods));
  return row;
}

void print(int hops, const char* name, const Row& row, double relative) {
  fmt::print("{:>4}  {:<8}{:>9.0f}{:>9.0f}{:>9.0f}{:>10}{:>8}{:>7.1f} %{:>9.2f}\n", hops, name, row.p50, row.p99,
             row.p999, row.lookups, row.failed, 100 * row.late, relative);
}

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::seconds span{argc > 1 ? std::max(1, std::atoi(argv[1])) : 5};
  fmt::print(
      "A lookup among {} frames at 1 kHz with 10 s of history, nanoseconds; late: periods in which the writer did "
      "not keep up\nhops  tree          p50      p99    p99.9   lookups  failed    late    × tf2\n",
      kFrames);
  for (const int links : {1, 3, 5}) {
    const Row ours = measure<Ours>(links, span), theirs = measure<Theirs>(links, span);
    print(2 * links, "Cardan", ours, ours.p50 / theirs.p50);
    print(2 * links, "tf2", theirs, 1);
  }
}

// SPDX-License-Identifier: Apache-2.0
// The events of an input's queue and of its callback.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cardan/sample.hpp"
#include "src/runtime/executor/port.hpp"
#include "src/runtime/executor/runtime_clock.hpp"
#include "src/transport/endpoint/trace_names.hpp"
#include "src/transport/endpoint/trace_view_test.hpp"

namespace cardan::detail::trace_events_test {
namespace {

class TraceEvents : public testing::Test {
 protected:
  TraceEvents() {
    port_.belongs_to("detector");
    group_.expect(port_);
  }
  ~TraceEvents() override { group_.forget(port_); }
  void push(std::uint64_t sequence) {
    const Sample<int> sample = make_sample<int>(std::make_shared<const int>(0), {.sequence = sequence});
    SampleBlock* const block = block_of(sample);
    block->stream_id = 77;
    port_.push(*block, 0, [this](Callback& callback, auto add) noexcept { group_.offer(callback, add); });
  }

  RuntimeClock clock_;
  Group group_{{.workers = 0}, clock_, {}};
  Strand strand_;
  Port port_{"in", group_, strand_, 0, 2, 0, [](SampleBlock* block) { drop(block); }};
};

std::vector<layout::TraceEvent> of(const std::vector<layout::TraceEvent>& events, trace::Kind kind) {
  std::vector<layout::TraceEvent> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [kind](const layout::TraceEvent& event) { return event.kind == kind; });
  return found;
}

TEST_F(TraceEvents, OfAQueueAndItsCallback) {
  const trace::Switch tracing;
  trace::TraceView view(tracing);
  for (std::uint64_t n = 1; n <= 3; ++n) push(n);  // the queue has room for two
  ASSERT_TRUE(group_.run_one());
  const auto events = view.drain_all();
  const std::uint64_t name = trace::name_of_callback("detector: in");
  const auto queued = of(events, trace::Kind::Queue);
  ASSERT_EQ(queued.size(), 3U);
  EXPECT_EQ(queued[2].sequence, 3U);
  EXPECT_EQ(queued[2].stream, 77U);
  EXPECT_EQ(queued[2].argument, name);
  const auto dropped = of(events, trace::Kind::Drop);
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0].sequence, 1U) << "the oldest";
  const auto begun = of(events, trace::Kind::Begin);
  const auto ended = of(events, trace::Kind::End);
  ASSERT_EQ(begun.size(), 1U);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(begun[0].stream, 77U);
  EXPECT_EQ(begun[0].sequence, 2U);
  EXPECT_EQ(begun[0].argument, name);
  EXPECT_LE(begun[0].time_ns, ended[0].time_ns);
}

TEST_F(TraceEvents, OffThereIsNothing) {
  trace::TraceView view{trace::Switch{}};
  push(1);
  ASSERT_TRUE(group_.run_one());
  EXPECT_TRUE(view.drain_all().empty());
}

}  // namespace
}  // namespace cardan::detail::trace_events_test

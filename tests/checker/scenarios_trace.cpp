// SPDX-License-Identifier: Apache-2.0
// A thread writes events, an observer drains its ring.
#include "src/transport/protocol/trace_protocol.hpp"
#include "tests/checker/env.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

constexpr std::size_t kWordsOfEvent = 2;
constexpr std::uint32_t kMostTraceSlots = 4;
constexpr std::size_t kRoom = 4;  ///< of the observer, in events

class Trace final : public Scenario {
 public:
  struct Shape {
    std::uint32_t slots;
    std::uint64_t events;
    int drains;
  };
  explicit Trace(Shape shape) : shape_(shape) {
    written_.init({"written"});
    for (std::uint32_t i = 0; i < shape.slots * kWordsOfEvent; ++i) words_[i].init({"event", static_cast<int>(i)});
    Execution& e = Execution::current();
    const std::size_t writer = e.spawn("writer", [this] {
      const protocol::TraceWriterRing<Env> ring{&written_, words_, shape_.slots};
      for (std::uint64_t n = 0; n < shape_.events; ++n) protocol::write_event<Env, kWordsOfEvent>(ring, event(n));
    });
    written_.owned_by(writer);
    for (std::uint32_t i = 0; i < shape.slots * kWordsOfEvent; ++i) words_[i].owned_by(writer);
    e.spawn("observer", [this] {
      for (int i = 0; i < shape_.drains; ++i) drain();
    });
  }
  void finish() override {
    if (written_.final_value() != shape_.events) fail("not every event is announced");
  }

 private:
  static protocol::EventWords<kWordsOfEvent> event(std::uint64_t n) { return {n + 1, n + 1}; }

  void drain() {
    protocol::EventWords<kWordsOfEvent> copies[kRoom] = {};
    const protocol::TraceReaderRing<Env> ring{&written_, words_, shape_.slots};
    const auto drained = protocol::drain_events<Env, kWordsOfEvent>(ring, next_, copies);
    if (drained.corrupt) return fail("an honest ring is taken for corrupt");
    if (drained.next != next_ + drained.overwritten + drained.count) fail("an event is neither accepted nor counted");
    for (std::size_t i = 0; i < drained.count; ++i) {
      const std::uint64_t n = next_ + drained.overwritten + i;
      if (copies[i] != event(n)) fail("torn: an observer accepts event " + std::to_string(n) + " with other words");
    }
    next_ = drained.next;
  }

  Shape shape_;
  Word<std::uint64_t> written_;
  Word<std::uint64_t> words_[kMostTraceSlots * kWordsOfEvent];
  std::uint64_t next_ = 0;
};

}  // namespace

void add_trace_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  all.push_back(
      {"trace", "3 events into a ring of two; an observer drains twice", {S::T2, S::T3, S::T4, S::T5, S::T7}, [] {
         return std::make_unique<Trace>(Trace::Shape{2, 3, 2});
       }});
  all.push_back({"trace, longer",
                 "6 events into a ring of four; an observer drains three times",
                 {},
                 [] { return std::make_unique<Trace>(Trace::Shape{4, 6, 3}); },
                 10'000});
}

}  // namespace cardan::checker

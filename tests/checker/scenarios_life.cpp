// SPDX-License-Identifier: Apache-2.0
// Attach, detach, death: subscribers come and go while the publisher works.
#include "tests/checker/parts.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

/// A subscriber is entered into the table while the publisher is at work; it takes once it has the answer.
class LateAttach final : public Scenario {
 public:
  LateAttach() : publisher_(area_, table_, {}) {
    area_.init(1, 2);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    Execution& e = Execution::current();
    const std::size_t publisher = e.spawn("publisher", [this] {
      for (int i = 0; i < 4; ++i) publisher_.publish_one();
    });
    publisher_.owned_by(publisher);
    e.spawn("helper", [this] {
      table_.attach(0, subscriber_);
      answer_.send();
    });
    subscriber_.owned_by(e.spawn("reader", [this] {
      answer_.receive();
      reader_.take_one();
    }));
  }
  void finish() override {
    expect_exact_count(subscriber_, {&reader_});
    expect_nothing_held(subscriber_);
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  Reader reader_{area_, subscriber_, 1};
  Message answer_;
};

/// A subscriber leaves in order: its area is unmapped while the publisher is at work.
class Detach final : public Scenario {
 public:
  explicit Detach(bool with_barrier)
      : publisher_(area_, table_, {.wakes = true, .epochs = true, .barrier = with_barrier}) {
    area_.init(1, 2);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    table_.preset(0, subscriber_);
    Execution& e = Execution::current();
    const std::size_t publisher = e.spawn("publisher", [this] {
      for (int i = 0; i < 3; ++i) publisher_.publish_one();
    });
    publisher_.owned_by(publisher);
    if (with_barrier) barrier_.strikes(publisher);
    e.spawn("helper", [this, with_barrier] { table_.detach(0, with_barrier ? &barrier_ : nullptr); });
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  ExpeditedBarrier barrier_;
};

/// The reader may die before each step; the helper sees its socket close and detaches it; then every slot must come
/// back: the publisher continues in slots that suffice without the dead reader's hold.
class ReaderDies final : public Scenario {
 public:
  ReaderDies() : publisher_(area_, table_, {.epochs = true}) {
    area_.init(1, 3);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    table_.preset(0, subscriber_);
    Execution& e = Execution::current();
    const std::size_t publisher = e.spawn("publisher", [this] {
      for (int i = 0; i < 2; ++i) publisher_.publish_one();
      detached_.receive();
      for (int i = 0; i < 3; ++i) {
        if (!publisher_.publish_one()) fail("slots of a dead reader do not come back");
      }
    });
    publisher_.owned_by(publisher);
    const std::size_t reader = e.spawn(
        "reader",
        [this] {
          for (int i = 0; i < 2; ++i) reader_.take_one();
        },
        true);
    subscriber_.owned_by(reader);
    e.spawn("helper", [this, reader] {
      Execution::current().wait_for_end(reader);
      table_.detach(0);
      detached_.send();
    });
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  Reader reader_{area_, subscriber_, 1};
  Message detached_;
};

/// The same while the publisher never pauses: what the dead reader still holds is refilled only after its removal is
/// seen.
class ReaderDiesUnderLoad final : public Scenario {
 public:
  ReaderDiesUnderLoad() : publisher_(area_, table_, {}) {
    area_.init(1, 2);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    table_.preset(0, subscriber_);
    Execution& e = Execution::current();
    const std::size_t publisher = e.spawn("publisher", [this] {
      for (int i = 0; i < 5; ++i) publisher_.publish_one();
    });
    publisher_.owned_by(publisher);
    const std::size_t reader = e.spawn("reader", [this] { reader_.take_one(); }, true);
    subscriber_.owned_by(reader);
    e.spawn("helper", [this, reader] {
      Execution::current().wait_for_end(reader);
      table_.clear_entry(0);
    });
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  Reader reader_{area_, subscriber_, 1};
};

}  // namespace

void add_life_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  all.push_back({"late attach",
                 "4 publications over 2 slots while a subscriber attaches and takes",
                 {S::A1, S::A2, S::D2, S::D4},
                 [] { return std::make_unique<LateAttach>(); },
                 0});
  all.push_back({"detach",
                 "3 publications while the only subscriber's area is unmapped",
                 {S::E1, S::E2, S::E3, S::A1, S::D2},
                 [] { return std::make_unique<Detach>(false); },
                 0});
  all.push_back({"detach with a barrier",
                 "the same, the publisher counting by plain stores and the helper striking with a barrier",
                 {S::E4, S::E2},
                 [] { return std::make_unique<Detach>(true); },
                 0});
  all.push_back({"reader dies",
                 "the reader may die before each step; then 3 publications over depth + loans + 1 slots",
                 {},
                 [] { return std::make_unique<ReaderDies>(); },
                 0});
  all.push_back({"reader dies under load",
                 "the same with 5 publications over 2 slots meanwhile",
                 {S::A1, S::D2},
                 [] { return std::make_unique<ReaderDiesUnderLoad>(); },
                 0});
}

const std::vector<ScenarioInfo>& scenarios() {
  static const std::vector<ScenarioInfo> all = [] {
    std::vector<ScenarioInfo> list;
    add_slot_scenarios(list);
    add_bell_scenarios(list);
    add_life_scenarios(list);
    add_reclaim_scenarios(list);
    add_wait_scenarios(list);
    add_trace_scenarios(list);
    add_sides_scenarios(list);
    return list;
  }();
  return all;
}

}  // namespace cardan::checker

// SPDX-License-Identifier: Apache-2.0
// Publish, take, hold, read, drop, reclaim.
#include "tests/checker/parts.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

/// The usual parts of a scenario: a publisher and one subscriber that is attached from the start.
class Pair : public Scenario {
 public:
  struct Shape {
    std::uint32_t depth, slots;
    int publications;
  };
  Pair(Shape shape, Publisher::Options options = {}, bool atomic_payload = false) : publisher_(area_, table_, options) {
    area_.init(shape.depth, shape.slots, atomic_payload);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    table_.preset(0, subscriber_);
    publications_ = shape.publications;
  }

 protected:
  void spawn_publisher(bool mortal = false) {
    const std::size_t self = Execution::current().spawn(
        "publisher",
        [this] {
          for (int i = 0; i < publications_; ++i) publisher_.publish_one();
        },
        mortal);
    publisher_.owned_by(self);
  }
  void spawn_only_reader(std::function<void()> body) {
    subscriber_.owned_by(Execution::current().spawn("reader", std::move(body)));
  }

  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  int publications_;
};

/// One reader that takes, reads and drops again and again.
class TakeAndDrop final : public Pair {
 public:
  TakeAndDrop(Shape shape, int takes, Publisher::Options options = {}, bool publisher_dies = false)
      : Pair(shape, options), reader_(area_, subscriber_, shape.depth), takes_(takes) {
    spawn_publisher(publisher_dies);
    spawn_only_reader([this] {
      for (int i = 0; i < takes_; ++i) reader_.take_one();
    });
  }
  void finish() override {
    expect_exact_count(subscriber_, {&reader_});
    expect_nothing_held(subscriber_);
  }

 private:
  Reader reader_;
  int takes_;
};

/// Holds one sample while it takes the next, and reads the old one again before it drops both.
class HoldAcross final : public Pair {
 public:
  explicit HoldAcross(Shape shape) : Pair(shape), reader_(area_, subscriber_, shape.depth) {
    spawn_publisher();
    spawn_only_reader([this] {
      const Reader::Held first = reader_.take();
      if (first.taken) reader_.look(first);
      const Reader::Held second = reader_.take();
      if (first.taken) {
        reader_.look(first);
        reader_.drop(first);
      }
      if (second.taken) {
        reader_.look(second);
        reader_.drop(second);
      }
    });
  }
  void finish() override {
    expect_exact_count(subscriber_, {&reader_});
    expect_nothing_held(subscriber_);
  }

 private:
  Reader reader_;
};

/// Two threads of one subscriber, on the same slots.
class TwoThreads final : public Pair {
 public:
  TwoThreads(Shape shape, int takes)
      : Pair(shape), a_(area_, subscriber_, shape.depth), b_(area_, subscriber_, shape.depth), takes_(takes) {
    spawn_publisher();
    Execution::current().spawn("reader a", [this] {
      for (int i = 0; i < takes_; ++i) a_.take_one();
    });
    Execution::current().spawn("reader b", [this] { b_.take_one(); });
  }
  void finish() override {
    expect_exact_count(subscriber_, {&a_, &b_});
    expect_nothing_held(subscriber_);
  }

 private:
  Reader a_, b_;
  int takes_;
};

/// Two subscribers: each one's holds count.
class TwoSubscribers final : public Pair {
 public:
  explicit TwoSubscribers(Shape shape)
      : Pair(shape), a_(area_, subscriber_, shape.depth), b_(area_, other_, shape.depth) {
    other_.init(1);
    table_.preset(1, other_);
    spawn_publisher();
    subscriber_.owned_by(Execution::current().spawn("reader a", [this] { a_.take_one(); }));
    other_.owned_by(Execution::current().spawn("reader b", [this] { b_.take_one(); }));
  }
  void finish() override {
    expect_exact_count(subscriber_, {&a_});
    expect_exact_count(other_, {&b_});
  }

 private:
  SubscriberArea other_;
  Reader a_, b_;
};

/// Copies the newest publication word by word without holding it, and returns it only if it is still there.
class Observer final : public Pair {
 public:
  explicit Observer(Shape shape) : Pair(shape, {}, true) {
    spawn_publisher();
    Execution::current().spawn("observer", [this] {
      observe();
      observe();
    });
  }

 private:
  void observe() {
    const protocol::Entry newest = protocol::unpack(Env::load<Site::R1>(area_.latest));
    if (newest.sequence == 0) return;
    if (Env::load<Site::O1>(area_.sequence[newest.slot]) != newest.sequence) return;
    std::uint64_t copy[2];
    for (int i = 0; i < 2; ++i) copy[i] = Env::load<Site::O2>(area_.payload[newest.slot].words[i]);
    Env::fence<Site::F2>();
    if (Env::load<Site::O3>(area_.sequence[newest.slot]) != newest.sequence) return;
    for (const std::uint64_t word : copy) {
      if (word != newest.sequence) {
        fail("torn: an observer returns publication " + std::to_string(newest.sequence) + " with a word of " +
             std::to_string(word));
      }
    }
  }
};

/// A reliable reader loses nothing unless the publisher's patience ended (two looks represent the time-out).
class Reliable final : public Pair {
 public:
  Reliable(Shape shape, int takes)
      : Pair(shape, {.reliable_looks = 2}), reader_(area_, subscriber_, shape.depth), takes_(takes) {
    spawn_publisher();
    spawn_only_reader([this] {
      for (int i = 0; i < takes_; ++i) reader_.take_one();
    });
  }
  void finish() override {
    expect_exact_count(subscriber_, {&reader_});
    if (publisher_.demoted()) return;
    for (std::size_t i = 0; i < reader_.log().count; ++i) {
      if (reader_.log().missed[i] != 0) fail("a reliable reader that was not demoted has lost a publication");
    }
  }

 private:
  Reader reader_;
  int takes_;
};

}  // namespace

void add_slot_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  const auto add = [&](const char* name, const char* what, std::vector<Site> targets, Factory f,
                       std::uint64_t random_runs = 0) {
    all.push_back({name, what, std::move(targets), std::move(f), random_runs});
  };
  add("take depth 1", "4 publications over 2 slots; a reader takes, reads, drops 3 times",
      {S::W1, S::W3, S::R1, S::R2, S::R3, S::R5, S::D1, S::D3},
      [] { return std::make_unique<TakeAndDrop>(Pair::Shape{1, 2, 4}, 3); });
  add("take depth 2", "5 publications over 3 slots; a reader of the last two takes 3 times",
      {S::W2, S::R1b, S::R2, S::R3}, [] { return std::make_unique<TakeAndDrop>(Pair::Shape{2, 3, 5}, 3); });
  add("hold across", "4 publications over 3 slots; a reader holds one sample while it takes the next", {S::R5},
      [] { return std::make_unique<HoldAcross>(Pair::Shape{1, 3, 4}); });
  add("hold across depth 2", "4 publications over 3 slots; the same in a queue of two", {},
      [] { return std::make_unique<HoldAcross>(Pair::Shape{2, 3, 4}); });
  add("two threads depth 1", "3 publications over 2 slots; two threads of one subscriber take once each",
      {S::R6, S::R7}, [] { return std::make_unique<TwoThreads>(Pair::Shape{1, 2, 3}, 1); });
  add("two threads depth 2",
      "3 publications over 3 slots; two threads of one subscriber take 2 and 1 from a queue of two", {S::R6},
      [] { return std::make_unique<TwoThreads>(Pair::Shape{2, 3, 3}, 2); });
  add("two subscribers", "3 publications over 2 slots; each of two subscribers takes once", {S::D2, S::D3},
      [] { return std::make_unique<TwoSubscribers>(Pair::Shape{1, 2, 3}); });
  add("enough slots", "8 publications over depth + loans + 1 + holds + threads = 5 slots: the writer never waits", {},
      [] { return std::make_unique<TakeAndDrop>(Pair::Shape{1, 5, 8}, 2, Publisher::Options{.may_starve = false}); });
  add("publisher dies", "as 'take depth 1', but the publisher may die before each step", {},
      [] { return std::make_unique<TakeAndDrop>(Pair::Shape{1, 2, 4}, 2, Publisher::Options{}, true); });
  add("observer", "4 publications over 2 slots; an observer copies twice", {S::O1, S::O3, S::F1, S::F2, S::R1},
      [] { return std::make_unique<Observer>(Pair::Shape{1, 2, 4}); });
  add("reliable", "4 publications of depth 1; the publisher waits for a reader that takes 3 times", {S::Q1, S::R6},
      [] { return std::make_unique<Reliable>(Pair::Shape{1, 3, 4}, 3); });
  add("reliable depth 2", "4 publications of depth 2; the publisher waits for a reader that takes 3 times",
      {S::Q1, S::R6}, [] { return std::make_unique<Reliable>(Pair::Shape{2, 4, 4}, 3); });
  add(
      "two threads, longer",
      "6 publications over 4 slots; two threads of one subscriber take 4 and 1 from a queue of two", {},
      [] { return std::make_unique<TwoThreads>(Pair::Shape{2, 4, 6}, 4); }, 10'000);
  add(
      "take, longer", "12 publications over 2 slots; a reader takes 6 times", {},
      [] { return std::make_unique<TakeAndDrop>(Pair::Shape{1, 2, 12}, 6); }, 10'000);
}

}  // namespace cardan::checker

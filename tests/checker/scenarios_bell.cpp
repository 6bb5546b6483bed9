// SPDX-License-Identifier: Apache-2.0
// Sleeping and being woken: nobody sleeps while something newer than its cursor is there.
#include "tests/checker/parts.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

/// One or two subscribers, which share the bell, wait for the publisher's last publication.
class Bell : public Scenario {
 public:
  struct Shape {
    int publications = 2;
    std::uint32_t subscribers = 1;
    bool two_threads = false;    ///< of subscriber 0
    bool prewakes = false;       ///< each loan rings first
    bool abandons = false;       ///< and the first loan is given up
    bool waiter_dies = false;    ///< the first one may
    bool attaches_late = false;  ///< the last one
  };
  explicit Bell(Shape shape) : shape_(shape), publisher_(area_, table_, {.wakes = true}) {
    area_.init(1, 4);
    publisher_.prepare();
    table_.init();
    for (std::uint32_t i = 0; i < shape_.subscribers; ++i) {
      subscribers_[i].init(static_cast<int>(i));
      if (!shape_.attaches_late || i + 1 != shape_.subscribers) table_.preset(i, subscribers_[i]);
    }
    Execution& e = Execution::current();
    e.spawn("publisher", [this] { publish_all(); });
    const auto waiter = [this](Reader& reader) {
      reader.wait_until(static_cast<std::uint64_t>(shape_.publications), shape_.prewakes);
    };
    waiters_[0] = e.spawn(
        "waiter 0",
        [this, waiter] {
          if (shape_.attaches_late && shape_.subscribers == 1) answer_.receive();
          waiter(readers_[0]);
        },
        shape_.waiter_dies);
    count_ = 1;
    if (shape_.two_threads) waiters_[count_++] = e.spawn("waiter 0b", [this] { one_of_two(readers_[2]); });
    if (shape_.subscribers == 2) {
      waiters_[count_++] = e.spawn("waiter 1", [this, waiter] {
        if (shape_.attaches_late) answer_.receive();
        waiter(readers_[1]);
      });
    }
    if (!shape_.two_threads) subscribers_[0].owned_by(waiters_[0]);
    if (shape_.subscribers == 2) subscribers_[1].owned_by(waiters_[count_ - 1]);
    if (shape_.attaches_late) {
      e.spawn("helper", [this] {
        const std::uint32_t last = shape_.subscribers - 1;
        table_.attach(last, subscribers_[last]);
        answer_.send();
      });
    }
  }

  void finish() override {
    std::array<std::uint32_t, 2> asleep{};
    bool somebody_died = false;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool last = i + 1 == count_ && shape_.subscribers == 2;
      somebody_died = somebody_died || Execution::current().is_dead(waiters_[i]);
      if (area_.futex.sleeps(waiters_[i])) ++asleep[last ? 1 : 0];
    }
    for (std::uint32_t i = 0; i < shape_.subscribers && !somebody_died; ++i)
      if (subscribers_[i].waiting.final_value() != asleep[i]) fail("a thread that is awake counts as waiting");
    for (std::size_t i = 0; i < count_; ++i) {
      if (!area_.futex.sleeps(waiters_[i]) || Execution::current().is_dead(waiters_[i])) continue;
      const SubscriberArea& own =
          waiters_[i] == waiters_[count_ - 1] && shape_.subscribers == 2 ? subscribers_[1] : subscribers_[0];
      if (protocol::unpack(area_.latest.final_value()).sequence > own.cursor.final_value()) {
        fail("missed wake-up: a reader sleeps for ever with a publication before it");
      }
    }
  }

 private:
  void publish_all() {
    for (int i = 0; i < shape_.publications; ++i) {
      if (shape_.prewakes) {
        publisher_.prewake();
        const int slot = publisher_.loan();
        if (i == 0 && shape_.abandons) {
          publisher_.abandon(slot);
          --i;
          shape_.abandons = false;
          continue;
        }
        publisher_.publish(slot);
      } else {
        publisher_.publish_one();
      }
    }
  }
  /// The other thread of subscriber 0: waits once, takes whatever its sibling leaves, and goes.
  void one_of_two(Reader& reader) {
    if (reader.take_one()) return;
    const std::uint32_t phase = protocol::read_bell<Env>(area_.bell);
    protocol::announce_wait<Env>(subscribers_[0].waiting);
    if (!protocol::something_new<Env>(area_.latest, subscribers_[0].cursor)) area_.futex.wait(area_.bell, phase);
    protocol::end_wait<Env>(subscribers_[0].waiting);
    reader.take_one();
  }

  Shape shape_;
  PublisherArea area_;
  Table table_;
  std::array<SubscriberArea, 2> subscribers_;
  Publisher publisher_;
  std::array<Reader, 3> readers_{Reader{area_, subscribers_[0], 1}, Reader{area_, subscribers_[1], 1},
                                 Reader{area_, subscribers_[0], 1}};
  std::array<std::size_t, 3> waiters_{};
  std::size_t count_ = 0;
  Message answer_;
};

}  // namespace

void add_bell_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  const auto add = [&](const char* name, const char* what, std::vector<Site> targets, Bell::Shape shape,
                       std::uint64_t random_runs = 0) {
    all.push_back({name, what, std::move(targets), [shape] { return std::make_unique<Bell>(shape); }, random_runs});
  };
  add("one waiter", "2 publications, a reader that sleeps between them", {S::W3, S::W4, S::B2, S::B3}, {});
  add("two waiters", "1 publication, two subscribers asleep on one bell", {S::W5, S::B1},
      {.publications = 1, .subscribers = 2});
  add("two waiting threads", "1 publication, two threads of one subscriber asleep", {S::B4},
      {.publications = 1, .two_threads = true});
  add("late waiter", "1 publication while a subscriber attaches and goes to sleep", {S::A1, S::A2, S::D2, S::D4},
      {.publications = 1, .attaches_late = true});
  add("pre-wake", "1 publication, its loan rings before it is filled", {S::L1, S::L2},
      {.publications = 1, .prewakes = true});
  add("pre-wake abandoned", "a loan that rang is given up, then 1 publication", {S::L1, S::L2},
      {.publications = 1, .prewakes = true, .abandons = true});
  add("a waiter dies", "1 publication, two subscribers asleep on one bell, one may die before each step", {},
      {.publications = 1, .subscribers = 2, .waiter_dies = true});
  add("two waiters, longer", "3 publications, two subscribers on one bell", {}, {.publications = 3, .subscribers = 2},
      10'000);
  add("two waiting threads, longer", "3 publications, two threads of one subscriber", {},
      {.publications = 3, .two_threads = true}, 10'000);
  add("pre-wake, longer", "2 publications after an abandoned loan, two subscribers", {},
      {.publications = 2, .subscribers = 2, .prewakes = true, .abandons = true}, 10'000);
}

}  // namespace cardan::checker

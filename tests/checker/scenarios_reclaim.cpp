// SPDX-License-Identifier: Apache-2.0
// How slots come back, and which subscriber is taken for a liar. Each slot has its own hold word here.
#include "tests/checker/parts.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

/// A reader that holds one sample at a time moves from slot to slot, and from word to word, while the publisher is
/// short of slots and judges.
class HonestMover final : public Scenario {
 public:
  explicit HonestMover(Publisher::Fault fault) : publisher_(area_, table_, {.fault = fault}) {
    area_.init(1, 2);
    publisher_.prepare();
    table_.init();
    subscriber_.init(0);
    subscriber_.announced = 1;
    table_.preset(0, subscriber_);
    Execution& e = Execution::current();
    publisher_.owned_by(e.spawn("publisher", [this] {
      for (int i = 0; i < 5; ++i) publisher_.publish_one();
    }));
    subscriber_.owned_by(e.spawn("reader", [this] {
      for (int i = 0; i < 3; ++i) reader_.take_one();
    }));
  }
  void finish() override {
    if (publisher_.cut_off(0)) fail("an honest reader is taken for a liar");
    expect_exact_count(subscriber_, {&reader_});
    expect_nothing_held(subscriber_);
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscriber_;
  Publisher publisher_;
  Reader reader_{area_, subscriber_, 1};
};

/// A liar counts on every slot. An honest reader may move meanwhile. The publisher never lacks a slot: it cuts the liar
/// off, and nobody else.
class Liar final : public Scenario {
 public:
  explicit Liar(bool beside_reader, Publisher::Fault fault = {})
      : publisher_(area_, table_, {.may_starve = false, .fault = fault}) {
    area_.init(1, beside_reader ? 4 : 3);
    publisher_.prepare();
    table_.init();
    for (int i = 0; i < 2; ++i) {
      subscribers_[i].init(i);
      subscribers_[i].announced = 1;
      if (i == 1 || beside_reader) table_.preset(static_cast<std::uint32_t>(i), subscribers_[i]);
    }
    Execution& e = Execution::current();
    publisher_.owned_by(e.spawn("publisher", [this, beside_reader] {
      for (int i = 0; i < (beside_reader ? 7 : 6); ++i) publisher_.publish_one();
    }));
    if (beside_reader) subscribers_[0].owned_by(e.spawn("reader", [this] { reader_.take_one(); }));
    subscribers_[1].owned_by(e.spawn("liar", [this] {
      for (auto& word : subscribers_[1].hold)
        add(word, std::uint64_t{0x0101}, std::memory_order_seq_cst, "counts on every slot");
    }));
  }
  void finish() override {
    if (publisher_.cut_off(0)) fail("an honest reader is taken for a liar");
    expect_exact_count(subscribers_[0], {&reader_});
    expect_nothing_held(subscribers_[0]);
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea subscribers_[2];
  Publisher publisher_;
  Reader reader_{area_, subscribers_[0], 1};
};

/// A liar counts on every slot, takes it back and counts again, while the publisher looks.
class FlickeringLiar final : public Scenario {
 public:
  explicit FlickeringLiar(Publisher::Fault fault) : publisher_(area_, table_, {.may_starve = false, .fault = fault}) {
    area_.init(1, 3);
    publisher_.prepare();
    table_.init();
    liar_.init(0);
    liar_.announced = 1;
    table_.preset(0, liar_);
    Execution& e = Execution::current();
    publisher_.owned_by(e.spawn("publisher", [this] {
      for (int i = 0; i < 4; ++i) publisher_.publish_one();
    }));
    liar_.owned_by(e.spawn("liar", [this] {
      for (auto& word : liar_.hold) add(word, std::uint64_t{0x0101}, std::memory_order_seq_cst, "counts on every slot");
      for (auto& word : liar_.hold) add(word, std::uint64_t{0} - 0x0101, std::memory_order_seq_cst, "takes it back");
    }));
  }

 private:
  PublisherArea area_;
  Table table_;
  SubscriberArea liar_;
  Publisher publisher_;
};

/// A loan is filled and given up by another thread of the publisher's process, then filled again by this one.
class Abandon final : public Scenario {
 public:
  Abandon() : publisher_(area_, table_, {.may_starve = false}) {
    area_.init(1, 3);
    publisher_.prepare();
    table_.init();
    Execution& e = Execution::current();
    table_.epoch.owned_by(e.spawn("publisher", [this] {
      given_ = publisher_.loan();
      loaned_.send();
      for (int i = 0; i < 4; ++i) publisher_.publish_one();
    }));
    e.spawn("filler", [this] {
      loaned_.receive();
      area_.payload[given_].fill(77);
      publisher_.abandon(given_);
      abandoned_ = true;
    });
  }
  void finish() override {
    if (abandoned_ && !publisher_.comes_back(static_cast<std::uint32_t>(given_)))
      fail("a slot that was given up does not come back");
  }

 private:
  PublisherArea area_;
  Table table_;
  Publisher publisher_;
  Message loaned_;
  int given_ = -1;
  bool abandoned_ = false;
};

}  // namespace

void add_reclaim_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  using Fault = Publisher::Fault;
  const auto mover = [](Fault fault) { return [fault] { return std::make_unique<HonestMover>(fault); }; };
  const auto liar = [](bool beside_reader, Fault fault) {
    return [beside_reader, fault] { return std::make_unique<Liar>(beside_reader, fault); };
  };
  all.push_back({"honest mover",
                 "5 publications over 2 slots, too few; a reader that announced one takes 3 times",
                 {S::D1, S::D3, S::R4},
                 mover(Fault::None),
                 0,
                 {{"living slots are judged too", mover(Fault::JudgesLivingSlots)}}});
  all.push_back({"liar",
                 "6 publications over 3 slots with a subscriber that counts on all: the writer never waits",
                 {S::D3, S::A1, S::D2},
                 liar(false, Fault::None),
                 0,
                 {{"a liar's holds count for ever", liar(false, Fault::KeepsLiars)}}});
  all.push_back({"liar, longer",
                 "7 publications over 4 slots with such a subscriber and an honest one",
                 {},
                 liar(true, Fault::None),
                 10'000});
  all.push_back(
      {"flickering liar",
       "4 publications over 3 slots with a subscriber that counts on all and takes it back: as above",
       {},
       [] { return std::make_unique<FlickeringLiar>(Fault::None); },
       0,
       {{"the judge reads again", [] { return std::make_unique<FlickeringLiar>(Fault::JudgesOtherReads); }}}});
  all.push_back({"abandon",
                 "4 publications over 3 slots; another thread fills a loan and gives it up",
                 {S::G1, S::G2, S::G3},
                 [] { return std::make_unique<Abandon>(); },
                 0});
}

}  // namespace cardan::checker

// SPDX-License-Identifier: Apache-2.0
// A writer changes two sides, readers read the one that is shown.
#include "src/transport/protocol/sides_protocol.hpp"
#include "tests/checker/env.hpp"
#include "tests/checker/scenarios.hpp"

namespace cardan::checker {
namespace {

void wait_until_left(const Word<std::uint32_t>& inside) {
  Env::is(Site::S7, Kind::Load);
  Execution::current().load_when(inside.id(), order_now(Site::S7), name_of(Site::S7),
                                 [](std::uint64_t count) { return count == 0; });
}

void init(protocol::SidesWords<Env>& words) {
  words.shown.init({"shown"});
  words.version.init({"version"});
  for (int i = 0; i < 2; ++i) words.inside[static_cast<std::size_t>(i)].readers.init({"inside", i});
}

class Sides final : public Scenario {
 public:
  Sides(int readers, int reads, std::uint64_t changes) : changes_(changes) {
    init(words_);
    for (int i = 0; i < 2; ++i) sides_[i].init({"side", i});
    Execution& e = Execution::current();
    const std::size_t writer = e.spawn("writer", [this] {
      for (std::uint64_t n = 1; n <= changes_; ++n) change(n);
    });
    words_.shown.owned_by(writer);
    words_.version.owned_by(writer);
    for (int i = 0; i < readers; ++i)
      e.spawn("reader", [this, reads] {
        std::uint64_t last = 0;
        for (int k = 0; k < reads; ++k) last = read(last);
      });
  }
  void finish() override {
    for (const Cell& side : sides_)
      if (side.final_value() != changes_) fail("a side lacks a change");
  }

 private:
  void change(std::uint64_t n) {
    protocol::change_sides(
        words_, [&](std::uint32_t side) { sides_[side].write(n); },
        [](const Word<std::uint32_t>& inside) { wait_until_left(inside); });
  }
  std::uint64_t read(std::uint64_t last) {
    const protocol::SideRead in = protocol::enter_side(words_);
    const std::uint64_t value = sides_[in.side].read();
    if (value < last) fail("a reader sees an older state than before");
    protocol::leave_side(words_, in);
    return value;
  }

  std::uint64_t changes_;
  protocol::SidesWords<Env> words_;
  Cell sides_[2];
};

/// A reader that comes while the writer waits, and leaves only after the change: the writer does not wait for it.
class LateReader final : public Scenario {
 public:
  LateReader() {
    init(words_);
    Execution& e = Execution::current();
    const std::size_t writer = e.spawn("writer", [this] {
      int waits = 0;
      protocol::change_sides(
          words_, [](std::uint32_t) {},
          [&](const Word<std::uint32_t>& inside) {
            if (++waits == 2) {
              waits_.send();
              entered_.receive();
              if (!protocol::is_left<Env>(inside)) fail("the writer waits for a reader that came later");
            }
            wait_until_left(inside);
          });
      changed_.send();
    });
    words_.shown.owned_by(writer);
    words_.version.owned_by(writer);
    e.spawn("reader", [this] {
      waits_.receive();
      const protocol::SideRead in = protocol::enter_side(words_);
      entered_.send();
      changed_.receive();
      protocol::leave_side(words_, in);
    });
  }

 private:
  protocol::SidesWords<Env> words_;
  Message waits_, entered_, changed_;
};

}  // namespace

void add_sides_scenarios(std::vector<ScenarioInfo>& all) {
  using S = Site;
  all.push_back({"sides", "two changes; a reader reads twice", {S::S2, S::S3, S::S4, S::S6, S::S7}, [] {
                   return std::make_unique<Sides>(1, 2, 2);
                 }});
  all.push_back({"sides, late reader", "a reader comes while the writer waits, and stays", {S::S8}, [] {
                   return std::make_unique<LateReader>();
                 }});
  all.push_back({"sides, two readers",
                 "three changes; two readers read three times each",
                 {},
                 [] { return std::make_unique<Sides>(2, 3, 3); },
                 10'000});
}

}  // namespace cardan::checker

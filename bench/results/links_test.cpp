// SPDX-License-Identifier: Apache-2.0
#include "bench/results/links.hpp"

#include <gtest/gtest.h>

namespace cardan::bench {
namespace {

class Links : public ::testing::Test {
 protected:
  void add(const char* cell, double rate, std::uint64_t lost, const char* peer = "tcp", std::uint64_t due = 1000) {
    Measurement m{.part = "transport",
                  .peer = peer,
                  .setup = "block",
                  .cell = cell,
                  .quantity = "transport",
                  .unit = "us",
                  .bytes = 4'000'000,
                  .rate_hz = 50};
    m.runs.push_back(make_run({100, 200}));
    m.due = due;
    m.lost = lost;
    all_.push_back(m);
    m.due.reset();
    m.lost.reset();
    m.quantity = kAchievedRate;
    m.runs = {make_run({rate})};
    all_.push_back(m);
  }
  [[nodiscard]] std::vector<LinksOfPeer> links() const {
    std::vector<const Measurement*> pointers;
    for (const Measurement& m : all_) pointers.push_back(&m);
    return links_of(pointers);
  }
  [[nodiscard]] std::string sustained() const {
    const auto found = links();
    return found.size() == 1 ? found[0].text() : "not one peer";
  }

  std::vector<Measurement> all_;
};

TEST_F(Links, CellsAreSplit) {
  using Split = std::pair<std::uint32_t, std::string>;
  EXPECT_EQ(split_links("4x1p1s cv cpu=100"), (Split{4, "1p1s cv cpu=100"}));
  EXPECT_EQ(split_links("1p1s cv cpu=100"), (Split{1, "1p1s cv cpu=100"}));
  EXPECT_EQ(split_links("1p1s load=8x90"), (Split{1, "1p1s load=8x90"})) << "the x of a condition is another";
  EXPECT_EQ(split_links("16x2p5s"), (Split{16, "2p5s"}));
  for (const char* other : {"", "fusion", "topics 1000", "x1p1s", "0x1p1s", "-2x1p1s", "99999999999x1p1s", "4x", "4xps",
                            "pipeline A", "steps", "2x2x1p1s"})
    EXPECT_EQ(split_links(other), (Split{0, other})) << other;
}

TEST_F(Links, TheGreatestNumberWhoseFramesArriveAtTheirRateIsSustained) {
  add("1p1s cv cpu=100", 50, 0);
  EXPECT_TRUE(links().empty()) << "one number of links is none of this";
  add("2x1p1s cv cpu=100", 47.5, 10);
  EXPECT_EQ(sustained(), "2 or more") << "both limits are within";
  add("4x1p1s cv cpu=100", 47.4, 0);
  EXPECT_EQ(sustained(), "2") << "too slow";
  add("8x1p1s cv cpu=100", 50, 11);
  EXPECT_EQ(sustained(), "2") << "too much is lost";
  add("6x1p1s cv cpu=100", 50, 9);  // in any order
  EXPECT_EQ(sustained(), "6");
  const auto peer = links().at(0);
  ASSERT_EQ(peer.points.size(), 5U);
  EXPECT_EQ(peer.points[3].links, 6U);
  EXPECT_DOUBLE_EQ(peer.points[3].arrived, 0.991);
  EXPECT_DOUBLE_EQ(peer.points[2].achieved_hz, 47.4);
  EXPECT_EQ(text_of(peer.points[3]), "99.1 % at 50.0 Hz");
  EXPECT_EQ(peer.cell, "1p1s cv cpu=100, 4 MB, 50 Hz");
  EXPECT_EQ(peer.contender, "tcp block");
}

TEST_F(Links, NoneIsSaidToo) {
  add("1p1s cv", 20, 0);
  add("2x1p1s cv", 10, 0);
  EXPECT_EQ(sustained(), "none");
}

TEST_F(Links, PeersAndCellsAreApart) {
  for (const char* peer : {"tcp", "cardan"})
    for (const char* cell : {"1p1s cv", "2x1p1s cv", "1p1s cv cpu=50", "2x1p1s cv cpu=50"}) add(cell, 50, 0, peer);
  EXPECT_EQ(links().size(), 4U);
}

TEST_F(Links, OneNumberInSeveralPartsIsNotATableOfLinks) {
  add("1p1s cv", 50, 0);
  add("1p1s cv", 49, 0);
  EXPECT_TRUE(links().empty());
}

TEST_F(Links, WithoutARateOrMessagesThatWereDueNothingIsSaid) {
  add("1p1s cv", 50, 0);
  add("2x1p1s cv", 50, 0);
  add("4x1p1s cv", 50, 0, "tcp", 0);
  EXPECT_EQ(sustained(), "2 or more");
  std::erase_if(all_, [](const Measurement& m) { return m.quantity == kAchievedRate; });
  EXPECT_TRUE(links().empty());
}

}  // namespace
}  // namespace cardan::bench

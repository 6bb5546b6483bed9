// SPDX-License-Identifier: Apache-2.0
#include "cardan/shm_vector.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "cardan/arena.hpp"
#include "cardan/shm_string.hpp"

namespace cardan::shm {
namespace {

static_assert(sizeof(vector<double>) == 32 && std::is_standard_layout_v<vector<double>>);
static_assert(std::is_trivially_destructible_v<vector<double>>);
static_assert(!std::is_copy_constructible_v<vector<double>> && !std::is_copy_assignable_v<vector<double>>);
static_assert(!std::is_move_constructible_v<string>);

// A slot in small: arena, vectors, and the storage that belongs to them.
template <std::size_t Bytes>
struct Slot {
  Slot() {
    arena.place(storage.data(), storage.size());
    first.bind_to(arena);
    second.bind_to(arena);
    text.bind_to(arena);
  }
  Arena arena;
  vector<std::int32_t> first;
  vector<double> second;
  string text;
  alignas(64) std::array<std::byte, Bytes> storage{};
};

TEST(Arena, StartsAtItsBaseThenAtMultiplesOf64) {
  Slot<256> slot;
  EXPECT_EQ(slot.arena.allocate(10), slot.storage.data());
  EXPECT_EQ(slot.arena.allocate(10), slot.storage.data() + 64);
  EXPECT_EQ(slot.arena.left(), 256U - 74U);
  EXPECT_EQ(slot.arena.allocate(129), nullptr);
  EXPECT_EQ(slot.arena.allocate(128), slot.storage.data() + 128);
  EXPECT_EQ(slot.arena.allocate(1), nullptr);
  EXPECT_EQ(slot.arena.allocate(std::numeric_limits<std::uint64_t>::max()), nullptr);
}

TEST(ShmVector, WorksLikeTheStandardOne) {
  Slot<4096> slot;
  auto& v = slot.first;
  EXPECT_TRUE(v.empty());
  for (int i = 0; i < 10; ++i) v.push_back(i);
  EXPECT_EQ(v.size(), 10U);
  EXPECT_EQ(v.front(), 0);
  EXPECT_EQ(v.back(), 9);
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 45);
  EXPECT_EQ(*v.rbegin(), 9);
  v.pop_back();
  v.insert(v.begin() + 2, 100);
  EXPECT_EQ(v[2], 100);
  EXPECT_EQ(v[3], 2);
  v.erase(v.begin());
  v.erase(v.begin() + 1, v.begin() + 3);
  EXPECT_EQ(std::vector<int>(v.begin(), v.end()), (std::vector<int>{1, 3, 4, 5, 6, 7, 8}));
  v.resize(8);
  EXPECT_EQ(v.back(), 0);
  v.resize(10, -1);
  EXPECT_EQ(v.back(), -1);
  v = {3, 2, 1};
  EXPECT_EQ(v.emplace_back(7), 7);
  EXPECT_EQ(v.span().size_bytes(), 16U);
  const std::vector<std::int16_t> other{5, 6};
  v.assign(other.begin(), other.end());
  EXPECT_EQ(v.at(1), 6);
  EXPECT_THROW(static_cast<void>(v.at(2)), std::out_of_range);
  v.clear();
  EXPECT_TRUE(v.empty());
}

TEST(ShmVector, FirstOneStartsAtTheBaseOfTheArena) {
  Slot<4096> slot;
  slot.second.resize(3);
  slot.first.resize(3);
  EXPECT_EQ(static_cast<void*>(slot.second.data()), slot.storage.data());
  EXPECT_EQ(static_cast<void*>(slot.first.data()), slot.storage.data() + 64);
}

TEST(ShmVector, LastPieceGrowsInPlaceOthersMove) {
  Slot<4096> slot;
  slot.first.resize(4);
  const auto* where = slot.first.data();
  slot.first.resize(100);
  EXPECT_EQ(slot.first.data(), where);
  slot.second.push_back(1.5);
  slot.first[99] = 42;
  slot.first.push_back(43);
  EXPECT_NE(slot.first.data(), where);
  EXPECT_EQ(slot.first[99], 42);
  EXPECT_EQ(slot.first[100], 43);
  EXPECT_EQ(slot.second[0], 1.5);
}

TEST(ShmVector, CanUseTheArenaToItsLastByte) {
  Slot<256> slot;
  slot.first.resize(64);
  EXPECT_EQ(slot.arena.left(), 0U);
  EXPECT_FALSE(slot.first.try_push_back(1));
  EXPECT_FALSE(slot.first.try_resize(65));
  EXPECT_FALSE(slot.second.try_resize(1));
  EXPECT_FALSE(slot.first.try_reserve(std::numeric_limits<std::size_t>::max()));
  EXPECT_EQ(slot.first.size(), 64U) << "a failed growth changes nothing";
}

TEST(ShmVector, TellsTheRemedyWhenTheArenaIsFull) {
  Slot<256> slot;
  try {
    slot.first.resize(1000);
    FAIL() << "1000 elements fitted into 256 bytes";
  } catch (const std::length_error& error) {
    EXPECT_NE(std::string(error.what()).find("raise max_bytes"), std::string::npos) << error.what();
  }
}

TEST(ShmVector, TellsTheRemedyWhenItIsInNoLoan) {
  vector<int> alone;
  EXPECT_FALSE(alone.try_push_back(1));
  try {
    alone.push_back(1);
    FAIL() << "a vector without storage grew";
  } catch (const std::length_error& error) {
    EXPECT_NE(std::string(error.what()).find("inside a loan"), std::string::npos) << error.what();
  }
}

TEST(ShmVector, PushingBackAnElementOfItselfSurvivesTheMove) {
  Slot<4096> slot;
  slot.first.push_back(7);
  slot.second.push_back(0.0);  // so that `first` must move
  slot.first.push_back(slot.first[0]);
  EXPECT_EQ(slot.first[1], 7);
}

TEST(ShmString, HoldsTextOfAnyLength) {
  Slot<4096> slot;
  slot.text = "a pedestrian";
  slot.text += " crosses";
  slot.text.push_back('!');
  EXPECT_EQ(slot.text, "a pedestrian crosses!");
  const std::string big(3000, 'x');
  slot.text.assign(big);
  EXPECT_EQ(slot.text.view(), big);
  EXPECT_FALSE(slot.text.try_assign(std::string(5000, 'y')));
  EXPECT_THROW(slot.text.append(big), std::length_error);
}

// The reader's side: copies of the vector's 32 bytes with whatever a publisher may have written into them.
class Adopt : public ::testing::Test {
 protected:
  struct Raw {
    std::int64_t data;
    std::uint64_t size, capacity;
    std::int64_t arena;
  };
  bool adopt(const Raw& raw) {
    std::memcpy(static_cast<void*>(&copy_), &raw, sizeof raw);
    return copy_.adopt_from(&slot_.second, slot_.storage.data(), slot_.storage.size(), sizeof(double), alignof(double));
  }
  [[nodiscard]] Raw raw() const {
    Raw out;
    std::memcpy(&out, static_cast<const void*>(&slot_.second), sizeof out);
    return out;
  }
  Slot<256> slot_;
  vector<double> copy_;
};

TEST_F(Adopt, AnHonestVectorPointsToTheSameElements) {
  slot_.second.resize(32, 2.5);
  ASSERT_TRUE(adopt(raw()));
  EXPECT_EQ(copy_.data(), slot_.second.data());
  EXPECT_EQ(copy_.size(), 32U);
  EXPECT_EQ(copy_.capacity(), 32U);
  EXPECT_FALSE(copy_.try_push_back(1.0)) << "what was received cannot grow";
}

TEST_F(Adopt, AnEmptyVectorNeedsNoValidOffset) {
  ASSERT_TRUE(adopt({.data = 12345, .size = 0, .capacity = 99, .arena = 7}));
  EXPECT_TRUE(copy_.empty());
  EXPECT_EQ(copy_.begin(), copy_.end());
}

TEST_F(Adopt, RefusesEveryWildRange) {
  slot_.second.resize(32);
  const Raw good = raw();
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  const std::vector<Raw> bad{
      {good.data, 33, 33, 0},                               // one element too many
      {good.data + 8, 32, 32, 0},                           // shifted over the end
      {good.data - 8, 1, 1, 0},                             // before the payload
      {good.data + 4, 1, 1, 0},                             // not aligned
      {good.data + 256, 1, 1, 0},                           // after the end
      {good.data, huge, huge, 0},                           // size × 8 overflows
      {good.data, huge / 8 + 2, 1, 0},                      // … to a small number
      {std::numeric_limits<std::int64_t>::min(), 1, 1, 0},  // far away
      {std::numeric_limits<std::int64_t>::max(), 1, 1, 0},  //
      {0, 1, 1, 0},                                         // the vector itself
  };
  for (const Raw& raw : bad) {
    EXPECT_FALSE(adopt(raw)) << raw.data - good.data << ", " << raw.size;
    EXPECT_TRUE(copy_.empty()) << "a refused vector is empty";
  }
  ASSERT_TRUE(adopt({good.data + 256, 0, 0, 0}));
  ASSERT_TRUE(adopt({good.data + 8, 31, 31, 0})) << "a part of the payload is fine";
}

}  // namespace
}  // namespace cardan::shm

// SPDX-License-Identifier: Apache-2.0
#include "cardan/fixed_string.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>

#include "cardan/fixed_vector.hpp"

namespace cardan {
namespace {

static_assert(std::is_trivially_copyable_v<FixedString<60>>);
static_assert(std::is_standard_layout_v<FixedString<60>>);
static_assert(sizeof(FixedString<60>) == 64);
static_assert(!std::is_constructible_v<FixedString<3>, const char (&)[6]>,
              "a literal that may not fit does not compile");
static_assert(FixedString<8>("camera") == "camera", "usable at compile time");

TEST(FixedString, HoldsTextAndComparesLikeStringView) {
  FixedString<8> text = "front";
  EXPECT_EQ(text, "front");
  EXPECT_EQ(text.size(), 5U);
  EXPECT_EQ(std::string(text), "front");
  EXPECT_LT(text, FixedString<8>("rear"));
  text = "rear";
  EXPECT_EQ(text.view(), "rear");
  text.clear();
  EXPECT_TRUE(text.empty());
}

TEST(FixedString, FillsToTheLastByte) {
  const FixedString<4> text = "abcd";
  EXPECT_EQ(text.size(), text.capacity());
  EXPECT_EQ(text, "abcd");
}

TEST(FixedString, SaysWhenItCutsText) {
  FixedString<4> text;
  EXPECT_TRUE(text.assign("abcd"));
  EXPECT_FALSE(text.assign("abcdef"));
  EXPECT_EQ(text, "abcd");
  EXPECT_TRUE(text.assign("ab"));
  EXPECT_TRUE(text.append("c"));
  EXPECT_FALSE(text.append("def"));
  EXPECT_EQ(text, "abcd");
}

TEST(FixedString, StopsAtTheFirstNulOfACharArray) {
  const char buffer[8] = "ab";
  EXPECT_EQ(FixedString<8>(buffer).size(), 2U);
}

TEST(FixedString, ClampsALengthThatAnotherProcessFalsified) {
  FixedString<8> text = "front";
  const std::uint32_t wild = 0xffffffffU;
  std::memcpy(static_cast<void*>(&text), &wild, sizeof wild);
  EXPECT_EQ(text.size(), 8U);
  EXPECT_EQ(text.view().size(), 8U);
}

TEST(FixedString, GoesToAStream) {
  std::ostringstream out;
  out << FixedString<8>("front");
  EXPECT_EQ(out.str(), "front");
}

TEST(FixedVector, HoldsUpToItsBound) {
  FixedVector<int, 3> list;
  EXPECT_TRUE(list.push_back(1));
  EXPECT_TRUE(list.push_back(2));
  EXPECT_TRUE(list.push_back(3));
  EXPECT_FALSE(list.push_back(4));
  EXPECT_EQ(list.size(), 3U);
  EXPECT_TRUE(list.resize(1));
  EXPECT_TRUE(list.resize(2));
  EXPECT_EQ(list[1], 0) << "new elements are value-initialized";
  EXPECT_FALSE(list.resize(4));
  EXPECT_EQ(list.size(), 2U);
}

TEST(FixedVector, ClampsALengthThatAnotherProcessFalsified) {
  FixedVector<int, 3> list;
  const std::uint32_t wild = 1000;
  std::memcpy(static_cast<void*>(&list), &wild, sizeof wild);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.end() - list.begin(), 3);
}

}  // namespace
}  // namespace cardan

// SPDX-License-Identifier: Apache-2.0
#include "cardan/message.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace my {

enum class Gear : std::uint8_t { Park, Drive };

struct Wheel {
  double speed = 0;
  float pressure[2] = {};
};

struct Drive {
  std::int64_t stamp = 0;
  Gear gear = Gear::Park;
  bool braking = false;
  cardan::FixedString<12> mode;
  std::array<Wheel, 4> wheels{};
};

struct Scan {
  std::int64_t stamp = 0;
  cardan::shm::vector<float> ranges;
  cardan::shm::vector<Wheel> wheels;
  cardan::shm::string remark;
};

struct Both {
  Scan left;
  Drive drive;
  Scan right;
};

// The macro in the namespace of the struct …
CARDAN_MESSAGE(Wheel, "my_msgs/msg/Wheel", speed, pressure);
CARDAN_MESSAGE(Scan, "my_msgs/msg/Scan", stamp, ranges, wheels, remark);

}  // namespace my

// … and outside of it.
CARDAN_MESSAGE(my::Drive, "my_msgs/msg/Drive", stamp, gear, braking, mode, wheels);
CARDAN_MESSAGE(my::Both, "my_msgs/msg/Both", left, drive, right);

namespace {

// Same name and fields as my::Wheel; another layout.
struct OtherWheel {
  float speed = 0;
  float pressure[2] = {};
};
CARDAN_MESSAGE(OtherWheel, "my_msgs/msg/Wheel", speed, pressure);

struct alignas(64) Aligned {
  std::uint32_t a = 0;
  alignas(64) std::uint32_t b = 0;
};
CARDAN_MESSAGE(Aligned, "my_msgs/msg/Aligned", a, b);

using cardan::Message;
using cardan::message_traits;

static_assert(Message<my::Drive> && Message<my::Scan> && Message<my::Both> && Message<Aligned>);
static_assert(!Message<int> && !Message<std::string> && !Message<std::vector<int>> && !Message<my::Gear>);
static_assert(cardan::shm::has_vectors<my::Scan> && cardan::shm::has_vectors<my::Both> &&
              !cardan::shm::has_vectors<my::Drive>);
static_assert(!std::is_copy_constructible_v<my::Scan> && !std::is_copy_assignable_v<my::Both>);
static_assert(std::is_trivially_copyable_v<my::Drive>);
static_assert(message_traits<my::Wheel>::type_hash() != message_traits<OtherWheel>::type_hash());
static_assert(message_traits<my::Drive>::type_name() == "my_msgs/msg/Drive");

TEST(Message, NamesItsFieldsInOrder) {
  const my::Drive drive;
  std::string names;
  message_traits<my::Drive>::for_each_field(
      drive, [&](std::string_view name, const auto&) { names += std::string(name) + " "; });
  EXPECT_EQ(names, "stamp gear braking mode wheels ");
}

TEST(Message, FieldsCanBeWrittenThroughTheReflection) {
  my::Wheel wheel;
  message_traits<my::Wheel>::for_each_field(wheel, [](std::string_view, auto& field) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, double>) field = 3.5;
  });
  EXPECT_EQ(wheel.speed, 3.5);
}

TEST(Message, WritesItsSchemaWithWhatItUses) {
  EXPECT_EQ(message_traits<my::Scan>::schema(),
            "int64 stamp\nfloat32[] ranges\nmy_msgs/Wheel[] wheels\nstring remark\n" + std::string(80, '=') +
                "\nMSG: my_msgs/Wheel\nfloat64 speed\nfloat32[2] pressure\n");
  EXPECT_EQ(message_traits<my::Drive>::schema().substr(0, 76),
            "int64 stamp\nuint8 gear\nbool braking\nstring<=12 mode\nmy_msgs/Wheel[4] wheels\n" + std::string());
}

TEST(Message, EachDefinitionIsInTheSchemaOnce) {
  const std::string schema(message_traits<my::Both>::schema());
  std::size_t count = 0;
  for (std::size_t at = schema.find("MSG: "); at != std::string::npos; at = schema.find("MSG: ", at + 1)) ++count;
  EXPECT_EQ(count, 3U) << schema;
}

struct Slot {
  Slot() {
    arena.place(storage.data(), storage.size());
    cardan::shm::bind(message, arena);
  }
  cardan::shm::Arena arena;
  my::Both message;
  alignas(64) std::array<std::byte, 4096> storage{};
};

TEST(Message, BindReachesNestedVectorsAndEmptiesThem) {
  Slot slot;
  slot.message.left.ranges = {1, 2, 3};
  slot.message.right.wheels.resize(2);
  slot.message.right.remark = "ok";
  EXPECT_EQ(static_cast<void*>(slot.message.left.ranges.data()), slot.storage.data());
  cardan::shm::bind(slot.message, slot.arena);
  EXPECT_TRUE(slot.message.left.ranges.empty());
  EXPECT_EQ(slot.arena.used, 0U);
}

TEST(Message, AdoptGivesAPrivateCopyThatReadsTheSharedElements) {
  Slot slot;
  slot.message.drive.stamp = 77;
  slot.message.left.ranges = {1, 2, 3};
  slot.message.right.remark = "clear road";
  my::Both copy;
  std::memcpy(static_cast<void*>(&copy), &slot.message, sizeof copy);
  ASSERT_TRUE(cardan::shm::adopt(copy, &slot.message, slot.storage.data(), slot.storage.size()));
  EXPECT_EQ(copy.drive.stamp, 77);
  EXPECT_EQ(copy.left.ranges.data(), slot.message.left.ranges.data());
  EXPECT_EQ(copy.right.remark, "clear road");
}

TEST(Message, AdoptRefusesAMessageWithOneBadVectorAndEmptiesIt) {
  Slot slot;
  slot.message.left.ranges = {1, 2, 3};
  slot.message.right.ranges = {4, 5, 6};
  my::Both copy;
  std::memcpy(static_cast<void*>(&copy), &slot.message, sizeof copy);
  const std::uint64_t wild = 1U << 20U;
  std::memcpy(reinterpret_cast<std::byte*>(&copy.left.ranges) + 8, &wild, sizeof wild);
  EXPECT_FALSE(cardan::shm::adopt(copy, &slot.message, slot.storage.data(), slot.storage.size()));
  EXPECT_TRUE(copy.left.ranges.empty());
}

}  // namespace

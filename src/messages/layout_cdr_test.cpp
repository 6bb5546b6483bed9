// SPDX-License-Identifier: Apache-2.0
#include "src/messages/layout_cdr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "cardan/local_message.hpp"
#include "cardan/messages.hpp"
#include "cardan/publisher.hpp"

namespace layout_cdr_test {

enum class Mode : std::uint16_t { Off, On };

struct Two {
  cardan::shm::vector<std::uint8_t> a, b;
};

struct Corner {
  float x = 0, y = 0;
  bool seen = false;
};
CARDAN_MESSAGE(layout_cdr_test::Two, "x_msgs/msg/Two", a, b);
CARDAN_MESSAGE(Corner, "l_msgs/msg/Corner", x, y, seen);

// Every kind of field, numbers after odd ones, and a type with its own wire form in the middle.
struct Mixed {
  std::uint8_t first = 0;
  double number = 0;
  bool flag = false;
  Mode mode = Mode::Off;
  cardan::Header header;
  cardan::FixedString<8> name;
  std::int64_t matrix[2][2] = {};
  std::array<Corner, 2> corners{};
  cardan::FixedVector<Corner, 3> few;
  cardan::shm::vector<std::uint16_t> ranges;
  std::uint8_t between = 0;
  cardan::shm::vector<double> weights;
  cardan::shm::vector<Corner> points;
  cardan::shm::string remark;
  std::uint32_t last = 0;
};
CARDAN_MESSAGE(Mixed, "l_msgs/msg/Mixed", first, number, flag, mode, header, name, matrix, corners, few, ranges,
               between, weights, points, remark, last);

using cardan::CdrError;
using cardan::CdrFrame;
using cardan::layout_of;
using cardan::LocalMessage;
using cardan::TypeLayout;

std::vector<std::byte> joined(const CdrFrame& frame) {
  std::vector<std::byte> all(frame.prefix);
  all.insert(all.end(), frame.payload.begin(), frame.payload.end());
  all.insert(all.end(), frame.suffix.begin(), frame.suffix.end());
  return all;
}

void fill(Mixed& m) {
  m.first = 1;
  m.number = 2.5;
  m.flag = true;
  m.mode = Mode::On;
  m.header = {.stamp = 1'700'000'000'123'456'789, .sequence = 0, .frame_id = cardan::FrameId("map")};
  m.name = "front";
  m.matrix[1][0] = -7;
  m.corners[1] = {1, 2, true};
  ASSERT_TRUE(m.few.push_back({3, 4, false}));
  m.ranges.assign({1, 2, 3});
  m.between = 9;
  m.weights.assign({0.5, 0.25});
  m.points.assign({{5, 6, true}, {7, 8, false}, {9, 10, true}});
  m.remark = "hello";
  m.last = 99;
}

const std::byte* bytes_of(const auto& message) { return reinterpret_cast<const std::byte*>(&message); }

/// Both ways of framing give the same bytes, and leave the same part where it is.
template <class T>
void expect_same(const T& message, const TypeLayout& layout) {
  CdrFrame typed, untyped;
  cardan::frame_cdr(message, typed);
  cardan::frame_cdr(layout, bytes_of(message), untyped);
  EXPECT_EQ(typed.prefix, untyped.prefix);
  EXPECT_EQ(typed.payload.data(), untyped.payload.data());
  EXPECT_EQ(typed.payload.size(), untyped.payload.size());
  EXPECT_EQ(typed.suffix, untyped.suffix);
}

TEST(LayoutCdr, FramesAsTheTypeItselfDoes) {
  LocalMessage<Mixed> mixed(4096);
  fill(*mixed);
  expect_same(*mixed, *layout_of<Mixed>());

  LocalMessage<cardan::Image> image(1 << 16);
  const auto pixels = image->resize(100, 200, "bgr8");
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i);
  image->header.frame_id = cardan::FrameId("camera");
  expect_same(*image, *layout_of<cardan::Image>());

  LocalMessage<cardan::Detections2D> found(4096);
  found->detections.resize(2);
  found->detections[1].label = "car";
  expect_same(*found, *layout_of<cardan::Detections2D>());

  LocalMessage<cardan::Imu> imu;
  imu->angular_velocity.z = 0.25;
  expect_same(*imu, *layout_of<cardan::Imu>());
}

TEST(LayoutCdr, FramesATypeThatIsKnownByItsSchemaAlone) {
  using traits = cardan::message_traits<Mixed>;
  const auto layout =
      cardan::find_layout(std::string(traits::type_name()), traits::type_hash(), std::string(traits::schema()));
  ASSERT_NE(layout, nullptr);
  LocalMessage<Mixed> mixed(4096);
  fill(*mixed);
  expect_same(*mixed, *layout);
}

TEST(LayoutCdr, ReadsWhatTheTypeWrote) {
  LocalMessage<Mixed> from(4096), to(4096);
  fill(*from);
  const std::vector<std::byte> wire = cardan::to_cdr(*from);
  const auto layout = layout_of<Mixed>();
  const auto result = cardan::from_cdr(*layout, wire, reinterpret_cast<std::byte*>(&*to));
  EXPECT_TRUE(result) << result.text();
  EXPECT_EQ(cardan::to_cdr(*to), wire);
  EXPECT_EQ(to->header, from->header);
  ASSERT_EQ(to->points.size(), 3U);
  EXPECT_EQ(to->points[2].x, 9);
}

TEST(LayoutCdr, BindsAZeroedMessage) {
  const auto layout = layout_of<Mixed>();
  struct alignas(64) Room {
    cardan::shm::Arena arena;
    std::array<std::byte, sizeof(Mixed)> message{};
    alignas(64) std::array<std::byte, 4096> bytes{};
  };
  const auto room = std::make_unique<Room>();
  room->arena.place(room->bytes.data(), room->bytes.size());
  cardan::bind(*layout, room->message.data(), room->arena);
  LocalMessage<Mixed> from(4096);
  fill(*from);
  const std::vector<std::byte> wire = cardan::to_cdr(*from);
  const auto result = cardan::from_cdr(*layout, wire, room->message.data());
  EXPECT_TRUE(result) << result.text();
  CdrFrame again;
  cardan::frame_cdr(*layout, room->message.data(), again);
  EXPECT_EQ(joined(again), wire);
}

TEST(LayoutCdr, EveryTruncationIsNoticed) {
  const auto layout = layout_of<Mixed>();
  LocalMessage<Mixed> from(4096);
  fill(*from);
  const std::vector<std::byte> wire = cardan::to_cdr(*from);
  for (std::size_t bytes = 0; bytes < wire.size(); ++bytes) {
    LocalMessage<Mixed> to(4096);
    EXPECT_FALSE(cardan::from_cdr(*layout, std::span(wire).first(bytes), reinterpret_cast<std::byte*>(&*to))) << bytes;
  }
}

/// The same bytes, cut at two places.
auto cut(std::span<const std::byte> bytes, std::size_t first, std::size_t second) {
  return std::array{bytes.first(first), bytes.subspan(first, second - first), bytes.subspan(second)};
}

/// Pieces give the same message, or the same refusal, as one piece does.
void expect_same_in_pieces(std::span<const std::byte> wire, std::size_t room) {
  const auto layout = layout_of<Mixed>();
  LocalMessage<Mixed> whole(room);
  const auto expected = cardan::from_cdr(*layout, wire, reinterpret_cast<std::byte*>(&*whole));
  for (std::size_t first = 0; first <= wire.size(); ++first)
    for (const std::size_t width : {0U, 1U, 3U, 8U, 21U}) {
      const auto pieces = cut(wire, first, std::min(first + width, wire.size()));
      LocalMessage<Mixed> to(room);
      const auto result = cardan::from_cdr(*layout, cardan::CdrPieces(pieces), reinterpret_cast<std::byte*>(&*to));
      ASSERT_EQ(result.error, expected.error) << first << " " << width;
      ASSERT_EQ(result.offset, expected.offset) << first << " " << width;
      ASSERT_EQ(result.field, expected.field) << first << " " << width;
      if (!result) continue;
      ASSERT_EQ(cardan::to_cdr(*to), cardan::to_cdr(*whole)) << first << " " << width;
    }
}

TEST(LayoutCdr, ReadsBytesInPiecesAsThoseInOne) {
  LocalMessage<Mixed> from(4096);
  fill(*from);
  std::vector<std::byte> wire = cardan::to_cdr(*from);
  expect_same_in_pieces(wire, 4096);
  expect_same_in_pieces(wire, 64);  // too small
  for (const std::size_t bytes : {0U, 3U, 4U, 20U, 70U, 150U})
    expect_same_in_pieces(std::span(wire).first(std::min<std::size_t>(bytes, wire.size())), 4096);
  for (std::size_t i = 0; i < wire.size(); i += 7) {  // nonsense
    std::vector<std::byte> bad = wire;
    bad[i] ^= std::byte{0xff};
    expect_same_in_pieces(bad, 4096);
  }
}

TEST(LayoutCdr, ReadsBigEndianInPieces) {
  const auto layout = layout_of<Two>();
  const std::vector<unsigned char> wire{0, 0, 0, 0, 0, 0, 0, 2, 8, 9, 0, 0, 0, 0, 0, 1, 7};
  const std::span all = std::as_bytes(std::span(wire));
  for (std::size_t first = 0; first <= all.size(); ++first) {
    const auto pieces = cut(all, first, std::min(first + 2, all.size()));
    LocalMessage<Two> to(4096);
    const auto result = cardan::from_cdr(*layout, cardan::CdrPieces(pieces), reinterpret_cast<std::byte*>(&*to));
    ASSERT_TRUE(result) << result.text();
    ASSERT_EQ(to->a.size(), 2U);
    EXPECT_EQ(to->a[1], 9);
    ASSERT_EQ(to->b.size(), 1U);
    EXPECT_EQ(to->b[0], 7);
  }
}

TEST(LayoutCdr, TooSmallAStorageIsReported) {
  const auto layout = layout_of<Mixed>();
  LocalMessage<Mixed> from(4096), to(64);
  fill(*from);
  const auto result = cardan::from_cdr(*layout, cardan::to_cdr(*from), reinterpret_cast<std::byte*>(&*to));
  EXPECT_EQ(result.error, CdrError::NoRoom);
  EXPECT_EQ(result.field, "weights");
}

TEST(LayoutCdr, AdoptsACopyAndRefusesWhatPointsElsewhere) {
  const auto layout = layout_of<Mixed>();
  struct alignas(64) Slot {
    cardan::shm::Arena arena;
    Mixed message;
    alignas(64) std::array<std::byte, 4096> bytes{};
  };
  const auto slot = std::make_unique<Slot>();
  slot->arena.place(slot->bytes.data(), slot->bytes.size());
  cardan::shm::bind(slot->message, slot->arena);
  fill(slot->message);

  alignas(64) std::array<std::byte, sizeof(Mixed)> copy{};
  std::memcpy(copy.data(), &slot->message, copy.size());
  ASSERT_TRUE(cardan::adopt(*layout, copy.data(), bytes_of(slot->message), slot->bytes));
  CdrFrame frame;
  cardan::frame_cdr(*layout, copy.data(), frame);
  EXPECT_EQ(joined(frame), cardan::to_cdr(slot->message));

  std::memcpy(copy.data(), &slot->message, copy.size());
  EXPECT_FALSE(cardan::adopt(*layout, copy.data(), bytes_of(slot->message), std::span(slot->bytes).first(16)));
  cardan::frame_cdr(*layout, copy.data(), frame);  // the vectors that were refused are empty
  EXPECT_LT(frame.size(), cardan::to_cdr(slot->message).size());
}

TEST(LayoutCdr, TheMostPayloadIsEnoughForEveryMessage) {
  const auto layout = layout_of<Mixed>();
  for (std::uint32_t n : {0U, 1U, 2U, 3U, 7U, 50U, 3000U}) {
    // Each of the vectors in turn has almost all of the bytes; then all have their part.
    for (int which = 0; which < 5; ++which) {
      LocalMessage<Mixed> from(1 << 20);
      for (std::uint32_t i = 0; i < n; ++i) {
        if (which == 0 || which == 4) from->ranges.push_back(1);
        if (which == 1 || which == 4) from->weights.push_back(1);
        if (which == 2 || which == 4) from->points.push_back({1, 2, true});
        if (which == 3 || which == 4) from->remark.push_back('x');
      }
      const std::vector<std::byte> wire = cardan::to_cdr(*from);
      const std::size_t most = cardan::most_payload_bytes(*layout, wire.size());
      LocalMessage<Mixed> to(most);
      const auto result = cardan::from_cdr(*layout, wire, reinterpret_cast<std::byte*>(&*to));
      EXPECT_TRUE(result) << n << " " << which << ": " << result.text();
      EXPECT_LE(most, 2 * wire.size() + 1000);
    }
  }
}

TEST(LayoutCdr, TheMostPayloadOfDetectionsIsEnough) {
  const auto layout = layout_of<cardan::Detections2D>();
  LocalMessage<cardan::Detections2D> from(1 << 20);
  for (int i = 0; i < 100; ++i) from->detections.emplace_back();
  // As others may write them: without a hypothesis, which is the shortest that there is.
  std::vector<std::byte> prefix, suffix;
  cardan::CdrWriter writer(prefix, suffix, nullptr);
  cardan::CdrForm<cardan::Header>::write(writer, {});
  writer.count(100);
  for (int i = 0; i < 100; ++i) {
    cardan::CdrForm<cardan::Header>::write(writer, {});
    writer.count(0);
    for (int k = 0; k < 5; ++k) writer.number(1.0);
    writer.string("");
  }
  for (const auto& wire : {cardan::to_cdr(*from), prefix}) {
    LocalMessage<cardan::Detections2D> to(cardan::most_payload_bytes(*layout, wire.size()));
    const auto result = cardan::from_cdr(*layout, wire, reinterpret_cast<std::byte*>(&*to));
    EXPECT_TRUE(result) << result.text();
    EXPECT_EQ(to->detections.size(), 100U);
  }
}

TEST(TypeLayout, KnowsCardansOwnTypesByTheirNames) {
  const auto image = cardan::known_layout("sensor_msgs/msg/Image");
  ASSERT_NE(image, nullptr);
  EXPECT_EQ(image->hash(), cardan::message_traits<cardan::Image>::type_hash());
  EXPECT_NE(cardan::known_layout("rosgraph_msgs/msg/Clock"), nullptr);
  EXPECT_EQ(cardan::known_layout("l_msgs/msg/Mixed"), nullptr);
}

template <class T>
void expect_same_type() {
  const auto typed = cardan::detail::message_type_of<T>();
  const auto untyped = cardan::message_type_of(*layout_of<T>(), "what others say");
  EXPECT_EQ(untyped.name, typed.name);
  EXPECT_EQ(untyped.schema, typed.schema);
  EXPECT_EQ(untyped.hash, typed.hash);
  EXPECT_EQ(untyped.bytes, typed.bytes);
  EXPECT_EQ(untyped.alignment, typed.alignment);
  EXPECT_EQ(untyped.has_arena, typed.has_arena);
  EXPECT_EQ(untyped.arena_bytes, typed.arena_bytes);
}

TEST(TypeLayout, NamesTheTypeAsPublishersDo) {
  expect_same_type<Mixed>();
  expect_same_type<cardan::Image>();
  expect_same_type<cardan::Imu>();
  using traits = cardan::message_traits<Corner>;
  const auto found =
      cardan::find_layout(std::string(traits::type_name()), traits::type_hash(), std::string(traits::schema()));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(cardan::message_type_of(*found, traits::schema()).schema, traits::schema());
}

/// A type as a hostile publisher describes it: the hash is right, but no compiler would make the type.
std::shared_ptr<const TypeLayout> found_with(std::shared_ptr<TypeLayout> field, const std::string& schema) {
  TypeLayout type;
  type.kind = cardan::detail::Kind::Message;
  type.name = "x_msgs/msg/Hostile";
  type.size = field->size;
  type.alignment = field->alignment;
  type.fields.push_back({.name = "a", .offset = 0, .type = std::move(field)});
  return cardan::find_layout(type.name, type.hash(), schema);
}

TEST(TypeLayout, RefusesTypesThatNoCompilerMakes) {
  auto number = std::make_shared<TypeLayout>();
  number->kind = cardan::detail::Kind::Integer;
  number->is_signed = true;
  number->size = number->alignment = 4;
  EXPECT_NE(found_with(number, "int32 a\n"), nullptr);  // by the same way
  number->size = number->alignment = 3;
  EXPECT_EQ(found_with(number, "int24 a\n"), nullptr);

  auto vector = std::make_shared<TypeLayout>();
  vector->kind = cardan::detail::Kind::Vector;
  vector->size = sizeof(cardan::shm::vector<std::uint8_t>);
  vector->alignment = alignof(cardan::shm::vector<std::uint8_t>);
  vector->element = std::make_shared<TypeLayout>();
  vector->element->kind = cardan::detail::Kind::Integer;
  vector->element->is_signed = true;
  vector->element->size = vector->element->alignment = 4;
  EXPECT_NE(found_with(vector, "int32[] a\n"), nullptr);
  vector->element->kind = cardan::detail::Kind::String;
  vector->element->size = sizeof(cardan::shm::string);
  vector->element->alignment = alignof(cardan::shm::string);
  vector->in_payload = true;
  EXPECT_NE(found_with(vector, "string[] a\n"), nullptr) << "a layout of our making, which no struct has";
  EXPECT_EQ(cardan::detail::layout_of_schema("a/msg/A", "string[] a\n"), nullptr);
}

TEST(LayoutCdr, VectorsThatOverlapAreRefused) {
  LocalMessage<Two> message(1 << 12);
  message->a.resize(1000);
  message->b.resize(1000);
  const std::span payload(reinterpret_cast<const std::byte*>(message->a.data()), 2200);
  const auto layout = layout_of<Two>();
  alignas(64) std::array<std::byte, sizeof(Two)> copy{};
  std::memcpy(copy.data(), bytes_of(*message), copy.size());
  EXPECT_TRUE(cardan::adopt(*layout, copy.data(), bytes_of(*message), payload));
  // The second one where the first is, as far as both lie apart.
  std::memcpy(static_cast<void*>(&message->b), &message->a, sizeof message->a);
  std::memcpy(copy.data(), bytes_of(*message), copy.size());
  EXPECT_FALSE(cardan::adopt(*layout, copy.data(), bytes_of(*message), payload.first(1500)));
}

}  // namespace layout_cdr_test

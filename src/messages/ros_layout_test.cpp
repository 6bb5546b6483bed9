// SPDX-License-Identifier: Apache-2.0
#include "src/messages/ros_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cardan/arena.hpp"
#include "cardan/messages.hpp"
#include "src/messages/layout_cdr.hpp"

namespace ros_layout_test {

struct Corner {
  float x = 0, y = 0;
  bool seen = false;
};
struct Shape {
  std::uint8_t kind = 0;
  double area = 0;
  Corner corners[4];
  cardan::shm::vector<std::uint16_t> ranges;
  cardan::shm::vector<Corner> more;
  cardan::shm::string remark;
};
CARDAN_MESSAGE(Corner, "l_msgs/msg/Corner", x, y, seen);
CARDAN_MESSAGE(Shape, "l_msgs/msg/Shape", kind, area, corners, ranges, more, remark);

using cardan::CdrError;
using cardan::CdrFrame;
using cardan::CdrResult;
using cardan::layout_of_definition;
using cardan::TypeLayout;
using cardan::detail::Kind;
using Bytes = std::vector<std::byte>;
using Layout = std::shared_ptr<const TypeLayout>;

const std::string kLine = std::string(80, '=') + "\n";

/// A message in memory as a loan has it.
class Room {
 public:
  explicit Room(Layout type, std::size_t payload = 1 << 16)
      : type_(std::move(type)),
        struct_bytes_((type_->size + 63) / 64 * 64),
        payload_bytes_(payload),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, (struct_bytes_ + payload + 8191) / 4096 * 4096))) {
    clear();
  }
  void clear() {
    std::memset(memory_.get(), 0, type_->size);
    arena_.place(payload(), payload_bytes_);
    cardan::bind(*type_, memory_.get(), arena_);
  }
  [[nodiscard]] std::byte* message() { return memory_.get(); }
  [[nodiscard]] std::byte* payload() { return memory_.get() + struct_bytes_; }
  [[nodiscard]] std::size_t used() const { return static_cast<std::size_t>(arena_.used); }

  CdrResult read(const Bytes& cdr) {
    clear();
    return cardan::from_cdr(*type_, cdr, message());
  }
  /// As a reader in another process has it: false where it is malformed.
  bool frame(Bytes& cdr) {
    Bytes copy(message(), message() + type_->size);
    const std::span<const std::byte> bytes(payload(), used());
    CdrFrame parts;
    if (!cardan::adopt(*type_, copy.data(), message(), bytes) || !cardan::frame_cdr(*type_, copy.data(), bytes, parts))
      return false;
    cdr = parts.prefix;
    cdr.insert(cdr.end(), parts.payload.begin(), parts.payload.end());
    cdr.insert(cdr.end(), parts.suffix.begin(), parts.suffix.end());
    payload_of_frame = parts.payload;
    return true;
  }
  std::span<const std::byte> payload_of_frame;

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  Layout type_;
  std::size_t struct_bytes_, payload_bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  cardan::shm::Arena arena_;
};

/// Writes CDR by hand, of either byte order.
class Cdr {
 public:
  explicit Cdr(bool big_endian = false) : big_(big_endian) {
    for (const int b : {0, big_ ? 0 : 1, 0, 0}) bytes_.push_back(static_cast<std::byte>(b));
  }
  template <class T>
  Cdr& number(T value) {
    while ((bytes_.size() - 4) % sizeof value != 0) bytes_.push_back(std::byte{0});
    std::byte raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    if (big_) std::reverse(std::begin(raw), std::end(raw));
    bytes_.insert(bytes_.end(), std::begin(raw), std::end(raw));
    return *this;
  }
  Cdr& count(std::size_t n) { return number(static_cast<std::uint32_t>(n)); }
  Cdr& text(std::string_view text) {
    count(text.size() + 1);
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.push_back(std::byte{0});
    return *this;
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  bool big_;
  Bytes bytes_;
};

TEST(RosLayout, IsThatOfTheSameStructInCpp) {
  using Traits = cardan::message_traits<Shape>;
  const auto layout = layout_of_definition(Traits::type_name(), Traits::schema());
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->hash(), Traits::type_hash());
  EXPECT_EQ(layout->size, sizeof(Shape));
  EXPECT_EQ(layout->alignment, alignof(Shape));
  EXPECT_TRUE(layout->has_vectors());
}

TEST(RosLayout, FollowsFromTheFieldsAlone) {
  const std::string plain = "Point at\nstring name\nuint8[<=3] few\n" + kLine + "MSG: a/Point\nfloat32 x\nint64 y\n";
  const std::string written = "# what it is\nuint8 KIND=3\nstring TITLE = \"a # b\"\r\na/Point at # where\n\n" +
                              ("string name \"none\"\nuint8[<=3] few [1, 2]\n" + kLine) +
                              "MSG: a/msg/Point\nfloat32 x 0.5\nint64   y -3\n" + kLine + "MSG: a/Unused\nbool b\n";
  const auto layout = layout_of_definition("a/msg/A", plain), same = layout_of_definition("a/msg/A", written);
  ASSERT_NE(layout, nullptr);
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(layout->hash(), same->hash());
  ASSERT_EQ(layout->fields.size(), 3U);
  EXPECT_EQ(layout->fields[0].type->name, "a/msg/Point");
  EXPECT_EQ(layout->fields[0].type->fields[1].offset, 8U);
  EXPECT_EQ(layout->fields[2].type->kind, Kind::Vector);
  EXPECT_EQ(layout->fields[2].type->count, 3U);
  const auto hash = [](const std::string& text) { return layout_of_definition("a/msg/A", text)->hash(); };
  EXPECT_NE(hash("uint8[<=3] few\n"), hash("uint8[<=4] few\n"));
  EXPECT_NE(hash("string<=3 few\n"), hash("string few\n"));
  EXPECT_NE(hash("wstring few\n"), hash("string few\n"));
  EXPECT_NE(hash("uint8 a\n"), hash("uint8 b\n"));
  EXPECT_NE(hash(""), hash("uint8 b\n"));
  EXPECT_EQ(cardan::find_layout("a/msg/A", layout->hash(), written)->hash(), layout->hash());
  EXPECT_EQ(cardan::find_layout("a/msg/A", layout->hash() + 1, written), nullptr);
}

TEST(RosLayout, RefusesDishonestDefinitions) {
  std::string tower, wide, many;
  for (int i = 0; i < 33; ++i)
    tower += "L" + std::to_string(i + 1) + "[2] f\n" + kLine + "MSG: a/L" + std::to_string(i + 1) + "\n";
  for (int i = 0; i < 7; ++i) {
    for (int f = 0; f < 10; ++f) wide += "L" + std::to_string(i + 1) + " f" + std::to_string(f) + "\n";
    wide += kLine + "MSG: a/L" + std::to_string(i + 1) + "\n";
  }
  for (int i = 0; i < 2000; ++i) many += kLine + "MSG: a/L" + std::to_string(i) + "\nbool b\n";
  const std::string forest = "bool[1073741824] a\nbool[1073741824] b\n";
  const std::string inner = "B[1073741824] a\n" + kLine + "MSG: a/B\nuint64[1073741824] b\n";
  for (const std::string& text :
       {tower + "bool b\n", wide + "bool b\n", many, forest, inner, std::string(2 << 20, '#'),
        std::string("A[] a\n") + kLine + "MSG: a/A\nA[] a\n", std::string("bool[0] a\n"), std::string("bool[-1] a\n"),
        std::string("bool[99999999999999999999] a\n"), std::string("bool[<=0] a\n"), std::string("bool[<=] a\n"),
        std::string("string<= a\n"), std::string("string<=x a\n"), std::string("uint8<=4 a\n"),
        std::string("uint7 a\n"), std::string("B b\n"), std::string("bool\n")})
    EXPECT_EQ(layout_of_definition("a/msg/A", text), nullptr) << text.substr(0, 200);
}

const char* const kDiagnostics = R"(# This message is used to send diagnostic information about the state of the robot.
std_msgs/Header header # for timestamp
DiagnosticStatus[] status # an array of components being reported on
================================================================================
MSG: diagnostic_msgs/DiagnosticStatus
byte OK=0
byte STALE=3
byte level
string name
string message
string hardware_id
KeyValue[] values
================================================================================
MSG: diagnostic_msgs/KeyValue
string key
string value
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
)";

/// Of `statuses` parts with `values` each.
Bytes diagnostics(std::size_t statuses, std::size_t values, bool big_endian = false) {
  Cdr cdr(big_endian);
  cdr.number<std::int32_t>(-5).number<std::uint32_t>(4'000'000'000).text("base").count(statuses);
  for (std::size_t i = 0; i < statuses; ++i) {
    cdr.number<std::uint8_t>(i % 4).text("part " + std::to_string(i)).text("").text("id").count(values);
    for (std::size_t v = 0; v < values; ++v) cdr.text("k" + std::to_string(v)).text(std::string(v % 40, 'x'));
  }
  return cdr.bytes();
}

TEST(RosLayout, ListsInListsGoThroughUnchanged) {
  const auto layout = layout_of_definition("diagnostic_msgs/msg/DiagnosticArray", kDiagnostics);
  ASSERT_NE(layout, nullptr);
  for (const auto& [statuses, values] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {1, 0}, {3, 5}, {20, 60}}) {
    const Bytes cdr = diagnostics(statuses, values);
    const std::size_t most = cardan::most_payload_bytes(*layout, cdr.size());
    Room room(layout, most);
    const CdrResult result = room.read(cdr);
    ASSERT_TRUE(result) << result.text();
    EXPECT_LE(room.used(), most);
    Bytes again;
    ASSERT_TRUE(room.frame(again));
    EXPECT_EQ(again, cdr);
    ASSERT_TRUE(room.read(diagnostics(statuses, values, true)));
    ASSERT_TRUE(room.frame(again));
    EXPECT_EQ(again, cdr) << "big-endian bytes are the same message";
  }
}

TEST(RosLayout, TextsOfEveryLengthFitTheirRoom) {
  const auto layout = layout_of_definition("a/msg/A", "string[] names\nstring last\n");
  for (std::size_t length = 0; length < 70; ++length) {
    Cdr cdr;
    cdr.count(50);
    for (int i = 0; i < 50; ++i) cdr.text(std::string(length, 'a'));
    cdr.text("end");
    Room room(layout, cardan::most_payload_bytes(*layout, cdr.bytes().size()));
    Bytes again;
    ASSERT_TRUE(room.read(cdr.bytes())) << length;
    ASSERT_TRUE(room.frame(again));
    EXPECT_EQ(again, cdr.bytes());
  }
}

TEST(RosLayout, ListsInLargeElementsFitTheirRoom) {
  const auto layout =
      layout_of_definition("a/msg/A", "Large[] all\n" + kLine + "MSG: a/Large\nfloat64[100] x\nstring[] names\n");
  Cdr cdr;
  cdr.count(1);
  for (int i = 0; i < 100; ++i) cdr.number(0.5 * i);
  cdr.count(5000);
  for (int i = 0; i < 5000; ++i) cdr.text("a");
  Room room(layout, cardan::most_payload_bytes(*layout, cdr.bytes().size()));
  Bytes again;
  ASSERT_TRUE(room.read(cdr.bytes()));
  ASSERT_TRUE(room.frame(again));
  EXPECT_EQ(again, cdr.bytes());
}

TEST(RosLayout, ShortTextsInManyElementsFitTheirRoom) {
  const auto layout =
      layout_of_definition("a/msg/A", "Small[] all\n" + kLine + "MSG: a/Small\nfloat64[4] x\nstring name\n");
  Cdr cdr;
  cdr.count(500);
  for (int i = 0; i < 500; ++i) cdr.number(0.5).number(1.5).number(2.5).number(3.5).text("a");
  Room room(layout, cardan::most_payload_bytes(*layout, cdr.bytes().size()));
  Bytes again;
  ASSERT_TRUE(room.read(cdr.bytes()));
  ASSERT_TRUE(room.frame(again));
  EXPECT_EQ(again, cdr.bytes());
}

TEST(RosLayout, EmptyMessagesHaveTheByteOfRos) {
  const auto layout = layout_of_definition("std_msgs/msg/Empty", "# nothing\n");
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->size, 1U);
  const Bytes cdr = Cdr().number<std::uint8_t>(0).bytes();
  Room room(layout);
  Bytes again;
  ASSERT_TRUE(room.read(cdr));
  ASSERT_TRUE(room.frame(again));
  EXPECT_EQ(again, cdr);
  EXPECT_TRUE(room.read(Cdr().bytes())) << "some leave it out";
  EXPECT_EQ(room.read(Cdr().text("much more").bytes()).error, CdrError::Trailing);
  const auto inside = layout_of_definition("a/msg/A", "E[] e\nint32 x\n" + kLine + "MSG: a/E\nint8 X=1\n");
  const Bytes three =
      Cdr().count(3).number<std::uint8_t>(0).number<std::uint8_t>(5).number<std::uint8_t>(0).number(7).bytes();
  Room second(inside);
  ASSERT_TRUE(second.read(three));
  ASSERT_TRUE(second.frame(again));
  EXPECT_EQ(again, three);
}

/// The same message in each of the forms that DDS implementations have: letters counted, of four bytes and of two, and
/// bytes counted.
std::vector<Bytes> wide_texts(const std::vector<std::u16string_view>& texts) {
  std::vector<Bytes> all;
  for (int form = 0; form < 3; ++form) {
    Cdr cdr;
    cdr.count(texts.size());
    for (const std::u16string_view text : texts) {
      cdr.count(form == 2 ? 2 * text.size() : text.size());
      for (const char16_t c : text) form == 0 ? cdr.number<std::uint32_t>(c) : cdr.number<std::uint16_t>(c);
    }
    all.push_back(cdr.number<std::uint8_t>(9).bytes());
  }
  return all;
}

TEST(RosLayout, WideTextsOfEveryFormAreReadAndWrittenAsRosReadsThem) {
  const auto layout = layout_of_definition("a/msg/A", "wstring[<=2] names\nuint8 last\n");
  for (const auto& texts : std::vector<std::vector<std::u16string_view>>{
           {u"Grüße", u""}, {u"a"}, {u"ab"}, {u"", u"abc"}, {u"straße", u"日本"}, {}}) {
    const std::vector<Bytes> forms = wide_texts(texts);
    for (std::size_t form = 0; form < forms.size(); ++form) {
      SCOPED_TRACE(form);
      Room room(layout);
      Bytes again;
      const CdrResult result = room.read(forms[form]);
      ASSERT_TRUE(result) << result.text();
      ASSERT_TRUE(room.frame(again));
      EXPECT_EQ(again, forms[0]) << "four bytes a letter: what Fast DDS and Cyclone DDS of Humble and Jazzy read";
    }
  }
  Room room(layout);
  EXPECT_EQ(room.read(Cdr().count(3).count(0).count(0).count(0).number<std::uint8_t>(9).bytes()).error,
            CdrError::TooLong);
}

TEST(RosLayout, BoundsAreKept) {
  const auto layout = layout_of_definition("a/msg/A", "string<=4 name\nuint16[<=2] few\nstring<=2[<=2] names\n");
  Room room(layout);
  const auto read = [&](std::string_view name, std::size_t few, std::string_view in_list) {
    Cdr cdr;
    cdr.text(name).count(few);
    for (std::size_t i = 0; i < few; ++i) cdr.number<std::uint16_t>(7);
    return room.read(cdr.count(1).text(in_list).bytes()).error;
  };
  EXPECT_EQ(read("four", 2, "ab"), CdrError::None);
  EXPECT_EQ(read("fives", 2, "ab"), CdrError::TooLong);
  EXPECT_EQ(read("four", 3, "ab"), CdrError::TooLong);
  EXPECT_EQ(read("four", 2, "abc"), CdrError::TooLong);
}

TEST(RosLayout, ALargeListBeginsWhereADiskCanTakeIt) {
  const auto layout = layout_of_definition("a/msg/A", "string name\nuint8[] data\nstring last\n");
  Cdr cdr;
  cdr.text("some name").count(100'000);
  for (int i = 0; i < 100'000; ++i) cdr.number(static_cast<std::uint8_t>(i));
  cdr.text("end");
  Room room(layout, cardan::most_payload_bytes(*layout, cdr.bytes().size()));
  Bytes again;
  ASSERT_TRUE(room.read(cdr.bytes()));
  ASSERT_TRUE(room.frame(again));
  EXPECT_EQ(again, cdr.bytes());
  EXPECT_EQ(room.payload_of_frame.size(), 100'000U);
  EXPECT_EQ((room.payload_of_frame.data() - room.payload()) % 4096, 0) << "from the payload's first byte";
  Room tight(layout, 100'000 + 64 + 64 + 16);
  EXPECT_TRUE(tight.read(cdr.bytes())) << "where there is no room for that, anywhere";
}

TEST(RosLayout, HostileBytesAreRefused) {
  const auto layout = layout_of_definition("diagnostic_msgs/msg/DiagnosticArray", kDiagnostics);
  Room room(layout);
  const Bytes good = diagnostics(3, 4);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const CdrResult result = room.read(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_FALSE(result) << size;
    EXPECT_EQ(result.error, CdrError::Truncated) << size;
  }
  EXPECT_EQ(room.read(Cdr().number(0).number(0).text("x").count(0xffffffff).bytes()).error, CdrError::Truncated);
  // As many as there could be bytes for, but no memory.
  Cdr many;
  many.number(0).number(0).text("x").count(60'000);
  for (int i = 0; i < 60'000 * 5; ++i) many.number(0);
  EXPECT_EQ(room.read(many.bytes()).error, CdrError::NoRoom);
  for (std::size_t at = 4; at < good.size(); ++at)
    for (const int value : {0, 0x7f, 0x80, 0xff}) {
      Bytes bad = good;
      bad[at] = static_cast<std::byte>(value);
      (void)room.read(bad);  // whatever comes of it, within the room
    }
  for (const int first : {0x06, 0x07, 0x02, 0x0b}) {
    Bytes other = good;
    other[1] = static_cast<std::byte>(first);
    EXPECT_EQ(room.read(other).error, CdrError::Encoding);
    EXPECT_NE(room.read(other).text().find("XCDR2"), std::string::npos);
  }
}

TEST(RosLayout, HostilePublishersAreRefused) {
  const auto layout = layout_of_definition("diagnostic_msgs/msg/DiagnosticArray", kDiagnostics);
  Room room(layout);
  const Bytes good = diagnostics(3, 4);
  ASSERT_TRUE(room.read(good));
  const std::size_t used = room.used();
  const Bytes memory(room.payload(), room.payload() + used);
  std::size_t refused = 0;
  Bytes cdr;
  for (std::size_t at = 0; at + 8 <= used; at += 8)
    for (const std::uint64_t lie :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 20, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
      std::memcpy(room.payload() + at, &lie, sizeof lie);
      refused += room.frame(cdr) ? 0U : 1U;
      EXPECT_LT(cdr.size(), 20 * used) << "a small payload makes no large message";
      std::memcpy(room.payload(), memory.data(), used);
    }
  EXPECT_GT(refused, 100U);
  ASSERT_TRUE(room.frame(cdr));
  EXPECT_EQ(cdr, good);
  // All texts of all parts at one place: more than the payload has bytes.
  const auto names = layout_of_definition("a/msg/A", "string[] names\n");
  Room overlapping(names);
  Cdr texts;
  texts.count(100);
  for (int i = 0; i < 100; ++i) texts.text(std::string(i == 0 ? 5000 : 1, 'x'));
  ASSERT_TRUE(overlapping.read(texts.bytes()));
  auto* const first = reinterpret_cast<std::int64_t*>(overlapping.payload());
  for (int i = 1; i < 100; ++i) {
    first[4 * i] = first[0] - 32 * i;
    first[4 * i + 1] = first[1];
  }
  EXPECT_FALSE(overlapping.frame(cdr));
}

}  // namespace ros_layout_test

// SPDX-License-Identifier: Apache-2.0
// Messages are read from their bytes by the type's descriptor, not by a DynamicMessage: a message of two bytes can make
// it as large as the type. Nor by MessageToJsonString(): in libprotobuf 3.21 it never ends with a
// google.protobuf.Struct that somebody defined otherwise, and shows a value of its own of such a Timestamp.
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/protobuf/definition.hpp"
#include "apps/protobuf/protobuf.hpp"

namespace cardan::apps {
namespace {

namespace pb = google::protobuf;
using Json = nlohmann::ordered_json;
using Input = pb::io::CodedInputStream;
using Wire = pb::internal::WireFormatLite;
using Field = pb::FieldDescriptor;

constexpr const char* kDoNotFit = "its bytes do not fit its definition";

class MessageReader {
 public:
  explicit MessageReader(std::size_t longest_list) : longest_list_(longest_list) {}

  Json message(const pb::Descriptor& type, std::string_view bytes, int depth) {
    if (depth > kMostProtobufDepth)
      throw ProtobufRefusal(fmt::format("it is nested deeper than {}", kMostProtobufDepth));
    const auto fields = static_cast<std::size_t>(type.field_count());
    spend(sizeof(Json) + fields * (sizeof(Found) + sizeof(Json::object_t::value_type)));
    std::vector<Found> found(fields);
    std::vector<const Field*> of_oneof(static_cast<std::size_t>(type.oneof_decl_count()));
    Input in = input(bytes);
    while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
      const std::uint32_t tag = in.ReadTag();
      const Field* const field = type.FindFieldByNumber(Wire::GetTagFieldNumber(tag));
      if (field == nullptr || !take(*field, tag, in, bytes, found[static_cast<std::size_t>(field->index())], depth)) {
        require(Wire::SkipField(&in, tag));
      } else if (const pb::OneofDescriptor* const oneof = field->containing_oneof()) {
        const Field*& last = of_oneof[static_cast<std::size_t>(oneof->index())];
        if (last != nullptr && last != field) found[static_cast<std::size_t>(last->index())] = {};
        last = field;
      }
    }
    return object(type, found, depth);
  }

 private:
  /// The values of a message's field so far.
  struct Found {
    bool is_there = false;
    Json value{};                           ///< of a list, its first elements
    std::size_t count = 0;                  ///< of a list
    std::string_view message{};             ///< one message
    std::unique_ptr<std::string> joined{};  ///< one message in several parts, which are read as one after the other
  };

  static void require(bool fits) {
    if (!fits) throw ProtobufRefusal(kDoNotFit);
  }

  static Wire::FieldType wire_type(const Field& field) { return static_cast<Wire::FieldType>(field.type()); }

  static Input input(std::string_view bytes) {
    return Input(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  }

  void spend(std::size_t bytes) {
    if (bytes > left_) throw ProtobufRefusal(fmt::format("its fields need more than {} MiB", kMostProtobufShown >> 20));
    left_ -= bytes;
  }

  /// False: the bytes after the tag are not such a field; none of them was read.
  bool take(const Field& field, std::uint32_t tag, Input& in, std::string_view all, Found& found, int depth) {
    const Wire::WireType wire = Wire::GetTagWireType(tag);
    if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
      if (wire != Wire::WIRETYPE_LENGTH_DELIMITED && wire != Wire::WIRETYPE_START_GROUP) return false;
      take_message(field, wire == Wire::WIRETYPE_START_GROUP ? group(tag, in, all) : text(in, all), found, depth);
    } else if (wire == Wire::WireTypeForFieldType(wire_type(field))) {
      if (field.is_repeated())
        take_element(field, in, all, found);
      else
        found.value = scalar(field, in, all);
    } else if (field.is_packable() && wire == Wire::WIRETYPE_LENGTH_DELIMITED) {
      const std::string_view packed = text(in, all);
      Input elements = input(packed);
      while (elements.CurrentPosition() < static_cast<int>(packed.size())) take_element(field, elements, packed, found);
    } else {
      return false;
    }
    found.is_there = true;
    return true;
  }

  /// The next bytes, after their length.
  static std::string_view text(Input& in, std::string_view all) {
    std::uint32_t size = 0;
    require(in.ReadVarint32(&size));
    const auto begin = static_cast<std::size_t>(in.CurrentPosition());
    require(size <= all.size() - begin && in.Skip(static_cast<int>(size)));
    return all.substr(begin, size);
  }

  /// The bytes up to the end of the group that has begun.
  static std::string_view group(std::uint32_t tag, Input& in, std::string_view all) {
    const auto begin = static_cast<std::size_t>(in.CurrentPosition());
    require(Wire::SkipField(&in, tag));
    const std::string_view whole = all.substr(begin, static_cast<std::size_t>(in.CurrentPosition()) - begin);
    const std::size_t mark = pb::io::CodedOutputStream::VarintSize32(tag);
    require(whole.size() >= mark);
    return whole.substr(0, whole.size() - mark);
  }

  void take_message(const Field& field, std::string_view bytes, Found& found, int depth) {
    if (field.is_repeated()) {
      if (found.count++ < longest_list_) append(found, message(*field.message_type(), bytes, depth + 1));
      return;
    }
    if (!found.is_there) {
      found.message = bytes;
      return;
    }
    if (found.joined == nullptr) {
      spend(found.message.size());
      found.joined = std::make_unique<std::string>(found.message);
    }
    spend(bytes.size());
    found.joined->append(bytes);
  }

  void take_element(const Field& field, Input& in, std::string_view all, Found& found) {
    if (found.count++ < longest_list_) return append(found, scalar(field, in, all));
    require(Wire::SkipField(&in, Wire::MakeTag(1, Wire::WireTypeForFieldType(wire_type(field)))));
  }

  void append(Found& found, Json value) {
    spend(2 * sizeof(Json));  // a list may have room for as much again
    if (found.value.is_null()) found.value = Json::array();
    found.value.push_back(std::move(value));
  }

  template <class Number, Wire::FieldType kType>
  static Number number(Input& in) {
    Number value{};
    require(Wire::ReadPrimitive<Number, kType>(&in, &value));
    return value;
  }

  Json scalar(const Field& field, Input& in, std::string_view all) {
    switch (field.type()) {
      case Field::TYPE_DOUBLE:
        return number<double, Wire::TYPE_DOUBLE>(in);
      case Field::TYPE_FLOAT:
        // The shortest decimal of the float, not that of the double nearest to it.
        return std::strtod(fmt::format("{}", number<float, Wire::TYPE_FLOAT>(in)).c_str(), nullptr);
      case Field::TYPE_INT64:
        return number<std::int64_t, Wire::TYPE_INT64>(in);
      case Field::TYPE_UINT64:
        return number<std::uint64_t, Wire::TYPE_UINT64>(in);
      case Field::TYPE_INT32:
        return number<std::int32_t, Wire::TYPE_INT32>(in);
      case Field::TYPE_FIXED64:
        return number<std::uint64_t, Wire::TYPE_FIXED64>(in);
      case Field::TYPE_FIXED32:
        return number<std::uint32_t, Wire::TYPE_FIXED32>(in);
      case Field::TYPE_BOOL:
        return number<bool, Wire::TYPE_BOOL>(in);
      case Field::TYPE_UINT32:
        return number<std::uint32_t, Wire::TYPE_UINT32>(in);
      case Field::TYPE_SFIXED32:
        return number<std::int32_t, Wire::TYPE_SFIXED32>(in);
      case Field::TYPE_SFIXED64:
        return number<std::int64_t, Wire::TYPE_SFIXED64>(in);
      case Field::TYPE_SINT32:
        return number<std::int32_t, Wire::TYPE_SINT32>(in);
      case Field::TYPE_SINT64:
        return number<std::int64_t, Wire::TYPE_SINT64>(in);
      case Field::TYPE_ENUM:
        return enumerator(*field.enum_type(), number<int, Wire::TYPE_ENUM>(in));
      case Field::TYPE_BYTES:
        return numbers(text(in, all));
      default:
        return words(text(in, all));
    }
  }

  Json enumerator(const pb::EnumDescriptor& type, int value) {
    const pb::EnumValueDescriptor* const known = type.FindValueByNumber(value);
    return known == nullptr ? Json(value) : words(known->name());
  }

  Json words(std::string_view text) {
    constexpr std::size_t kLongestText = 64 << 10;
    const std::string_view shown = text.substr(0, kLongestText);
    spend(sizeof(std::string) + shown.size());
    return std::string(shown);
  }

  /// Bytes as the numbers of a uint8[] of ROS 2.
  Json numbers(std::string_view bytes) {
    Found found;
    for (const char c : bytes.substr(0, longest_list_)) append(found, static_cast<std::uint8_t>(c));
    found.count = bytes.size();
    return list(found);
  }

  [[nodiscard]] Json list(Found& found) const {
    if (found.value.is_null()) found.value = Json::array();
    if (found.count <= longest_list_) return std::move(found.value);
    return {{"count", found.count}, {"first", std::move(found.value)}};
  }

  Json object(const pb::Descriptor& type, std::vector<Found>& found, int depth) {
    Json::object_t all;
    all.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Field& field = *type.field(static_cast<int>(i));
      if (field.name().size() > kNameInPlace) spend(field.name().size());
      // Names of fields differ: nothing has to be searched for.
      static_cast<Json::object_t::Container&>(all).emplace_back(field.name(), value_of(field, found[i], depth));
    }
    return all;
  }

  Json value_of(const Field& field, Found& found, int depth) {
    if (field.is_repeated()) return list(found);
    if (!found.is_there) return field.has_presence() ? Json(nullptr) : nothing(field);
    if (field.cpp_type() != Field::CPPTYPE_MESSAGE) return std::move(found.value);
    return message(*field.message_type(), found.joined ? std::string_view(*found.joined) : found.message, depth + 1);
  }

  /// The default of a field without a value.
  static Json nothing(const Field& field) {
    switch (field.cpp_type()) {
      case Field::CPPTYPE_BOOL:
        return false;
      case Field::CPPTYPE_STRING:
        return field.type() == Field::TYPE_BYTES ? Json(Json::array()) : Json(std::string());
      case Field::CPPTYPE_ENUM:
        return field.enum_type()->value(0)->name();
      case Field::CPPTYPE_DOUBLE:
      case Field::CPPTYPE_FLOAT:
        return 0.0;
      default:
        return 0;
    }
  }

  static constexpr std::size_t kNameInPlace = 15;  // shorter texts lie in the std::string itself

  std::size_t longest_list_;
  std::size_t left_ = kMostProtobufShown;
};

class DefinedType final : public ProtobufType {
 public:
  DefinedType(std::string_view name, std::span<const std::byte> definition) : definition_(name, definition) {}

  std::optional<Json> read(std::span<const std::byte> bytes, std::size_t longest_list,
                           std::string& why) const override {
    try {
      if (bytes.size() > std::numeric_limits<int>::max()) throw ProtobufRefusal("it has more than 2 GiB");
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return MessageReader(longest_list).message(definition_.type(), text, 1);
    } catch (const std::exception& e) {  // of libprotobuf too, which throws what would end the program
      why = e.what();
      return std::nullopt;
    }
  }

 private:
  ProtobufDefinition definition_;
};

class Library final : public ProtobufLibrary {
 public:
  /// `why` gets the messages that libprotobuf would print.
  Library() { pb::SetLogHandler(nullptr); }

  std::unique_ptr<const ProtobufType> type(std::string_view name, std::span<const std::byte> definition,
                                           std::string& why) const override {
    try {
      return std::make_unique<DefinedType>(name, definition);
    } catch (const std::exception& e) {
      why = e.what();
      return nullptr;
    }
  }
};

}  // namespace
}  // namespace cardan::apps

const cardan::apps::ProtobufLibrary* cardan_protobuf_library() {
  static const cardan::apps::Library library;
  return &library;
}

// SPDX-License-Identifier: Apache-2.0
#include "src/messages/ros_layout.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/shm_string.hpp"

namespace cardan {
namespace {

using Layout = std::shared_ptr<TypeLayout>;
using RosKind = RosType::Kind;

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kMostNodes = 20'000;

/// "sensor_msgs/Image" → "sensor_msgs/msg/Image"
std::string full_name(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(0, slash) + "/msg" + name.substr(slash);
}

[[noreturn]] void too_large(const std::string& name) {
  throw Error(ErrorCode::Limit, "a message of " + name + " would be larger than 1 GiB, or has more than 20,000 fields",
              "such a type cannot be published here; split it");
}

class Builder {
 public:
  Layout message(const RosMessage& m, std::string name) {
    auto layout = std::make_shared<TypeLayout>();
    layout->kind = TypeLayout::Kind::Message;
    layout->name = std::move(name);
    std::size_t end = 0;
    for (const RosField& f : m.fields) {
      const Layout type = many(f.type, m.name);
      end = aligned(end, type->alignment);
      layout->fields.push_back({f.name, end, type});
      end += type->size;
      layout->alignment = std::max(layout->alignment, type->alignment);
      layout->least_cdr += type->least_cdr;
      layout->nodes += type->nodes;
      layout->in_payload = layout->in_payload || type->in_payload;
      if (end > kMostBytes || layout->nodes > kMostNodes) too_large(m.name);
    }
    // A type without fields has a byte, in memory as on the wire.
    layout->size = aligned(std::max<std::size_t>(end, 1), layout->alignment);
    layout->least_cdr = std::max<std::size_t>(layout->least_cdr, 1);
    return layout;
  }

 private:
  static std::size_t aligned(std::size_t at, std::size_t to) { return (at + to - 1) / to * to; }

  Layout many(const RosType& type, const std::string& user) {
    Layout element = one(type);
    if (type.many == RosType::Many::One) return element;
    auto layout = std::make_shared<TypeLayout>();
    layout->element = element;
    layout->nodes += element->nodes;
    if (type.many == RosType::Many::List) {
      in_payload(*layout, TypeLayout::Kind::Vector, type.bound);
      return layout;
    }
    layout->kind = TypeLayout::Kind::Array;
    layout->count = type.count;
    if (type.count > kMostBytes / element->size) too_large(user);
    layout->size = type.count * element->size;
    layout->alignment = element->alignment;
    layout->least_cdr = type.count * element->least_cdr;
    layout->in_payload = element->in_payload;
    return layout;
  }

  Layout one(const RosType& type) {
    if (type.kind == RosKind::Message) {
      Layout& known = made_[type.message];
      if (known == nullptr) known = message(*type.message, full_name(type.message->name));
      return known;
    }
    auto layout = std::make_shared<TypeLayout>();
    switch (type.kind) {
      case RosKind::String:
      case RosKind::WString:
        in_payload(*layout, type.kind == RosKind::String ? TypeLayout::Kind::String : TypeLayout::Kind::WString,
                   type.text_bound);
        return layout;
      case RosKind::Bool:
        layout->kind = TypeLayout::Kind::Bool;
        break;
      case RosKind::Float32:
      case RosKind::Float64:
        layout->kind = TypeLayout::Kind::Float;
        break;
      default:
        layout->kind = TypeLayout::Kind::Integer;
        layout->is_signed = type.kind == RosKind::Int8 || type.kind == RosKind::Int16 || type.kind == RosKind::Int32 ||
                            type.kind == RosKind::Int64;
    }
    layout->size = layout->alignment = layout->least_cdr = size_of(type.kind);
    return layout;
  }

  static void in_payload(TypeLayout& layout, TypeLayout::Kind kind, std::size_t bound) {
    layout.kind = kind;
    layout.count = bound;
    layout.size = sizeof(shm::string);
    layout.alignment = alignof(shm::string);
    layout.least_cdr = 4;  // a length
    layout.in_payload = true;
  }

  std::map<const RosMessage*, Layout> made_;
};

using Pair = std::pair<const RosMessage*, const RosMessage*>;

/// Each pair once: a definition of some lines can name more paths through it than anybody could walk.
bool same(const RosMessage& a, const RosMessage& b, std::set<Pair>& known) {
  if (!known.emplace(&a, &b).second) return true;
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), b.fields.end(),
                    [&](const RosField& x, const RosField& y) {
                      if (x.name != y.name || x.type.kind != y.type.kind || x.type.many != y.type.many ||
                          x.type.count != y.type.count)
                        return false;
                      return x.type.message == nullptr || same(*x.type.message, *y.type.message, known);
                    });
}

}  // namespace

std::shared_ptr<const TypeLayout> layout_of_ros(const RosSchema& schema, std::string_view type_name) {
  return Builder().message(schema.root(), std::string(type_name));
}

std::shared_ptr<const TypeLayout> layout_of_definition(std::string_view type_name, std::string_view definition) {
  try {
    return layout_of_ros(RosSchema(type_name, definition), type_name);
  } catch (const Error&) {
    return nullptr;
  }
}

bool same_fields(const RosMessage& a, const RosMessage& b) {
  std::set<Pair> known;
  return same(a, b, known);
}

}  // namespace cardan

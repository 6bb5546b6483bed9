// SPDX-License-Identifier: Apache-2.0
#include "cardan/type_layout.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "src/messages/ros_layout.hpp"
#include "src/messages/standard_messages.hpp"

namespace cardan {
namespace {

using Layout = std::shared_ptr<TypeLayout>;

void hash_type(detail::LayoutHash& hash, const TypeLayout& t) {
  hash.add(static_cast<std::uint64_t>(t.kind));
  hash.add(t.size);
  switch (t.kind) {
    case TypeLayout::Kind::Integer:
      hash.add(t.is_signed ? 1U : 0U);
      break;
    case TypeLayout::Kind::Array:
    case TypeLayout::Kind::FixedVector:
      hash.add(t.count);
      hash_type(hash, *t.element);
      break;
    case TypeLayout::Kind::FixedString:
      hash.add(t.count);
      break;
    case TypeLayout::Kind::Enum:
      hash_type(hash, *t.element);
      break;
    case TypeLayout::Kind::Vector:
      hash_type(hash, *t.element);
      if (t.count != 0) hash.add(t.count);
      break;
    case TypeLayout::Kind::String:
    case TypeLayout::Kind::WString:
      if (t.count != 0) hash.add(t.count);
      break;
    case TypeLayout::Kind::Message:
      hash.add(t.name);
      for (const TypeLayout::Field& f : t.fields) {
        hash.add(f.name);
        hash.add(f.offset);
        hash_type(hash, *f.type);
      }
      break;
    default:
      break;
  }
}

struct Known {
  std::map<std::uint64_t, Layout> by_hash;
  std::map<std::string, Layout, std::less<>> by_name;

  template <class... T>
  explicit Known(detail::MessageList<T...>) {
    (add_one(layout_of<T>()), ...);
  }
  void add_one(const Layout& layout) {
    by_hash[layout->hash()] = layout;
    by_name[layout->name] = layout;
    for (const TypeLayout::Field& f : layout->fields) {
      const Layout& inner = f.type->kind == TypeLayout::Kind::FixedVector || f.type->kind == TypeLayout::Kind::Vector ||
                                    f.type->kind == TypeLayout::Kind::Array
                                ? f.type->element
                                : f.type;
      if (inner->kind == TypeLayout::Kind::Message && !by_name.contains(inner->name)) add_one(inner);
    }
  }
};

const Known& known() {
  static const Known all{detail::StandardMessages{}};
  return all;
}

/// Builds layouts from `ros2msg` text: fields in their order, each at the next place that its alignment allows, as the
/// compiler does.
/// The text may be anything: what would be larger than a message can be, or absurdly nested, is not understood.
class SchemaReader {
 public:
  explicit SchemaReader(const std::string& text) {
    std::istringstream lines(text);
    std::string name;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("====")) continue;
      if (line.starts_with("MSG: "))
        name = line.substr(5);
      else if (!line.empty())
        bodies_[name].push_back(line);
    }
  }

  Layout root(const std::string& full_name) { return message(full_name, ""); }
  /// Integers whose text does not tell whether they are an enum, or `char`.
  [[nodiscard]] const std::vector<Layout>& open() const { return open_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  static constexpr std::size_t kMostNodes = 20'000;
  static constexpr int kDeepest = 32;

  Layout message(const std::string& full_name, const std::string& key) {
    if (const auto it = messages_.find(key); it != messages_.end())
      return it->second;  // null: a text that refers to itself
    messages_[key] = nullptr;
    if (depth_ == kDeepest) return nullptr;
    ++depth_;
    const Layout layout = build(full_name, key);
    --depth_;
    messages_[key] = layout;
    return layout;
  }

  Layout build(const std::string& full_name, const std::string& key) {
    const auto body = bodies_.find(key);
    if (body == bodies_.end()) return nullptr;
    auto layout = std::make_shared<TypeLayout>();
    layout->kind = TypeLayout::Kind::Message;
    layout->name = full_name;
    std::size_t end = 0;
    for (const std::string& line : body->second) {
      const std::size_t space = line.find(' ');
      if (space == std::string::npos) return nullptr;
      const Layout type = field(line.substr(0, space));
      if (type == nullptr) return nullptr;
      layout->nodes += type->nodes;
      layout->in_payload = layout->in_payload || type->in_payload;
      end = (end + type->alignment - 1) / type->alignment * type->alignment;
      layout->fields.push_back({line.substr(space + 1), end, type});
      end += type->size;
      if (end > kMostBytes || layout->nodes > kMostNodes) return nullptr;
      layout->alignment = std::max(layout->alignment, type->alignment);
    }
    layout->size = (end + layout->alignment - 1) / layout->alignment * layout->alignment;
    return layout;
  }

  static std::optional<std::size_t> number(std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > (1U << 30))
      return std::nullopt;
    return value;
  }

  Layout field(const std::string& text) {
    if (!text.ends_with(']')) return single(text);
    const std::size_t open = text.rfind('[');
    if (open == std::string::npos) return nullptr;
    const std::string bound = text.substr(open + 1, text.size() - open - 2);
    auto layout = std::make_shared<TypeLayout>();
    layout->element = single(text.substr(0, open));
    if (layout->element == nullptr) return nullptr;
    const TypeLayout& e = *layout->element;
    layout->nodes += e.nodes;
    // As shm::vector forbids it: the checks of offsets descend only into arrays and messages.
    if ((bound.empty() || bound.starts_with("<=")) && e.has_vectors()) return nullptr;
    layout->in_payload = bound.empty() || e.in_payload;
    if (bound.empty()) {
      layout->kind = TypeLayout::Kind::Vector;
      layout->size = sizeof(shm::vector<std::uint8_t>);
      layout->alignment = alignof(shm::vector<std::uint8_t>);
      return layout;
    }
    const bool bounded = bound.starts_with("<=");
    const auto count = number(bounded ? bound.substr(2) : bound);
    if (!count) return nullptr;
    layout->count = *count;
    layout->kind = bounded ? TypeLayout::Kind::FixedVector : TypeLayout::Kind::Array;
    layout->alignment = bounded ? std::max<std::size_t>(e.alignment, 4) : e.alignment;
    const std::size_t first = bounded ? (4 + e.alignment - 1) / e.alignment * e.alignment : 0;
    if (*count > kMostBytes / e.size) return nullptr;
    layout->size = (first + *count * e.size + layout->alignment - 1) / layout->alignment * layout->alignment;
    return layout;
  }

  Layout single(const std::string& text) {
    auto layout = std::make_shared<TypeLayout>();
    const auto plain = [&](TypeLayout::Kind kind, std::size_t size) {
      layout->kind = kind;
      layout->size = layout->alignment = size;
      return layout;
    };
    if (text == "bool") return plain(TypeLayout::Kind::Bool, 1);
    if (text == "float32") return plain(TypeLayout::Kind::Float, 4);
    if (text == "float64") return plain(TypeLayout::Kind::Float, 8);
    if (text == "string") {
      layout->kind = TypeLayout::Kind::String;
      layout->in_payload = true;
      layout->size = sizeof(shm::string);
      layout->alignment = alignof(shm::string);
      return layout;
    }
    if (text.starts_with("string<=")) {
      const auto bound = number(text.substr(8));
      if (!bound) return nullptr;
      layout->kind = TypeLayout::Kind::FixedString;
      layout->count = *bound;
      layout->size = (4 + *bound + 3) / 4 * 4;
      layout->alignment = 4;
      return layout;
    }
    const bool is_unsigned = text.starts_with("uint");
    if (is_unsigned || text.starts_with("int")) {
      const auto bits = number(text.substr(is_unsigned ? 4 : 3));
      if (!bits || (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64)) return nullptr;
      layout->is_signed = !is_unsigned;
      open_.push_back(layout);
      return plain(TypeLayout::Kind::Integer, *bits / 8);
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return nullptr;
    const std::string full = text.substr(0, slash) + "/msg" + text.substr(slash);
    // Cardan's own types write their ROS form, which is not how they lie in memory.
    if (const auto it = known().by_name.find(full); it != known().by_name.end()) return it->second;
    return message(full, text);
  }

  std::map<std::string, std::vector<std::string>> bodies_;
  std::map<std::string, Layout> messages_;
  std::vector<Layout> open_;
  int depth_ = 0;
};

/// The forms that an integer of the schema may have in the struct. The text says "int32" for an enum and "uint8" for
/// char as well.
std::vector<TypeLayout> forms_of(const TypeLayout& plain) {
  std::vector<TypeLayout> forms{plain};
  if (plain.size == 1 && !plain.is_signed && std::is_signed_v<char>) {
    forms.push_back(plain);
    forms.back().is_signed = true;
  }
  TypeLayout as_enum = plain;
  as_enum.kind = TypeLayout::Kind::Enum;
  as_enum.element = std::make_shared<TypeLayout>(plain);
  forms.push_back(as_enum);
  return forms;
}

/// Finds the forms with which the hash is the wanted one: all plain, then one integer that is not, then two, then
/// three.
class Settler {
 public:
  Settler(const TypeLayout& root, const std::vector<Layout>& open, std::uint64_t wanted, std::int64_t effort)
      : root_(root), open_(open), wanted_(wanted), budget_(effort / static_cast<std::int64_t>(root.nodes)) {
    for (const Layout& o : open) forms_.push_back(forms_of(*o));
  }
  bool settle() {
    for (int flips = 0; flips <= 3; ++flips)
      if (from(0, flips)) return true;
    return false;
  }
  /// Of the effort, what is left.
  [[nodiscard]] std::int64_t left() const noexcept {
    return std::max<std::int64_t>(budget_, 0) * static_cast<std::int64_t>(root_.nodes);
  }

 private:
  bool from(std::size_t first, int flips) {
    if (flips == 0) return --budget_ > 0 && root_.hash() == wanted_;
    for (std::size_t i = first; i < open_.size() && budget_ > 0; ++i) {
      for (std::size_t f = 1; f < forms_[i].size(); ++f) {
        *open_[i] = forms_[i][f];
        if (from(i + 1, flips - 1)) return true;
      }
      *open_[i] = forms_[i][0];
    }
    return false;
  }

  const TypeLayout& root_;
  const std::vector<Layout>& open_;
  std::uint64_t wanted_;
  std::vector<std::vector<TypeLayout>> forms_;
  std::int64_t budget_;  // hashes that may be tried
};

}  // namespace

std::uint64_t TypeLayout::hash() const {
  detail::LayoutHash h;
  hash_type(h, *this);
  return h.value;
}

std::shared_ptr<const TypeLayout> find_layout(const std::string& type_name, std::uint64_t type_hash,
                                              const std::string& schema, std::int64_t* effort) {
  if (const auto it = known().by_hash.find(type_hash); it != known().by_hash.end()) return it->second;
  if (auto of_our_making = layout_of_definition(type_name, schema);
      of_our_making != nullptr && of_our_making->hash() == type_hash)
    return of_our_making;
  SchemaReader reader(schema);
  Layout layout = reader.root(type_name);
  if (layout == nullptr) return nullptr;
  std::int64_t usual = kUsualEffort;
  std::int64_t& left = effort != nullptr ? *effort : usual;
  Settler settler(*layout, reader.open(), type_hash, left);
  const bool settled = settler.settle();
  left = std::min(left, settler.left());
  return settled ? layout : nullptr;
}

std::shared_ptr<const TypeLayout> detail::layout_of_schema(const std::string& type_name, const std::string& schema) {
  return SchemaReader(schema).root(type_name);
}

std::shared_ptr<const TypeLayout> known_layout(std::string_view type_name) {
  const auto found = known().by_name.find(type_name);
  return found == known().by_name.end() ? nullptr : found->second;
}

detail::MessageType message_type_of(const TypeLayout& type, std::string_view schema) {
  return {type.name,         std::string(type.schema.empty() ? schema : type.schema),
          type.hash(),       type.size,
          type.alignment,    type.has_vectors(),
          sizeof(shm::Arena)};
}

}  // namespace cardan

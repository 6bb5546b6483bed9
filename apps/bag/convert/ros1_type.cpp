// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/convert/ros1_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"

namespace cardan::apps {
namespace {

using Kind = RosType::Kind;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMostText = std::size_t{1} << 20;
/// Messages within a message may have no bytes in ROS 1: a list of them could else ask for gigabytes, or for hours.
constexpr std::size_t kMostVisits = 512, kMostVisitsPerByte = 16;

[[noreturn]] void wrong(std::string_view line) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("the definition's line '{}' is malformed", line),
              "record the topic again with the right message package");
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

/// "geometry_msgs/Point" or "Point"
bool is_type(std::string_view text) {
  const auto slash = text.find('/');
  return slash == std::string_view::npos ? is_word(text)
                                         : is_word(text.substr(0, slash)) && is_word(text.substr(slash + 1));
}

std::string small(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// A constant's name as ROS 2 allows it: A, A_B, A1.
bool is_constant_name(std::string_view name) {
  return !name.empty() && std::isupper(static_cast<unsigned char>(name.front())) != 0 && name.back() != '_' &&
         name.find("__") == std::string_view::npos && std::none_of(name.begin(), name.end(), [](char c) {
           return std::islower(static_cast<unsigned char>(c)) != 0;
         });
}

/// One message's lines: collected first, because names of fields may differ in their letters' size alone.
class Body {
 public:
  explicit Body(std::string name) : name_(std::move(name)) {}

  void line(std::string_view whole) {
    const std::string_view text = trim(whole.substr(0, whole.find('#')));
    if (text.empty()) return;
    const auto space = text.find_first_of(" \t");
    if (space == std::string_view::npos) wrong(text);
    const std::string_view type = text.substr(0, space);
    const std::string_view rest = trim(text.substr(space));
    if (const auto equals = rest.find('='); equals != std::string_view::npos) {
      // A text's value continues to the end of the line, whatever is in it.
      const bool is_text = type == "string";
      constant(type, trim(rest.substr(0, equals)),
               trim(is_text ? whole.substr(whole.find('=') + 1) : rest.substr(equals + 1)), is_text);
    } else {
      field(type, rest, text);
    }
  }

  [[nodiscard]] std::string text() const {
    std::map<std::string, int> uses;
    for (const auto& [type, name] : fields_) ++uses[small(name)];
    std::string out = constants_;
    for (const auto& [type, name] : fields_) out += type + " " + (uses[small(name)] > 1 ? name : small(name)) + "\n";
    return out;
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has_times() const { return has_times_; }

 private:
  void constant(std::string_view type, std::string_view name, std::string_view value, bool is_text) {
    if (!is_word(name) || !is_word(type)) wrong(fmt::format("{} {}={}", type, name, value));
    std::string written(value);
    if (is_text) {
      written = "\"";
      for (const char c : printable(value)) written += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
      written += '"';
    }
    // Constants take no space in a message: one with a name that ROS 2 refuses becomes a comment.
    const bool fits = is_constant_name(name) && written.find_first_of("\n\r") == std::string::npos;
    constants_ += fmt::format("{}{} {}={}\n", fits ? "" : "# ", type == "char" ? "uint8" : type, name, written);
  }

  void field(std::string_view type, std::string_view name, std::string_view line) {
    if (!is_word(name)) wrong(line);
    const auto bracket = type.find('[');
    const std::string_view base = type.substr(0, bracket);
    const std::string_view many = bracket == std::string_view::npos ? "" : type.substr(bracket);
    if (!is_type(base) || base == "wstring" ||
        (!many.empty() && (many.back() != ']' || many.find_first_not_of("0123456789", 1) != many.size() - 1)))
      wrong(line);
    if (name_ == "std_msgs/Header" && name == "seq" && type == "uint32" && fields_.empty()) return;
    fields_.emplace_back(std::string(ros2_type(base)) + std::string(many), name);
  }

  std::string_view ros2_type(std::string_view base) {
    has_times_ = has_times_ || base == "time" || base == "duration";
    if (base == "time") return "builtin_interfaces/Time";
    if (base == "duration") return "builtin_interfaces/Duration";
    if (base == "Header" || base == "roslib/Header") return "std_msgs/Header";
    return base == "char" ? "uint8" : base;
  }

  std::string name_, constants_;
  std::vector<std::pair<std::string, std::string>> fields_;
  bool has_times_ = false;
};

/// Writes CDR of what it reads; stops for good where something does not fit.
class Transcoder {
 public:
  Transcoder(std::span<const std::byte> in, Bytes& out)
      : in_(in), out_(out), visits_left_(kMostVisits + kMostVisitsPerByte * in.size()) {
    out_.assign({std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}});  // XCDR1, little-endian
  }

  [[nodiscard]] bool done() const { return ok_ && in_.empty(); }

  void message(const RosMessage& m) {
    if (visits_left_-- == 0) ok_ = false;
    if (!ok_ || (m.name == "std_msgs/Header" && !take(4))) return;  // seq
    for (const RosField& field : m.fields) {
      if (!ok_) return;
      value(field.type);
    }
    if (m.fields.empty()) out_.push_back(std::byte{0});
  }

 private:
  void value(const RosType& type) {
    if (type.many == RosType::Many::One) return one(type);
    std::size_t count = type.count;
    if (type.many == RosType::Many::List) {
      const auto bytes = take(4);
      if (!bytes) return;
      std::uint32_t read = 0;
      std::memcpy(&read, bytes, sizeof read);
      count = read;
      put_number(read);
    }
    if (const std::size_t each = size_of(type.kind); each != 0) return numbers(each, count);
    for (std::size_t i = 0; i < count && ok_; ++i) one(type);  // each takes bytes, or of those that may have none
  }

  void one(const RosType& type) {
    if (type.kind == Kind::Message) return message(*type.message);
    if (type.kind == Kind::String) return text();
    numbers(size_of(type.kind), 1);
  }

  void numbers(std::size_t each, std::size_t count) {
    if (count == 0) return;
    if (each == 0 || count > in_.size() / each) {
      ok_ = false;
      return;
    }
    align(each);
    put(in_.first(count * each));
    in_ = in_.subspan(count * each);
  }

  void text() {
    const auto bytes = take(4);
    if (!bytes) return;
    std::uint32_t length = 0;
    std::memcpy(&length, bytes, sizeof length);
    if (length > in_.size()) {
      ok_ = false;
      return;
    }
    put_number(length + 1);
    put(in_.first(length));
    out_.push_back(std::byte{0});
    in_ = in_.subspan(length);
  }

  const std::byte* take(std::size_t bytes) {
    if (!ok_ || bytes > in_.size()) {
      ok_ = false;
      return nullptr;
    }
    const std::byte* const at = in_.data();
    in_ = in_.subspan(bytes);
    return at;
  }
  void align(std::size_t to) { out_.resize(out_.size() + (to - (out_.size() - 4) % to) % to); }
  void put(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void put_number(std::uint32_t number) {
    align(sizeof number);
    std::array<std::byte, sizeof number> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    put(bytes);
  }

  std::span<const std::byte> in_;
  Bytes& out_;
  std::size_t visits_left_;
  bool ok_ = true;
};

}  // namespace

std::string ros2_name(const std::string& name) {
  const auto slash = name.find('/');
  if (slash == std::string::npos || !is_type(name)) return {};
  if (name == "tf/tfMessage") return "tf2_msgs/msg/TFMessage";
  return name.substr(0, slash) + "/msg" + name.substr(slash);
}

std::string ros2_definition(const std::string& ros1_name, const std::string& definition) {
  if (definition.size() > kMostText)
    throw Error(ErrorCode::Limit, "the definition has more than 1 MiB of text", "a real definition is much smaller");
  const std::string separator = std::string(80, '=') + "\n";
  std::string out;
  bool times = false, has_header = ros1_name == "std_msgs/Header", wants_header = false;
  std::set<std::string> known;
  Body body(ros1_name);
  const auto finish = [&] {
    times = times || body.has_times();
    has_header = has_header || body.name() == "std_msgs/Header";
    const std::string text = body.text();
    wants_header = wants_header || text.find("std_msgs/Header ") != std::string::npos ||
                   text.find("std_msgs/Header[") != std::string::npos;
    if (!known.insert(body.name()).second) return;  // of two, the first
    if (known.size() > 1) out += separator + "MSG: " + body.name() + "\n";
    out += text;
  };
  for (std::string_view rest = definition; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.size() > 2 && line.find_first_not_of('=') == std::string_view::npos) continue;
    if (!line.starts_with("MSG:")) {
      body.line(line);
      continue;
    }
    finish();
    std::string name(trim(line.substr(4)));
    if (name == "roslib/Header") name = "std_msgs/Header";
    if (!is_type(name)) wrong(line);
    body = Body(name);
  }
  finish();
  if (wants_header && !has_header) {  // early recorders took it for granted
    out += separator + "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n";
    times = true;
  }
  for (const char* name : {"Time", "Duration"})
    if (times && out.find(fmt::format("builtin_interfaces/{}", name)) != std::string::npos)
      out += fmt::format("{}MSG: builtin_interfaces/{}\nint32 sec\nuint32 nanosec\n", separator, name);
  return out;
}

Ros1Type::Ros1Type(const std::string& ros1_name, const std::string& definition)
    : name_(ros2_name(ros1_name)), schema_(ros2_definition(ros1_name, definition)) {
  if (name_.empty())
    throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not the name of a type", ros1_name), "");
  // By the name that the definition goes by in ROS 1: other types of its package have names without it.
  parsed_ = std::make_unique<RosSchema>(ros1_name, schema_);
}

bool Ros1Type::to_cdr(std::span<const std::byte> in, std::vector<std::byte>& out) const {
  Transcoder transcoder(in, out);
  transcoder.message(parsed_->root());
  return transcoder.done();
}

}  // namespace cardan::apps

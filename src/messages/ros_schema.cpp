// SPDX-License-Identifier: Apache-2.0
#include "src/messages/ros_schema.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "cardan/error.hpp"

namespace cardan {
namespace {

using RosKind = RosType::Kind;

constexpr std::array<std::pair<std::string_view, RosKind>, 15> kPrimitives{{{"bool", RosKind::Bool},
                                                                            {"byte", RosKind::Uint8},
                                                                            {"char", RosKind::Uint8},
                                                                            {"int8", RosKind::Int8},
                                                                            {"uint8", RosKind::Uint8},
                                                                            {"int16", RosKind::Int16},
                                                                            {"uint16", RosKind::Uint16},
                                                                            {"int32", RosKind::Int32},
                                                                            {"uint32", RosKind::Uint32},
                                                                            {"int64", RosKind::Int64},
                                                                            {"uint64", RosKind::Uint64},
                                                                            {"float32", RosKind::Float32},
                                                                            {"float64", RosKind::Float64},
                                                                            {"string", RosKind::String},
                                                                            {"wstring", RosKind::WString}}};

std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// "sensor_msgs/msg/Image" → "sensor_msgs/Image".
std::string short_name(std::string_view name) {
  const auto first = name.find('/'), last = name.rfind('/');
  return first == last ? std::string(name) : std::string(name.substr(0, first)) + std::string(name.substr(last));
}

constexpr std::string_view kEventInfo = "service_msgs/ServiceEventInfo";
constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr std::size_t kMostMessages = 1024;
constexpr std::size_t kMostFields = 16'384;
constexpr std::size_t kMostElements = std::size_t{1} << 30;

[[noreturn]] void too_much(const std::string& what) {
  throw Error(ErrorCode::Limit, "a message definition " + what, "no honest one is that large; look at the schema");
}

[[noreturn]] void wrong(std::string_view line, const char* why) {
  throw Error(ErrorCode::InvalidArgument, "the message definition's line '" + std::string(line) + "' " + why,
              "look at the schema; it should be as ROS 2 writes it");
}

/// rosbag2 describes the events of a service ("pkg/srv/Name_Event") by the service itself: a line "SRV: pkg/srv/Name",
/// the request, a line "---", the response, and the messages that they use. Empty if the text has another form.
std::optional<std::string> event_definition(std::string_view name, std::string_view text) {
  constexpr std::string_view kEvent = "_Event";
  if (!name.ends_with(kEvent) || text.size() > kMostText) return std::nullopt;
  const std::string service = short_name(name.substr(0, name.size() - kEvent.size()));
  const std::string line = std::string(80, '=') + "\nMSG: ";
  std::string out = std::string(kEventInfo) + " info\n" + service + "_Request[<=1] request\n" + service +
                    "_Response[<=1] response\n" + line + service + "_Request\n";
  bool halves = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view content = trimmed(text.substr(0, end));
    if (content.starts_with("MSG:")) break;
    if (content == "---" && !halves) {
      halves = true;
      out += line + service + "_Response\n";
    } else if (!content.starts_with("SRV:")) {
      out += std::string(content) + "\n";
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!halves) return std::nullopt;
  return out + std::string(text);
}

/// A field before the types that it names are known.
struct Line {
  std::string type;
  RosField field;
};

class Parser {
 public:
  explicit Parser(std::string_view root) : name_(short_name(root)) {}

  std::vector<std::unique_ptr<RosMessage>> parse(std::string_view text) {
    if (text.size() > kMostText) too_much("has more than 1 MiB of text");
    begin(name_);
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    add_known();
    for (std::size_t i = 0; i < messages_.size(); ++i) resolve(*messages_[i], lines_[i]);
    std::map<const RosMessage*, int> levels;
    for (const auto& message : messages_) levels_of(*message, 0, levels);
    return std::move(messages_);
  }

 private:
  void begin(const std::string& name) {
    if (messages_.size() == kMostMessages) too_much("has more than 1,024 messages");
    messages_.push_back(std::make_unique<RosMessage>(RosMessage{name, {}}));
    lines_.emplace_back();
    by_name_.emplace(name, messages_.back().get());  // of two, the first
  }

  /// Some writers take them for granted.
  void add_known() {
    if (const std::string info(kEventInfo); uses(info) && !by_name_.contains(info)) {
      begin(info);
      for (const char* field :
           {"uint8 event_type", "builtin_interfaces/Time stamp", "uint8[16] client_gid", "int64 sequence_number"})
        line(field);
    }
    for (const char* name : {"builtin_interfaces/Time", "builtin_interfaces/Duration"}) {
      if (by_name_.contains(name)) continue;
      begin(name);
      line("int32 sec");
      line("uint32 nanosec");
    }
  }

  [[nodiscard]] bool uses(const std::string& type) const {
    return std::any_of(lines_.front().begin(), lines_.front().end(),
                       [&](const Line& l) { return short_name(l.type) == type; });
  }

  void line(std::string_view whole) {
    const std::string_view text = trimmed(whole.substr(0, comment_in(whole)));
    if (text.empty() || text.find_first_not_of('=') == std::string_view::npos) return;
    if (text.starts_with("MSG:")) return begin(short_name(trimmed(text.substr(4))));
    const auto space = text.find_first_of(" \t");
    if (space == std::string_view::npos) wrong(text, "has a type and no name");
    const std::string_view type = text.substr(0, space);
    const std::string_view rest = trimmed(text.substr(space));
    const std::string_view name = rest.substr(0, rest.find_first_of(" \t="));
    // A constant: "uint8 DEBUG=1"; a default value follows a space, without an '='.
    const auto behind = rest.find_first_not_of(" \t", name.size());
    if (behind != std::string_view::npos && rest[behind] == '=') return;
    if (name.empty()) wrong(text, "has a type and no name");
    if (++fields_ > kMostFields) too_much("has more than 16,384 fields");
    Line result{.type = {}, .field = {std::string(name), {}}};
    result.type = many_of(type, text, result.field.type);
    lines_.back().push_back(std::move(result));
  }

  /// Where a comment begins: a '#' outside of quotes.
  static std::size_t comment_in(std::string_view text) noexcept {
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (quote != 0) {
        if (text[i] == quote) quote = 0;
      } else if (text[i] == '"' || text[i] == '\'') {
        quote = text[i];
      } else if (text[i] == '#') {
        return i;
      }
    }
    return text.size();
  }

  static std::size_t number(std::string_view text, std::string_view line, const char* why) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > kMostElements)
      wrong(line, why);
    return value;
  }

  /// "float64[36]" → "float64", and what the brackets say.
  static std::string many_of(std::string_view type, std::string_view line, RosType& out) {
    const auto bracket = type.find('[');
    std::string_view element = type.substr(0, bracket);
    if (bracket != std::string_view::npos) {
      if (type.back() != ']') wrong(line, "opens a bracket and does not close it");
      const std::string_view inside = type.substr(bracket + 1, type.size() - bracket - 2);
      out.many = inside.empty() || inside.starts_with("<=") ? RosType::Many::List : RosType::Many::Fixed;
      constexpr const char* kNoNumber = "has no number of elements in its brackets";
      if (out.many == RosType::Many::Fixed)
        out.count = number(inside, line, kNoNumber);
      else if (!inside.empty())
        out.bound = number(inside.substr(2), line, kNoNumber);
    }
    const auto bound = element.find("<=");  // string<=10
    if (bound == std::string_view::npos) return std::string(element);
    out.text_bound = number(element.substr(bound + 2), line, "has no number after its <=");
    return std::string(element.substr(0, bound));
  }

  void resolve(RosMessage& message, std::vector<Line>& lines) {
    for (Line& line : lines) {
      const auto primitive =
          std::find_if(kPrimitives.begin(), kPrimitives.end(), [&](const auto& p) { return p.first == line.type; });
      if (primitive != kPrimitives.end()) {
        line.field.type.kind = primitive->second;
        line.field.type.octet = line.type == "byte";
        if (line.field.type.text_bound != 0 && primitive->second != RosKind::String &&
            primitive->second != RosKind::WString)
          wrong(line.type + " " + line.field.name, "has a text's bound, but is not a text");
      } else {
        line.field.type.kind = RosKind::Message;
        line.field.type.message = find(line.type, message.name);
        if (line.field.type.message == nullptr)
          wrong(line.type + " " + line.field.name,
                ("in " + message.name + " names a type that is not in the schema").c_str());
      }
      message.fields.push_back(std::move(line.field));
    }
  }

  const RosMessage* find(const std::string& type, const std::string& user) const {
    const auto named = [this](const std::string& name) {
      const auto found = by_name_.find(name);
      return found == by_name_.end() ? nullptr : found->second;
    };
    const std::string wanted = short_name(type);
    const RosMessage* found = named(wanted);
    if (found != nullptr || wanted.find('/') != std::string::npos) return found;
    // "Point" in a message of geometry_msgs; "Header" is std_msgs' everywhere.
    found = named(user.substr(0, user.find('/') + 1) + wanted);
    return found == nullptr && wanted == "Header" ? named("std_msgs/Header") : found;
  }

  /// A message that contains itself has no end. How many levels are below each is looked at once: a definition of some
  /// lines can name more paths through it than anybody could walk.
  static int levels_of(const RosMessage& message, int depth, std::map<const RosMessage*, int>& known) {
    constexpr int kMost = 32;
    const auto [at, is_new] = known.try_emplace(&message, kMost + 1);  // until it is known: whoever meets it is in it
    int levels = is_new ? 0 : at->second;
    if (depth + levels > kMost) wrong(message.name, "is nested deeper than 32, or in itself");
    if (!is_new) return levels;
    for (const RosField& field : message.fields)
      if (field.type.message != nullptr)
        levels = std::max(levels, 1 + levels_of(*field.type.message, depth + 1, known));
    known[&message] = levels;
    return levels;
  }

  std::string name_;
  std::vector<std::unique_ptr<RosMessage>> messages_;
  std::vector<std::vector<Line>> lines_;  ///< of each message
  std::map<std::string, const RosMessage*> by_name_;
  std::size_t fields_ = 0;
};

}  // namespace

std::size_t size_of(RosType::Kind kind) noexcept {
  switch (kind) {
    case RosKind::Bool:
    case RosKind::Int8:
    case RosKind::Uint8:
      return 1;
    case RosKind::Int16:
    case RosKind::Uint16:
      return 2;
    case RosKind::Int32:
    case RosKind::Uint32:
    case RosKind::Float32:
      return 4;
    case RosKind::Int64:
    case RosKind::Uint64:
    case RosKind::Float64:
      return 8;
    default:
      return 0;
  }
}

RosSchema::RosSchema(std::string_view name, std::string_view text) {
  const auto event = event_definition(name, text);
  messages_ = Parser(name).parse(event ? *event : text);
}

}  // namespace cardan

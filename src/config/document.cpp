// SPDX-License-Identifier: Apache-2.0
#include "src/config/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "src/config/json_text.hpp"

namespace cardan::config {
namespace {

constexpr int kMaxNesting = 32;
constexpr const char* kNames = "write names and texts in double quotes";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '+' || c == '.';
}

class Reader {
 public:
  Reader(std::string_view text, std::vector<Problem>& problems) : text_(text), problems_(problems) {}

  Document read() {
    Document document;
    if (text_.starts_with("\xef\xbb\xbf")) {
      text_.remove_prefix(3);  // a byte order mark, which editors do not show
    }
    skip();
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
      fail(here(), "the text is UTF-16", "save it as UTF-8");
    else if (ended())
      fail(here(), "the file has no text", R"(write {"processes": {"name": {"components": {…}}}})");
    else
      value(document.root);
    skip();
    if (!failed_ && at_ < text_.size())
      fail(here(), fmt::format("{} follows the end of the file's object", shown()),
           "remove it, or the closing bracket too many before it");
    document.well_formed = well_formed_;
    document.complete = !failed_;
    return document;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  [[nodiscard]] bool ended() const { return at_ >= text_.size(); }

  // Only ever moves forward, so that a file in one long line costs no more than one in many.
  Place here() {
    for (; counted_ < at_; ++counted_) {
      const auto byte = static_cast<unsigned char>(text_[counted_]);
      if (byte == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((byte & 0xc0U) != 0x80U) {
        ++place_.column;
      }
    }
    return place_;
  }

  /// The text here, for a message.
  [[nodiscard]] std::string shown() const {
    if (ended()) return "the end of the file";
    std::size_t end = at_;
    while (end < text_.size() && end - at_ < 20 && is_word(text_[end])) ++end;
    if (end > at_) return fmt::format("'{}'", text_.substr(at_, end - at_));
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte <= ' ' || byte >= 0x7f) return fmt::format("the byte 0x{:02x}", byte);
    return fmt::format("'{}'", text_[at_]);
  }

  void add_problem(Place place, std::string cause, std::string remedy) {
    well_formed_ = false;
    problems_.push_back({path_, place.line, place.column, Severity::Error, std::move(cause), std::move(remedy)});
  }
  /// The rest cannot be understood: the reader goes to the end.
  void fail(Place place, std::string cause, std::string remedy) {
    if (failed_) return;
    add_problem(place, std::move(cause), std::move(remedy));
    failed_ = true;
    at_ = text_.size();
  }

  void skip() {
    while (!ended()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (c == '/') {
        comment();
      } else {
        return;
      }
    }
  }

  void comment() {
    const Place begin = here();
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("//")) {
      at_ += std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) return fail(begin, "the comment '/*' has no end", "close it with '*/'");
      at_ += end + 2;
    } else {
      fail(begin, "a single '/' does not start a comment",
           "write // before a comment, or names of topics in double quotes");
    }
  }

  void value(Node& node) {
    node.place = here();
    const char c = peek();
    if (ended()) {
      fail(node.place, "the file ends where a value is expected", "complete it");
    } else if (c == '{') {
      object(node);
    } else if (c == '[') {
      array(node);
    } else if (c == '"') {
      if (text(node.text)) node.kind = Node::Kind::Text;
    } else if (c == '\'') {
      single_quoted(node.text);
    } else if (c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9')) {
      number(node);
    } else if (is_word(c)) {
      word(node);
    } else {
      fail(node.place, fmt::format("a value is expected, not {}", shown()),
           "write a text in double quotes, a number, true, false, {…} or […]");
    }
  }

  void object(Node& node) {
    node.kind = Node::Kind::Object;
    std::map<std::string, Place> seen;
    list(node.place, '}', [&] {
      Member& member = node.members.emplace_back();
      member.place = here();
      const std::size_t parent = path_.size();
      if (!key(member.name)) return;
      path_ = join(path_, member.name);
      if (const auto [first, fresh] = seen.emplace(member.name, member.place); !fresh) {
        member.duplicate = true;
        problems_.push_back({path_, member.place.line, member.place.column, Severity::Error,
                             fmt::format("'{}' is given twice here, first in line {}", member.name, first->second.line),
                             fmt::format("remove or rename one '{}'; only one can apply", member.name)});
      }
      skip();
      if (peek() == '=') {
        add_problem(here(), fmt::format("'=' follows '{}'", member.name), "write ':'");
        ++at_;
      } else if (peek() == ':') {
        ++at_;
      } else {
        fail(here(), fmt::format("':' and a value are expected after '{}', not {}", member.name, shown()),
             "write \"name\": value");
      }
      skip();
      value(member.value);
      path_.resize(parent);
    });
  }

  bool key(std::string& name) {
    if (peek() == '"') return text(name) || !failed_;
    if (peek() == '\'') {
      single_quoted(name);
      return !failed_;
    }
    const Place place = here();
    const std::size_t begin = at_;
    while (!ended() && is_word(text_[at_])) ++at_;
    name = text_.substr(begin, at_ - begin);
    if (name.empty()) {
      fail(place, fmt::format("a name in double quotes is expected, not {}", shown()), "write \"name\": value");
      return false;
    }
    add_problem(place, fmt::format("the name {} has no quotes", name), fmt::format("write \"{}\"", name));
    return true;
  }

  void array(Node& node) {
    node.kind = Node::Kind::Array;
    list(node.place, ']', [&] {
      const std::size_t parent = path_.size();
      path_ += fmt::format("/{}", node.elements.size());
      value(node.elements.emplace_back());
      path_.resize(parent);
    });
  }

  template <class Item>
  void list(Place begin, char close, Item item) {
    if (++nesting_ > kMaxNesting)
      return fail(begin, fmt::format("nested more than {} deep", kMaxNesting), "a configuration needs no more than 8");
    ++at_;
    skip();
    while (!failed_ && peek() != close) {
      item();
      const Place end = here();
      skip();
      if (failed_) return;
      const Place next = here();
      if (peek() == ',') {
        ++at_;
        skip();
        if (peek() == close)
          add_problem(next, fmt::format("the last ',' before '{}' has nothing after it", close), "remove the ','");
      } else if (begins_item(close)) {
        add_problem(end, fmt::format("',' is missing between this and what follows in line {}", next.line),
                    "put a ',' here");
      } else if (peek() != close) {
        if (ended())
          fail(next,
               fmt::format("the file ends before the '{}' of line {} is closed", close == '}' ? '{' : '[', begin.line),
               fmt::format("add '{}'", close));
        else
          fail(next, fmt::format("',' or '{}' is expected, not {}", close, shown()),
               fmt::format("the innermost open '{}' is in line {}", close == '}' ? '{' : '[', begin.line));
      }
    }
    if (failed_) return;
    ++at_;
    --nesting_;
  }

  [[nodiscard]] bool begins_item(char close) const {
    const char c = peek();
    return c == '"' || c == '\'' || is_word(c) || (close == ']' && (c == '{' || c == '['));
  }

  /// False: a problem is added.
  bool text(std::string& out) {
    const Place begin = here();
    const TextError error = json_text(text_, at_, out);
    if (error.cause.empty()) return true;
    if (error.fatal)
      fail(begin, error.cause, error.remedy);
    else
      add_problem(begin, error.cause, error.remedy);
    return false;
  }

  void single_quoted(std::string& out) {
    const Place begin = here();
    const std::size_t end = std::min(text_.find('\'', at_ + 1), text_.find('\n', at_ + 1));
    if (end >= text_.size() || text_[end] == '\n') return fail(begin, "a text in single quotes", kNames);
    out = text_.substr(at_ + 1, end - at_ - 1);
    add_problem(begin, fmt::format("'{}' is in single quotes", out), kNames);
    at_ = end + 1;
  }

  std::string_view take_word() {
    const std::size_t begin = at_;
    while (!ended() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void word(Node& node) {
    const std::string_view word = take_word();
    if (word == "true" || word == "false") {
      node.kind = Node::Kind::Boolean;
      node.boolean = word == "true";
    } else if (word == "null") {
      node.kind = Node::Kind::Null;
    } else {
      const bool yes = word == "True" || word == "TRUE" || word == "yes" || word == "on";
      const bool no = word == "False" || word == "FALSE" || word == "no" || word == "off";
      add_problem(node.place, fmt::format("'{}' is not a value", word),
                  yes  ? "write true"
                  : no ? "write false"
                       : fmt::format("write \"{}\" if it is a text", word));
    }
  }

  void number(Node& node) {
    node.text = take_word();
    if (!is_json_number(node.text))
      return add_problem(node.place, fmt::format("'{}' is not a number as JSON writes it", node.text),
                         "write digits, as -12, 0.5 or 1e6");
    const char* const begin = node.text.data();
    const char* const end = begin + node.text.size();
    if (node.text.find_first_of(".eE") == std::string::npos &&
        std::from_chars(begin, end, node.integer).ec == std::errc{}) {
      node.kind = Node::Kind::Integer;
      node.number = static_cast<double>(node.integer);
      return;
    }
    node.kind = Node::Kind::Number;
    if (std::from_chars(begin, end, node.number).ec == std::errc{}) return;
    const bool small = node.text.find("e-") != std::string::npos || node.text.find("E-") != std::string::npos ||
                       node.text.starts_with("0.") || node.text.starts_with("-0.");
    if (small) return;  // nearer to 0 than any number but 0
    node.kind = Node::Kind::Bad;
    add_problem(node.place, fmt::format("{} is too large for a number", node.text), "write a smaller one");
  }

  std::string_view text_;
  std::vector<Problem>& problems_;
  std::string path_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  Place place_{};
  int nesting_ = 0;
  bool well_formed_ = true;
  bool failed_ = false;
};

}  // namespace

const Node* Node::find(std::string_view name) const noexcept {
  for (const Member& member : members)
    if (!member.duplicate && member.name == name) return member.value.kind == Kind::Bad ? nullptr : &member.value;
  return nullptr;
}

Node node_of(Node::Kind kind, Place place) {
  Node node;
  node.kind = kind;
  node.place = place;
  return node;
}

Node text_node(std::string text, Place place) {
  Node node = node_of(Node::Kind::Text, place);
  node.text = std::move(text);
  return node;
}

Document read_document(std::string_view text, std::vector<Problem>& problems) { return Reader(text, problems).read(); }

}  // namespace cardan::config

// SPDX-License-Identifier: Apache-2.0
// The reader of JSON text: what it says about mistakes, that it agrees with another reader about what JSON is, and that
// nothing in a file can make it stumble.
#include "src/config/document.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "src/config/street_file_test.hpp"

namespace cardan::config {
namespace {

struct Slip {
  const char* name;
  const char* text;
  int line, column;
  const char* cause;
  const char* remedy;
  bool goes_on;  ///< what follows is looked at too
};

void PrintTo(const Slip& slip, std::ostream* out) { *out << slip.name; }

class Slips : public testing::TestWithParam<Slip> {};

TEST_P(Slips, AreToldWithTheirPlace) {
  const Slip& slip = GetParam();
  std::vector<Problem> problems;
  const Document document = read_document(slip.text, problems);
  SCOPED_TRACE(shown(problems));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].line, slip.line);
  EXPECT_EQ(problems[0].column, slip.column);
  EXPECT_NE(problems[0].cause.find(slip.cause), std::string::npos) << slip.cause;
  EXPECT_NE(problems[0].remedy.find(slip.remedy), std::string::npos) << slip.remedy;
  EXPECT_FALSE(document.well_formed);
  EXPECT_EQ(document.complete, slip.goes_on);
}

const Slip kSlips[] = {
    {"empty", "", 1, 1, "the file has no text", "\"processes\"", false},
    {"only_a_comment", "// nothing", 1, 11, "the file has no text", "\"processes\"", false},
    {"utf16", "\xff\xfe{", 1, 1, "the text is UTF-16", "save it as UTF-8", false},
    {"no_comma", "{\"a\": 1\n \"b\": 2}", 1, 8, "',' is missing between this and what follows in line 2",
     "put a ',' here", true},
    {"no_comma_in_list", "[1 2]", 1, 3, "',' is missing", "put a ','", true},
    {"no_comma_between_objects", "[{}\n{}]", 1, 4, "',' is missing", "put a ','", true},
    {"last_comma", "{\"a\": 1,\n}", 1, 8, "the last ',' before '}' has nothing after it", "remove the ','", true},
    {"last_comma_in_list", "[1,]", 1, 3, "the last ',' before ']'", "remove the ','", true},
    {"two_commas", "{\"a\": 1,, \"b\": 2}", 1, 9, "a name in double quotes is expected, not ','", "\"name\": value",
     false},
    {"no_colon", "{\"a\" 1}", 1, 6, "':' and a value are expected after 'a', not '1'", "\"name\": value", false},
    {"equals", "{\"a\" = 1}", 1, 6, "'=' follows 'a'", "write ':'", true},
    {"no_value", "{\"a\": }", 1, 7, "a value is expected, not '}'", "a number, true", false},
    {"no_quotes", "{a: 1}", 1, 2, "the name a has no quotes", "write \"a\"", true},
    {"single_quotes", "{'a': 1}", 1, 2, "'a' is in single quotes", "double quotes", true},
    {"single_quotes_of_value", "{\"a\": 'b'}", 1, 7, "'b' is in single quotes", "double quotes", true},
    {"single_quote_alone", "{\"a\": 'b\n}", 1, 7, "single quotes", "double quotes", false},
    {"python_true", "{\"a\": True}", 1, 7, "'True' is not a value", "write true", true},
    {"yaml_off", "{\"a\": off}", 1, 7, "'off' is not a value", "write false", true},
    {"word", "{\"a\": fifo}", 1, 7, "'fifo' is not a value", "write \"fifo\"", true},
    {"plus", "[+1]", 1, 2, "'+1' is not a number", "0.5 or 1e6", true},
    {"leading_zero", "[01]", 1, 2, "'01' is not a number", "digits", true},
    {"no_zero", "[.5]", 1, 2, "'.5' is not a number", "0.5", true},
    {"no_fraction", "[5.]", 1, 2, "'5.' is not a number", "0.5", true},
    {"hexadecimal", "[0x10]", 1, 2, "'0x10' is not a number", "digits", true},
    {"infinite", "[1e999]", 1, 2, "1e999 is too large for a number", "smaller", true},
    {"no_closing_quote", "{\"a\": \"b\n}", 1, 7, "has no closing quote in its line", "add '\"'", false},
    {"closing_quote_escaped", "{\"a\": \"b\\\"}", 1, 7, "has no closing quote", "add '\"'", false},
    {"backslash_at_the_end", "[\"\\", 1, 2, "has no closing quote", "add '\"'", false},
    {"unknown_escape", "[\"\\d\"]", 1, 2, "the unknown escape '\\d'", "\\\\ for a backslash", true},
    {"half_a_pair", "[\"\\ud800\"]", 1, 2, "unknown escape", "\\\\", true},
    {"tab", "[\"\t\"]", 1, 2, "control character 0x09", "\\t for a tab", true},
    {"not_utf8", "[\"\xff\"]", 1, 2, "the byte 0xff, which is not UTF-8", "save the file as UTF-8", true},
    {"overlong", "[\"\xc0\x80\"]", 1, 2, "not UTF-8", "UTF-8", true},
    {"no_closing_brace", "{\n\"a\": {\n\"b\": 1\n}", 4, 2, "the file ends before the '{' of line 1 is closed",
     "add '}'", false},
    {"no_closing_bracket", "[1", 1, 3, "the file ends before the '[' of line 1 is closed", "add ']'", false},
    {"wrong_bracket", "{\"a\": [1}\n}", 1, 9, "',' or ']' is expected, not '}'", "the innermost open '[' is in line 1",
     false},
    {"more_after_the_end", "{}\n}", 2, 1, "'}' follows the end", "remove it", false},
    {"comment_without_end", "{} /* so", 1, 4, "the comment '/*' has no end", "close it with '*/'", false},
    {"slash", "{\"a\": /image}", 1, 7, "a single '/' does not start a comment", "names of topics in double quotes",
     false},
    {"strange_byte", "{\"a\": \x01}", 1, 7, "not the byte 0x01", "a number", false},
    {"too_deep", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 1, 33, "nested more than 32 deep", "8", false},
};

INSTANTIATE_TEST_SUITE_P(Documents, Slips, testing::ValuesIn(kSlips), [](const auto& slip) { return slip.param.name; });

TEST(Documents, GoOnAfterAMistake) {
  std::vector<Problem> problems;
  (void)parse_configuration(R"({
    "domain": 'a',
    "realtime": True
    "needs": {"cpus": 01,},
    "proceses": {}
  })",
                            "x.json", problems);
  ASSERT_EQ(problems.size(), 7U) << shown(problems);
  EXPECT_EQ(problems[0].line, 1);  // no 'processes'
  EXPECT_EQ(problems[1].line, 2);
  EXPECT_EQ(problems[2].line, 3);
  EXPECT_EQ(problems[3].line, 3);
  EXPECT_EQ(problems[4].line, 4);
  EXPECT_EQ(problems[5].line, 4);
  EXPECT_EQ(problems[6].line, 5);
  EXPECT_EQ(problems[6].remedy, "did you mean 'processes'?");
}

TEST(Documents, DecodeTexts) {
  std::vector<Problem> problems;
  const Document d = read_document(
      "\xef\xbb\xbf /* c */ [\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\\u20AC\\ud83d\\ude00é€😀\", -0, 1e2] // e",
      problems);
  ASSERT_TRUE(problems.empty()) << shown(problems);
  EXPECT_EQ(d.root.elements[0].text, "a\"\\/\b\f\n\r\t");
  EXPECT_EQ(d.root.elements[1].text, "é€😀é€😀");
  EXPECT_EQ(d.root.elements[2].integer, 0);
  EXPECT_EQ(d.root.elements[3].kind, Node::Kind::Number);
  EXPECT_EQ(d.root.elements[3].number, 100);
  EXPECT_EQ(d.root.elements[0].place, (Place{1, 11}));
}

TEST(Documents, EscapePointers) { EXPECT_EQ(join("/a", "~/x"), "/a/~0~1x"); }

/// Whether nlohmann's reader takes it.
bool is_json(const std::string& text) { return !nlohmann::json::parse(text, nullptr, false, true).is_discarded(); }

/// Never crashes; tells of something if and only if there is something; places are within the text.
void expect_sound(const std::string& text) {
  std::vector<Problem> problems;
  const Document document = read_document(text, problems);
  if (text.find('\0') == std::string::npos) {  // which ends the text for the other reader
    ASSERT_EQ(document.well_formed, is_json(text)) << text << "\n" << shown(problems);
  }
  ASSERT_TRUE(document.well_formed || has_errors(problems)) << text;
  ASSERT_TRUE(document.complete || !document.well_formed);

  std::vector<Problem> all;
  const Configuration configuration = parse_configuration(text, "x.json", all);
  ASSERT_TRUE(document.well_formed || has_errors(all)) << text;
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  for (const Problem& problem : all) {
    ASSERT_GE(problem.line, 1);
    ASSERT_LE(problem.line, lines);
    ASSERT_GE(problem.column, 1);
    ASSERT_FALSE(problem.cause.empty());
    ASSERT_FALSE(problem.remedy.empty()) << problem.cause;
  }
  if (has_errors(all)) return;
  ASSERT_FALSE(configuration.processes.empty());
  for (const Process& process : configuration.processes) ASSERT_FALSE(process.components.empty());
}

TEST(Documents, CutAnywhere) {
  const std::string file(kStreet);
  for (std::size_t length = 0; length < file.size(); ++length) {
    expect_sound(file.substr(0, length));
    expect_sound(file.substr(length));
    if (HasFatalFailure()) return;
  }
}

TEST(Documents, OneByteChanged) {
  constexpr std::string_view kNew{"\0\n\"\\{}[]:,/*'= -+.e0a\x80\xff", 22};
  std::string file(kStreet);
  for (std::size_t at = 0; at < file.size(); ++at) {
    const char old = file[at];
    for (std::size_t i = 0; i < 2; ++i) {  // two of them in turn: all at every byte would take minutes
      file[at] = kNew[(2 * at + i + at / 11) % kNew.size()];
      expect_sound(file);
    }
    file[at] = old;
    expect_sound(std::string(file).erase(at, 1));
    expect_sound(std::string(file).insert(at, 1, file[(at * 7) % file.size()]));
    if (HasFatalFailure()) return;
  }
}

TEST(Documents, PiecesMoved) {
  std::mt19937 random(7);
  const std::string file(kStreet);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 3000; ++round) {
    std::string text = file;
    for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) {
      const std::string piece = text.substr(below(text.size()), 1 + below(40));
      const std::size_t at = below(text.size());
      if (random() % 2 == 0)
        text.insert(at, piece);
      else
        text.replace(at, piece.size(), piece);
    }
    expect_sound(text);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace cardan::config

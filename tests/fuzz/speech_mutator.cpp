// SPDX-License-Identifier: Apache-2.0
// libFuzzer's mutations of bytes seldom leave JSON that can be parsed. Half of the time these are done instead: they
// know lines, texts in quotes and numbers.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::array kPieces{
    "a", "é", "€", "𝄞", R"(\u0000)", R"(\u001b)", R"(\u009b)", R"(\u202e)", R"(\ud83d\ude00)", R"(\")", "/", ".", "%s"};
constexpr std::array kCounts{1, 2, 7, 15, 16, 21, 31, 32, 33, 63, 64, 127, 300, 1024};
constexpr std::array kNumbers{"0",
                              "1",
                              "2",
                              "3",
                              "-1",
                              "63",
                              "64",
                              "127",
                              "128",
                              "255",
                              "1023",
                              "1024",
                              "65535",
                              "65536",
                              "2147483647",
                              "4294967295",
                              "4294967296",
                              "9223372036854775807",
                              "9223372036854775808",
                              "18446744073709551615",
                              "-9223372036854775808",
                              "1e300",
                              "0.5",
                              "null",
                              "true",
                              "\"1\"",
                              "[]",
                              "{}"};
constexpr std::array kHeads{"0 ",  "1 ",  "2 ",  "0p ", "1p ", "0l ",  "0ab ",
                            "0a ", "0u ", "0h ", "0- ", "1- ", "0pp ", "0aaaaaaaa "};

class Mutation {
 public:
  Mutation(std::string text, unsigned seed) : text_(std::move(text)), random_(seed) {}

  std::string done() {
    switch (pick(6)) {
      case 0:
        return lines();
      case 1:
      case 2:
        return texts();
      case 3:
      case 4:
        return numbers();
      default:
        return heads();
    }
  }

 private:
  std::size_t pick(std::size_t below) { return below == 0 ? 0 : random_() % below; }
  template <class Array>
  auto one_of(const Array& all) {
    return all[pick(all.size())];
  }

  /// Of all that `find(from)` finds (a beginning and an end), one.
  template <class Find>
  bool choose(std::size_t& begin, std::size_t& end, Find find) {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t from = 0; from < text_.size();) {
      const auto [b, e] = find(from);
      if (b == std::string::npos || e == std::string::npos) break;
      all.emplace_back(b, e);
      from = e + 1;
    }
    if (all.empty()) return false;
    std::tie(begin, end) = all[pick(all.size())];
    return true;
  }

  std::string lines() {
    std::vector<std::string> all;
    for (cardan::fuzz::Input in(text_); !in.empty();) all.emplace_back(in.until('\n'));
    if (all.empty()) return text_;
    const std::size_t a = pick(all.size()), b = pick(all.size());
    switch (pick(3)) {
      case 0:
        all.insert(all.begin() + static_cast<std::ptrdiff_t>(b), std::string(all[a]));
        break;
      case 1:
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(a));
        break;
      default:
        std::swap(all[a], all[b]);
        break;
    }
    std::string text;
    for (const std::string& line : all) text += line + '\n';
    return text;
  }

  std::string texts() {
    std::size_t begin = 0, end = 0;
    if (!choose(begin, end, [&](std::size_t from) {
          const std::size_t colon = text_.find(":\"", from);  // a key stays what it is, mostly
          return std::pair{colon + 1, colon == std::string::npos ? colon : text_.find('"', colon + 2)};
        }))
      return text_;
    std::string more(pick(4), 'x');
    const auto piece = one_of(kPieces);
    for (int i = one_of(kCounts); i > 0; --i) more += piece;
    return text_.substr(0, begin + 1) + more + text_.substr(pick(2) != 0 ? begin + 1 : end);
  }

  std::string numbers() {
    std::size_t begin = 0, end = 0;
    if (!choose(begin, end, [&](std::size_t from) {
          const std::size_t first = text_.find_first_of("0123456789", from);
          return std::pair{first, first == std::string::npos
                                      ? first
                                      : std::min(text_.find_first_not_of("0123456789", first), text_.size())};
        }))
      return text_;
    return text_.substr(0, begin) + one_of(kNumbers) + text_.substr(end);
  }

  std::string heads() {
    std::size_t begin = 0, end = 0;
    if (!choose(begin, end, [&](std::size_t from) {
          const std::size_t line = from == 0 ? 0 : text_.find('\n', from - 1);
          const std::size_t first = line == std::string::npos || from == 0 ? line : line + 1;
          return std::pair{first, first == std::string::npos ? first : text_.find(' ', first)};
        }))
      return text_;
    return text_.substr(0, begin) + one_of(kHeads) + text_.substr(end + 1);
  }

  std::string text_;
  std::minstd_rand random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text = Mutation({reinterpret_cast<const char*>(data), size}, seed / 2).done().substr(0, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

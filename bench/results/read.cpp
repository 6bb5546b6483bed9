// SPDX-License-Identifier: Apache-2.0
#include "bench/results/read.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "cardan/base/error.hpp"

namespace cardan::bench {
namespace {

using SaxJson = nlohmann::json;

constexpr double kGreatestFigure = 1e15;
constexpr std::size_t kMostCommandBytes = 400;

/// What is wrong, without the file's name.
struct Wrong {
  std::string cause;
};

bool is_bench_command(const std::string& text) {
  constexpr std::string_view kStart = "cardan bench ";
  constexpr std::string_view kMore = " ._,/*=:+-";
  return text.size() <= kMostCommandBytes && text.starts_with(kStart) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  kMore.find(c) != std::string_view::npos;
         });
}

// Control characters could write to the user's terminal. C1 ones are 0xC2 0x80 … 0x9F in UTF-8; marks that turn the
// direction of text are 0xE2 0x80 0x8E … 0xAE and 0xE2 0x81 0xA6 … 0xA9.
std::string without_controls(const std::string& text) {
  std::string out;
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (at(i) < 0x20 || at(i) == 0x7F) {
      out += '?';
    } else if (at(i) == 0xC2 && at(i + 1) >= 0x80 && at(i + 1) <= 0x9F) {
      out += '?';
      ++i;
    } else if (at(i) == 0xE2 && ((at(i + 1) == 0x80 && at(i + 2) >= 0x8E && at(i + 2) <= 0xAE && at(i + 2) != 0x93 &&
                                  at(i + 2) != 0x94 && at(i + 2) != 0x99 && at(i + 2) != 0xA6) ||
                                 (at(i + 1) == 0x81 && at(i + 2) >= 0xA6 && at(i + 2) <= 0xA9))) {
      out += '?';
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// At most `most` bytes, and no half of a character.
std::string cut_text(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

/// Takes what it knows out of the stream of the file's parts, and keeps nothing else.
class ResultReader : public nlohmann::json_sax<SaxJson> {
 public:
  ResultReader(Result& result, const ReadLimits& limits) : result_(result), limits_(limits) {}

  [[nodiscard]] bool has_measurements() const noexcept { return has_measurements_; }

  bool null() override {
    return value([&] { refuse_if_known("null"); });
  }
  bool boolean(bool b) override {
    return value([&] {
      if (where_ == Where::Root && key_ == "interrupted") result_.interrupted = b;
      if (where_ != Where::Measurement) return refuse_if_known("true or false");
      if (key_ == "noisy")
        now().noisy = b;
      else if (key_ == "more_is_better")
        now().more_is_better = b;
      else
        refuse_if_known("true or false");
    });
  }
  bool number_integer(number_integer_t n) override { return number(static_cast<double>(n)); }
  bool number_unsigned(number_unsigned_t n) override { return number(static_cast<double>(n)); }
  bool number_float(number_float_t n, const string_t& /*text*/) override { return number(n); }
  bool string(string_t& text) override {
    return value([&] { take(text); });
  }
  bool binary(binary_t& /*bytes*/) override { return true; }

  bool start_object(std::size_t /*elements*/) override {
    if (skipped_ > 0) return skip();
    switch (where_) {
      case Where::Outside:
        return go(Where::Root);
      case Where::Root:
        return key_ == "host" ? go(Where::Host) : skip();
      case Where::Measurements:
        if (result_.measurements.size() >= limits_.measurements)
          throw Wrong{fmt::format("more than {} measurements", limits_.measurements)};
        result_.measurements.emplace_back();
        return go(Where::Measurement);
      case Where::Runs:
        if (now().runs.size() >= limits_.runs) throw Wrong{fmt::format("{}: more than {} runs", place(), limits_.runs)};
        now().runs.emplace_back();
        return go(Where::Run);
      case Where::Measurement:
        refuse_if_known("an object");
        return skip();
      case Where::Host:
      case Where::Run:
        return skip();
      case Where::Texts:
      case Where::Samples:
        break;
    }
    throw Wrong{fmt::format("{}: an object where a value belongs", place())};
  }
  bool start_array(std::size_t /*elements*/) override {
    if (skipped_ > 0) return skip();
    if (where_ == Where::Root && key_ == "measurements" && !has_measurements_) {
      has_measurements_ = true;
      return go(Where::Measurements);
    }
    if (where_ == Where::Root && (key_ == "left_out" || key_ == "failures")) return go(Where::Texts);
    if (where_ == Where::Measurement && key_ == "runs" && now().runs.empty()) return go(Where::Runs);
    if (where_ == Where::Run && key_ == "samples" && now().runs.back().samples.empty()) return go(Where::Samples);
    if (where_ == Where::Measurement) refuse_if_known("a list");
    if (where_ == Where::Root || where_ == Where::Host || where_ == Where::Measurement || where_ == Where::Run)
      return skip();
    throw Wrong{fmt::format("{}: a list where there is none", place())};
  }
  bool key(string_t& name) override {
    if (skipped_ == 0) key_ = cut_text(name, limits_.text_bytes);
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t position, const std::string& /*token*/, const SaxJson::exception& e) override {
    throw Wrong{dynamic_cast<const SaxJson::out_of_range*>(&e) != nullptr
                    ? fmt::format("a number that is out of range, at byte {}", position)
                    : fmt::format("no JSON, at byte {}", position)};
  }

 private:
  enum class Where : std::uint8_t { Outside, Root, Host, Texts, Measurements, Measurement, Runs, Run, Samples };

  Measurement& now() { return result_.measurements.back(); }

  [[nodiscard]] std::string place() const {
    if (where_ == Where::Outside || where_ == Where::Root) return "the file";
    if (where_ == Where::Host) return "`host`";
    if (where_ == Where::Texts) return fmt::format("`{}`", without_controls(texts_));
    return fmt::format("measurement {}", result_.measurements.size());
  }

  bool go(Where to) {
    if (to == Where::Texts) texts_ = key_;
    where_ = to;
    return true;
  }
  bool skip() {
    ++skipped_;
    return true;
  }
  bool end() {
    if (skipped_ > 0) {
      --skipped_;
      return true;
    }
    switch (where_) {
      case Where::Outside:
      case Where::Root:
        where_ = Where::Outside;
        break;
      case Where::Host:
      case Where::Texts:
      case Where::Measurements:
        where_ = Where::Root;
        break;
      case Where::Measurement:
        check_complete();
        where_ = Where::Measurements;
        break;
      case Where::Runs:
        where_ = Where::Measurement;
        break;
      case Where::Run:
        if (now().runs.back().count < now().runs.back().samples.size())
          now().runs.back().count = now().runs.back().samples.size();
        where_ = Where::Runs;
        break;
      case Where::Samples:
        where_ = Where::Run;
        break;
    }
    return true;
  }

  template <class Take>
  bool value(Take take) {
    if (skipped_ > 0) return true;
    if (where_ == Where::Outside || where_ == Where::Measurements || where_ == Where::Runs)
      throw Wrong{fmt::format("{}: a value where an object belongs", place())};
    if (where_ == Where::Root && key_ == "measurements") throw Wrong{"`measurements` is no list"};
    take();
    return true;
  }

  // A known field of another type is an error; an unknown one is for others.
  void refuse_if_known(const char* found) const {
    static const std::unordered_set<std::string> kKnown{
        "part",       "peer",    "setup", "cell",           "quantity", "unit", "bytes",   "rate_hz",
        "publishers", "readers", "noisy", "more_is_better", "due",      "lost", "command", "runs"};
    if (where_ == Where::Samples) throw Wrong{fmt::format("{}: {} among the samples", place(), found)};
    if (where_ == Where::Measurement && kKnown.contains(key_))
      throw Wrong{fmt::format("{}: `{}` is {}", place(), key_, found)};
  }

  bool number(double n) {
    return value([&] {
      if (where_ == Where::Host) return take_host(fmt::format("{:g}", n));
      if (where_ == Where::Samples) return take_sample(n);
      if (where_ == Where::Run) {
        if (key_ == "count") now().runs.back().count = whole(n);
        if (key_ == "steal_percent") now().runs.back().steal_percent = figure(n);
        if (key_ == "other_load_percent") now().runs.back().other_load_percent = figure(n);
        return;
      }
      if (where_ != Where::Measurement) return;
      Measurement& m = now();
      if (key_ == "bytes")
        m.bytes = figure(n);
      else if (key_ == "rate_hz")
        m.rate_hz = figure(n);
      else if (key_ == "publishers")
        m.publishers = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole(n), 1'000'000));
      else if (key_ == "readers")
        m.readers = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole(n), 1'000'000));
      else if (key_ == "due")
        m.due = whole(n);
      else if (key_ == "lost")
        m.lost = whole(n);
      else
        refuse_if_known("a number");
    });
  }
  [[nodiscard]] double figure(double n) const {
    if (!std::isfinite(n) || std::fabs(n) > kGreatestFigure)
      throw Wrong{fmt::format("{}: {:g} is no figure of a measurement", place(), n)};
    return n;
  }
  [[nodiscard]] std::uint64_t whole(double n) const {
    if (figure(n) < 0 || n != std::floor(n)) throw Wrong{fmt::format("{}: {:g} is no count", place(), n)};
    return static_cast<std::uint64_t>(n);
  }
  void take_sample(double n) {
    if (++samples_ > limits_.samples) throw Wrong{fmt::format("more than {} samples", limits_.samples)};
    now().runs.back().samples.push_back(figure(n));
  }

  void take(const std::string& text) {
    if (where_ == Where::Samples) throw Wrong{fmt::format("{}: a text among the samples", place())};
    if (where_ == Where::Host) return take_host(text);
    if (where_ == Where::Texts) {
      auto& texts = texts_ == "left_out" ? result_.left_out : result_.failures;
      if (texts.size() < limits_.texts) texts.push_back(without_controls(cut_text(text, 4 * limits_.text_bytes)));
      return;
    }
    if (where_ != Where::Measurement) return;
    Measurement& m = now();
    if (key_ == "command") {
      if (!text.empty() && !is_bench_command(text))
        throw Wrong{fmt::format("{}: `command` is no command of the bench", place())};
      m.command = text;
      return;
    }
    std::string* to = nullptr;
    if (key_ == "part") to = &m.part;
    if (key_ == "peer") to = &m.peer;
    if (key_ == "setup") to = &m.setup;
    if (key_ == "cell") to = &m.cell;
    if (key_ == "quantity") to = &m.quantity;
    if (key_ == "unit") to = &m.unit;
    if (to == nullptr) return refuse_if_known("a text");
    if (text.size() > limits_.text_bytes)
      throw Wrong{fmt::format("{}: `{}` has {} bytes, {} are allowed", place(), key_, text.size(), limits_.text_bytes)};
    *to = without_controls(text);
  }
  void take_host(const std::string& text) {
    if (result_.host.size() >= limits_.texts) return;
    result_.host.emplace_back(without_controls(key_), without_controls(cut_text(text, limits_.text_bytes)));
  }

  void check_complete() {
    const Measurement& m = now();
    for (const auto& [name, text] :
         {std::pair{"part", &m.part}, {"peer", &m.peer}, {"quantity", &m.quantity}, {"unit", &m.unit}})
      if (text->empty()) throw Wrong{fmt::format("{} has no `{}`", place(), name)};
    if (m.lost && (!m.due || *m.lost > *m.due)) throw Wrong{fmt::format("{}: more was lost than was due", place())};
    if (!seen_.insert(m.identity()).second) throw Wrong{fmt::format("{} is there twice: {}", place(), name_of(m))};
  }

  Result& result_;
  const ReadLimits& limits_;
  Where where_ = Where::Outside;
  std::string key_, texts_;
  std::size_t skipped_ = 0, samples_ = 0;
  bool has_measurements_ = false;
  std::unordered_set<std::string> seen_;
};

[[noreturn]] void refuse_file(const std::string& name, const std::string& cause) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", name, cause),
              "give a file that --json of a part of `cardan bench` or `cardan bench all` wrote");
}

}  // namespace

Result read_result(std::istream& in, const std::string& name, const ReadLimits& limits) {
  Result result;
  result.source = name;
  ResultReader reader(result, limits);
  try {
    SaxJson::sax_parse(in, &reader);
  } catch (const Wrong& wrong) {
    refuse_file(name, wrong.cause);
  }
  if (!reader.has_measurements()) refuse_file(name, "it has no list `measurements`");
  return result;
}

Result read_result(const std::string& path, const ReadLimits& limits) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) refuse_file(path, std::strerror(errno));
  // A pipe or a device may never end.
  if (!S_ISREG(about.st_mode)) refuse_file(path, "it is not a regular file");
  if (static_cast<std::uint64_t>(about.st_size) > limits.file_bytes)
    refuse_file(path, fmt::format("it has {} bytes, {} are read", about.st_size, limits.file_bytes));
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse_file(path, std::strerror(errno));
  return read_result(in, path, limits);
}

}  // namespace cardan::bench

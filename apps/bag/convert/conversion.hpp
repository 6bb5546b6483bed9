// SPDX-License-Identifier: Apache-2.0
// The conversion of any recording by `cardan bag convert`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/bag/bag.hpp"
#include "apps/bag/convert/converted_file.hpp"
#include "apps/terminal/output.hpp"

namespace cardan::apps {

/// Whether an output is a .db3, or a folder with one.
[[nodiscard]] bool is_sqlite(const std::string& output);

/// The output file, and the counts for its report. Not to be shared by threads; blocks for the disk.
class Conversion {
 public:
  explicit Conversion(const BagConvertOptions& options) : o_(options) {}

  /// Before anything is added; once is enough. `was`: the compression of the input. Throws as ConvertedFile's makers.
  void open(const std::string& was);

  [[nodiscard]] bool wants(const std::string& topic) const;

  /// Where the messages of a topic go; the same for what is alike in all of this.
  std::size_t add(const std::string& topic, const std::string& type, const std::string& encoding,
                  const std::string& definition, std::map<std::string, std::string> metadata);
  std::size_t leave_out(const std::string& topic, const std::string& type, std::string why);
  [[nodiscard]] bool left_out(std::size_t topic) const { return !topics_[topic].left_out.empty(); }

  void write(std::size_t topic, std::uint64_t time, mcap::View data) {
    write(topic, {.log_time = time, .publish_time = time, .data = data});
  }
  void write(std::size_t topic, mcap::Message message);
  void fail(std::size_t topic, const std::string& why);

  void problem(const std::string& what) { problems_.push_back(what); }
  void note(std::string what) { notes_.push_back(std::move(what)); }
  void missing(std::uint64_t messages) { missing_ += messages; }

  /// False: it was stopped, and its files are removed.
  bool go_on(std::uint64_t done, std::uint64_t all);

  /// Finishes the file, and reports: the exit code.
  int finish(const std::string& from);

 private:
  /// A topic of the output, or one that is left out.
  struct Topic {
    std::string topic{}, type{};
    std::uint16_t channel = 0;
    std::string left_out{};  ///< why; empty: it is converted
    std::uint64_t messages = 0, failed = 0;
    std::string failure{};  ///< the first of them, in words
  };
  [[nodiscard]] std::string report_json() const;
  [[nodiscard]] std::string report_text() const;

  const BagConvertOptions& o_;
  std::unique_ptr<ConvertedFile> file_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known_;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> left_out_;
  std::map<std::pair<std::string, std::string>, std::uint16_t> schemas_;
  std::vector<Topic> topics_;
  std::vector<std::string> problems_, notes_;
  std::uint64_t messages_ = 0, missing_ = 0;
  Progress progress_;
};

}  // namespace cardan::apps

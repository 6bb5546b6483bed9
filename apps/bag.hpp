// SPDX-License-Identifier: Apache-2.0
// `cardan bag`: files that a recorder wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cardan::mcap {
class Reader;
struct ReadOptions;
}  // namespace cardan::mcap

namespace cardan::apps {

void add_bag_command(CLI::App& app);

struct BagInfoOptions {
  std::string file;
  bool json = false;
};

/// Which messages of a file.
struct BagSelection {
  std::vector<std::string> topics, exclude;  ///< names, or patterns with * and ?
  std::optional<double> start, end;          ///< seconds from the file's first message
};

struct BagListOptions {
  std::string file;
  BagSelection selection;
  std::uint64_t count = 0;  ///< 0: all
  bool json = false;
};

struct BagCatOptions {
  std::string file;
  BagSelection selection;
  std::vector<std::string> fields;
  std::uint64_t count = 0;  ///< 0: all
  int list = -1;            ///< longest list shown whole; −1: 8 for people, 64 as JSON
  bool json = false;
};

struct BagVerifyOptions {
  std::vector<std::string> files;
  bool json = false;
};

struct BagRewriteOptions {
  std::vector<std::string> inputs;
  std::string output;
  BagSelection selection;
  std::string compression = "same";
  bool force = false, json = false;
  bool repair = false;  ///< `recover`: does not believe the file's index, and searches behind damage
};

struct BagExportOptions {
  std::string file, to;
  BagSelection selection;
  std::string images = "png";  ///< png, jpeg or video
  std::optional<int> quality;  ///< of JPEGs, 1 to 100
  std::size_t list = 64;       ///< longest list that a table has whole
  bool force = false, json = false;
};

struct BagConvertOptions {
  std::string input, output;
  std::vector<std::string> topics, exclude;  ///< names, or patterns with * and ?
  std::string compression = "same";
  bool force = false, json = false;
};

int bag_info(const BagInfoOptions& options);
int bag_list(const BagListOptions& options);
int bag_cat(const BagCatOptions& options);
int bag_verify(const BagVerifyOptions& options);
int bag_rewrite(const BagRewriteOptions& options);
int bag_export(const BagExportOptions& options);
int bag_convert(const BagConvertOptions& options);

/// As the readers take it. Throws Error (InvalidArgument): no topic of the file fits a pattern.
[[nodiscard]] mcap::ReadOptions read_options(const BagSelection& selection, const mcap::Reader& reader);

/// "2026-11-22 10:02:01.123456789" (UTC); for a clock that does not count from 1970, seconds: "12.345678901 s".
[[nodiscard]] std::string stamp_text(std::uint64_t nanoseconds);

}  // namespace cardan::apps

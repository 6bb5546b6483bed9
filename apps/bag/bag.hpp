// SPDX-License-Identifier: Apache-2.0
// `cardan bag`: files that a recorder wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/replay/recorded_time.hpp"

namespace cardan::mcap {
class Reader;
struct ReadOptions;
struct RewriteOptions;
enum class Compression : std::uint8_t;
}  // namespace cardan::mcap
namespace cardan::record {
class FileMessages;
class FileSet;
}  // namespace cardan::record

namespace cardan::apps {

struct BagInfoOptions {
  std::vector<std::string> files;
  bool json = false;
};

/// Which messages of a file.
struct BagSelection {
  std::vector<std::string> topics, exclude;  ///< names, or patterns with * and ?
  std::optional<replay::RecordedTime> start, end;
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
  bool repair = false;  ///< `recover`: does not believe the file's index, and searches after damage
};

struct BagExportOptions {
  std::string file, to;
  BagSelection selection;
  std::string images = "png";  ///< png, jpeg or video
  std::optional<int> quality;  ///< of JPEGs, 1 to 100
  std::size_t list = 64;       ///< longest list that a table has whole
  bool force = false, json = false;
};

struct BagDuOptions {
  std::string file;
  bool json = false;
};

struct BagChainOptions {
  std::string file, from, to;
  std::string chain;  ///< in place of `from` and `to`: its name in a configuration that the file holds
  std::optional<replay::RecordedTime> start, end;
  bool csv = false, json = false;
};

struct BagConvertOptions {
  std::string input, output;
  std::vector<std::string> messages;         ///< folders with definitions (.msg)
  std::vector<std::string> topics, exclude;  ///< names, or patterns with * and ?
  std::string compression = "same";
  bool force = false, json = false;
};

struct BagListPartsOptions {
  std::string file;
  bool json = false;
};

struct BagExtractOptions {
  std::string file;
  std::vector<std::string> names;       ///< empty: all
  std::string to = ".";                 ///< folder
  std::optional<std::uint64_t> offset;  ///< of several of one name, the one there
  bool force = false, json = false;
};

struct BagMetadataGetOptions {
  std::string file, name;
  bool json = false;
};

/// A file with one attachment, or one metadata record, more.
struct BagAddOptions {
  std::string input, output;
  std::string attachment, name, media_type = "application/octet-stream";
  std::vector<std::string> fields;  ///< of metadata, as key=value
  bool replace = false, force = false, json = false;
};

int bag_info(const BagInfoOptions& options);
int bag_list(const BagListOptions& options);
int bag_cat(const BagCatOptions& options);
int bag_verify(const BagVerifyOptions& options);
int bag_rewrite(const BagRewriteOptions& options);
int bag_attachment_list(const BagListPartsOptions& options);
int bag_attachment_extract(const BagExtractOptions& options);
int bag_attachment_add(const BagAddOptions& options);
int bag_metadata_list(const BagListPartsOptions& options);
int bag_metadata_get(const BagMetadataGetOptions& options);
int bag_metadata_add(const BagAddOptions& options);
int bag_du(const BagDuOptions& options);
int bag_export(const BagExportOptions& options);
int bag_chain(const BagChainOptions& options);
int bag_convert(const BagConvertOptions& options);

/// The compression of most of the file's bytes.
[[nodiscard]] mcap::Compression usual_compression(const mcap::Reader& reader);
/// Writes a file of others, with its progress, and reports the result: the exit code. `incomplete`: some of the inputs
/// are missing, which was reported.
[[nodiscard]] int rewrite_file(const std::vector<std::string>& inputs, const std::string& output,
                               mcap::RewriteOptions options, bool json, bool incomplete = false);

/// As the readers take it. Throws Error (InvalidArgument): no topic of the file fits a pattern.
[[nodiscard]] mcap::ReadOptions read_options(const BagSelection& selection, const mcap::Reader& reader);
/// The same of a recording in several files, which is called `path`.
[[nodiscard]] mcap::ReadOptions read_options(const BagSelection& selection, const record::FileSet& files,
                                             const std::string& path);
[[nodiscard]] record::FileMessages selected_messages(const record::FileSet& files, const mcap::ReadOptions& options);
/// Reports what is missing of the files, and what could not be read, on standard error; true: something is.
[[nodiscard]] bool tell_faults(const record::FileSet& files, const record::FileMessages& messages);

/// "2026-11-22 10:02:01.123456789" (UTC); for a clock that does not count from 1970, seconds: "12.345678901 s".
[[nodiscard]] std::string stamp_text(std::uint64_t nanoseconds);

}  // namespace cardan::apps

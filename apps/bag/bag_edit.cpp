// SPDX-License-Identifier: Apache-2.0
// `cardan bag verify`, `cut`, `merge` and `recover`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/bag/bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "cardan/mcap/verify.hpp"
#include "cardan/stop.hpp"
#include "src/record/player/file_set.hpp"
#include "src/record/recording_folder.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

Json problem_json(const mcap::Problem& problem) { return {{"byte", problem.offset}, {"cause", problem.cause}}; }

}  // namespace

mcap::Compression usual_compression(const mcap::Reader& reader) {
  std::map<std::string, std::uint64_t> bytes;
  for (const mcap::ChunkIndex& chunk : reader.summary().chunks()) bytes[chunk.compression] += chunk.uncompressed_size;
  const auto most =
      std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? mcap::Compression::None
                             : mcap::compression_named(most->first).value_or(mcap::Compression::None);
}

int bag_verify(const BagVerifyOptions& o) {
  Json all = Json::array();
  const record::RecordingFiles found = record::recording_files(o.files);
  for (const std::string& problem : found.problems) warn(problem);
  for (const std::string& note : found.notes) warn(note);
  bool good = found.problems.empty();
  for (const std::string& file : found.files) {
    Progress progress;
    const std::uint64_t size = std::filesystem::is_regular_file(file) ? std::filesystem::file_size(file) : 0;
    const mcap::Verification v = mcap::verify(file, [&](std::uint64_t done) { progress.show(done, size); });
    good = good && v.good();
    if (o.json) {
      Json problems = Json::array();
      for (const mcap::Problem& p : v.problems) problems.push_back(problem_json(p));
      all.push_back({{"file", file},
                     {"good", v.good()},
                     {"finished", v.finish.how == mcap::Finish::How::Complete},
                     {"bytes", v.bytes},
                     {"messages", v.messages},
                     {"chunks", v.chunks},
                     {"attachments", v.attachments},
                     {"bytes_without_checksum", v.unchecked_bytes},
                     {"cause", v.finish.cause},
                     {"problems", problems}});
      continue;
    }
    std::string out;
    for (const mcap::Problem& p : v.problems)
      out += fmt::format("{}, byte {}: {}\n", printable(file), p.offset, printable(p.cause));
    if (v.finish.how != mcap::Finish::How::Complete)
      out += fmt::format("{}, byte {}: not finished: {} — cardan bag recover finishes it\n", printable(file),
                         v.finish.valid, v.finish.cause);
    out += fmt::format(
        "{}: {}; {} messages in {} chunks, {} attachments, {}{}\n", printable(file), v.good() ? "good" : "NOT good",
        v.messages, v.chunks, v.attachments, bytes_text(static_cast<double>(v.bytes)),
        v.unchecked_bytes == 0
            ? ""
            : fmt::format(" ({} without a checksum)", bytes_text(static_cast<double>(v.unchecked_bytes))));
    if (!emit(out)) return kFailed;
  }
  if (o.json && !emit(json_lines(all))) return kFailed;
  return good ? kOk : kFailed;
}

int bag_rewrite(const BagRewriteOptions& o) {
  mcap::RewriteOptions options{.replace = o.force};
  if (o.repair) options.open = {.rescan = true, .scanning = {.search = true}};
  const record::RecordingFiles found = record::recording_files(o.inputs);
  for (const std::string& problem : found.problems) warn(problem);
  for (const std::string& note : found.notes) warn(note);
  std::optional<mcap::ReadOptions> of_all;  // of a folder: a topic may be in its last file only
  if (found.files.size() > 1 && o.inputs.size() == 1 && !o.repair)
    of_all = read_options(o.selection, record::FileSet(found.files), o.inputs[0]);
  options.choose = [&](const mcap::Reader& first, mcap::RewriteOptions& chosen) {
    chosen.read = of_all ? *of_all : read_options(o.selection, first);
    chosen.write.compression =
        o.compression == "same" ? usual_compression(first) : mcap::require_compression(o.compression);
  };
  return rewrite_file(found.files, o.output, std::move(options), o.json, !found.problems.empty());
}

int rewrite_file(const std::vector<std::string>& inputs, const std::string& output, mcap::RewriteOptions options,
                 bool json, bool incomplete) {
  // Not before: a walk through a large file takes long, and until then there is nothing to clean up.
  options.choose = [given = std::move(options.choose)](const mcap::Reader& first, mcap::RewriteOptions& chosen) {
    stop_on_signals();
    if (given) given(first, chosen);
  };
  Progress progress;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.show(done, all);
    return !stopping();
  };
  const mcap::Rewritten result = mcap::rewrite(inputs, output, options);
  if (result.stopped) {
    warn(fmt::format("stopped; {} was not written", output));
    return kFailed;
  }
  for (const auto& note : result.notes)
    warn(fmt::format("{}, byte {}: not finished: {}", note.file, note.problem.offset, note.problem.cause));
  constexpr std::size_t kMostShown = 50;
  for (std::size_t i = 0; i < std::min(kMostShown, result.troubles.size()); ++i) {
    const auto& [file, problem] = result.troubles[i];
    warn(fmt::format("{}, byte {}: {}", file, problem.offset, problem.cause));
  }
  if (result.troubles.size() > kMostShown) warn(fmt::format("… and {} more", result.troubles.size() - kMostShown));
  const bool lost = incomplete || !result.troubles.empty();
  const std::string text =
      json ? json_lines({{"output", output}, {"messages", result.messages}, {"bytes", result.bytes}, {"lost", lost}})
           : fmt::format("{}: {} messages, {}{}\n", printable(output), result.messages,
                         bytes_text(static_cast<double>(result.bytes)), lost ? "; something was lost, see above" : "");
  if (!emit(text)) return kFailed;
  return lost ? kLoss : kOk;
}

}  // namespace cardan::apps

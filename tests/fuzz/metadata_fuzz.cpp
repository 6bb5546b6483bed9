// SPDX-License-Identifier: Apache-2.0
// The metadata.yaml next to a recording. Must hold: it names a bounded number of files, or there is a reason in words.
#include "src/record/recording_folder.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::metadata_target {
namespace {

void run(std::string_view input) {
  std::string why;
  const auto metadata = record::parse_bag_metadata(input, why);
  if (!metadata) return require(!why.empty(), "a refusal without words");
  require(!metadata->paths.empty() && metadata->paths.size() <= 16'384, "no files, or endless ones");
  for (const std::string& path : metadata->paths) require(!path.empty(), "a file without a name");
}

std::vector<std::string> seeds() {
  const std::string head = "rosbag2_bagfile_information:\n  version: 8\n  storage_identifier: mcap\n";
  return {head + "  relative_file_paths:\n    - drive_0.mcap\n    - \"two \\u00e4.mcap\"\n  compression_mode: \"\"\n",
          head + "  relative_file_paths: [a.mcap, 'b''s.mcap', \"c\\n\",\n    d]  # more\n",
          head + "  relative_file_paths:\n  - a.db3  # first\n  - 'b'\n  files:\n  - path: a.db3\n",
          "# nothing\n---\n" + head};
}

}  // namespace
CARDAN_FUZZ_TARGET(metadata, run, seeds)
}  // namespace cardan::fuzz::metadata_target

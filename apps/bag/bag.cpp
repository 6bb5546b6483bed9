// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/bag.hpp"
#include "apps/compression_choices.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/bag/max_chunk.hpp"
#include "apps/command.hpp"
#include "apps/verb.hpp"

namespace cardan::apps {
namespace {

constexpr const char* kBagExamples = R"(Examples:
  cardan bag info drive.mcap                            what is in it
  cardan bag ls drive.mcap --topic /imu                 its messages, one a line
  cardan bag cat drive.mcap --topic /imu --count 1      with their fields
  cardan bag verify drive.mcap                          every checksum and every index
  cardan bag du drive.mcap                              where its bytes are
  cardan bag cut drive.mcap --start 10 --end 20 -o ten.mcap
  cardan bag merge front.mcap rear.mcap -o all.mcap
  cardan bag recover drive.mcap.active -o drive.mcap    after a crash
  cardan bag chain drive.mcap --from /camera/front --to /command
  cardan bag export drive.mcap --to drive               images, clouds and tables as files
  cardan bag convert drive.bag drive.mcap               a recording of ROS 1, or of ROS 2 in SQLite (.db3)
  cardan bag attachment extract drive.mcap --to files   what was attached
  cardan bag metadata get drive.mcap cardan.losses      what was noted

Files are MCAP; other MCAP readers open what these commands write.)";

constexpr const char* kBagInfoExamples = R"(Examples:
  cardan bag info drive.mcap
  cardan bag info drive.mcap --json | jq '.topics[] | {topic, messages, rate}'
  cardan bag info drive/                     a folder: its files as one recording
  cardan bag info front.mcap rear.mcap       several files, as one recording
  cardan bag info drive.bag; cardan bag info rosbag2_2026_11_23/    of ROS 1, and of ROS 2 in SQLite

An unfinished file (after a crash) is scanned first.
Exit codes: 0 ok, 1 failed, 2 wrong options or no recording, 3 done, but a part of it is missing or damaged.)";

constexpr const char* kBagListExamples = R"(Examples:
  cardan bag ls drive.mcap --topic '/camera/*' --start 10 --end 10.5
  cardan bag ls drive.mcap --json --count 5
  cardan bag ls drive/ --start 60            a folder: its files as one recording

Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something in the file is damaged.)";

constexpr const char* kCatExamples = R"(Examples:
  cardan bag cat drive.mcap --topic /imu --count 1
  cardan bag cat drive.mcap --topic /imu --json --fields header.stamp,angular_velocity > imu.jsonl

ROS 2 messages (cdr with ros2msg), JSON and Protobuf are decoded; other messages are shown as their size and first bytes.
Lists longer than --list elements are shown as {"count": n, "first": [...]}.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something in the file is damaged.)";

constexpr const char* kVerifyExamples = R"(Examples:
  cardan bag verify *.mcap
  cardan bag verify drive.mcap --json

Reads everything and compares what the file states twice: checksums, indexes, statistics, summary. In a chunk
without a checksum only the structure is checked; the report gives the number of these bytes.
Exit codes: 0 all files are good, 1 a file is not, 2 wrong options.)";

constexpr const char* kCutExamples = R"(Examples:
  cardan bag cut drive.mcap --start 10 --end 20 -o ten.mcap
  cardan bag cut drive.mcap --topic /imu --topic '/gps/*' -o small.mcap
  cardan bag cut drive.mcap --compression zstd -o packed.mcap
  cardan bag cut drive/ --start 60 --end 90 -o minute.mcap    a folder: its files as one recording

Times are seconds from the first message; --end is not included. Attachments, metadata and channels without messages
are kept.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something in the file is damaged and left out.)";

constexpr const char* kMergeExamples = R"(Examples:
  cardan bag merge front.mcap rear.mcap -o all.mcap

Messages are ordered by log time. Channels that differ only in their number become one, so that the parts of a split
recording merge into one recording. Identical attachments and metadata are written once.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something in a file is damaged and left out.)";

constexpr const char* kRecoverExamples = R"(Examples:
  cardan bag recover drive.mcap.active -o drive.mcap

Collects every whole message, also after damaged data, and writes a finished file. The damaged file is not changed.
The report names what is missing, with its bytes. Samples without a checksum that perhaps never reached the disk
(power loss, removed disk) count as missing: docs/recording.md, "Crashes and power losses".
Exit codes: 0 nothing was lost, 1 failed, 2 wrong options, 3 done, and something was lost.)";

constexpr const char* kExportExamples = R"(Examples:
  cardan bag export drive.mcap --to drive
  cardan bag export drive.mcap --to clip --topic '/camera/*' --start 10 --end 20 --images video
  cardan bag export drive.mcap --to small --images jpeg --quality 80 --exclude /lidar
  cardan bag export drive.mcap --to drive.rrd         for Rerun; needs the Python package, and pip install rerun-sdk
  cardan bag export drive.mcap --to rerun             the same, with the recording's name: drive.rrd

Files of a topic:
  Image            FOLDER/TOPIC/LOGTIME.png (or .jpg), or FOLDER/TOPIC.mp4
  CompressedImage  the same; JPEG and PNG are written as they were recorded
  PointCloud2      FOLDER/TOPIC/LOGTIME.pcd (PCD 0.7, binary), all fields
  everything else  FOLDER/TOPIC.csv: ROS 2 messages (cdr with ros2msg), JSON and Protobuf
Images and clouds also get FOLDER/TOPIC.csv with the times and the header of each. TOPIC has _ for /, LOGTIME is in
nanoseconds. Parquet is not written; pandas, DuckDB and PyArrow convert the CSV.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something was damaged or cannot be written, and left out.)";

constexpr const char* kDuExamples = R"(Examples:
  cardan bag du drive.mcap
  cardan bag du drive.mcap --json | jq '.topics[] | {topic, bytes, file_share}'

BYTES: the uncompressed messages of the topic. SHARE: their part of all messages. IN THE FILE: what they take in the
file, that is their share of each chunk, and their indexes. Everything is read, and checksums are verified.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something in the file is damaged.)";

constexpr const char* kAttachmentExamples = R"(Examples:
  cardan bag attachment list drive.mcap
  cardan bag attachment extract drive.mcap --to calibration          all of them, as files
  cardan bag attachment extract drive.mcap robot.urdf
  cardan bag attachment add drive.mcap robot.urdf --media-type application/xml -o with_model.mcap)";

constexpr const char* kExtractExamples = R"(Examples:
  cardan bag attachment extract drive.mcap --to calibration
  cardan bag attachment extract drive.mcap robot.urdf --force

Each file gets its attachment's name, in the folder of --to. A name that leads out of this folder, also through a link,
is refused and reported. If several attachments have one name, the first is extracted; --offset selects another one.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something was damaged or refused.)";

constexpr const char* kAddExamples = R"(Examples:
  cardan bag attachment add drive.mcap robot.urdf -o with_model.mcap
  cardan bag metadata add drive.mcap route from=Ulm to=Munich -o named.mcap

Writes a new file; the input is not changed.
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something in the file is damaged and left out.)";

constexpr const char* kMetadataExamples = R"(Examples:
  cardan bag metadata list drive.mcap
  cardan bag metadata get drive.mcap cardan.losses
  cardan bag metadata add drive.mcap route from=Ulm to=Munich -o named.mcap)";

constexpr const char* kChainExamples = R"(Examples:
  cardan bag chain drive.mcap --from /camera/front --to /command    where the time of each command went
  cardan bag chain drive.mcap --chain brake        as the configuration names it: cardan record --attach street.json
  cardan bag chain drive/ --from /lidar/points --to /command --start 60 --end 90 --json
  cardan bag chain drive.mcap --from /camera/front --to /command --csv > frames.csv

It follows each publication on --to back by the causes that the recorder wrote (topic /cardan/causes). A hop lasts from
publication to publication. A sample that rests on several has one cause: the sample that triggered the callback.
Exit codes: 0 ok, 1 failed, or no publication can be followed, 2 wrong options, or a file without causes, 3 done, but a
part of the file or of the causes is missing.)";

constexpr const char* kConvertExamples = R"(Examples:
  cardan bag convert drive.bag drive.mcap                      ROS 1, format 2.0
  cardan bag convert rosbag2_2026_11_23/ drive.mcap            ROS 2 in SQLite, by its metadata.yaml; or one .db3
  cardan bag convert drive.bag small.mcap --exclude '/camera/*' --compression zstd
  cardan bag convert packed/ drive.mcap                        what rosbag2 compressed (zstd, by file or by message)
  cardan bag convert drive.mcap drive/                         the other way: drive/drive_0.db3 and drive/metadata.yaml
  cardan bag convert drive.mcap drive.db3                      the file alone

The output has the form that ROS 2 writes (cdr, ros2msg, profile ros2): cardan play, topic echo and ROS 2's tools read
it. ROS 1 messages become ROS 2 messages: headers without seq, times of builtin_interfaces, latched topics transient
local. Messages of a .db3 are not changed; if the file does not define their type, Cardan's own definitions are used.
A .db3 has the tables of Iron and newer, and is read by Humble too. It holds ROS 2's messages alone: topics in JSON or
Protobuf, attachments and metadata are left out and counted (3).
Exit codes: 0 ok, 1 failed, 2 wrong options, 3 done, but something was damaged or of an unknown type, and left out.)";

template <class Run, class Options>
void run_with_json(CLI::App* command, Run run, const std::shared_ptr<Options>& options) {
  command->add_flag("--json", options->json, "JSON");
  add_max_chunk(command);
  run_with(command, run, options);
}

template <class Options>
void add_times(CLI::App* command, Options& options) {
  command->add_option("--start", options.start, "Seconds after the first message to start at, or a date (RFC 3339)")
      ->check(CLI::Validator(replay::problem_of_recorded_time, "SECONDS|DATE"));
  command->add_option("--end", options.end, "Seconds after the first message to end at, or a date")
      ->check(CLI::Validator(replay::problem_of_recorded_time, "SECONDS|DATE"));
}

void add_selection(CLI::App* command, BagSelection& selection) {
  command->add_option("--topic", selection.topics,
                      "Only this topic, or topics that match this pattern (* and ?); repeatable");
  command->add_option("--exclude", selection.exclude, "Not this topic, or topics that match this pattern; repeatable");
  add_times(command, selection);
}

void add_output(CLI::App* command, BagRewriteOptions& options) {
  command->add_option("-o,--output", options.output, "File to write")->required();
  command->add_flag("--force", options.force, "Replace the file if it exists");
  command
      ->add_option("--compression", options.compression,
                   "Compression of the chunks: none, lz4, zstd, or same (as in the input)")
      ->check(CLI::IsMember(compression_choices("same")))
      ->capture_default_str();
}

void add_part_output(CLI::App* command, const std::shared_ptr<BagAddOptions>& options, const char* what) {
  command->add_flag("--replace", options->replace, what);
  command->add_option("-o,--output", options->output, "File to write")->required();
  command->add_flag("--force", options->force, "Replace the file if it exists");
}

void add_attachment_commands(CLI::App* bag) {
  auto* const group = add_verb(bag, "attachment", "Attachments: list, extract, add", kAttachmentExamples);
  group->require_subcommand(1);

  auto list = std::make_shared<BagListPartsOptions>();
  auto* command = add_verb(group, "list", "A file's attachments", "");
  command->add_option("file", list->file, "File, as drive.mcap")->required();
  run_with_json(command, bag_attachment_list, list);

  auto extract = std::make_shared<BagExtractOptions>();
  command = add_verb(group, "extract", "Write attachments to files", kExtractExamples);
  command->add_option("file", extract->file, "File, as drive.mcap")->required();
  command->add_option("name", extract->names, "Only these attachments (default: all)");
  command->add_option("--to", extract->to, "Folder to write to")->capture_default_str();
  command->add_option("--offset", extract->offset, "Only the one at this byte of the file, as list shows it");
  command->add_flag("--force", extract->force, "Replace files of the same names");
  run_with_json(command, bag_attachment_extract, extract);

  auto one = std::make_shared<BagAddOptions>();
  command = add_verb(group, "add", "Write a new file with one more attachment", kAddExamples);
  command->add_option("file", one->input, "File, as drive.mcap")->required();
  command->add_option("attachment", one->attachment, "File to attach")->required();
  command->add_option("--name", one->name, "Name of the attachment (default: that of the file)");
  command->add_option("--media-type", one->media_type, "Media type, as application/json")->capture_default_str();
  add_part_output(command, one, "Replace those of the same name");
  run_with_json(command, bag_attachment_add, one);
}

void add_metadata_commands(CLI::App* bag) {
  auto* const group = add_verb(bag, "metadata", "Metadata: list, get, add", kMetadataExamples);
  group->require_subcommand(1);

  auto list = std::make_shared<BagListPartsOptions>();
  auto* command = add_verb(group, "list", "A file's metadata records", "");
  command->add_option("file", list->file, "File, as drive.mcap")->required();
  run_with_json(command, bag_metadata_list, list);

  auto get = std::make_shared<BagMetadataGetOptions>();
  command = add_verb(group, "get", "The fields of one metadata record", "");
  command->add_option("file", get->file, "File, as drive.mcap")->required();
  command->add_option("name", get->name, "Name of the record")->required();
  run_with_json(command, bag_metadata_get, get);

  auto one = std::make_shared<BagAddOptions>();
  command = add_verb(group, "add", "Write a new file with one more metadata record", kAddExamples);
  command->add_option("file", one->input, "File, as drive.mcap")->required();
  command->add_option("name", one->name, "Name of the record")->required();
  command->add_option("field", one->fields, "Fields, as key=value");
  add_part_output(command, one, "Replace those of the same name");
  run_with_json(command, bag_metadata_add, one);
}

void add_other_commands(CLI::App* group) {
  auto du = std::make_shared<BagDuOptions>();
  auto* command = add_verb(group, "du", "Where a file's bytes are: by topic, and by kind of record", kDuExamples);
  command->add_option("file", du->file, "File, as drive.mcap, or folder of a recording")->required();
  run_with_json(command, bag_du, du);

  auto chain = std::make_shared<BagChainOptions>();
  command = add_verb(group, "chain", "Where the time went, from a topic to another one, hop by hop", kChainExamples);
  command->add_option("file", chain->file, "File, as drive.mcap, or folder of a recording")->required();
  command->add_option("--from", chain->from, "Topic where the chain begins");
  command->add_option("--to", chain->to, "Topic where it ends");
  command->add_option("--chain", chain->chain, "Its name in a configuration that is attached to the file");
  add_times(command, *chain);
  command->add_flag("--csv", chain->csv, "A line for each frame, in microseconds");
  run_with_json(command, bag_chain, chain);

  auto convert = std::make_shared<BagConvertOptions>();
  command =
      add_verb(group, "convert",
               "Convert a recording of ROS 1 (.bag), or of ROS 2 in SQLite (.db3), to MCAP, or all of them to .db3",
               kConvertExamples);
  command->add_option("input", convert->input, "A .bag, a .db3, an .mcap, or a folder of them")->required();
  command
      ->add_option("output", convert->output,
                   "File to write, as drive.mcap or drive.db3, or a folder for a .db3, as drive/")
      ->required();
  command
      ->add_option("--msgs", convert->messages,
                   "Folder with the definitions (.msg) of types that a .db3 does not define, as a workspace's src; "
                   "repeatable. What $AMENT_PREFIX_PATH names is read too")
      ->allow_extra_args(false);
  command->add_option("--topic", convert->topics,
                      "Only this topic, or topics that match this pattern (* and ?); repeatable");
  command->add_option("--exclude", convert->exclude, "Not this topic, or topics that match this pattern; repeatable");
  command->add_flag("--force", convert->force, "Replace the file if it exists");
  command
      ->add_option("--compression", convert->compression,
                   "Compression of the chunks: none, lz4, zstd, or same (as in the input; bz2 becomes zstd)")
      ->check(CLI::IsMember(compression_choices("same")))
      ->capture_default_str();
  run_with_json(command, bag_convert, convert);
}

}  // namespace

static void add_bag_command(CLI::App& app) {
  auto* const group = add_verb(
      &app, "bag",
      "Recorded files: info, ls, cat, verify, du, cut, merge, recover, chain, export, convert, attachment, metadata",
      kBagExamples);
  group->require_subcommand(1);

  auto info = std::make_shared<BagInfoOptions>();
  auto* command =
      add_verb(group, "info", "Show a file's topics, types, rates, times and attachments", kBagInfoExamples);
  command
      ->add_option("file", info->files,
                   "Files, as drive.mcap, drive.bag or drive.db3, or folders of a recording; several are shown as one")
      ->required();
  run_with_json(command, bag_info, info);

  auto list = std::make_shared<BagListOptions>();
  command = add_verb(group, "ls", "A file's messages by time, one a line", kBagListExamples);
  command->add_option("file", list->file, "File, as drive.mcap, or folder of a recording")->required();
  add_selection(command, list->selection);
  command->add_option("--count", list->count, "Only this many messages");
  run_with_json(command, bag_list, list);

  auto cat = std::make_shared<BagCatOptions>();
  command = add_verb(group, "cat", "A file's messages by time, with their fields", kCatExamples);
  command->add_option("file", cat->file, "File, as drive.mcap, or folder of a recording")->required();
  add_selection(command, cat->selection);
  command->add_option("--fields", cat->fields, "Only these, as header.stamp,height")->delimiter(',');
  command->add_option("--count", cat->count, "Only this many messages");
  command->add_option("--list", cat->list, "Longest list that is shown in full");
  run_with_json(command, bag_cat, cat);

  auto verify = std::make_shared<BagVerifyOptions>();
  command = add_verb(group, "verify", "Check that files are whole: every checksum and every index", kVerifyExamples);
  command->add_option("file", verify->files, "Files, as drive.mcap, or folders of a recording")->required();
  run_with_json(command, bag_verify, verify);

  auto cut = std::make_shared<BagRewriteOptions>();
  cut->inputs.resize(1);
  command = add_verb(group, "cut", "Write some of a file's messages to a new file", kCutExamples);
  command->add_option("file", cut->inputs[0], "File, as drive.mcap, or folder of a recording")->required();
  add_selection(command, cut->selection);
  add_output(command, *cut);
  run_with_json(command, bag_rewrite, cut);

  auto merge = std::make_shared<BagRewriteOptions>();
  command = add_verb(group, "merge", "Merge several files into one, by time", kMergeExamples);
  command->add_option("file", merge->inputs, "Files, as front.mcap rear.mcap, or folders of a recording")->required();
  add_output(command, *merge);
  run_with_json(command, bag_rewrite, merge);

  auto recover = std::make_shared<BagRewriteOptions>();
  recover->inputs.resize(1);
  recover->repair = true;
  command = add_verb(group, "recover", "Make a finished file from a damaged or unfinished one", kRecoverExamples);
  command->add_option("file", recover->inputs[0], "Damaged or unfinished file, or folder of a recording")->required();
  add_output(command, *recover);
  run_with_json(command, bag_rewrite, recover);

  auto files = std::make_shared<BagExportOptions>();
  command = add_verb(group, "export", "Write images, point clouds and tables for other programs", kExportExamples);
  command->add_option("file", files->file, "File, as drive.mcap")->required();
  command->add_option("--to", files->to, "Folder to write to; FILE.rrd, or rerun: a file for the viewer Rerun")
      ->required();
  add_selection(command, files->selection);
  command->add_option("--images", files->images, "Format of images: png, jpeg or video (H.264, one rate)")
      ->check(CLI::IsMember({"png", "jpeg", "video"}))
      ->capture_default_str();
  command->add_option("--quality", files->quality, "Quality of JPEGs, 1 to 100 (default: 95)")
      ->check(CLI::Range(1, 100));
  command->add_option("--list", files->list, "Longest list that a table shows in full; of longer ones it has the count")
      ->capture_default_str();
  command->add_flag("--force", files->force, "Replace files of the same names");
  run_with_json(command, bag_export, files);

  add_attachment_commands(group);
  add_metadata_commands(group);
  add_other_commands(group);
}

const Command kBagCommand{310, add_bag_command};

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
// `cardan bag attachment` and `cardan bag metadata`: what a file has in addition to its messages.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "apps/bag/bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/rewrite.hpp"
#include "src/mcap/new_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Reports the faults of a file that was read on standard error; true: it has some.
bool tell_losses(const mcap::Reader& reader) {
  for (const mcap::Problem& p : reader.losses()) warn(fmt::format("{}: {}", reader.file().path(), p.cause));
  if (!reader.complete())
    warn(fmt::format("{} is not finished: {} (byte {})", reader.file().path(), reader.finish().cause,
                     reader.finish().valid));
  return !reader.losses().empty() || reader.finish().how == mcap::Finish::How::Damaged;
}

/// Why an attachment's name cannot be a file name in a folder; empty: it can.
std::string why_not(const std::string& name, const fs::path& folder) {
  const fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos || relative.filename().empty() || relative.filename() == ".")
    return "its name cannot be a file name";
  if (relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    return "its name leads out of the folder";
  // A file is written under its name and ".partial" first, which must not be another attachment.
  if (name.ends_with(".partial")) return "its name ends like an unfinished file's";
  // Links in the folder can lead out of it, too.
  std::error_code error;
  const fs::path home = fs::weakly_canonical(folder, error),
                 there = fs::weakly_canonical(folder / relative.parent_path(), error);
  if (error || std::mismatch(home.begin(), home.end(), there.begin(), there.end()).first != home.end())
    return "a link on its way leads out of the folder";
  return {};
}

class Extraction {
 public:
  Extraction(const mcap::Reader& reader, const BagExtractOptions& o) : reader_(reader), o_(o) {}

  void take(const mcap::AttachmentIndex& index) {
    try {
      const std::string why = extract(index);
      if (why.empty()) return;
      problem(index, why);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::InvalidArgument) throw;
      problem(index, e.what());
    } catch (const fs::filesystem_error& e) {
      problem(index, e.code().message());
    }
  }

  int finish() {
    const bool lost = tell_losses(reader_) || !problems_.empty();
    for (const std::string& what : problems_) warn(what);
    const std::string text =
        o_.json ? json_lines({{"files", files_}, {"problems", problems_}, {"lost", lost}}) : std::string();
    if (o_.json ? !emit(text) : !tell_files()) return kFailed;
    return lost ? kLoss : kOk;
  }

 private:
  std::string extract(const mcap::AttachmentIndex& index) {
    if (std::string why = why_not(index.name, o_.to); !why.empty()) return why;
    if (!names_.insert(fs::path(index.name).lexically_normal().string()).second)
      return fmt::format("another one has that name; --offset {} selects this one", index.offset);
    const auto attachment = reader_.attachment(index, buffer_);
    if (!attachment) return "it is damaged";
    const fs::path file = fs::path(o_.to) / index.name;
    fs::create_directories(file.parent_path());
    mcap::NewFile out(file.string(), o_.force);
    out.write(attachment->data);
    out.finish();
    files_.push_back({{"name", index.name}, {"file", file.string()}, {"bytes", attachment->data.size()}});
    return {};
  }

  void problem(const mcap::AttachmentIndex& index, const std::string& why) {
    problems_.push_back(fmt::format("{} was not extracted: {}", index.name, why));
  }

  bool tell_files() {
    std::string text;
    for (const Json& one : files_)
      text += fmt::format("{}, {}\n", printable(one["file"].get<std::string>()),
                          bytes_text(static_cast<double>(one["bytes"].get<std::uint64_t>())));
    return emit(text);
  }

  const mcap::Reader& reader_;
  const BagExtractOptions& o_;
  std::set<std::string> names_;
  std::vector<std::string> problems_;
  Json files_ = Json::array();
  mcap::Bytes buffer_;
};

template <class Indexes>
bool has_name(const Indexes& indexes, const std::string& name) {
  return std::any_of(indexes.begin(), indexes.end(), [&](const auto& index) { return index.name == name; });
}

[[noreturn]] void there_already(const char* what, const std::string& name) {
  throw Error(ErrorCode::InvalidArgument, fmt::format("the file already has {} '{}'", what, name),
              "give another name, or replace it: --replace");
}

mcap::RewriteOptions copy_options(const BagAddOptions& o) {
  mcap::RewriteOptions options{.replace = o.force};
  options.choose = [](const mcap::Reader& first, mcap::RewriteOptions& chosen) {
    chosen.write.compression = usual_compression(first);
  };
  return options;
}

}  // namespace

int bag_attachment_list(const BagListPartsOptions& o) {
  const mcap::Reader reader(o.file);
  Json all = Json::array();
  Table table({{"NAME"}, {"TYPE"}, {"SIZE", true}, {"CREATED"}, {"ATTACHED"}, {"OFFSET", true}});
  for (const mcap::AttachmentIndex& a : reader.summary().attachments()) {
    all.push_back({{"name", a.name},
                   {"media_type", a.media_type},
                   {"bytes", a.data_size},
                   {"create_time", a.create_time},
                   {"log_time", a.log_time},
                   {"offset", a.offset}});
    table.row({printable(a.name), printable(a.media_type), bytes_text(static_cast<double>(a.data_size)),
               a.create_time == 0 ? "-" : stamp_text(a.create_time), a.log_time == 0 ? "-" : stamp_text(a.log_time),
               std::to_string(a.offset)});
  }
  if (!o.json && all.empty()) warn(fmt::format("{} has no attachment", o.file));
  if (!emit(o.json ? json_lines(all) : all.empty() ? std::string() : table.text())) return kFailed;
  return tell_losses(reader) ? kLoss : kOk;
}

int bag_attachment_extract(const BagExtractOptions& o) {
  const mcap::Reader reader(o.file);
  const auto& attachments = reader.summary().attachments();
  for (const std::string& name : o.names)
    if (!has_name(attachments, name))
      throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no attachment '{}'", o.file, name),
                  "cardan bag attachment list shows which it has");
  Extraction extraction(reader, o);
  bool found = false;
  for (const mcap::AttachmentIndex& index : attachments) {
    if (!o.names.empty() && std::find(o.names.begin(), o.names.end(), index.name) == o.names.end()) continue;
    if (o.offset && index.offset != *o.offset) continue;
    found = true;
    extraction.take(index);
  }
  if (!found && o.offset)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no such attachment at byte {}", o.file, *o.offset),
                "cardan bag attachment list shows where they are");
  return extraction.finish();
}

int bag_attachment_add(const BagAddOptions& o) {
  const mcap::InputFile source(o.attachment);
  const std::string name = o.name.empty() ? fs::path(o.attachment).filename().string() : o.name;
  mcap::Bytes data;
  if (!source.read_exactly(0, source.size(), data))
    throw Error(ErrorCode::System, "cannot read " + o.attachment, "it became shorter while it was read: try again");
  struct stat status{};
  const std::uint64_t created = ::fstat(source.fd(), &status) == 0 && status.st_mtim.tv_sec > 0
                                    ? static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                                          static_cast<std::uint64_t>(status.st_mtim.tv_nsec)
                                    : 0;
  mcap::RewriteOptions options = copy_options(o);
  if (o.replace)
    options.drop_attachments = {name};
  else if (const mcap::Reader reader(o.input); has_name(reader.summary().attachments(), name))
    there_already("an attachment", name);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  options.add_attachments.push_back(
      {.log_time = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()),
       .create_time = created,
       .name = name,
       .media_type = o.media_type,
       .data = data});
  return rewrite_file({o.input}, o.output, std::move(options), o.json);
}

int bag_metadata_list(const BagListPartsOptions& o) {
  const mcap::Reader reader(o.file);
  Json all = Json::array();
  Table table({{"NAME"}, {"FIELDS", true}});
  bool damaged = false;
  for (const mcap::MetadataIndex& index : reader.summary().metadata()) {
    const auto metadata = reader.metadata(index);
    damaged = damaged || !metadata;
    if (!metadata) warn(fmt::format("the metadata {} is damaged", index.name));
    all.push_back({{"name", index.name}, {"metadata", metadata ? Json(metadata->metadata) : Json()}});
    table.row({printable(index.name), metadata ? std::to_string(metadata->metadata.size()) : "-"});
  }
  if (!emit(o.json ? json_lines(all) : all.empty() ? std::string() : table.text())) return kFailed;
  return tell_losses(reader) || damaged ? kLoss : kOk;
}

int bag_metadata_get(const BagMetadataGetOptions& o) {
  const mcap::Reader reader(o.file);
  Json all = Json::array();
  bool damaged = false, found = false;
  for (const mcap::MetadataIndex& index : reader.summary().metadata()) {
    if (index.name != o.name) continue;
    found = true;
    if (const auto metadata = reader.metadata(index))
      all.push_back(metadata->metadata);
    else
      damaged = true;
  }
  if (!found)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} has no metadata '{}'", o.file, o.name),
                "cardan bag metadata list shows which it has");
  std::string text;
  for (const Json& one : all)
    for (const auto& [key, value] : one.items())
      text += fmt::format("{}: {}\n", printable(key), printable(value.get<std::string>()));
  // Of several with that name, all: they are separate records.
  if (!emit(o.json ? json_lines(all.size() == 1 ? all[0] : all) : text)) return kFailed;
  if (damaged) warn(fmt::format("the metadata {} is damaged", o.name));
  return tell_losses(reader) || damaged ? kLoss : kOk;
}

int bag_metadata_add(const BagAddOptions& o) {
  if (o.name == "cardan" || o.name.starts_with("cardan."))
    throw Error(ErrorCode::InvalidArgument, fmt::format("metadata '{}' is Cardan's own", o.name), "give another name");
  mcap::Metadata metadata{.name = o.name};
  for (const std::string& field : o.fields) {
    const auto equals = field.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is not a field", field), "write it as key=value");
    if (!metadata.metadata.emplace(field.substr(0, equals), field.substr(equals + 1)).second)
      throw Error(ErrorCode::InvalidArgument, fmt::format("'{}' is given twice", field.substr(0, equals)),
                  "give each field once");
  }
  mcap::RewriteOptions options = copy_options(o);
  if (o.replace)
    options.drop_metadata = {o.name};
  else if (const mcap::Reader reader(o.input); has_name(reader.summary().metadata(), o.name))
    there_already("metadata", o.name);
  options.add_metadata.push_back(std::move(metadata));
  return rewrite_file({o.input}, o.output, std::move(options), o.json);
}

}  // namespace cardan::apps

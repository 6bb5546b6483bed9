// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/convert/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>

#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/writer.hpp"
#include "cardan/stop.hpp"
#include "src/base/name_patterns.hpp"
#include "src/mcap/new_file.hpp"
#include "src/record/metadata.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class McapFile final : public ConvertedFile {
 public:
  McapFile(const std::string& path, bool replace, const std::string& compression) : file_(path, replace) {
    mcap::WriterOptions options;
    // Of a bag's chunks bz2 may be the usual one, which MCAP does not have.
    options.compression = compression == "bz2" ? mcap::Compression::Zstd
                                               : mcap::compression_named(compression).value_or(mcap::Compression::None);
    options.overwrite = [this](std::uint64_t offset, mcap::View bytes) { file_.overwrite(offset, bytes); };
    writer_.emplace([this](mcap::View bytes) { file_.write(bytes); }, std::move(options));
  }
  [[nodiscard]] std::string refusal_of(const mcap::Schema&) const override { return {}; }
  void add(const mcap::Schema& schema) override { writer_->add(schema); }
  void add(const mcap::Channel& channel) override { writer_->add(channel); }
  [[nodiscard]] const char* write(const mcap::Message& message) override {
    writer_->write(message);
    return nullptr;
  }
  void finish(const mcap::Metadata& about) override {
    writer_->add(about);
    writer_->close();
    file_.finish();
  }
  [[nodiscard]] std::uint64_t bytes() const override { return writer_->bytes(); }

 private:
  mcap::NewFile file_;
  std::optional<mcap::Writer> writer_;
};

}  // namespace

bool is_sqlite(const std::string& output) {
  std::error_code ignored;
  return output.ends_with(".db3") || output.ends_with('/') || fs::is_directory(output, ignored);
}

void Conversion::open(const std::string& was) {
  if (file_) return;
  if (is_sqlite(o_.output))
    file_ = sqlite_file(o_.output, o_.force);
  else
    file_ = std::make_unique<McapFile>(o_.output, o_.force, o_.compression == "same" ? was : o_.compression);
}

bool Conversion::wants(const std::string& topic) const {
  return (o_.topics.empty() || detail::fits_one(o_.topics, topic)) && !detail::fits_one(o_.exclude, topic);
}

std::size_t Conversion::add(const std::string& topic, const std::string& type, const std::string& encoding,
                            const std::string& definition, std::map<std::string, std::string> metadata) {
  // A strange letter is damage, and no file of MCAP may have it.
  if (printable(topic) != topic || printable(type) != type) return leave_out(topic, type, "its name is damaged");
  for (auto& [key, value] : metadata) value = printable_lines(value);
  const auto bytes = std::as_bytes(std::span(definition));
  mcap::Schema schema{.name = type, .encoding = encoding, .data = mcap::Bytes(bytes.begin(), bytes.end())};
  if (std::string why = file_->refusal_of(schema); !why.empty()) return leave_out(topic, type, std::move(why));
  const auto [at, is_new] =
      known_.try_emplace(std::tuple(topic, type, definition, metadata[record::kQosKey]), topics_.size());
  if (!is_new) return at->second;
  if (topics_.size() == 65'535) throw Error(ErrorCode::Limit, "more than 65,535 topics in one file", "exclude some");
  const auto [number, schema_is_new] =
      schemas_.try_emplace(std::pair(type, definition), static_cast<std::uint16_t>(schemas_.size() + 1));
  schema.id = number->second;
  if (schema_is_new) file_->add(schema);
  const auto channel = static_cast<std::uint16_t>(topics_.size());
  file_->add(mcap::Channel{.id = channel,
                           .schema_id = schema.id,
                           .topic = topic,
                           .message_encoding = "cdr",
                           .metadata = std::move(metadata)});
  topics_.push_back({.topic = topic, .type = type, .channel = channel});
  return at->second;
}

std::size_t Conversion::leave_out(const std::string& topic, const std::string& type, std::string why) {
  const auto [at, is_new] = left_out_.try_emplace(std::tuple(topic, type, why), topics_.size());
  if (is_new) topics_.push_back({.topic = topic, .type = type, .left_out = std::move(why)});
  return at->second;
}

void Conversion::write(std::size_t topic, mcap::Message message) {
  message.channel_id = topics_[topic].channel;
  if (const char* const why = file_->write(message)) return fail(topic, why);
  ++topics_[topic].messages;
  ++messages_;
}

void Conversion::fail(std::size_t topic, const std::string& why) {
  if (topics_[topic].failed++ == 0) topics_[topic].failure = why;
}

bool Conversion::go_on(std::uint64_t done, std::uint64_t all) {
  progress_.show(done, all);
  return !stopping();
}

int Conversion::finish(const std::string& from) {
  file_->finish(mcap::Metadata{
      .name = "cardan.converted",
      .metadata = {{"from", fs::path(from).filename().string()}, {"missing_messages", std::to_string(missing_)}}});
  for (const Topic& t : topics_) {
    if (!t.left_out.empty() && t.failed == 0)
      note(fmt::format("{} ({}) is left out, and has no messages: {}", printable(t.topic), printable(t.type),
                       t.left_out));
    else if (!t.left_out.empty())
      problem(fmt::format("{} ({}) is left out, with {} messages: {}", printable(t.topic), printable(t.type), t.failed,
                          t.left_out));
    else if (t.failed > 0)
      problem(fmt::format("{}: {} messages could not be converted: {}", t.topic, t.failed, t.failure));
  }
  if (missing_ > 0) problem(fmt::format("{} messages could not be read", missing_));
  for (const std::string& note : notes_) warn(note);
  for (const std::string& what : problems_) warn(what);
  if (!emit(o_.json ? report_json() : report_text())) return kFailed;
  return problems_.empty() ? kOk : kLoss;
}

std::string Conversion::report_json() const {
  Json topics = Json::array();
  for (const Topic& t : topics_)
    topics.push_back({{"topic", t.topic},
                      {"type", t.type},
                      {"messages", t.messages},
                      {"failed", t.failed},
                      {"why", !t.left_out.empty()  ? Json(t.left_out)
                              : !t.failure.empty() ? Json(t.failure)
                                                   : Json()}});
  return json_lines({{"output", o_.output},
                     {"messages", messages_},
                     {"bytes", file_->bytes()},
                     {"missing", missing_},
                     {"topics", topics},
                     {"problems", problems_},
                     {"notes", notes_},
                     {"lost", !problems_.empty()}});
}

std::string Conversion::report_text() const {
  return fmt::format("{}: {} messages of {} topics, {}{}\n", printable(o_.output), messages_,
                     std::count_if(topics_.begin(), topics_.end(), [](const auto& t) { return t.left_out.empty(); }),
                     bytes_text(static_cast<double>(file_->bytes())),
                     problems_.empty() ? "" : "; something was lost, see above");
}

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
// Topics that become tables.
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/bag/export/flatten.hpp"
#include "apps/bag/export/table_file.hpp"
#include "apps/bag/export/topic_output.hpp"
#include "apps/decode.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

class TopicTable : public TopicOutput {
 public:
  explicit TopicTable(ExportPlace place) : place_(std::move(place)) {}

  void finish() override {
    if (!file_) return;
    file_->finish();
    file_.reset();
    tally_.files = 1;
  }
  [[nodiscard]] std::string as() const override { return "csv"; }
  [[nodiscard]] std::set<std::string> files() const override { return {place_.stem + ".csv"}; }

 protected:
  void put(const mcap::Message& m, const std::vector<std::string>& names, const std::vector<std::string>& cells) {
    if (!file_) {
      row_ = {"log_time", "publish_time"};
      row_.insert(row_.end(), names.begin(), names.end());
      file_.emplace(place_.path(".csv"), place_.replace, row_);
    }
    row_ = {std::to_string(m.log_time), std::to_string(m.publish_time)};
    row_.insert(row_.end(), cells.begin(), cells.end());
    file_->row(row_);
  }

  std::vector<std::string> cells_;

 private:
  ExportPlace place_;
  std::optional<TableFile> file_;
  std::vector<std::string> row_;
};

class RosTable final : public TopicTable {
 public:
  RosTable(ExportPlace place, const mcap::Schema& schema, std::size_t longest_list)
      : TopicTable(std::move(place)),
        schema_(schema.name, {reinterpret_cast<const char*>(schema.data.data()), schema.data.size()}),
        columns_(schema_, longest_list) {}

  void take(const mcap::MessageView& view) override {
    ++tally_.messages;
    if (!columns_.cells(view.message.data, cells_))
      return tally_.skip("its bytes do not fit its definition", view.message.log_time);
    put(view.message, columns_.names(), cells_);
  }
  void finish() override {
    TopicTable::finish();
    tally_.counted_lists = columns_.long_lists();
  }

 private:
  RosSchema schema_;
  RosColumns columns_;
};

/// Of messages whose columns are known when all have been seen.
class JsonTable : public TopicTable {
 public:
  JsonTable(ExportPlace place, std::size_t longest_list, JsonColumns::From from = JsonColumns::From::Text)
      : TopicTable(std::move(place)), columns_(longest_list, from) {}

  [[nodiscard]] bool wants_to_learn() const override { return true; }
  void learn(const mcap::MessageView& view) override {
    std::string ignored;
    if (const auto message = fields_of(view.message.data, ignored)) columns_.see(*message);
  }
  void take(const mcap::MessageView& view) override {
    ++tally_.messages;
    std::string why;
    const auto message = fields_of(view.message.data, why);
    if (!message) return tally_.skip(why, view.message.log_time);
    if (!columns_.cells(*message, cells_))
      return tally_.skip("the table would have more than " + std::to_string(kMostColumns) + " columns",
                         view.message.log_time);
    put(view.message, columns_.names(), cells_);
  }
  void finish() override {
    TopicTable::finish();
    tally_.counted_lists = columns_.long_lists();
  }

 protected:
  /// Empty: `why`, in words that are the same for many messages.
  virtual std::optional<Json> fields_of(mcap::View data, std::string& why) {
    why = kNotShownJson;
    return parse_json(data);
  }

 private:
  JsonColumns columns_;
};

class ProtobufTable final : public JsonTable {
 public:
  ProtobufTable(ExportPlace place, std::shared_ptr<const ProtobufType> type, std::size_t longest_list)
      : JsonTable(std::move(place), longest_list, JsonColumns::From::Decoder),
        type_(std::move(type)),
        longest_list_(longest_list) {}

 private:
  std::optional<Json> fields_of(mcap::View data, std::string& why) override {
    return type_->read(data, longest_list_, why);
  }

  std::shared_ptr<const ProtobufType> type_;
  std::size_t longest_list_;
};

}  // namespace

std::unique_ptr<TopicOutput> ros_table(ExportPlace place, const mcap::Schema& schema, std::size_t longest_list) {
  return std::make_unique<RosTable>(std::move(place), schema, longest_list);
}

std::unique_ptr<TopicOutput> json_table(ExportPlace place, std::size_t longest_list) {
  return std::make_unique<JsonTable>(std::move(place), longest_list);
}

std::unique_ptr<TopicOutput> protobuf_table(ExportPlace place, std::shared_ptr<const ProtobufType> type,
                                            std::size_t longest_list) {
  return std::make_unique<ProtobufTable>(std::move(place), std::move(type), longest_list);
}

}  // namespace cardan::apps

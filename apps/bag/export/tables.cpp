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

class JsonTable final : public TopicTable {
 public:
  JsonTable(ExportPlace place, std::size_t longest_list) : TopicTable(std::move(place)), columns_(longest_list) {}

  [[nodiscard]] bool wants_to_learn() const override { return true; }
  void learn(const mcap::MessageView& view) override {
    if (const auto message = parse_json(view.message.data)) columns_.see(*message);
  }
  void take(const mcap::MessageView& view) override {
    ++tally_.messages;
    const auto message = parse_json(view.message.data);
    if (!message) return tally_.skip("it is not JSON, or it is nested deeper than 64", view.message.log_time);
    if (!columns_.cells(*message, cells_))
      return tally_.skip("the table would have more than " + std::to_string(kMostColumns) + " columns",
                         view.message.log_time);
    put(view.message, columns_.names(), cells_);
  }
  void finish() override {
    TopicTable::finish();
    tally_.counted_lists = columns_.long_lists();
  }

 private:
  JsonColumns columns_;
};

}  // namespace

std::unique_ptr<TopicOutput> ros_table(ExportPlace place, const mcap::Schema& schema, std::size_t longest_list) {
  return std::make_unique<RosTable>(std::move(place), schema, longest_list);
}

std::unique_ptr<TopicOutput> json_table(ExportPlace place, std::size_t longest_list) {
  return std::make_unique<JsonTable>(std::move(place), longest_list);
}

}  // namespace cardan::apps

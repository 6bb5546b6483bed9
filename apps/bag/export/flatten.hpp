// SPDX-License-Identifier: Apache-2.0
// Messages as rows of a table: one column for each number or text, named by its place: "header.stamp.sec".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/messages/ros_schema.hpp"

namespace cardan::apps {

/// An array of a fixed size up to this becomes a column an element ("covariance_0" …); larger ones are lists.
inline constexpr std::size_t kMostArrayColumns = 64;
/// More columns than any table should have.
inline constexpr std::size_t kMostColumns = 4096;

/// Names of columns, each once: one that is taken gets a '_' after it. Those that every table has ("log_time",
/// "publish_time") are taken.
class ColumnNames {
 public:
  std::size_t add(std::string name);
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return names_; }

 private:
  std::vector<std::string> names_;
  std::set<std::string> taken_{"log_time", "publish_time"};
};

// A list is two columns: "ranges.count", and "ranges" with its elements as JSON if they are not more than
// `longest_list`; else that cell is empty, and the list's name is among long_lists(). Not to be shared by threads.

/// Rows of a ROS 2 message, whose definition says all columns.
class RosColumns {
 public:
  /// `schema` must outlive this. Throws Error (Limit): more than kMostColumns; (InvalidArgument): a field twice.
  RosColumns(const RosSchema& schema, std::size_t longest_list);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_.all(); }
  /// A message's cells in the order of the columns. False: the bytes are not such a message.
  [[nodiscard]] bool cells(std::span<const std::byte> cdr, std::vector<std::string>& out);
  [[nodiscard]] const std::set<std::string>& long_lists() const noexcept { return long_lists_; }

 private:
  void add(const std::string& name, const RosType& type);
  void add_fields(const std::string& prefix, const RosMessage& message);
  void put(const nlohmann::ordered_json& value, const RosType& type, std::vector<std::string>& out);
  void put_fields(const nlohmann::ordered_json& value, const RosMessage& message, std::vector<std::string>& out);

  const RosSchema& schema_;
  std::size_t longest_list_;
  std::size_t visits_ = 0;
  ColumnNames names_;
  std::set<std::string> long_lists_;
};

/// Rows of JSON messages, whose columns are those of all messages together: each has to be seen before the first row.
class JsonColumns {
 public:
  enum class From : std::uint8_t {
    Text,
    Decoder,  ///< which shortens lists to `longest_list`, and has a null for a field that a message lacks
  };

  explicit JsonColumns(std::size_t longest_list, From from = From::Text) : longest_list_(longest_list), from_(from) {}

  /// One that would make the columns more than kMostColumns is not seen.
  void see(const nlohmann::ordered_json& message);
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_.all(); }
  /// A message's cells; empty ones where it says nothing. False: it was not seen.
  [[nodiscard]] bool cells(const nlohmann::ordered_json& message, std::vector<std::string>& out);
  [[nodiscard]] const std::set<std::string>& long_lists() const noexcept { return long_lists_; }

 private:
  ColumnNames names_;
  std::map<std::string, std::size_t> columns_;  ///< by a value's place
  /// Calls leaf(name, value) for each column of a message, lists as one.
  template <class Leaf>
  void leaves(const std::string& name, const nlohmann::ordered_json& value, Leaf&& leaf) const;
  [[nodiscard]] bool is_list(const nlohmann::ordered_json& value) const;

  std::size_t longest_list_;
  From from_;
  std::set<std::string> long_lists_;
};

}  // namespace cardan::apps

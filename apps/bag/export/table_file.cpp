// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/table_file.hpp"

#include <span>

namespace cardan::apps {
namespace {

constexpr std::size_t kBytesPerWrite = 1 << 16;

void append_cell(std::string& out, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

void append_csv_row(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) out += ',';
    append_cell(out, cells[i]);
  }
  out += '\n';
}

TableFile::TableFile(const std::string& path, bool replace, const std::vector<std::string>& columns)
    : file_(path, replace) {
  row(columns);
}

void TableFile::row(const std::vector<std::string>& cells) {
  append_csv_row(lines_, cells);
  if (lines_.size() >= kBytesPerWrite) flush();
}

void TableFile::finish() {
  flush();
  file_.finish(false);
}

void TableFile::flush() {
  file_.write(std::as_bytes(std::span(lines_)));
  lines_.clear();
}

}  // namespace cardan::apps

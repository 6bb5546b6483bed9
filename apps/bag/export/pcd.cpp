// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/pcd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>

namespace cardan::apps {
namespace {

static_assert(std::endian::native == std::endian::little, "binary PCD is in the computer's byte order");

struct Number {
  std::uint32_t bytes;
  char type;
};
/// By PointField's datatype; 0 is invalid.
constexpr std::array<Number, 9> kNumbers{
    {{0, ' '}, {1, 'I'}, {1, 'U'}, {2, 'I'}, {2, 'U'}, {4, 'I'}, {4, 'U'}, {4, 'F'}, {8, 'F'}}};

/// Bytes of a point that stay together.
struct Run {
  std::uint64_t offset, bytes;
  std::uint32_t number;  ///< bytes of each number in it
};

/// Returns the place after it.
std::byte* copy_run(const std::byte* point, const Run& run, bool is_bigendian, std::byte* to) {
  std::byte* const end = std::copy_n(point + run.offset, run.bytes, to);
  if (is_bigendian)
    for (std::byte* number = to; number < end; number += run.number) std::reverse(number, number + run.number);
  return end;
}

/// The text that a line of the header may have: names come from a file.
std::string plain_name(std::string_view name) {
  std::string out(name.substr(0, 64));
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c <= ' ' || c == '#' || c == 0x7f; }, '_');
  return out.empty() ? "_" : out;
}

/// Why the numbers of the message do not fit together; empty: they do.
std::string contradiction(const CloudView& c, const std::vector<Run>& runs) {
  std::uint64_t bytes = 0;
  for (const Run& run : runs) {
    if (run.offset + run.bytes > c.point_step) return "a field is outside of its point";
    bytes += run.bytes;
  }
  // So that a lying message of some bytes does not become a file of gigabytes. Two names for a color are usual.
  if (bytes > 4 * std::uint64_t{c.point_step}) return "its fields overlap";
  const std::uint64_t row = std::uint64_t{c.width} * c.point_step;
  if (c.height == 1) return row <= c.data.size() ? "" : "its data is shorter than its points";  // some say no row_step
  if (c.row_step < row) return "a row is shorter than its points";
  return c.row_step == 0 || c.height <= c.data.size() / c.row_step ? "" : "its data is shorter than its rows";
}

}  // namespace

std::string pcd_of(const CloudView& cloud, std::vector<std::byte>& out) {
  if (cloud.fields.empty()) return "it has no fields";
  std::string names, sizes, types, counts;
  std::vector<Run> runs;
  for (const CloudField& field : cloud.fields) {
    if (field.datatype == 0 || field.datatype >= kNumbers.size())
      return fmt::format("a field has datatype {}, which PointField does not know", field.datatype);
    const Number number = kNumbers[field.datatype];
    const std::uint64_t count = std::max(field.count, 1U);
    names += " " + plain_name(field.name);
    sizes += fmt::format(" {}", number.bytes);
    types += fmt::format(" {}", number.type);
    counts += fmt::format(" {}", count);
    runs.push_back({field.offset, count * number.bytes, number.bytes});
  }
  if (std::string cause = contradiction(cloud, runs); !cause.empty()) return cause;

  const std::uint64_t points = std::uint64_t{cloud.height} * cloud.width;
  const std::string header = fmt::format(
      "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS{}\nSIZE{}\nTYPE{}\nCOUNT{}\nWIDTH {}\nHEIGHT "
      "{}\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {}\nDATA binary\n",
      names, sizes, types, counts, cloud.width, cloud.height, points);
  std::uint64_t point_bytes = 0;
  for (const Run& run : runs) point_bytes += run.bytes;
  if (!cloud.is_bigendian) {  // neighbours are copied as one
    std::vector<Run> merged;
    for (const Run& run : runs)
      if (!merged.empty() && merged.back().offset + merged.back().bytes == run.offset)
        merged.back().bytes += run.bytes;
      else
        merged.push_back(run);
    runs = std::move(merged);
  }

  out.resize(header.size() + points * point_bytes);
  std::byte* to = out.data();
  to = std::transform(header.begin(), header.end(), to, [](char c) { return static_cast<std::byte>(c); });
  for (std::uint64_t y = 0; points != 0 && y < cloud.height; ++y) {
    const std::byte* point = cloud.data.data() + y * cloud.row_step;
    for (std::uint64_t x = 0; x < cloud.width; ++x, point += cloud.point_step)
      for (const Run& run : runs) to = copy_run(point, run, cloud.is_bigendian, to);
  }
  return {};
}

}  // namespace cardan::apps

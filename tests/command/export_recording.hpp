// SPDX-License-Identifier: Apache-2.0
// Small recordings for the test of `cardan bag export`, and what its tables say.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/cdr_writer.hpp"
#include "cardan/mcap/writer.hpp"

namespace cardan::test {

using mcap::Bytes;

inline constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;
inline constexpr std::uint64_t kStep = 50'000'000;  ///< 20 Hz

/// A message in CDR: its header, then what `fill` writes.
template <class Fill>
Bytes message(Fill fill) {
  Bytes bytes, none;
  CdrWriter out(bytes, none, nullptr);
  out.number(std::int32_t{12});
  out.number(std::uint32_t{34});
  out.string("front, left");
  fill(out);
  return bytes;
}

inline void put_bytes(CdrWriter& out, const Bytes& data) {
  out.count(data.size());
  out.numbers(data.data(), data.size());
}

/// A sensor_msgs/msg/Image whose rows follow each other after `step` bytes.
inline Bytes image(std::string_view encoding, std::uint32_t height, std::uint32_t width, std::uint32_t step,
                   const Bytes& data, bool big = false) {
  return message([&](CdrWriter& out) {
    out.number(height);
    out.number(width);
    out.string(encoding);
    out.number(static_cast<std::uint8_t>(big));
    out.number(step);
    put_bytes(out, data);
  });
}

inline Bytes compressed(std::string_view format, const Bytes& data) {
  return message([&](CdrWriter& out) {
    out.string(format);
    put_bytes(out, data);
  });
}

/// A sensor_msgs/msg/PointCloud2 of floats x, y, z and a ring, in 16 bytes: (i, i + 0.25, −i), ring i.
inline Bytes cloud(std::uint32_t points) {
  Bytes data, none;
  CdrWriter raw(data, none, nullptr);
  for (std::uint32_t i = 0; i < points; ++i) {
    const auto x = static_cast<float>(i);
    for (const float v : {x, x + 0.25F, -x}) raw.number(v);
    raw.number(static_cast<std::uint16_t>(i));
    raw.number(std::uint16_t{0});
  }
  data.erase(data.begin(), data.begin() + 4);
  return message([&](CdrWriter& out) {
    out.number(std::uint32_t{1});
    out.number(points);
    out.count(4);
    std::uint32_t offset = 0;
    for (const char* name : {"x", "y", "z", "ring"}) {
      out.string(name);
      out.number(offset);
      out.number(static_cast<std::uint8_t>(offset < 12 ? 7 : 4));
      out.number(std::uint32_t{1});
      offset += 4;
    }
    out.boolean(false);
    out.number(std::uint32_t{16});
    out.number(16 * points);
    put_bytes(out, data);
    out.boolean(true);
  });
}

constexpr std::string_view kWheels =
    "std_msgs/Header header\n"
    "float64 speed\n"
    "float32[2] axis\n"
    "float32[] ranges\n"
    "string note\n"
    "================================================================================\n"
    "MSG: std_msgs/Header\n"
    "builtin_interfaces/Time stamp\n"
    "string frame_id\n"
    "================================================================================\n"
    "MSG: builtin_interfaces/Time\n"
    "int32 sec\n"
    "uint32 nanosec\n";

/// A message of the definition above.
inline Bytes wheels(double speed, std::size_t ranges, std::string_view note) {
  return message([&](CdrWriter& out) {
    out.number(speed);
    out.number(0.1F);
    out.number(-2.0F);
    out.count(ranges);
    for (std::size_t i = 0; i < ranges; ++i) out.number(static_cast<float>(i));
    out.string(note);
  });
}

inline Bytes text(std::string_view words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

/// A file; each message comes kStep after the one before it on its topic.
class Recording {
 public:
  explicit Recording(const std::string& path)
      : out_(path, std::ios::binary | std::ios::trunc),
        writer_([this](mcap::View b) { out_.write(reinterpret_cast<const char*>(b.data()), std::ssize(b)); },
                {.profile = "ros2", .chunk_bytes = 1 << 16}) {}  // whose checksums readers look at
  ~Recording() { writer_.close(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void add(const std::string& topic, const std::string& type, const Bytes& data, const std::string& encoding = "cdr",
           std::string_view definition = {}) {
    const auto [at, is_new] = topics_.try_emplace(topic);
    if (is_new) {
      at->second.id = static_cast<std::uint16_t>(topics_.size());
      writer_.add(mcap::Schema{.id = at->second.id,
                               .name = type,
                               .encoding = encoding == "cdr" ? "ros2msg" : "jsonschema",
                               .data = text(definition)});
      writer_.add(
          mcap::Channel{.id = at->second.id, .schema_id = at->second.id, .topic = topic, .message_encoding = encoding});
    }
    const std::uint64_t time = kBegin + kStep * at->second.messages++;
    writer_.write({.channel_id = at->second.id, .log_time = time, .publish_time = time - 1, .data = mcap::View(data)});
  }
  void add_image(const std::string& topic, const Bytes& data) { add(topic, "sensor_msgs/msg/Image", data); }
  void add_compressed(const std::string& topic, const Bytes& data) {
    add(topic, "sensor_msgs/msg/CompressedImage", data);
  }
  void add_cloud(const std::string& topic, const Bytes& data) { add(topic, "sensor_msgs/msg/PointCloud2", data); }
  void add_wheels(const std::string& topic, const Bytes& data) {
    add(topic, "test_msgs/msg/Wheels", data, "cdr", kWheels);
  }

 private:
  struct Topic {
    std::uint16_t id = 0;
    std::uint64_t messages = 0;
  };
  std::ofstream out_;
  mcap::Writer writer_;
  std::map<std::string, Topic> topics_;
};

/// The rows of a CSV file, whose cells may be quoted.
inline std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    if (quoted && csv[i] == '"' && i + 1 < csv.size() && csv[i + 1] == '"')
      row.back() += csv[++i];
    else if (csv[i] == '"')
      quoted = !quoted;
    else if (csv[i] == ',' && !quoted)
      row.emplace_back();
    else if (csv[i] == '\n' && !quoted)
      rows.push_back(std::exchange(row, std::vector<std::string>(1)));
    else
      row.back() += csv[i];
  }
  return rows;
}

}  // namespace cardan::test

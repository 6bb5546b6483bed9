// SPDX-License-Identifier: Apache-2.0
// Cardan's side of the check against rosbags, an independent implementation of the ROS 2 wire form:
//   interop_messages write DIR   every message type as DIR/<name>.cdr, .ros2msg and .json (the values, taken from the
//   fields) interop_messages read DIR    reads DIR/<name>.python.cdr, what rosbags made of them, and compares
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "samples.hpp"

namespace {

using nlohmann::json;

template <class T>
json to_json(const T& value);

// ROS names and nests these otherwise than our fields do.
json ros_json(const cardan::Header& h) {
  return {{"stamp", {{"sec", 1'700'000'000}, {"nanosec", h.stamp == 0 ? 0 : 123'456'789}}},
          {"frame_id", h.frame_id.view()}};
}

json ros_json(const cardan::Clock& c) {
  return {{"clock", {{"sec", c.clock / 1'000'000'000}, {"nanosec", c.clock % 1'000'000'000}}}};
}

json ros_results(std::string_view label, double score) {
  const json pose{{"position", {{"x", 0}, {"y", 0}, {"z", 0}}},
                  {"orientation", {{"x", 0}, {"y", 0}, {"z", 0}, {"w", 1}}}};
  return json::array({{{"hypothesis", {{"class_id", label}, {"score", score}}},
                       {"pose", {{"pose", pose}, {"covariance", std::vector<double>(36, 0.0)}}}}});
}

json ros_json(const cardan::Detection2D& d, const json& header) {
  return {{"header", header},
          {"results", ros_results(d.label, d.score)},
          {"bbox",
           {{"center", {{"position", {{"x", d.center_x}, {"y", d.center_y}}}, {"theta", d.theta}}},
            {"size_x", d.size_x},
            {"size_y", d.size_y}}},
          {"id", d.id.view()}};
}

json ros_json(const cardan::Detection3D& d, const json& header) {
  return {{"header", header},
          {"results", ros_results(d.label, d.score)},
          {"bbox", {{"center", to_json(d.center)}, {"size", to_json(d.size)}}},
          {"id", d.id.view()}};
}

template <class Array>
json ros_array(const Array& array) {
  json list = json::array();
  for (const auto& detection : array.detections) list.push_back(ros_json(detection, ros_json(array.header)));
  return {{"header", ros_json(array.header)}, {"detections", list}};
}

const json kNoHeader{{"stamp", {{"sec", 0}, {"nanosec", 0}}}, {"frame_id", ""}};
json ros_json(const cardan::Detection2D& d) { return ros_json(d, kNoHeader); }
json ros_json(const cardan::Detection3D& d) { return ros_json(d, kNoHeader); }
json ros_json(const cardan::Detections2D& d) { return ros_array(d); }
json ros_json(const cardan::Detections3D& d) { return ros_array(d); }

template <class T>
void append(json& list, const T& value) {
  if constexpr (cardan::detail::kind_of<T>() == cardan::detail::Kind::Array) {
    for (const auto& element : value) append(list, element);  // ROS has one dimension only
  } else {
    list.push_back(to_json(value));
  }
}

template <class T>
json to_json(const T& value) {
  using cardan::detail::Kind;
  constexpr Kind kind = cardan::detail::kind_of<T>();
  if constexpr (requires { ros_json(value); }) {
    return ros_json(value);
  } else if constexpr (std::is_same_v<T, char>) {
    return static_cast<unsigned char>(value);
  } else if constexpr (kind == Kind::Enum) {
    return to_json(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (kind == Kind::FixedString || kind == Kind::String) {
    return value.view();
  } else if constexpr (kind == Kind::Array || kind == Kind::FixedVector || kind == Kind::Vector) {
    json list = json::array();
    for (const auto& element : value) append(list, element);
    return list;
  } else if constexpr (kind == Kind::Message) {
    json object;
    cardan::message_traits<T>::for_each_field(
        value, [&](std::string_view name, const auto& field) { object[std::string(name)] = to_json(field); });
    return object;
  } else {
    return value;
  }
}

[[nodiscard]] std::filesystem::path file(const std::filesystem::path& folder, std::string_view type,
                                         std::string_view suffix) {
  std::string name(type);
  for (char& c : name) {
    if (c == '/') c = '.';
  }
  return folder / (name + std::string(suffix));
}

template <class T>
void write(const std::filesystem::path& folder) {
  using Traits = cardan::message_traits<T>;
  const auto message = samples::make<T>();
  const std::vector<std::byte> bytes = cardan::to_cdr(*message);
  const auto put = [&](std::string_view suffix, const char* data, std::size_t size) {
    std::ofstream out(file(folder, Traits::type_name(), suffix), std::ios::binary);
    out.write(data, static_cast<std::streamsize>(size));
    if (!out.flush()) throw std::runtime_error("cannot write into " + folder.string());
  };
  const std::string values = json{{"type", Traits::type_name()}, {"message", to_json(*message)}}.dump(1);
  put(".cdr", reinterpret_cast<const char*>(bytes.data()), bytes.size());
  put(".ros2msg", Traits::schema().data(), Traits::schema().size());
  put(".json", values.data(), values.size());
}

template <class T>
bool read(const std::filesystem::path& folder) {
  const std::string_view type = cardan::message_traits<T>::type_name();
  std::ifstream in(file(folder, type, ".python.cdr"), std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: rosbags wrote no %s\n", std::string(type).c_str(),
                 file(folder, type, ".python.cdr").c_str());
    return false;
  }
  const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
  cardan::LocalMessage<T> message(samples::kRoom);
  const cardan::CdrResult result = cardan::from_cdr(std::as_bytes(std::span(chars)), *message);
  if (!result) {
    std::fprintf(stderr, "%s: %s\n", std::string(type).c_str(), result.text().c_str());
    return false;
  }
  // All fields, as values: what rosbags wrote may be padded otherwise.
  const json expected = to_json(*samples::make<T>());
  const json found = to_json(*message);
  if (found == expected) return true;
  std::fprintf(stderr, "%s: read back otherwise: %s\n", std::string(type).c_str(),
               json::diff(expected, found).dump().c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view verb = argc == 3 ? argv[1] : "";
  if (verb != "write" && verb != "read") {
    std::fputs("usage: interop_messages write|read DIR\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[2];
  bool ok = true;
  int count = 0;
  samples::for_each_type([&]<class T>() {
    ++count;
    if (verb == "write") {
      write<T>(folder);
    } else if (!read<T>(folder)) {
      ok = false;
    }
  });
  std::printf("%d message types %s\n", count, verb == "write" ? "written" : "read");
  return ok ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "interop_messages: %s\n", error.what());
  return 1;
}

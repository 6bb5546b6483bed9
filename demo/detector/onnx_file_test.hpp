// SPDX-License-Identifier: Apache-2.0
// Small ONNX models, put together byte by byte: a convolution that looks at square patches of a picture.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::street {

/// A message of Protocol Buffers, as bytes.
class Protobuf {
 public:
  Protobuf& number(unsigned field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
    return *this;
  }
  Protobuf& bytes(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  Protobuf& message(unsigned field, const Protobuf& value) { return bytes(field, value.bytes_); }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) bytes_ += static_cast<char>(value | 128U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// A model that makes of a square picture, `side` pixels wide, a grid of side / patch squares. Each channel of the
/// result is its bias, and in the channels of `bright` also the square's brightness (0 to 1).
struct PatchModel {
  int side = 64, patch = 16;
  std::vector<float> biases{};          ///< one a channel
  std::vector<std::size_t> bright{};    ///< channels
  std::vector<std::int64_t> reshape{};  ///< the result's shape; empty: 1 x channels x rows x columns
  bool dynamic = false;                 ///< the file does not say how large the picture is

  [[nodiscard]] std::string bytes() const {
    const auto channels = biases.size();
    const auto area = static_cast<std::size_t>(patch * patch) * 3;
    std::vector<float> weights(channels * area, 0.0F);
    for (const std::size_t channel : bright)
      for (std::size_t i = 0; i < area; ++i) weights[channel * area + i] = 1.0F / static_cast<float>(area);
    Protobuf convolution;
    convolution.bytes(1, "picture").bytes(1, "weights").bytes(1, "biases");
    convolution.bytes(2, reshape.empty() ? "found" : "grid").bytes(4, "Conv");
    convolution.message(5, integers("kernel_shape", {patch, patch})).message(5, integers("strides", {patch, patch}));
    Protobuf graph;
    graph.message(1, convolution);
    if (!reshape.empty())
      graph.message(1, Protobuf().bytes(1, "grid").bytes(1, "shape").bytes(2, "found").bytes(4, "Reshape"));
    graph.bytes(2, "test");
    graph.message(5, tensor("weights", 1, {static_cast<std::int64_t>(channels), 3, patch, patch}, raw(weights)));
    graph.message(5, tensor("biases", 1, {static_cast<std::int64_t>(channels)}, raw(biases)));
    if (!reshape.empty())
      graph.message(5, tensor("shape", 7, {static_cast<std::int64_t>(reshape.size())}, raw(reshape)));
    graph.message(11, value("picture", {1, 3, dynamic ? 0 : side, dynamic ? 0 : side}));
    graph.message(12, value("found", {}));
    Protobuf model;
    model.number(1, 7).message(8, Protobuf().bytes(1, "").number(2, 11)).message(7, graph);
    return model.text();
  }

 private:
  template <class T>
  static std::string raw(const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  static Protobuf integers(const char* name, const std::vector<int>& values) {
    Protobuf attribute;
    attribute.bytes(1, name);
    for (const int value : values) attribute.number(8, static_cast<std::uint64_t>(value));
    return attribute.number(20, 7);
  }
  static Protobuf tensor(const char* name, std::uint64_t type, const std::vector<std::int64_t>& shape,
                         const std::string& data) {
    Protobuf tensor;
    for (const std::int64_t n : shape) tensor.number(1, static_cast<std::uint64_t>(n));
    return tensor.number(2, type).bytes(8, name).bytes(9, data);
  }
  static Protobuf value(const char* name, const std::vector<std::int64_t>& shape) {
    Protobuf dimensions;
    for (const std::int64_t n : shape)
      dimensions.message(1, n > 0 ? Protobuf().number(1, static_cast<std::uint64_t>(n)) : Protobuf().bytes(2, "any"));
    Protobuf type;
    type.message(1, Protobuf().number(1, 1).message(2, dimensions));
    return Protobuf().bytes(1, name).message(2, type);
  }
};

/// As FastestDet: a car of a quarter of the picture's side in the middle of each bright square of 16 pixels.
inline PatchModel bright_cars() {
  PatchModel model;
  model.biases.assign(85, 0.0F);
  model.biases[1] = model.biases[2] = 0.5493F;   // tanh: half a square
  model.biases[3] = model.biases[4] = -1.0986F;  // sigmoid: a quarter
  model.biases[5 + 2] = 0.95F;                   // car
  model.bright = {0};
  return model;
}

}  // namespace cardan::street

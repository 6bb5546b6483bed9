// SPDX-License-Identifier: Apache-2.0
#include "demo/detector/onnx_inputs.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace cardan::street {
namespace {

// Of onnx.proto: ModelProto.graph, GraphProto.initializer and .input, TensorProto.name, ValueInfoProto.name and .type,
// TypeProto.tensor_type, TypeProto.Tensor.shape, TensorShapeProto.dim, TensorShapeProto.Dimension.dim_value.
enum Field : std::uint8_t {
  kGraph = 7,
  kInitializer = 5,
  kInput = 11,
  kTensorName = 8,
  kValueName = 1,
  kValueType = 2,
  kTensorType = 1,
  kTensorShape = 2,
  kDimension = 1,
  kDimensionValue = 1,
};

/// The fields of one message of Protocol Buffers, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : left_(bytes) {}

  struct One {
    std::uint64_t field = 0;
    std::uint64_t number = 0;  ///< of a number
    std::string_view bytes{};  ///< of anything else
  };
  /// Empty at the end, and at bytes that are not a message.
  std::optional<One> next() {
    One one;
    const auto key = varint();
    if (!key) return {};
    one.field = *key >> 3U;
    std::uint64_t length = 0;
    switch (*key & 7U) {
      case 0: {
        const auto number = varint();
        if (!number) return {};
        one.number = *number;
        return one;
      }
      case 1:
        length = 8;
        break;
      case 2: {
        const auto said = varint();
        if (!said) return {};
        length = *said;
        break;
      }
      case 5:
        length = 4;
        break;
      default:
        return {};
    }
    if (length > left_.size()) return {};
    one.bytes = left_.substr(0, static_cast<std::size_t>(length));
    left_.remove_prefix(one.bytes.size());
    return one;
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return value;
    }
    return {};
  }
  std::string_view left_;
};

/// The first field of that number, or nothing.
std::string_view part(std::string_view message, std::uint64_t field) {
  Fields fields(message);
  while (const auto one = fields.next())
    if (one->field == field) return one->bytes;
  return {};
}

OnnxInput input_of(std::string_view value) {
  constexpr std::size_t kMostDimensions = 8;
  OnnxInput input{.name = std::string(part(value, kValueName)), .shape = {}};
  Fields dimensions(part(part(part(value, kValueType), kTensorType), kTensorShape));
  while (const auto one = dimensions.next()) {
    if (one->field != kDimension || input.shape.size() == kMostDimensions) continue;
    std::int64_t size = 0;
    Fields dimension(one->bytes);
    while (const auto value_of = dimension.next())
      if (value_of->field == kDimensionValue && value_of->bytes.empty())
        size = static_cast<std::int64_t>(std::min<std::uint64_t>(value_of->number, INT32_MAX));
    input.shape.push_back(size);
  }
  return input;
}

}  // namespace

std::vector<OnnxInput> onnx_inputs(std::string_view bytes) {
  constexpr std::size_t kMostInputs = 64;  // more than any detector has
  std::vector<OnnxInput> inputs;
  std::vector<std::string_view> given;
  Fields graph(part(bytes, kGraph));
  while (const auto one = graph.next()) {
    if (one->field == kInitializer) given.push_back(part(one->bytes, kTensorName));
    if (one->field == kInput) inputs.push_back(input_of(one->bytes));
  }
  std::sort(given.begin(), given.end());
  std::erase_if(inputs, [&](const OnnxInput& i) { return std::binary_search(given.begin(), given.end(), i.name); });
  if (inputs.size() > kMostInputs) inputs.resize(kMostInputs);
  return inputs;
}

}  // namespace cardan::street

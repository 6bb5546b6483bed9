// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::street {

/// An input of an ONNX model, as its file declares it.
struct OnnxInput {
  std::string name;
  std::vector<std::int64_t> shape;  ///< 0: not fixed
};

/// The inputs of the model in `bytes`, without those that the file gives values for. Other bytes than an ONNX model
/// have none. OpenCV does not tell them (4.6), and a model runs in its own size only. Never throws but for lack of
/// memory; looks at each byte at most a few times.
[[nodiscard]] std::vector<OnnxInput> onnx_inputs(std::string_view bytes);

}  // namespace cardan::street

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>

#include "cardan/transforms.hpp"
#include "python/src/component.hpp"

namespace cardan::python {

/// x, y, z of the translation and x, y, z, w of the rotation.
using Numbers = std::array<double, 7>;
[[nodiscard]] Transform transform_of(const Numbers& numbers) noexcept;

/// As Context::transforms(): a `TransformsHandle`. Throws Error.
[[nodiscard]] nanobind::object declare_transforms(const std::shared_ptr<const Life>& life, std::int64_t history_ns);
/// As Context::transform_output(): a `TransformOutputHandle`. Throws Error.
[[nodiscard]] nanobind::object declare_transform_output(std::shared_ptr<const Life> life);

/// `TransformsHandle`, `TransformOutputHandle` and `StaticTransformHandle`.
void bind_transforms(nanobind::module_& m);

}  // namespace cardan::python

// SPDX-License-Identifier: Apache-2.0
// The common part of inputs of components in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <typeinfo>
#include <utility>

#include "cardan/any_type.hpp"
#include "cardan/codec.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/error.hpp"
#include "python/src/content.hpp"
#include "python/src/message.hpp"

namespace cardan::python {

/// Of any message of Python; the runtime tells them apart by their hashes.
struct PythonMessage {};

/// `input`: samples stay as they were published, because Content checks what it copies.
[[nodiscard]] inline detail::PayloadType payload_of(const AnyType& type, bool input) {
  detail::PayloadType made{.cpp = typeid(PythonMessage), .shared = type.message_type(), .native = true};
  if (input) made.shared = detail::as_published(type.message_type());
  return made;
}

/// A sample as a message of `cls`. Takes over the reference. With the GIL. Throws Error: it is malformed.
[[nodiscard]] inline nanobind::object message_of(detail::SampleBlock* block, nanobind::handle cls,
                                                 const std::shared_ptr<AnyType>& type) {
  std::shared_ptr<Content> content = Content::of_block(type, block);
  if (content == nullptr)
    throw Error(ErrorCode::Incompatible, "a sample is malformed: its publisher is hostile or broken",
                "cardan topic info names it");
  std::byte* const root = content->root();
  return make_message(cls, std::move(content), type->layout(), root);
}

}  // namespace cardan::python

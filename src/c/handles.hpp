// SPDX-License-Identifier: Apache-2.0
// The common part of the functions of C.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "cardan/any_subscriber.hpp"
#include "cardan/any_type.hpp"
#include "cardan/cardan.h"
#include "cardan/detail/sample_block.hpp"
#include "cardan/error.hpp"
#include "src/messages/ros2_definitions.hpp"

struct cardan_sample {
  cardan::Sample<cardan::detail::Anything> sample;
  cardan::CdrFrame parts;
};

namespace cardan::c {

inline std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// Nothing may leave a function of C but its result.
template <class Result, class F>
Result guarded(Result failed, F f) noexcept {
  try {
    last_error().clear();
    return f();
  } catch (const std::exception& e) {
    try {
      last_error() = e.what();
    } catch (const std::exception&) {  // no memory for the text
    }
    return failed;
  }
}

constexpr std::size_t kMostStruct = 4096;

/// As much of the caller's struct as it has. An older program's is shorter; a newer one's is longer, and what this
/// library does not know must not be asked for. Throws Error: that, or it is invalid.
template <class Options>
Options copy_of(const Options* given) {
  Options options{};
  if (given == nullptr) return options;
  const std::size_t size = given->struct_size;
  if (size < offsetof(Options, type) || size > kMostStruct)
    throw Error(ErrorCode::InvalidArgument, "struct_size of the options is wrong", "set it to sizeof the options");
  const auto* const bytes = reinterpret_cast<const std::byte*>(given);
  if (size > sizeof(options) &&
      std::any_of(bytes + sizeof(options), bytes + size, [](std::byte b) { return b != std::byte{}; }))
    throw Error(ErrorCode::InvalidArgument, "the options have a field that this libcardan does not know",
                "install the libcardan that the program was built with, or a newer one");
  std::memcpy(&options, given, std::min(size, sizeof(options)));
  return options;
}

inline Access access_of(int given) {
  if (given < CARDAN_OWNER || given > CARDAN_POLICY)
    throw Error(ErrorCode::InvalidArgument, "`access` of the options is wrong", "set it to CARDAN_OWNER, or another");
  return static_cast<Access>(given);
}

inline std::string text(const char* words) { return words == nullptr ? std::string() : std::string(words); }

inline std::string definition_of(const char* name, const char* given) {
  if (given != nullptr) return given;
  if (auto known = known_definition(name)) return *std::move(known);
  throw Error(ErrorCode::InvalidArgument, "no message type " + text(name) + " is known here", "give its definition");
}

inline AnyType type_named(const char* name, const char* definition) {
  return AnyType::of_definition(name, definition_of(name, definition));
}

inline int result_of(Reason reason) {
  switch (reason) {
    case Reason::Stopped:
      return CARDAN_STOPPED;
    case Reason::Limit:
      return CARDAN_LIMIT;
    case Reason::Forked:
      throw Error(ErrorCode::Forked, "this is a child of fork()", "make new endpoints after exec");
    default:
      return CARDAN_NOTHING;
  }
}

/// Takes over the reference. Null: it is malformed.
inline std::unique_ptr<cardan_sample> framed(CdrFramer& framer, detail::SampleBlock* block) {
  Sample<detail::Anything> sample = detail::sample_of<detail::Anything>(block);
  if (!framer.frame({static_cast<const std::byte*>(block->message), framer.type().layout().size},
                    {block->payload, static_cast<std::size_t>(block->payload_bytes)}))
    return nullptr;
  return std::make_unique<cardan_sample>(cardan_sample{std::move(sample), framer.take_parts()});
}

inline void fill(const AnyType& type, AnyLoan& loan, const void* cdr, std::size_t size) {
  const auto filled = type.fill({static_cast<const std::byte*>(cdr), size}, loan);
  if (!filled)
    throw Error(ErrorCode::InvalidArgument, "the bytes are not a " + type.layout().name + ": " + filled.text(), "");
}

}  // namespace cardan::c

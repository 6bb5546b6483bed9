// SPDX-License-Identifier: Apache-2.0
// Part of libcardan_protobuf.so.
#pragma once

#include <google/protobuf/descriptor.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cardan::apps {

/// Why a definition or a message is not taken, in words.
struct ProtobufRefusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A part of the declarations that all types together may have, until it goes.
class DeclarationShare {
 public:
  DeclarationShare() = default;
  DeclarationShare(const DeclarationShare&) = delete;
  DeclarationShare& operator=(const DeclarationShare&) = delete;
  ~DeclarationShare() { all -= mine_; }
  /// Once. Throws ProtobufRefusal.
  void take(std::size_t declarations);

 private:
  static std::atomic<std::size_t> all;
  std::size_t mine_ = 0;
};

/// A type with the pool that it lives in. Immutable; any thread.
class ProtobufDefinition {
 public:
  /// Throws ProtobufRefusal.
  ProtobufDefinition(std::string_view name, std::span<const std::byte> definition);
  [[nodiscard]] const google::protobuf::Descriptor& type() const noexcept { return *type_; }

 private:
  DeclarationShare share_;
  google::protobuf::DescriptorPool pool_;
  const google::protobuf::Descriptor* type_ = nullptr;
};

}  // namespace cardan::apps

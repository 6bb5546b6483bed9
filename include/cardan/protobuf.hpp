// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Protobuf messages between components: passed as a pointer within a process, encoded for other processes. Needs
/// libprotobuf.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/message.h>

#include <concepts>
#include <cstddef>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cardan/codec.hpp"

namespace cardan {

/// Protobuf's own encoding, for the members that `codec` describes. The schema is the serialized FileDescriptorSet of
/// the type and of everything that it imports, as MCAP requires.
/// Any thread; never blocks.
template <std::derived_from<google::protobuf::Message> T>
struct codec<T> {
  static std::string type_name() { return T::descriptor()->full_name(); }
  static std::string schema() {
    google::protobuf::FileDescriptorSet files;
    std::set<std::string> known;
    add(*T::descriptor()->file(), files, known);
    return files.SerializeAsString();
  }
  static bool encode(const T& message, std::vector<std::byte>& to) {
    const std::size_t bytes = message.ByteSizeLong();
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) return false;
    to.resize(bytes);
    return message.SerializeToArray(to.data(), static_cast<int>(bytes));
  }
  static bool decode(std::span<const std::byte> bytes, T& message) {
    return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
           message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  }

 private:
  // Imported files come before the file that imports them.
  static void add(const google::protobuf::FileDescriptor& file, google::protobuf::FileDescriptorSet& files,
                  std::set<std::string>& known) {
    if (!known.insert(file.name()).second) return;
    for (int i = 0; i < file.dependency_count(); ++i) add(*file.dependency(i), files, known);
    file.CopyTo(files.add_file());
  }
};

}  // namespace cardan

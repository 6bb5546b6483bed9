// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>

#include "apps/protobuf/protobuf.hpp"
#include "cardan/mcap/records.hpp"

namespace cardan::apps {

/// The type that a recording's schema defines. Null: `why`.
[[nodiscard]] inline std::unique_ptr<const ProtobufType> protobuf_type(const mcap::Schema& schema, std::string& why) {
  if (schema.encoding == "protobuf") return protobuf_type(schema.name, schema.data, why);
  why = fmt::format("its definition is in '{}', not in 'protobuf'", schema.encoding);
  return nullptr;
}

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cardan::apps {

/// The path of a JSON Schema that is installed or built with this program ("cardan.schema.json", "bridge.schema.json");
/// empty: it is not there. Any thread; looks at the file system.
[[nodiscard]] std::string schema_file(const std::string& name);

}  // namespace cardan::apps

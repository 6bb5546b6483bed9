// SPDX-License-Identifier: Apache-2.0
// In place of sqlite_bag.cpp where SQLite is not installed.
#include "apps/bag/convert/sqlite_bag.hpp"
#include "cardan/base/error.hpp"

namespace cardan::apps {

struct SqliteBag::State {};

SqliteBag::SqliteBag(const std::string& path) {
  throw Error(ErrorCode::Unavailable, "cannot read " + path + ": this cardan was built without SQLite",
              "install libsqlite3-dev and build again, or convert the file with `ros2 bag convert`");
}
SqliteBag::~SqliteBag() = default;
std::optional<SqliteMessage> SqliteBag::next() { return std::nullopt; }

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
// In place of sqlite_bag.cpp and sqlite_file.cpp where SQLite is not installed.
#include "apps/bag/convert/converted_file.hpp"
#include "apps/bag/convert/sqlite_bag.hpp"
#include "cardan/error.hpp"

namespace cardan::apps {

struct SqliteBag::State {};

SqliteBag::SqliteBag(const std::string& path, Read) {
  throw Error(ErrorCode::Unavailable, "cannot read " + path + ": this cardan was built without SQLite",
              "install libsqlite3-dev and build again, or convert the file with `ros2 bag convert`");
}
SqliteBag::~SqliteBag() = default;
std::uint64_t SqliteBag::bytes() const noexcept { return 0; }
std::optional<SqliteMessage> SqliteBag::next() { return std::nullopt; }

std::unique_ptr<ConvertedFile> sqlite_file(const std::string& path, bool) {
  throw Error(ErrorCode::Unavailable, "cannot write " + path + ": this cardan was built without SQLite",
              "install libsqlite3-dev and build again");
}

}  // namespace cardan::apps

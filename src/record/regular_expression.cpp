// SPDX-License-Identifier: Apache-2.0
#include "src/record/regular_expression.hpp"

#include <regex.h>

#include <array>

#include "cardan/error.hpp"

namespace cardan::record {

struct RegularExpression::Compiled {
  explicit Compiled(const std::string& text) {
    const int error = text.find('\0') != std::string::npos
                          ? REG_BADPAT
                          : ::regcomp(&expression, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error == 0) return;
    std::array<char, 128> why{};
    ::regerror(error, nullptr, why.data(), why.size());
    throw Error(ErrorCode::InvalidArgument, "'" + text + "' is not a regular expression: " + why.data(),
                "write it as for grep -E, such as '^/camera/(front|rear)/'");
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { ::regfree(&expression); }
  regex_t expression{};
};

RegularExpression::RegularExpression(const std::string& text) : compiled_(std::make_shared<Compiled>(text)) {}

bool RegularExpression::found_in(const std::string& text) const noexcept {
  return ::regexec(&compiled_->expression, text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace cardan::record

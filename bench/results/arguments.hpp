// SPDX-License-Identifier: Apache-2.0
// The command lines of all parts: what they check alike. All throw cardan::Error{InvalidArgument}.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::bench {

[[noreturn]] void refuse(std::string cause, std::string remedy);

std::vector<std::string> split(std::string_view text, char separator = ',');

/// Empty: `text` is not a number, or is outside of this range.
std::optional<double> number_in(std::string_view text, double least, double most);

/// Refuses a number out of its range.
template <class T>
void check_range(const char* option, const T& given, const T& least, const T& most) {
  if (!(given >= least && given <= most))
    refuse(fmt::format("{} {} is out of range", option, given), fmt::format("use {} to {}", least, most));
}
/// The same if it was given: it is not 0.
template <class T>
void check_if_given(const char* option, const T& given, const T& least, const T& most) {
  if (given != T{}) check_range(option, given, least, most);
}

/// The words of `text`, each once; all that are known if it is empty. `known`: "fio,cardan".
[[nodiscard]] std::vector<std::string> some_of(const char* option, const std::string& text, const std::string& known);

/// The CPU that was asked for, which must be one of `cpus`; below 0: the usual one of them.
[[nodiscard]] int choose_cpu(const char* option, int asked, std::size_t usual, const std::vector<int>& cpus);

}  // namespace cardan::bench

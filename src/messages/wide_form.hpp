// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cardan::detail {

/// How implementations of DDS put a `wstring` into bytes. None says which one it is: a reader tries them in this order
/// and takes the first that explains all bytes. (The first is the strictest: the upper half of each letter is zero.)
enum class WideForm : std::uint8_t {
  FourBytes,  ///< letters counted, four bytes each: Fast DDS, and Cyclone DDS up to ROS 2 Jazzy; the form we write
  TwoBytes,   ///< letters counted, two bytes each: Cardan's first files
  Bytes,      ///< bytes counted, two bytes a letter: newer Cyclone DDS, and XCDR2
};
inline constexpr std::array kWideForms{WideForm::FourBytes, WideForm::TwoBytes, WideForm::Bytes};

/// Less padding than that after a message does not rule out a form.
inline constexpr std::size_t kUsualPadding = 4;

}  // namespace cardan::detail

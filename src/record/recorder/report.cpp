// SPDX-License-Identifier: Apache-2.0
#include "cardan/recorder_report.hpp"

namespace cardan::record {

const char* to_string(LossCause cause) noexcept {
  switch (cause) {
    case LossCause::Lapped:
      return "lapped";
    case LossCause::QueueFull:
      return "queue full";
    case LossCause::DiskSlow:
      return "disk slow";
    case LossCause::DiskFailed:
      return "disk failed";
    case LossCause::TooLate:
      return "too late attached";
    case LossCause::Malformed:
      return "malformed";
  }
  return "";
}

}  // namespace cardan::record

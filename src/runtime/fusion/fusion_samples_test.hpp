// SPDX-License-Identifier: Apache-2.0
// The samples of the tests of a fusion.
#pragma once

#include <cstdint>
#include <memory>

#include "cardan/fusion.hpp"

namespace cardan::test {

struct Image {
  std::int64_t time;
};
struct Cloud {
  std::int64_t time;
};

constexpr std::int64_t kMs = 1'000'000;

/// A sample with a stamp in milliseconds; published at the same time of the steady clock unless told otherwise.
template <class T>
Sample<T> at(std::int64_t ms, std::int64_t publish_ms = -1) {
  return make_sample(std::make_shared<const T>(T{ms}),
                     {.publish_time = (publish_ms < 0 ? ms : publish_ms) * kMs, .source_time = ms * kMs});
}

}  // namespace cardan::test

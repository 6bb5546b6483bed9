// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <utility>

#include "cardan/cardan.hpp"

inline constexpr cardan::Topic<cardan::Image> kFront{"/camera/front", {.max_bytes = 640 * 480 * 3, .depth = 1}};

int main() try {
  cardan::Subscriber in{kFront};
  cardan::Publisher out{kFront};

  auto loan = out.loan();
  loan->width = 640;
  loan->height = 480;
  loan->data.resize(640 * 480 * 3);
  loan->data[0] = 7;
  out.publish(std::move(loan));

  const auto frame = in.wait(std::chrono::seconds{5});
  if (!frame) return 1;
  std::printf("received %u x %u, first byte %u\n", unsigned{frame->width}, unsigned{frame->height},
              unsigned{frame->data[0]});
} catch (const cardan::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// A fusion allocates nothing once it is there. A separate program, because it replaces operator new to count.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "src/runtime/fusion/fusion_samples_test.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cardan {
namespace {

using namespace std::chrono_literals;
using test::at, test::Cloud, test::Image;

TEST(Fusion, AllocatesNothingOnceItIsThere) {
  for (const FusionPolicy& policy : {primary(), approximate({.tolerance = 5ms}), exact()}) {
    Fusion<Image, Cloud> fusion{policy};
    std::vector<Sample<Image>> images;
    std::vector<Sample<Cloud>> clouds;
    for (int i = 1; i < 200; ++i) images.push_back(at<Image>(i));
    for (int i = 1; i < 200; i += 3) clouds.push_back(at<Cloud>(i));
    const std::uint64_t before = allocations.load();
    std::size_t fired = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      fusion.offer<0>(images[i]);
      if (i % 3 == 0) fusion.offer<1>(clouds[i / 3]);
      while (fusion.next()) ++fired;
    }
    fusion.clear();
    EXPECT_EQ(allocations.load(), before);
    EXPECT_GT(fired, 10U);
  }
}

}  // namespace
}  // namespace cardan

// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/dds/wire.hpp"

#include <dds/ddsi/ddsi_serdata.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "cardan/bridge/dds/participant.hpp"

namespace {
/// Allocations without exceptions fail while it is set.
thread_local bool no_memory = false;
}  // namespace

// As the library's own, which call the throwing form of the same kind: sanitizers tell the two kinds apart.
void* operator new(std::size_t size, const std::nothrow_t& /*quiet*/) noexcept {
  if (no_memory) return nullptr;
  try {
    return ::operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& /*quiet*/) noexcept {
  if (no_memory) return nullptr;
  try {
    return ::operator new[](size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace cardan::bridge::dds {
namespace {

/// Cyclone on loopback alone, and a topic of it.
class Wire : public testing::Test {
 protected:
  Rules rules_{};
  Participant participant_{DomainChoice{.id = 97}, rules_, "wire-test", std::make_shared<Bell>()};
  WireTopic topic_ = make_topic(participant_.entity(), "rt/wire", "std_msgs::msg::dds_::String_", nullptr);
  Entity writer_{::dds_create_writer(participant_.entity(), topic_.topic.get(), nullptr, nullptr)};
  std::shared_ptr<SendTally> tally_ = std::make_shared<SendTally>();

  /// Three pieces, with the bytes 0, 1, 2 … of the whole.
  WireMessage message(std::size_t prefix, std::size_t payload, std::size_t suffix) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(prefix + payload + suffix);
    for (std::size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<std::byte>(i % 251);
    // Each piece with memory of its own, so that none goes on in the next.
    auto pieces = std::make_shared<std::array<std::vector<std::byte>, 3>>();
    const auto at = [&](std::size_t from, std::size_t size) {
      return std::vector<std::byte>(bytes->begin() + static_cast<std::ptrdiff_t>(from),
                                    bytes->begin() + static_cast<std::ptrdiff_t>(from + size));
    };
    *pieces = {at(0, prefix), at(prefix, payload), at(prefix + payload, suffix)};
    return {.pieces = {(*pieces)[0], (*pieces)[1], (*pieces)[2]}, .keep = pieces};
  }
};

TEST_F(Wire, AFragmentAcrossASeamNeedsNoMemoryWhenItIsSent) {
  constexpr std::size_t kFragment = 1344;
  WireMessage sent = message(100, 10000, 7);
  constexpr std::size_t kSize = 100 + 10000 + 7;
  ::ddsi_serdata* const data = new_message(topic_, std::move(sent), tally_);
  ASSERT_NE(data, nullptr);
  EXPECT_EQ(tally_->held.load(), 1U);
  for (int again = 0; again < 2; ++again) {  // as when it is sent again, while the first reference is still there
    std::vector<::ddsrt_iovec_t> ranges;
    no_memory = true;
    for (std::size_t from = 0; from < kSize; from += kFragment) {
      ::ddsrt_iovec_t range{};
      const std::size_t size = std::min(kFragment, (kSize - from + 3) / 4 * 4);
      ASSERT_EQ(::ddsi_serdata_to_ser_ref(data, from, size, &range), data);
      ASSERT_EQ(range.iov_len, size);
      const auto* const bytes = static_cast<const std::byte*>(range.iov_base);
      for (std::size_t i = 0; i < size; ++i)
        ASSERT_EQ(bytes[i], static_cast<std::byte>(from + i < kSize ? (from + i) % 251 : 0)) << from + i;
      ranges.push_back(range);
      no_memory = false;
      if (again == 1) ::ddsi_serdata_to_ser_unref(data, &range);
      no_memory = true;
    }
    no_memory = false;
    if (again == 0)
      for (const ::ddsrt_iovec_t& range : ranges) ::ddsi_serdata_to_ser_unref(data, &range);
  }
  // The first fragment and the last, which has the second seam and the padding; the second time they are there already.
  EXPECT_EQ(tally_->gathered.load(), kFragment + (kSize % kFragment + 3) / 4 * 4);
  ::ddsi_serdata_unref(data);
  EXPECT_EQ(tally_->held.load(), 0U);
}

TEST_F(Wire, WithoutMemoryAMessageIsRefusedAndTheNextOneGoesOut) {
  no_memory = true;
  const dds_return_t code = write(writer_.get(), topic_, message(100, 1U << 20U, 0), tally_);
  no_memory = false;
  EXPECT_EQ(code, DDS_RETCODE_OUT_OF_RESOURCES);
  EXPECT_EQ(tally_->held.load(), 0U) << "nothing of it is left";
  EXPECT_EQ(write(writer_.get(), topic_, message(100, 1U << 20U, 0), tally_), DDS_RETCODE_OK);
}

TEST_F(Wire, AnInboxWithoutMemoryCountsALoss) {
  Inbox inbox(1U << 20U);
  Inbox::Buffer buffer;
  no_memory = true;
  EXPECT_FALSE(inbox.room(1000, buffer));
  no_memory = false;
  EXPECT_EQ(inbox.take_lost(), 1U);
  EXPECT_TRUE(inbox.room(1000, buffer));
  EXPECT_FALSE(inbox.room(2U << 20U, buffer));
  EXPECT_EQ(inbox.take_refused(), 1U);
}

}  // namespace
}  // namespace cardan::bridge::dds

// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/stream_view.hpp"

#include <new>

#include "cardan/detail/forked.hpp"

namespace cardan::detail {

std::byte* AlignedBytes::reserve(std::size_t bytes) {
  if (bytes > capacity_) {
    const std::size_t rounded = layout::align_up(bytes, layout::kLine);
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(layout::kLine, rounded)));
    capacity_ = data_ != nullptr ? rounded : 0;
    if (data_ == nullptr) throw std::bad_alloc();
  }
  return data_.get();
}

bool copy_latest(const Stream& stream, ObservedSample& into, std::uint64_t after) {
  if (is_forked_child()) return false;
  (void)stream.find_more_slots(stream.slots_there());
  const StreamView view{stream.header,
                        stream.ring_of(stream.slots_there()),
                        reinterpret_cast<const std::byte*>(&stream.meta(0)),
                        stream.payload(0),
                        stream.time_shift(),
                        layout::kMaxPayload};  // bounded by the reader's contract
  return view.copy_latest(into, after);
}

}  // namespace cardan::detail

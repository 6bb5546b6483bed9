// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The words for the numbers of events: topics of streams and names of callbacks. Each process remembers its own,
/// whether tracing is on or not, and tells them to observers.
/// Set-up and helper threads; takes a mutex.
namespace cardan::detail::trace {

inline constexpr std::size_t kMostCallbackNames = 4096;
inline constexpr std::size_t kMostStreams = 4096;
inline constexpr std::size_t kLongestName = 256;  ///< bytes; longer ones are cut

/// The number of a callback's name, the same for the same name. 0: there are too many, or no memory.
[[nodiscard]] std::uint32_t name_of_callback(std::string_view name) noexcept;

/// While it lives, observers learn that this stream carries this topic, and also afterwards as long as there is room.
class StreamName {
 public:
  StreamName() noexcept = default;
  StreamName(std::uint64_t stream, const std::string& topic) noexcept;
  StreamName(StreamName&& other) noexcept;
  StreamName& operator=(StreamName&&) = delete;
  StreamName(const StreamName&) = delete;
  StreamName& operator=(const StreamName&) = delete;
  ~StreamName();

 private:
  std::uint64_t number_ = 0;  ///< 0: not remembered
};

struct Named {
  std::uint64_t number = 0;  ///< from 1 on, in the order in which they were remembered
  bool stream = false;       ///< else a callback
  std::uint64_t id = 0;      ///< the stream, or the callback's number
  std::string text;
};
/// The first names with a number of at least `from`, at most `most` of them.
[[nodiscard]] std::vector<Named> names_from(std::uint64_t from, std::size_t most);

}  // namespace cardan::detail::trace

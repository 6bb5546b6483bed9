// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/trace_names.hpp"

#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "cardan/detail/forked.hpp"

namespace cardan::detail::trace {
namespace {

struct Names {
  struct Entry {
    bool stream;
    std::uint64_t id;
    std::string text;
    bool ended = false;
  };
  std::mutex mutex;
  std::uint64_t next = 1;
  std::map<std::uint64_t, Entry> all;
  std::map<std::string, std::uint32_t, std::less<>> callbacks;
  std::size_t streams = 0;

  std::uint64_t add(Entry entry) {
    all.emplace(next, std::move(entry));
    return next++;
  }
  /// Forgets the oldest stream that has ended. False: none has.
  bool make_room() {
    for (auto it = all.begin(); it != all.end(); ++it) {
      if (!it->second.stream || !it->second.ended) continue;
      all.erase(it);
      --streams;
      return true;
    }
    return false;
  }
};
Names& the_names() {
  static auto& names = *new Names;  // never destroyed: publishers with static storage end late
  return names;
}

}  // namespace

std::uint32_t name_of_callback(std::string_view name) noexcept {
  if (is_forked_child()) return 0;  // a thread that does not exist here may have held the mutex
  name = name.substr(0, kLongestName);
  try {
    Names& names = the_names();
    const std::lock_guard lock(names.mutex);
    if (const auto known = names.callbacks.find(name); known != names.callbacks.end()) return known->second;
    if (names.callbacks.size() >= kMostCallbackNames) return 0;
    const auto id = static_cast<std::uint32_t>(names.callbacks.size() + 1);
    const auto made = names.callbacks.emplace(std::string(name), id).first;
    names.add({.stream = false, .id = id, .text = made->first});
    return id;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

StreamName::StreamName(std::uint64_t stream, const std::string& topic) noexcept {
  if (is_forked_child()) return;
  try {
    Names& names = the_names();
    const std::lock_guard lock(names.mutex);
    if (names.streams >= kMostStreams && !names.make_room()) return;
    number_ = names.add({.stream = true, .id = stream, .text = topic.substr(0, kLongestName)});
    ++names.streams;
  } catch (const std::bad_alloc&) {  // it is shown by its number
  }
}

StreamName::StreamName(StreamName&& other) noexcept : number_(std::exchange(other.number_, 0)) {}

StreamName::~StreamName() {
  if (number_ == 0 || is_forked_child()) return;
  Names& names = the_names();
  const std::lock_guard lock(names.mutex);
  if (const auto it = names.all.find(number_); it != names.all.end()) it->second.ended = true;
}

std::vector<Named> names_from(std::uint64_t from, std::size_t most) {
  Names& names = the_names();
  const std::lock_guard lock(names.mutex);
  std::vector<Named> found;
  for (auto it = names.all.lower_bound(from); it != names.all.end() && found.size() < most; ++it)
    found.push_back({.number = it->first, .stream = it->second.stream, .id = it->second.id, .text = it->second.text});
  return found;
}

}  // namespace cardan::detail::trace

// SPDX-License-Identifier: Apache-2.0
// Places of frames, any numbers, and lookups between them. Must hold: what is found is finite and comes back by its
// inverse, a reason is given for everything else, and the tree stays within its bounds.
#include <bit>
#include <cmath>
#include <initializer_list>

#include "cardan/local_message.hpp"
#include "src/transforms/transform_store.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::transforms_target {
namespace {

constexpr std::size_t kNames = 6;
constexpr std::size_t kMostPlaces = 8;

std::string name_of(std::size_t number) {
  return number % 8 == 7 ? std::string() : "f" + std::to_string(number % kNames);
}

/// Small and exact, or any.
double number_of(Input& parts) {
  const std::size_t kind = parts.number(1);
  if (kind < 250) return (static_cast<double>(kind) - 125) / 8;
  return std::bit_cast<double>(static_cast<std::uint64_t>(parts.number(8)));
}

Quaternion rotation_of(Input& parts) {
  const std::size_t kind = parts.number(1);
  if (kind == 255) return {number_of(parts), number_of(parts), number_of(parts), number_of(parts)};
  return from_rpy(static_cast<double>(kind % 7), static_cast<double>(kind % 3), static_cast<double>(kind % 5));
}

std::int64_t stamp_of(Input& parts) {
  const std::size_t kind = parts.number(1);
  return kind < 250 ? static_cast<std::int64_t>(kind) : static_cast<std::int64_t>(parts.number(8));
}

void look(const detail::TransformStore& store, Input& parts) {
  const std::string target = name_of(parts.number(1)), source = name_of(parts.number(1));
  const std::int64_t stamp = stamp_of(parts);
  const FoundTransform found = store.lookup(target, source, stamp);
  if (!found) return require(!found.text().empty(), "no place and no reason");
  const auto [v, q] = *found;
  require(std::isfinite(q.x + q.y + q.z + q.w), "a rotation that is not finite");
  const FoundTransform back = store.lookup(source, target, stamp);
  require(static_cast<bool>(back) && back.stamp() == found.stamp(), "a place that is not known the other way round");
}

/// One byte for what: a message of up to three places, a lookup, or clear().
void run(std::string_view input) {
  detail::TransformStore store(
      {.history = std::chrono::nanoseconds{100}, .most_places = kMostPlaces, .log_problems = false});
  Input parts(input);
  while (!parts.empty()) {
    const std::size_t what = parts.number(1);
    if (what == 0) {
      store.clear();
    } else if (what % 2 == 0) {
      look(store, parts);
    } else {
      LocalMessage<TransformMessage> message(4096);
      for (std::size_t n = 0; n <= what % 3; ++n) {
        TransformStamped one;
        one.header.frame_id = FrameId(name_of(parts.number(1)));
        one.child_frame_id = FrameId(name_of(parts.number(1)));
        one.header.stamp = stamp_of(parts);
        one.transform = {.translation = {number_of(parts), number_of(parts), number_of(parts)},
                         .rotation = rotation_of(parts)};
        message->transforms.push_back(one);
      }
      store.take(*message, what % 16 == 1, {.stream = what / 64, .program = "other", .pid = 1});
    }
  }
  require(store.frames().size() <= kNames, "a frame that nobody named");
  require(store.problems().size() <= 256, "more problems than the limit");
}

std::string input_of(std::initializer_list<int> bytes) {
  std::string all;
  for (const int byte : bytes) all.push_back(static_cast<char>(byte));
  return all;
}

std::vector<std::string> seeds() {
  // f0 ← f1 at 10 and at 20, f1 ← f2 static, a lookup between; then a circle, another parent, and a second publisher.
  const auto place = [](int parent, int child, int stamp) {
    return input_of({3, parent, child, stamp, 130, 125, 125, 2});
  };
  const std::string tree = place(0, 1, 10) + place(0, 1, 20) + input_of({17 * 3, 1, 2, 0, 130, 125, 125, 1});
  const std::string lookups = input_of({2, 0, 2, 15, 2, 2, 0, 0, 2, 0, 2, 99, 2, 0, 5, 15});
  return {
      tree + lookups, tree + place(2, 0, 15) + lookups, tree + place(3, 1, 12) + lookups,
      tree + input_of({67, 0, 1, 16, 255, 0, 0, 0, 0, 0, 0, 248, 127, 125, 125, 255, 125, 125, 125, 133}) + lookups};
}

}  // namespace
CARDAN_FUZZ_TARGET(transforms, run, seeds)
}  // namespace cardan::fuzz::transforms_target

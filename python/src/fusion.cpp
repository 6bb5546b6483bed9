// SPDX-License-Identifier: Apache-2.0
// Fusions of components in Python: the policies and the bookkeeping are those of C++, so that the sets are the same.
#include "python/src/fusion.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/type_layout.hpp"
#include "cardan/fusion_policy.hpp"
#include "cardan/detail/fusion_core.hpp"
#include "python/src/instance.hpp"
#include "python/src/message.hpp"
#include "python/src/samples.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

/// A FusionStamp has no room for where a message of Python has its stamp: one function for each place, of stamps that
/// are nanoseconds and of those in ROS's form.
constexpr std::size_t kStampPlaces = 128;
constexpr std::size_t kStampStep = 4;  ///< bytes from one place to the next

template <std::size_t kPlace>
std::int64_t stamp_at(const void* message) noexcept {
  std::int64_t stamp = 0;
  std::memcpy(&stamp, static_cast<const std::byte*>(message) + kPlace * kStampStep, sizeof stamp);
  return stamp;
}

template <std::size_t kPlace>
std::int64_t ros_stamp_at(const void* message) noexcept {
  std::int32_t seconds = 0;
  std::uint32_t nanoseconds = 0;
  const std::byte* const at = static_cast<const std::byte*>(message) + kPlace * kStampStep;
  std::memcpy(&seconds, at, sizeof seconds);
  std::memcpy(&nanoseconds, at + sizeof seconds, sizeof nanoseconds);
  return seconds * std::int64_t{1'000'000'000} + nanoseconds;
}

using Stamps = std::array<detail::FusionStamp, kStampPlaces>;
constexpr Stamps kStampsAt = []<std::size_t... I>(std::index_sequence<I...>) {
  return Stamps{&stamp_at<I>...};
}(std::make_index_sequence<kStampPlaces>{});
constexpr Stamps kRosStampsAt = []<std::size_t... I>(std::index_sequence<I...>) {
  return Stamps{&ros_stamp_at<I>...};
}(std::make_index_sequence<kStampPlaces>{});

bool is_integer(const TypeLayout& type, std::size_t size) {
  return type.kind == TypeLayout::Kind::Integer && type.size == size;
}

/// Null: the messages have no `header.stamp`.
detail::FusionStamp header_stamp_of(const TypeLayout& layout) {
  const TypeLayout::Field* const header = find_field(layout, "header");
  if (header == nullptr || header->type->kind != TypeLayout::Kind::Message) return nullptr;
  const TypeLayout::Field* const stamp = find_field(*header->type, "stamp");
  if (stamp == nullptr) return nullptr;
  const std::size_t offset = header->offset + stamp->offset;
  if (offset % kStampStep != 0 || offset / kStampStep >= kStampPlaces) return nullptr;
  if (is_integer(*stamp->type, 8)) return kStampsAt[offset / kStampStep];
  const auto& parts = stamp->type->fields;
  const bool ros = stamp->type->kind == TypeLayout::Kind::Message && parts.size() == 2 &&
                   is_integer(*parts[0].type, 4) && parts[0].type->is_signed && is_integer(*parts[1].type, 4) &&
                   parts[0].offset == 0 && parts[1].offset == 4;
  return ros ? kRosStampsAt[offset / kStampStep] : nullptr;
}

std::vector<detail::FusionStamp> stamps_of(const FusionPolicy& policy, const std::vector<FusedTopic>& topics) {
  std::vector<detail::FusionStamp> all;
  for (const FusedTopic& t : topics) {
    all.push_back(header_stamp_of(t.type->layout()));
    if (all.back() == nullptr && policy.time() == FusionTime::HeaderStamp)
      throw Error(ErrorCode::InvalidArgument,
                  "fusion: it uses header.stamp, but the messages of '" + t.topic + "' have none among their first " +
                      std::to_string(kStampPlaces * kStampStep) + " bytes",
                  "use time=\"source\" or \"publish\"");
  }
  return all;
}

/// The samples of a set; those that nobody took are dropped.
struct Set {
  std::array<detail::SampleBlock*, kMaxFusionInputs> blocks{};
  Set() = default;
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  ~Set() {
    for (detail::SampleBlock* block : blocks)
      if (block != nullptr) detail::drop(block);
  }
};

/// As detail::Joined of C++.
class Fused {
 public:
  Fused(const FusionPolicy& policy, const std::vector<FusedTopic>& topics, Held callback,
        const detail::ComponentCore& core)
      : fusion_(policy, topics.size(), stamps_of(policy, topics)),
        topics_(topics),
        callback_(std::move(callback)),
        core_(core) {}

  [[nodiscard]] FusionStatistics statistics() const { return fusion_.statistics(); }
  [[nodiscard]] std::size_t holds() const noexcept { return fusion_.capacity() + 1; }
  void watch(std::shared_ptr<detail::FusionWatch> watch) { watch_ = std::move(watch); }

  /// Takes over the reference.
  void take(std::size_t input, detail::SampleBlock* block) {
    const std::int64_t now = detail::now_of(core_);
    fusion_.offer(input, block);
    detail::drop(block);
    bool fired = false;
    for (;;) {
      Set set;
      if (!fusion_.next(set.blocks.data())) break;
      fired = true;
      detail::fusion_fired(*watch_, now);
      call(set);
    }
    if (!fired && detail::fusion_offered(*watch_, input, now)) detail::fusion_is_silent(*watch_, fusion_.statistics());
  }

 private:
  void call(Set& set) const {
    in_python([&] {
      nb::list messages;
      for (std::size_t i = 0; i < topics_.size(); ++i) {
        detail::SampleBlock* const block = std::exchange(set.blocks[i], nullptr);
        if (block == nullptr)
          messages.append(nb::none());
        else
          messages.append(message_of(block, topics_[i].cls.get(), topics_[i].type));
      }
      nb::object result = nb::handle(callback_.get())(*messages);
    });
  }

  detail::FusionCore fusion_;
  std::vector<FusedTopic> topics_;
  Held callback_;
  const detail::ComponentCore& core_;  ///< outlives this object
  std::shared_ptr<detail::FusionWatch> watch_;
};

using std::chrono::nanoseconds;
using Spans = std::vector<std::optional<std::int64_t>>;

FusionTime time_of(int time) { return enumerator(time, FusionTime::HeaderStamp, "the time"); }

void check_number(const char* what, std::size_t number) {
  if (number > kMaxFusionInputs)
    throw Error(ErrorCode::InvalidArgument,
                std::string("fusion: ") + what + " of " + std::to_string(number) + " inputs",
                "a fusion joins 2 to " + std::to_string(kMaxFusionInputs));
}

FusionPolicy primary_of(std::size_t input, std::int64_t max_age, const Spans& max_ages,
                        const std::vector<bool>& required, int time) {
  check_number("max_ages", max_ages.size());
  check_number("required", required.size());
  PrimaryOptions options{.input = input, .max_age = nanoseconds(max_age), .time = time_of(time)};
  for (std::size_t i = 0; i < max_ages.size(); ++i)
    if (max_ages[i]) options.inputs[i].max_age = nanoseconds(*max_ages[i]);
  for (std::size_t i = 0; i < required.size(); ++i) options.inputs[i].required = required[i];
  return primary(options);
}

FusionPolicy approximate_of(std::int64_t tolerance, std::size_t queue, std::int64_t patience,
                            const std::vector<std::int64_t>& min_periods, std::int64_t clock_step, int time) {
  check_number("min_periods", min_periods.size());
  ApproximateOptions options{.tolerance = nanoseconds(tolerance),
                             .queue = queue,
                             .patience = nanoseconds(patience),
                             .time = time_of(time),
                             .clock_step = nanoseconds(clock_step)};
  for (std::size_t i = 0; i < min_periods.size(); ++i) options.inputs[i].min_period = nanoseconds(min_periods[i]);
  return approximate(options);
}

FusionPolicy exact_of(std::size_t queue, std::int64_t clock_step, int time) {
  return exact({.queue = queue, .time = time_of(time), .clock_step = nanoseconds(clock_step)});
}

}  // namespace

void fuse(detail::ComponentCore& core, const FusionPolicy& policy, const FuseOptions& options,
          const std::vector<FusedTopic>& topics, std::uint32_t keeps, Held callback) {
  const auto fused = std::make_shared<Fused>(policy, topics, std::move(callback), core);
  std::vector<std::string> names;
  for (const FusedTopic& t : topics) names.push_back(t.topic);
  fused->watch(detail::declare_fusion(core, policy, options, names, [fused] { return fused->statistics(); }));
  for (std::size_t i = 0; i < topics.size(); ++i)
    detail::declare_input(core, topics[i].topic, payload_of(*topics[i].type, true), topics[i].options,
                          {.depth = options.inputs[i].depth,
                           .keeps = static_cast<std::uint32_t>(fused->holds()) + keeps,
                           .name = options.inputs[i].name},
                          [fused, i](detail::SampleBlock* block) { fused->take(i, block); }, {});
}

void bind_fusion(nb::module_& m) {
  nb::class_<FusionPolicy>(m, "FusionPolicy")
      .def_static("primary", &primary_of, nb::arg("input"), nb::arg("max_age"), nb::arg("max_ages"),
                  nb::arg("required"), nb::arg("time"))
      .def_static("approximate", &approximate_of, nb::arg("tolerance"), nb::arg("queue"), nb::arg("patience"),
                  nb::arg("min_periods"), nb::arg("clock_step"), nb::arg("time"))
      .def_static("exact", &exact_of, nb::arg("queue"), nb::arg("clock_step"), nb::arg("time"))
      .def_prop_ro("name", [](const FusionPolicy& self) { return std::string(self.name()); });
}

}  // namespace cardan::python

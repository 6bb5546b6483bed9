// SPDX-License-Identifier: Apache-2.0
#include "cardan/transforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cardan/detail/forked.hpp"
#include "cardan/error.hpp"
#include "src/transforms/static_transforms.hpp"
#include "src/transforms/transform_feed.hpp"
#include "src/transforms/transform_store.hpp"

namespace cardan {
namespace {

/// False: it would be refused.
bool make(TransformStamped& one, std::string_view parent, std::string_view child, std::int64_t stamp,
          const Transform& place) noexcept {
  if (parent.starts_with('/')) parent.remove_prefix(1);  // as readers do
  if (child.starts_with('/')) child.remove_prefix(1);
  one.header.stamp = stamp;
  one.transform = place;
  return stamp >= 0 && stamp <= detail::kMostStamp && !parent.empty() && !child.empty() && parent != child &&
         is_finite(place) && is_rotation(place.rotation) && one.header.frame_id.assign(parent) &&
         one.child_frame_id.assign(child);
}

}  // namespace

const char* to_string(NoTransform reason) noexcept {
  constexpr std::array kWords{"none",    "not set", "unknown frame", "not connected",
                              "too old", "too new", "loop",          "forked"};
  return kWords[static_cast<std::size_t>(reason)];
}

const char* to_string(TransformProblem::Kind kind) noexcept {
  constexpr std::array kWords{"not finite", "not a rotation",  "no name",        "own parent",
                              "loop",       "two parents",     "two publishers", "static and moving",
                              "late",       "too many frames", "no memory"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string FoundTransform::text() const {
  if (reason_ == NoTransform::Forked)
    return "this is a child of fork(), which gets no transforms — make a new one after exec";
  if (store_ != nullptr && !is_forked_child()) return store_->text_of(*this);
  return "the Transforms was never set — Context::transforms() makes it, in on_start()";
}

Transforms::Transforms(const TransformsOptions& options)
    : store_(std::make_shared<detail::TransformStore>(options)),
      feed_(std::make_shared<detail::TransformFeed>(store_, options.domain)) {}

FoundTransform Transforms::forked() noexcept {
  FoundTransform found;
  found.reason_ = NoTransform::Forked;
  return found;
}

FoundTransform Transforms::lookup(std::string_view target, std::string_view source, std::int64_t stamp) const noexcept {
  return store_ == nullptr ? FoundTransform() : is_forked_child() ? forked() : store_->lookup(target, source, stamp);
}

FoundTransform Transforms::lookup(std::string_view target, std::int64_t target_stamp, std::string_view source,
                                  std::int64_t source_stamp, std::string_view fixed) const noexcept {
  FoundTransform to_fixed = lookup(fixed, source, source_stamp);
  if (!to_fixed) return to_fixed;
  FoundTransform found = lookup(target, fixed, target_stamp);
  if (found) found.transform_ = found.transform_ * to_fixed.transform_;
  return found;
}

FoundTransform Transforms::wait(std::string_view target, std::string_view source, std::int64_t stamp,
                                std::chrono::nanoseconds timeout) const {
  if (store_ == nullptr || is_forked_child()) return lookup(target, source, stamp);
  return store_->wait(target, source, stamp, timeout);
}

std::vector<FrameReport> Transforms::frames() const {
  return store_ == nullptr || is_forked_child() ? std::vector<FrameReport>() : store_->frames();
}
std::vector<TransformProblem> Transforms::problems() const {
  return store_ == nullptr || is_forked_child() ? std::vector<TransformProblem>() : store_->problems();
}
void Transforms::clear() {
  if (store_ != nullptr && !is_forked_child()) store_->clear();
}

TransformOutput::TransformOutput(const PublisherOptions& options)
    : publisher_(std::make_shared<Publisher<TransformMessage>>(detail::with_room_for(kTransforms, 1), options)) {}

bool TransformOutput::publish(std::string_view parent, std::string_view child, std::int64_t stamp,
                              const Transform& place) {
  Loan<TransformMessage> loan = publisher_ != nullptr ? publisher_->loan() : output_.loan();
  TransformStamped one;
  if (!loan || !make(one, parent, child, stamp, place) || !detail::fill(*loan, {&one, 1})) return false;
  loan.set_source_time(stamp);
  return publisher_ != nullptr ? publisher_->publish(std::move(loan)) : output_.publish(std::move(loan));
}

StaticTransform::StaticTransform(std::string_view parent, std::string_view child, const Transform& place,
                                 const PublisherOptions& options)
    : publisher_(detail::with_room_for(kStaticTransforms, 1), options) {
  const TransformStamped one = detail::static_transform(parent, child, place);
  Loan<TransformMessage> loan = publisher_.loan();
  if (detail::fill(*loan, {&one, 1})) publisher_.publish(std::move(loan));
}

namespace detail {

bool waits(const Transforms& transforms) noexcept {
  return transforms.store_ != nullptr && transforms.store_->waits() && !is_forked_child();
}

TransformStamped static_transform(std::string_view parent, std::string_view child, const Transform& place) {
  TransformStamped one;
  if (!make(one, parent, child, 0, place))
    throw Error(ErrorCode::InvalidArgument, fmt::format("the place of frame '{}' in '{}' is not valid", child, parent),
                "use two different names of 1 to 60 bytes, finite numbers, and a quaternion of length 1");
  return one;
}

bool fill(TransformMessage& message, std::span<const TransformStamped> transforms) noexcept {
  if (!message.transforms.try_resize(transforms.size())) return false;
  std::copy(transforms.begin(), transforms.end(), message.transforms.begin());
  return true;
}

}  // namespace detail
}  // namespace cardan

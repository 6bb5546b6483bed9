// SPDX-License-Identifier: Apache-2.0
#include "cardan/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/printable.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/observer_link.hpp"
#include "src/transport/endpoint/foreign.hpp"
#include "src/transport/endpoint/stream_view.hpp"
#include "src/transport/protocol/layout.hpp"
#include "src/transport/protocol/observer_protocol.hpp"

namespace cardan {
namespace detail {

namespace {

StreamView view_of(const std::byte* area, const layout::Header& header, std::uint32_t slots, std::int64_t time_shift,
                   std::size_t most) {
  const auto* front = reinterpret_cast<const Atomic<std::uint64_t>*>(area + header.front_offset);
  const auto* ring = reinterpret_cast<const Atomic<std::uint64_t>*>(area + header.ring_offset);
  return {header,
          {front, ring, &reinterpret_cast<const layout::SlotMeta*>(area + header.slots_offset)->sequence,
           header.slot_stride, header.depth, slots},
          area + header.slots_offset,
          area + header.payload_offset,
          time_shift,
          most};
}

}  // namespace

}  // namespace detail

struct ObservedStream::Parts {
  detail::PublisherArea area;
  std::shared_ptr<detail::ObserverLink> link;
  detail::TopicEntry entry;
  Atomic<std::uint32_t> slots;  ///< that are there: more, once the publisher has committed more
  Atomic<bool> lost{false};     ///< its connection is gone
  std::size_t most;             ///< payload bytes that are copied

  Parts(detail::PublisherArea of, std::shared_ptr<detail::ObserverLink> to, detail::TopicEntry named,
        std::size_t most_copied)
      : area(std::move(of)), link(std::move(to)), entry(std::move(named)), slots(area.slots), most(most_copied) {}
  Parts(Parts&& other) noexcept
      : area(std::move(other.area)),
        link(std::move(other.link)),
        entry(std::move(other.entry)),
        slots(other.slots.load(std::memory_order_relaxed)),
        most(other.most) {}

  [[nodiscard]] const layout::Header& header() const noexcept { return area.header; }
  [[nodiscard]] detail::StreamView view() {
    const std::uint32_t known = slots.load(std::memory_order_relaxed);
    const std::uint32_t there =
        detail::slots_there(area.header, area.hot(), known, area.fd.get(), link->peer().uid).count;
    if (there != known) slots.store(there, std::memory_order_relaxed);
    return detail::view_of(area.mapping.data(), area.header, there, link->time_shift(), most);
  }
  [[nodiscard]] const layout::Hot& hot() const {
    static const layout::Hot kNone{};
    return is_forked_child() ? kNone : area.hot();  // a child of fork() has no mapping
  }
};

ObservedStream::ObservedStream(Parts parts) : parts_(std::make_unique<Parts>(std::move(parts))) {}
ObservedStream::~ObservedStream() = default;

namespace {
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::size_t kStreamsOfOne = 16;  // of one other user
constexpr std::size_t kOthers = 16;        // users
}  // namespace

const std::string& ObservedStream::program() const noexcept { return parts_->link->name(); }
int ObservedStream::pid() const noexcept { return parts_->link->pid(); }
const socket::Peer& ObservedStream::peer() const noexcept { return parts_->link->peer(); }
const std::string& ObservedStream::process() const noexcept { return parts_->entry.process; }
std::uint32_t ObservedStream::serial() const noexcept { return parts_->entry.serial; }
std::string ObservedStream::type() const {
  const auto& name = parts_->header().type_name;
  return detail::printable({name.data(), ::strnlen(name.data(), name.size())});
}
std::uint64_t ObservedStream::type_hash() const noexcept { return parts_->header().type_hash; }
std::string ObservedStream::schema() const {
  if (is_forked_child()) return {};
  return {reinterpret_cast<const char*>(parts_->area.mapping.data() + parts_->header().schema_offset),
          std::min<std::size_t>(parts_->header().schema_bytes, 1U << 20)};
}
std::uint32_t ObservedStream::depth() const noexcept { return parts_->header().depth; }
std::size_t ObservedStream::message_bytes() const noexcept { return parts_->header().message_bytes; }
std::size_t ObservedStream::max_bytes() const noexcept { return parts_->header().payload_bytes; }
Access ObservedStream::access() const noexcept { return parts_->area.access; }
std::uint64_t ObservedStream::published() const noexcept {
  if (is_forked_child()) return 0;
  return protocol::unpack(parts_->view().ring.latest->load(kRelaxed)).sequence;
}
std::uint64_t ObservedStream::bytes() const noexcept { return parts_->hot().bytes.load(kRelaxed); }
std::int64_t ObservedStream::longest_gap_ns() const noexcept { return parts_->hot().longest_gap_ns.load(kRelaxed); }
std::int64_t ObservedStream::last_sign_of_life() const noexcept {
  return detail::our_time(parts_->hot().heartbeat_ns.load(kRelaxed), parts_->link->time_shift());
}
bool ObservedStream::checksum() const noexcept { return parts_->hot().checksum.load(kRelaxed) != 0; }
bool ObservedStream::ended() const noexcept {
  return is_forked_child() || parts_->hot().closed.load(std::memory_order_acquire) != 0 ||
         parts_->lost.load(std::memory_order_acquire);
}

void ObservedStream::stamps(std::vector<Stamp>& stamps) const {
  stamps.clear();
  if (is_forked_child()) return;
  const detail::StreamView view = parts_->view();
  const auto newest = protocol::newest_after<Native>(view.ring, 0);
  if (!newest) return;
  const std::uint32_t slots = std::min(view.ring.slots, 64U);
  const auto look = [&](protocol::Entry e) {
    Stamp stamp{e.sequence, 0};
    const bool whole = protocol::observe<Native>(view.ring, e, [&]() noexcept {
      stamp.publish_ns = detail::our_time(view.meta(e.slot).publish_ns.load(kRelaxed), view.time_shift);
      return true;
    });
    if (whole) stamps.push_back(stamp);
  };
  for (std::uint32_t s = 0; s < slots; ++s) {
    const std::uint64_t sequence = Native::load<Site::O1>(view.ring.sequence(s));
    // Only what `latest` has announced is known to be complete.
    if (sequence != 0 && sequence <= newest->sequence) look({sequence, s});
  }
  if (newest->slot >= slots) look(*newest);
  std::sort(stamps.begin(), stamps.end(), [](const Stamp& a, const Stamp& b) { return a.sequence < b.sequence; });
}

bool ObservedStream::copy_latest(ObservedSample& into, std::uint64_t after) const {
  return !is_forked_child() && parts_->view().copy_latest(into, after);
}

bool ObservedStream::copy_next(ObservedSample& into, std::uint64_t after) const {
  if (is_forked_child()) return false;
  const detail::StreamView view = parts_->view();
  std::uint64_t from = after;
  const bool found = view.copy_picked(into, [&] {
    const auto e = protocol::oldest_after<Native>(view.ring, from);
    // The next try begins after this one, as it will be gone; the newest is always worth another look.
    if (e && protocol::newest_after<Native>(view.ring, e->sequence)) from = e->sequence;
    return e;
  });
  if (found) into.passed_over_ = into.sequence_ - after - 1;
  return found;
}

struct Observer::Watched {
  std::shared_ptr<const ObservedStream> stream;
  std::uint64_t cursor;  ///< of copy_next
  bool ending = false;   ///< goes at the next refresh
};

struct Observer::Problem {
  detail::TopicEntry entry;
  std::string text;
  bool for_good;  ///< refused: asking again would only fill the publisher's log
};

Observer::Observer(std::string topic, ObserverOptions options)
    : topic_(std::move(topic)), options_(std::move(options)), links_(detail::ObserverLinks::of(options_.domain)) {
  refresh();
}
Observer::~Observer() = default;

std::vector<std::shared_ptr<const ObservedStream>> Observer::streams() const {
  std::vector<std::shared_ptr<const ObservedStream>> all;
  for (const Watched& w : watched_) all.push_back(w.stream);
  return all;
}

std::vector<std::string> Observer::problems() const {
  std::vector<std::string> all;
  for (const Problem& p : problems_) all.push_back(p.text);
  return all;
}

bool Observer::refresh() {
  refuse_forked_child();
  const std::lock_guard lock(links_->mutex());
  bool changed = std::erase_if(watched_, [](const Watched& w) { return w.ending; }) != 0;
  for (Watched& w : watched_) {
    if (!w.stream->parts_->link->alive()) w.stream->parts_->lost.store(true, std::memory_order_release);
    w.ending = w.stream->ended();
  }
  const std::vector<Problem> before = std::exchange(problems_, {});
  const std::uint64_t hash = detail::hash_name(topic_);
  // Processes of other users get this much time together, and this many streams.
  std::chrono::nanoseconds others_time = 2 * options_.timeout;
  std::map<uid_t, std::size_t> others;
  for (const Watched& w : watched_)
    if (const uid_t uid = w.stream->parts_->link->peer().uid; detail::is_foreign(uid)) ++others[uid];
  for (const detail::TopicEntry& entry : links_->directory().entries(hash)) {
    if (links_->directory().topic_of(entry) != topic_) continue;
    const auto is_this = [&](const detail::TopicEntry& e) {
      return e.process == entry.process && e.serial == entry.serial;
    };
    if (std::any_of(watched_.begin(), watched_.end(),
                    [&](const Watched& w) { return is_this(w.stream->parts_->entry); }))
      continue;
    const auto known =
        std::find_if(before.begin(), before.end(), [&](const Problem& p) { return p.for_good && is_this(p.entry); });
    if (known != before.end()) {
      problems_.push_back(*known);
      continue;
    }
    using Failure = detail::ObserverLink::Failure;
    const bool foreign = detail::is_foreign(entry.owner);
    if (foreign && (others_time.count() <= 0 || others[entry.owner] >= kStreamsOfOne || others.size() > kOthers))
      continue;
    const std::int64_t began = steady_now();
    const auto link = links_->to(entry.process, foreign ? std::min(options_.timeout, others_time) : options_.timeout);
    std::optional<detail::PublisherArea> area;
    if (link->alive()) area = link->attach(entry, topic_);
    if (foreign) others_time -= std::chrono::nanoseconds(steady_now() - began);
    if (foreign && area) ++others[entry.owner];
    if (!area) {
      if (link->failure() != Failure::Stale && link->failure() != Failure::Gone)
        problems_.push_back(
            {entry, link->why(), link->failure() == Failure::Refused || link->failure() == Failure::NotForUs});
      continue;
    }
    // The peer's user counts, and not whose name led here.
    const std::size_t most = detail::is_foreign(link->peer().uid) ? options_.max_bytes_of_others : layout::kMaxPayload;
    auto stream = std::make_shared<const ObservedStream>(ObservedStream::Parts(std::move(*area), link, entry, most));
    const std::uint64_t published = stream->published();
    watched_.push_back({stream, published > stream->depth() ? published - stream->depth() : 0});
    changed = true;
  }
  for (const Watched& w : watched_)
    if (const auto& parts = *w.stream->parts_; w.stream->max_bytes() > parts.most)
      problems_.push_back(
          {parts.entry,
           fmt::format("{} (pid {}, {}) may publish {} bytes in one message: those of more than {} are not copied",
                       w.stream->program(), w.stream->pid(), socket::name_of_user(w.stream->peer().uid),
                       w.stream->max_bytes(), parts.most),
           false});
  return changed;
}

bool Observer::copy_latest(ObservedSample& into, std::shared_ptr<const ObservedStream>* from) {
  const Watched* best = watched_.size() == 1 ? &watched_.front() : nullptr;
  std::int64_t best_time = 0;
  std::vector<ObservedStream::Stamp> stamps;
  if (watched_.size() > 1) {
    for (const Watched& w : watched_) {
      w.stream->stamps(stamps);
      if (stamps.empty()) continue;
      std::int64_t time = stamps.back().publish_ns;
      if (time > steady_now()) time = 0;  // a lie, which would be the newest for ever
      if (best != nullptr && time <= best_time) continue;
      best = &w;
      best_time = time;
    }
  }
  if (best == nullptr || !best->stream->copy_latest(into)) return false;
  if (from != nullptr) *from = best->stream;
  return true;
}

bool Observer::copy_next(ObservedSample& into, std::shared_ptr<const ObservedStream>* from) {
  for (auto w = watched_.begin(); w != watched_.end(); ++w) {
    if (!w->stream->copy_next(into, w->cursor)) continue;
    w->cursor = into.sequence();
    if (from != nullptr) *from = w->stream;
    std::rotate(watched_.begin(), w + 1,
                watched_.end());  // the others' turn comes first next time, or a busy stream would starve them
    return true;
  }
  return false;
}

std::int64_t latency_percentile(const LatencyHistogram& histogram, double percent) {
  std::uint64_t total = 0;
  for (const auto& [bucket, count] : histogram) total += count;
  if (total == 0) return -1;
  const double wanted = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(total);
  double below = 0;
  LatencyHistogram sorted = histogram;
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [bucket, count] : sorted) {
    const double before = std::exchange(below, below + static_cast<double>(count));
    if (below < wanted || count == 0) continue;
    if (bucket == 0) return layout::latency_of_bucket(0);
    const auto first = static_cast<double>(layout::latency_of_bucket(bucket));
    // As if the bucket's samples lay in it at equal distances; one sample lies in its middle.
    const double half = 0.5 / static_cast<double>(count);
    const double part = std::clamp((wanted - before) / static_cast<double>(count), half, 1 - half);
    return std::llround(first + part * (static_cast<double>(layout::latency_of_bucket(bucket + 1)) - first));
  }
  return layout::latency_of_bucket(sorted.back().first);
}

LatencyHistogram latency_since(const LatencyHistogram& now, const LatencyHistogram& before) {
  std::map<std::uint32_t, std::uint64_t> counts(now.begin(), now.end());
  for (const auto& [bucket, count] : before)
    if (const auto it = counts.find(bucket); it != counts.end()) it->second -= std::min(it->second, count);
  std::erase_if(counts, [](const auto& one) { return one.second == 0; });
  return {counts.begin(), counts.end()};
}

}  // namespace cardan

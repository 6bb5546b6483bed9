// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/lost_streams.hpp"

#include <algorithm>

#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {
namespace {
constexpr std::size_t kLost = 256;
}  // namespace

bool LostStreams::keep(const Offer& offer, Stream& stream, uid_t owner) {
  if (all_.size() >= kLost) return false;
  stream.add_reference();
  Lost& lost = all_[offer];
  lost.stream = std::shared_ptr<Stream>(&stream, [](Stream* s) { s->drop_reference(); });
  lost.owner = owner;
  return true;
}

void LostStreams::process_lives(const std::string& process, const Subscribers& subscribers) {
  for (auto& [offer, lost] : all_) {
    if (offer.process != process || !lost.stream) continue;
    for (SubscriberCore* s : subscribers)
      if (s == offer.subscriber) s->helper().cut_stream(*lost.stream);
    lost.taken = lost.stream->page().cursor.load(std::memory_order_relaxed);
    lost.stream.reset();
  }
}

void LostStreams::process_died(const std::string& process, const Subscribers& subscribers) {
  for (const auto& [offer, lost] : all_) {
    if (offer.process != process || !lost.stream) continue;
    auto end = Stream::End::Lost;
    lost.stream->end.compare_exchange_strong(end, Stream::End::Died, std::memory_order_acq_rel);
    for (SubscriberCore* s : subscribers)
      if (s == offer.subscriber) s->helper().end_stream(lost.stream->id, Stream::End::Died);
  }
  std::erase_if(all_, [&](const auto& x) { return x.first.process == process; });
}

bool LostStreams::is_open(const std::string& process) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const auto& x) { return x.first.process == process && x.second.stream; });
}

std::map<std::string, uid_t> LostStreams::open() const {
  std::map<std::string, uid_t> processes;
  for (const auto& [offer, lost] : all_)
    if (lost.stream) processes.emplace(offer.process, lost.owner);
  return processes;
}

void LostStreams::resume(const Offer& offer, handshake::Attached& answer) {
  const auto it = all_.find(offer);
  if (it == all_.end()) return;
  const std::uint64_t taken = it->second.taken;
  all_.erase(it);
  if (taken == 0 || taken > answer.owed_from) return;
  answer.cursor = taken;
  answer.owed_from = taken;
}

void LostStreams::forget(const SubscriberCore& subscriber) {
  std::erase_if(all_, [&](const auto& x) { return x.first.subscriber == &subscriber; });
}

}  // namespace cardan::detail

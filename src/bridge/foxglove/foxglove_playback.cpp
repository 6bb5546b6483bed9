// SPDX-License-Identifier: Apache-2.0
// A recording that is shown: its time and state, for clients of its own user.
#include <algorithm>
#include <string>

#include "cardan/clock.hpp"
#include "src/bridge/foxglove/foxglove_bridge.hpp"

namespace cardan::bridge::foxglove {
namespace {

constexpr std::int64_t kTimeTold = 50'000'000;                  ///< ns between two times that clients are told
constexpr std::size_t kKeptFrames = 16, kKeptBytes = 64 << 10;  ///< of a topic; one, however large it is
constexpr std::int64_t kLaterThanShown = 100'000'000;  ///< ns by which a message may be later than what is shown

}  // namespace

void FoxgloveBridge::turn(std::chrono::nanoseconds timeout) {
  if (playback_) playback_->check();
  server_->run(timeout);
}

void FoxgloveBridge::finish() {
  if (playback_) is_whole_ = playback_->finish();
}

void FoxgloveBridge::say_what_is_played(ServerInfo& info) const {
  info.time = true;
  info.playback = {playback_->start_ns(), playback_->end_ns()};
  info.metadata["cardan.recording"] = playback_->name();
}

void FoxgloveBridge::show_playback(Viewer& viewer) {
  viewer.push(recording_text(playback_->contents()));
  look_at_playback();  // the others
  viewer.playback(played_, false, {});
  viewer.time(played_.time_ns);
  playback_watch_->arm_at(steady_now() + kTimeTold);
}

void FoxgloveBridge::look_at_playback() {
  const PlaybackState now = playback_->state();
  bool any = false;
  for (auto& [number, viewer] : viewers_) {
    if (!viewer->is_ours()) continue;
    any = true;
    if (now.status != played_.status || now.speed != played_.speed) viewer->playback(now, false, {});
    if (now.time_ns != played_.time_ns) viewer->time(now.time_ns);
    viewer->flush();
  }
  played_ = now;
  if (any) playback_watch_->arm_at(steady_now() + kTimeTold);
}

void FoxgloveBridge::played_otherwise(Viewer& by, bool did_seek, const std::string& request) {
  played_ = playback_->state();
  if (did_seek)
    for (auto& [id, channel] : channels_) channel.latched.clear();  // of another time
  for (auto& [number, viewer] : viewers_) {
    if (!viewer->is_ours()) continue;
    viewer->playback(played_, did_seek, viewer == &by ? request : std::string());
    viewer->time(played_.time_ns);
    if (viewer != &by) viewer->flush();  // it does so itself, when it has handled all
  }
}

void FoxgloveBridge::keep_for_a_pause(Channel& channel, const FramePtr& frame) {
  auto& kept = channel.latched;
  kept.push_back(frame);
  std::size_t bytes = 0;
  for (const FramePtr& one : kept) bytes += one->size();
  while (kept.size() > 1 && (kept.size() > kKeptFrames || bytes > kKeptBytes)) {
    bytes -= kept.front()->size();
    kept.pop_front();
  }
}

bool FoxgloveBridge::is_later(const OutgoingFrame& frame) const {
  // A file may say anything of its times.
  return playback_ && std::max<std::int64_t>(frame.publish_ns, 0) - kLaterThanShown > playback_->state().time_ns;
}

}  // namespace cardan::bridge::foxglove

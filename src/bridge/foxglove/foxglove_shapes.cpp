// SPDX-License-Identifier: Apache-2.0
// Pictures and points for pages. Of each channel one message is in work and the newest waits, whatever the number of
// pages: what one of them gets, all get that have the same wish and are ready. What was made once of the newest message
// is given again, so that a client that subscribes and unsubscribes in a loop makes no work.
#include <algorithm>
#include <utility>
#include <vector>

#include "src/bridge/foxglove/foxglove_bridge.hpp"

namespace cardan::bridge::foxglove {

void FoxgloveBridge::forget_unwanted_shapes(Channel& channel) {
  if (std::none_of(channel.viewers.begin(), channel.viewers.end(),
                   [&](Viewer* viewer) { return viewer->wish(channel.info.id) != nullptr; }))
    channel.shapes.let_go();
}

void FoxgloveBridge::offer_for_shapes(Channel& channel, const FramePtr& frame) {
  bool wanted = false, all_had_it = true;
  for (Viewer* const viewer : channel.viewers)
    if (const Viewer::Wish* const wish = viewer->wish(channel.info.id)) {
      wanted = true;
      all_had_it = all_had_it && wish->given == channel.shapes.number();
    }
  if (!wanted) return;
  // Pages set the pace: what comes faster is left out before it is touched.
  if (channel.shapes.newest() && channel.shapes.newest() != frame && !all_had_it) channel.out.thinned();
  channel.shapes.offer(frame);
  make_shapes(channel);
}

void FoxgloveBridge::give_shape(Viewer& viewer, Channel& channel, std::uint64_t number, const FramePtr& made) {
  Viewer::Wish& wish = *viewer.wish(channel.info.id);
  wish.ready = false;
  wish.given = number;
  viewer.offer(channel, made);
  viewer.flush();
}

void FoxgloveBridge::make_shapes(Channel& channel) {
  const ShapeShelf& shelf = channel.shapes;
  Shaper::Job job{.channel = channel.info.id, .number = shelf.number(), .frame = shelf.newest()};
  for (Viewer* const viewer : channel.viewers) {
    const Viewer::Wish* const wish = viewer->wish(channel.info.id);
    if (wish == nullptr || !wish->ready || wish->given >= job.number) continue;
    if (const FramePtr made = shelf.find(wish->shape))
      give_shape(*viewer, channel, job.number, made);
    else if (std::find(job.shapes.begin(), job.shapes.end(), wish->shape) == job.shapes.end())
      job.shapes.push_back(wish->shape);
  }
  if (channel.making || !job.frame || job.shapes.empty()) return;
  shaper_->start(std::move(job));
  channel.making = true;
}

void FoxgloveBridge::look_at_shapes() {
  const std::vector<Shaper::Made> all = shaper_->results();
  for (const Shaper::Made& made : all)
    if (Channel* const there = channel(made.channel)) there->making = false;
  for (const Shaper::Made& made : all) {
    Channel* const there = channel(made.channel);
    if (there == nullptr) continue;
    for (const auto& [shape, frame] : made.shapes) there->shapes.keep(made.number, shape, frame);
    for (Viewer* const viewer : there->viewers) {
      const Viewer::Wish* const wish = viewer->wish(made.channel);
      if (wish == nullptr || !wish->ready || wish->given >= made.number) continue;
      for (const auto& [shape, frame] : made.shapes) {
        if (shape != wish->shape) continue;
        give_shape(*viewer, *there, made.number, frame);
        break;
      }
    }
    if (!made.shapes.empty()) make_shapes(*there);  // none: there was no memory for it, and the next one may fit
  }
  shapes_watch_->arm();
}

}  // namespace cardan::bridge::foxglove

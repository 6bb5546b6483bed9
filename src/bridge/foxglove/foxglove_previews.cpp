// SPDX-License-Identifier: Apache-2.0
// Pictures and points for pages. Of each channel one message is in work and the newest waits, whatever the number of
// pages: all pages that have the same wish and are ready get the same one. A preview of the newest message is made once
// and given again, so that a client that subscribes and unsubscribes in a loop makes no work.
#include <algorithm>
#include <utility>
#include <vector>

#include "src/bridge/foxglove/foxglove_bridge.hpp"

namespace cardan::bridge::foxglove {

void FoxgloveBridge::forget_unwanted_previews(Channel& channel) {
  if (std::none_of(channel.viewers.begin(), channel.viewers.end(),
                   [&](Viewer* viewer) { return viewer->wish(channel.info.id) != nullptr; }))
    channel.previews.let_go();
}

void FoxgloveBridge::offer_for_previews(Channel& channel, const FramePtr& frame) {
  bool wanted = false, all_had_it = true;
  for (Viewer* const viewer : channel.viewers)
    if (const Viewer::Wish* const wish = viewer->wish(channel.info.id)) {
      wanted = true;
      all_had_it = all_had_it && wish->given == channel.previews.number();
    }
  if (!wanted) return;
  // Pages set the pace: what comes faster is left out before it is touched.
  if (channel.previews.newest() && channel.previews.newest() != frame && !all_had_it) channel.out.thinned();
  channel.previews.offer(frame);
  make_previews(channel);
}

void FoxgloveBridge::give_preview(Viewer& viewer, Channel& channel, std::uint64_t number, const FramePtr& made) {
  Viewer::Wish& wish = *viewer.wish(channel.info.id);
  wish.ready = false;
  wish.given = number;
  viewer.offer(channel, made);
  viewer.flush();
}

void FoxgloveBridge::make_previews(Channel& channel) {
  const PreviewCache& cache = channel.previews;
  PreviewMaker::Job job{.channel = channel.info.id, .number = cache.number(), .frame = cache.newest()};
  for (Viewer* const viewer : channel.viewers) {
    const Viewer::Wish* const wish = viewer->wish(channel.info.id);
    if (wish == nullptr || !wish->ready || wish->given >= job.number) continue;
    if (const FramePtr made = cache.find(wish->preview))
      give_preview(*viewer, channel, job.number, made);
    else if (std::find(job.previews.begin(), job.previews.end(), wish->preview) == job.previews.end())
      job.previews.push_back(wish->preview);
  }
  if (channel.making || !job.frame || job.previews.empty()) return;
  preview_maker_->start(std::move(job));
  channel.making = true;
}

void FoxgloveBridge::look_at_previews() {
  const std::vector<PreviewMaker::Made> all = preview_maker_->results();
  for (const PreviewMaker::Made& made : all)
    if (Channel* const there = channel(made.channel)) there->making = false;
  for (const PreviewMaker::Made& made : all) {
    Channel* const there = channel(made.channel);
    if (there == nullptr) continue;
    for (const auto& [preview, frame] : made.previews) there->previews.keep(made.number, preview, frame);
    for (Viewer* const viewer : there->viewers) {
      const Viewer::Wish* const wish = viewer->wish(made.channel);
      if (wish == nullptr || !wish->ready || wish->given >= made.number) continue;
      for (const auto& [preview, frame] : made.previews) {
        if (preview != wish->preview) continue;
        give_preview(*viewer, *there, made.number, frame);
        break;
      }
    }
    if (!made.previews.empty()) make_previews(*there);  // none: there was no memory for it, and the next one may fit
  }
  previews_watch_->arm();
}

}  // namespace cardan::bridge::foxglove

// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/segment.hpp"

#include <utility>

#include "cardan/error.hpp"

namespace cardan::record {

Segment::Segment(std::uint64_t number, std::unique_ptr<RecordingFile> file, const SeamLayout::Preamble& preamble,
                 IoQueue& queue)
    : number_(number), file_(std::move(file)), layout_(preamble), queue_(queue), committed_end_(layout_.end()) {
  const mcap::View blocks = layout_.preamble();
  file_->write_now(0, blocks);
  committed_bytes_ = blocks.size();
  durable_ = {.bytes = 0, .end = committed_end_};
}

void Segment::write(const FrameChunk& frame, AnySample sample, const Share& share, std::int64_t publish_ns) {
  Extent extent;
  extent.place = layout_.place(frame);
  extent.sample = std::move(sample);
  extent.shares.push_back(share);
  extent.oldest_publish_ns = publish_ns;
  submit(std::move(extent), {});
}

void Segment::write(std::unique_ptr<Batch> batch, std::vector<Share> shares, std::int64_t oldest_publish_ns) {
  Extent extent;
  extent.place = layout_.place(*batch);
  extent.batch = std::move(batch);
  extent.shares = std::move(shares);
  extent.oldest_publish_ns = oldest_publish_ns;
  const mcap::View body = extent.batch->body().blocks();
  submit(std::move(extent), body);
}

void Segment::submit(Extent extent, mcap::View body) {
  const std::uint64_t number = first_ + extents_.size();
  DiskWrite write{.fd = file_->fd(), .offset = extent.place.body_offset};
  write.add(extent.place.payload.data(), extent.place.payload.size());
  const mcap::View tail = extent.place.tail.blocks();
  write.add(tail.data(), tail.size());
  write.add(body.data(), body.size());
  extent.body_bytes = write.bytes();
  bytes_under_way_ += extent.body_bytes;
  ++under_way_;
  extents_.push_back(std::move(extent));
  queue_.write(id_of(number, Kind::Body), write);
}

void Segment::sync() {
  if (syncing_ || error_ != 0 || queue_.room() < 2) return;
  syncing_ = true;
  syncing_to_ = {committed_, committed_bytes_, committed_end_};
  being_synced_ = std::exchange(not_durable_, {});
  ++under_way_;
  queue_.sync(id_of(0, Kind::Sync), file_->fd());
}

void Segment::completed(const DiskDone& done, const Listener& listener) {
  --under_way_;
  const auto kind = static_cast<Kind>(done.id & 3U);
  if (kind == Kind::Sync) {
    if (done.error == 0) {
      durable_ = std::move(syncing_to_);
      being_synced_.clear();
    }
    if (done.error != 0 || queue_.room() == 0) {
      syncing_ = false;
    } else {
      mark_ = layout_.mark(durable_.bytes);
      DiskWrite write{.fd = file_->fd(), .durable = true};
      write.add(mark_.data(), mark_.size());
      ++under_way_;
      queue_.write(id_of(0, Kind::Mark), write);
    }
  } else if (kind == Kind::Mark) {
    syncing_ = false;
  } else {
    const std::uint64_t number = (done.id >> 2) & ((std::uint64_t{1} << 38) - 1);
    Extent& extent = extents_[static_cast<std::size_t>(number - first_)];
    if (kind == Kind::Body) {
      bytes_under_way_ -= extent.body_bytes;
      extent.body_done = done.error == 0;
      listener.body_written(extent, done);
      extent.sample.reset();
    } else {
      extent.head_done = done.error == 0;
      extent.head_under_way = false;
    }
  }
  if (done.error == 0) return;
  fail(done.error);
  if (kind == Kind::Sync || kind == Kind::Mark) take_back(listener);
}

// The kernel tells of bytes that it could not write once, and then has forgotten them: the next sync succeeds without
// them. So the file ends where the last one that succeeded found it.
void Segment::take_back(const Listener& listener) {
  sync_failed_ = true;
  committed_ = durable_.chunks;
  committed_bytes_ = durable_.bytes;
  committed_end_ = durable_.end;
  for (Shares* const shares : {&being_synced_, &not_durable_}) {
    for (const auto& [topic, share] : *shares) listener.taken_back(share);
    shares->clear();
  }
}

std::vector<Share> Segment::not_durable() const {
  std::vector<Share> all;
  for (const Shares* const shares : {&being_synced_, &not_durable_})
    for (const auto& [topic, share] : *shares) all.push_back(share);
  return all;
}

void Segment::doubt() noexcept {
  try {
    file_->write_now(0, layout_.mark_of_nowhere(durable_.bytes).blocks());
    file_->sync();
  } catch (const Error&) {  // the disk has gone
  }
}

void Segment::go_on(const Listener& listener) {
  for (std::size_t i = 0; i < extents_.size() && error_ == 0; ++i) {
    Extent& extent = extents_[i];
    if (!extent.body_done) break;  // the seam of this one is still being written, and so is what follows it
    if (extent.head_done || extent.head_under_way) continue;
    if (queue_.room() == 0) break;
    DiskWrite write{.fd = file_->fd(), .offset = extent.place.head_offset};
    const mcap::View head = extent.place.head.blocks();
    write.add(head.data(), head.size());
    extent.head_under_way = true;
    ++under_way_;
    queue_.write(id_of(first_ + i, Kind::Head), write);
  }
  while (!extents_.empty() && extents_.front().head_done && !sync_failed_) {
    Extent& extent = extents_.front();
    ++committed_;
    committed_end_ = std::move(extent.place.end);
    committed_bytes_ = extent.place.body_offset + extent.body_bytes;
    for (const Share& share : extent.shares) {
      Share& all = not_durable_.try_emplace(share.topic, Share{.topic = share.topic}).first->second;
      all.messages += share.messages;
      all.bytes += share.bytes;
    }
    listener.committed(extent);
    extents_.pop_front();
    ++first_;
  }
  if (error_ == 0 || under_way_ != 0) return;
  for (Extent& extent : extents_) listener.lost(extent, error_);
  first_ += extents_.size();
  extents_.clear();
}

SeamLayout::Trailer Segment::trailer(const std::vector<mcap::Metadata>& metadata) const {
  return layout_.finish(committed_, committed_end_, metadata);
}

}  // namespace cardan::record

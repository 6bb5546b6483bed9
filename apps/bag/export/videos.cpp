// SPDX-License-Identifier: Apache-2.0
// Topics that become a video.
#include <optional>

#include "apps/bag/export/frames.hpp"
#include "apps/bag/export/table_file.hpp"
#include "apps/bag/export/topic_output.hpp"
#include "cardan/error.hpp"
#include "src/mcap/new_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

const RawImage& picture_of(const ImageView& view) { return view.image; }
std::span<const std::byte> picture_of(const CompressedImageView& view) { return view.data; }

template <class View>
class Video final : public TopicOutput {
 public:
  Video(ExportPlace place, double rate)
      : place_(std::move(place)),
        partial_(place_.path(".partial.mp4")),
        video_(image_library().video(partial_, rate)) {}
  ~Video() override {
    video_.reset();
    std::error_code ignored;
    if (made_) fs::remove(partial_, ignored);
  }
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;

  void take(const mcap::MessageView& view) override {
    if (++tally_.messages == 1) made_ = mcap::make_new_file(partial_);  // which OpenCV fills
    data_.assign(view.message.data.begin(), view.message.data.end());   // aligned, as 16-bit pixels should be
    View message;
    const CdrResult read = read_message(data_, message);
    const std::string cause = read ? video_->add(picture_of(message)) : cause_of(read);
    if (!cause.empty()) return tally_.skip(cause, view.message.log_time);
    if (!table_) table_.emplace(place_.path(".csv"), place_.replace, frame_columns(own_columns(View{}), "frame"));
    Cells cells = frame_cells(view.message, message.header, own_cells(message));
    cells.push_back(std::to_string(frames_++));
    table_->row(cells);
  }

  void finish() override {
    if (frames_ == 0) return;
    if (const std::string cause = video_->finish(); !cause.empty())
      throw Error(ErrorCode::System, "the video " + partial_ + " is not whole: " + cause,
                  "make room on the disk, or use --images png");
    std::error_code error;
    if (!place_.replace && fs::exists(fs::symlink_status(place_.path(".mp4"), error)))
      throw Error(ErrorCode::InvalidArgument, place_.path(".mp4") + " already exists", "name another folder");
    fs::rename(partial_, place_.path(".mp4"), error);
    if (error)
      throw Error(ErrorCode::System, "cannot write " + place_.path(".mp4") + ": " + error.message(),
                  "check the folder");
    made_.reset();
    frames_ = 0;
    table_->finish();
    table_.reset();
    tally_.files = 2;
  }

  [[nodiscard]] std::string as() const override { return "mp4"; }
  [[nodiscard]] std::set<std::string> files() const override { return {place_.stem + ".mp4", place_.stem + ".csv"}; }

 private:
  ExportPlace place_;
  std::string partial_;
  std::unique_ptr<VideoFile> video_;
  std::optional<TableFile> table_;
  mcap::Bytes data_;
  std::uint64_t frames_ = 0;
  Fd made_;  ///< `partial_`, from when on it is ours until it has its name
};

}  // namespace

std::unique_ptr<TopicOutput> image_video(ExportPlace place, double rate) {
  return std::make_unique<Video<ImageView>>(std::move(place), rate);
}

std::unique_ptr<TopicOutput> compressed_image_video(ExportPlace place, double rate) {
  return std::make_unique<Video<CompressedImageView>>(std::move(place), rate);
}

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
// Topics that become one file a frame.
#include <algorithm>
#include <optional>

#include "apps/bag/export/frames.hpp"
#include "apps/bag/export/names.hpp"
#include "apps/bag/export/pcd.hpp"
#include "apps/bag/export/table_file.hpp"
#include "apps/bag/export/topic_output.hpp"
#include "cardan/error.hpp"
#include "src/base/output_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

/// The content of a frame's file, or the reason why it has none.
struct Made {
  std::string cause{};
  const char* extension = "";
  std::vector<unsigned char> picture{};
  mcap::Bytes bytes{};
  mcap::View as_it_is{};

  [[nodiscard]] mcap::View content() const {
    if (!as_it_is.empty()) return as_it_is;
    return bytes.empty() ? std::as_bytes(std::span(picture)) : mcap::View(bytes);
  }
};

const char* extension_of(const PictureOptions& options) { return options.as == Picture::Png ? ".png" : ".jpg"; }

struct ImageMaker {
  using View = ImageView;
  PictureOptions options;
  const ImageLibrary* library = &image_library();

  [[nodiscard]] std::string as() const { return extension_of(options) + 1; }
  [[nodiscard]] Made operator()(const ImageView& view) const {
    Made made{.extension = extension_of(options)};
    made.cause = library->encode(view.image, options, made.picture);
    return made;
  }
};

bool begins_with(mcap::View data, std::initializer_list<unsigned char> bytes) {
  return data.size() >= bytes.size() && std::equal(bytes.begin(), bytes.end(), data.begin(),
                                                   [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

/// JPEG and PNG need no OpenCV.
struct CompressedImageMaker {
  using View = CompressedImageView;
  PictureOptions options;

  [[nodiscard]] std::string as() const { return "jpg or png, as recorded"; }
  [[nodiscard]] Made operator()(const CompressedImageView& view) const {
    if (begins_with(view.data, {0xff, 0xd8, 0xff})) return {.extension = ".jpg", .as_it_is = view.data};
    if (begins_with(view.data, {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}))
      return {.extension = ".png", .as_it_is = view.data};
    Made made{.extension = extension_of(options)};
    try {
      made.cause = image_library().encode(view.data, options, made.picture);
    } catch (const Error& e) {
      made.cause = e.cause();
    }
    if (!made.cause.empty())
      made.cause = "format '" + std::string(view.format.substr(0, 32)) + "', neither JPEG nor PNG: " + made.cause;
    return made;
  }
};

struct CloudMaker {
  using View = CloudView;
  [[nodiscard]] std::string as() const { return "pcd"; }
  [[nodiscard]] Made operator()(const CloudView& view) const {
    Made made{.extension = ".pcd"};
    made.cause = pcd_of(view, made.bytes);
    return made;
  }
};

template <class Maker>
class FrameFiles final : public TopicOutput {
 public:
  FrameFiles(ExportPlace place, Maker maker, Workers& workers)
      : place_(std::move(place)), maker_(std::move(maker)), workers_(workers) {}

  void take(const mcap::MessageView& view) override {
    if (++tally_.messages == 1) make_output_folder(place_.path(""));
    workers_.give([this, message = view.message, name = names_.next(view.message.log_time),
                   data = mcap::Bytes(view.message.data.begin(), view.message.data.end())]() -> Workers::Then {
      return [this, time = message.log_time, frame = make(message, name, data)] { done(frame, time); };
    });
  }

  void finish() override {
    if (table_) table_->finish();
    if (table_) ++tally_.files;
    table_.reset();
    std::error_code ignored;
    if (tally_.messages != 0) fs::remove(place_.path(""), ignored);  // an empty one only
  }

  [[nodiscard]] std::string as() const override { return maker_.as(); }
  [[nodiscard]] std::set<std::string> files() const override { return {place_.stem, place_.stem + ".csv"}; }

 private:
  using View = typename Maker::View;

  /// A frame whose file is there; or why it is not.
  struct Frame {
    std::string cause{};
    Cells cells{};
  };

  /// On a thread of the workers.
  Frame make(const mcap::Message& message, const std::string& name, const mcap::Bytes& data) const {
    View view;
    const CdrResult read = read_message(data, view);
    const Made made = read ? maker_(view) : Made{.cause = cause_of(read)};
    if (!made.cause.empty()) return {.cause = made.cause};
    const std::string file = place_.stem + "/" + name + made.extension;
    mcap::NewFile out((place_.folder / file).string(), place_.replace);
    out.write(made.content());
    out.finish(false);
    Frame frame{.cells = frame_cells(message, view.header, own_cells(view))};
    frame.cells.push_back(file);
    return frame;
  }

  void done(const Frame& frame, std::uint64_t time) {
    if (!frame.cause.empty()) return tally_.skip(frame.cause, time);
    if (!table_) table_.emplace(place_.path(".csv"), place_.replace, frame_columns(own_columns(View{}), "file"));
    table_->row(frame.cells);
    ++tally_.files;
  }

  ExportPlace place_;
  Maker maker_;
  Workers& workers_;
  FrameNames names_;
  std::optional<TableFile> table_;
};

}  // namespace

std::unique_ptr<TopicOutput> image_files(ExportPlace place, PictureOptions options, Workers& workers) {
  return std::make_unique<FrameFiles<ImageMaker>>(std::move(place), ImageMaker{options}, workers);
}

std::unique_ptr<TopicOutput> compressed_image_files(ExportPlace place, PictureOptions options, Workers& workers) {
  return std::make_unique<FrameFiles<CompressedImageMaker>>(std::move(place), CompressedImageMaker{options}, workers);
}

std::unique_ptr<TopicOutput> cloud_files(ExportPlace place, Workers& workers) {
  return std::make_unique<FrameFiles<CloudMaker>>(std::move(place), CloudMaker{}, workers);
}

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cardan/configuration.hpp"
#include "cardan/publisher.hpp"
#include "cardan/transforms.hpp"

namespace cardan::launcher {

/// Publishes the transforms of a configuration as long as it exists: who comes later gets them too. One thread.
class PlacedFrames {
 public:
  /// Makes all that publish() needs. Throws Error: as Publisher; InvalidArgument (a transform is wrong); then all is as
  /// before. Nothing is published yet. Earlier publications stay, unless there are many more than before: then they
  /// have no publisher until publish().
  void prepare(const config::Configuration& configuration);
  /// Publishes those of the last prepare() if they are others than before. Never blocks.
  void publish() noexcept;

 private:
  /// A publisher with room for this number of transforms.
  struct Made {
    Topic<TransformMessage> topic = kStaticTransforms;
    std::string domain{};
    std::size_t room = 0;
  };
  void make(Made made);
  void grow(Made made);

  std::optional<Publisher<TransformMessage>> publisher_;
  Made made_;
  std::vector<TransformStamped> next_;
  bool changed_ = false;  ///< next_ is not published yet
};

}  // namespace cardan::launcher

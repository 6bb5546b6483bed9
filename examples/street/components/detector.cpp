// SPDX-License-Identifier: Apache-2.0
// The pedestrian detector.
#include "examples/street/components/finder.hpp"

namespace cardan::street {

class Detector : public Finder<Image, Detections2D, PeopleStep> {
  void on_start(Context& context) override { declare(context, kImageHop, kImages, kPeople); }
};
CARDAN_COMPONENT(Detector)

}  // namespace cardan::street

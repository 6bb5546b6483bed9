// SPDX-License-Identifier: Apache-2.0
// The pedestrian detector: looks at the freshest picture where it lies. It is slower than the camera may be: pictures
// that came meanwhile are skipped, and counted.
#include <opencv2/core.hpp>

#include "examples/street/cardan_bus.hpp"
#include "examples/street/drawing.hpp"
#include "examples/street/people_detector.hpp"
#include "examples/street/role_context.hpp"
#include "examples/street/socket_bus.hpp"

namespace cardan::street {
namespace {
constexpr std::size_t kMost = 64;
}

void run_detector(const RoleOptions& options, const Reporter& report) {
  const Topic<Image> images{kHopList[kImageHop].topic, {}};
  const Topic<Detections2D> people_topic{kHopList[kPeopleHop].topic, {.max_bytes = kMost * sizeof(Detection2D)}};
  PeopleDetector detector;
  cv::Mat best;
  std::vector<Person> best_people;
  with_bus<CardanBus, SocketBus>(options, [&](auto& bus) {
    using Bus = std::remove_reference_t<decltype(bus)>;
    typename Bus::template Input<Image> in(bus, images);
    typename Bus::template Output<Detections2D> out(bus, people_topic);
    report.ready("OpenCV HOG");
    while (auto frame = bus.next(in)) {
      report.received(kImageHop, frame, frame->data.size());
      const cv::Mat picture = frame->mat();
      const auto people = detector.detect(picture);
      auto found = out.loan();
      found->header = frame->header;
      found->header.sequence = frame.sequence();
      for (const Person& p : people.first(std::min(people.size(), kMost))) {
        Detection2D d;
        d.label = "pedestrian";
        d.score = static_cast<double>(p.score);
        d.center_x = static_cast<double>(p.x + p.width / 2);
        d.center_y = static_cast<double>(p.y + p.height / 2);
        d.size_x = static_cast<double>(p.width);
        d.size_y = static_cast<double>(p.height);
        found->detections.push_back(d);
      }
      out.publish(std::move(found));
      if (report.wants_picture() && (best.empty() || people.size() > best_people.size())) {
        picture.copyTo(best);  // after the work: the sample itself is given back
        best_people.assign(people.begin(), people.end());
      }
    }
  });
  if (!best.empty()) report.picture(draw_people(best, best_people));
}

}  // namespace cardan::street

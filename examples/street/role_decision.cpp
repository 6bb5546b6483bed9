// SPDX-License-Identifier: Apache-2.0
// The decision: whenever one of the two sensors' findings comes in, brake or go, from the newest of both.
#include "examples/street/cardan_bus.hpp"
#include "examples/street/decision.hpp"
#include "examples/street/fusion.hpp"
#include "examples/street/role_context.hpp"
#include "examples/street/socket_bus.hpp"

namespace cardan::street {
namespace {

Obstacle obstacle_of(const Detection3D& d) {
  Obstacle o{};
  const auto span = [](double centre, double size, float& low, float& high) {
    low = static_cast<float>(centre - size / 2);
    high = static_cast<float>(centre + size / 2);
  };
  span(d.center.position.x, d.size.x, o.x0, o.x1);
  span(d.center.position.y, d.size.y, o.y0, o.y1);
  span(d.center.position.z, d.size.z, o.z0, o.z1);
  o.kind = Obstacle::Kind::Object;
  for (const auto kind : {Obstacle::Kind::Pedestrian, Obstacle::Kind::Vehicle, Obstacle::Kind::Structure}) {
    if (d.label == kind_name(kind)) o.kind = kind;
  }
  return o;
}

}  // namespace

void run_decision(const RoleOptions& options, const Reporter& report) {
  const Topic<Detections2D> people_topic{kHopList[kPeopleHop].topic, {}};
  const Topic<Detections3D> obstacles_topic{kHopList[kObstaclesHop].topic, {}};
  const Topic<Decision> decision_topic{kDecisionTopic, {}};
  Fusion fusion;
  std::vector<Person> people;
  std::vector<Obstacle> obstacles;
  with_bus<CardanBus, SocketBus>(options, [&](auto& bus) {
    using Bus = std::remove_reference_t<decltype(bus)>;
    typename Bus::template Input<Detections2D> people_in(bus, people_topic);
    typename Bus::template Input<Detections3D> obstacles_in(bus, obstacles_topic);
    typename Bus::template Output<Decision> out(bus, decision_topic);
    report.ready("brake or go");

    const auto decide = [&](HopIndex sensor, const Header& header) {
      const Verdict verdict = fusion.decide(steady_now());
      auto decision = out.loan();
      decision->header = header;
      decision->brake = verdict.brake;
      decision->distance = verdict.distance;
      decision->people = static_cast<std::uint32_t>(people.size());
      decision->obstacles = static_cast<std::uint32_t>(obstacles.size());
      static_cast<void>(decision->reason.assign(verdict.text()));
      out.publish(std::move(decision));
      report.decided(sensor, header.sequence, steady_now(), verdict.brake, verdict.distance, verdict.text());
    };
    while (true) {
      const auto [seen, found] = bus.next_of(people_in, obstacles_in);
      if (!seen && !found) break;
      if (seen) {
        people.clear();
        for (const Detection2D& d : seen->detections) {
          people.push_back({static_cast<float>(d.center_x - d.size_x / 2),
                            static_cast<float>(d.center_y - d.size_y / 2), static_cast<float>(d.size_x),
                            static_cast<float>(d.size_y), static_cast<float>(d.score)});
        }
        fusion.see_people(people, options.image_width, steady_now());
      }
      if (found) {
        obstacles.clear();
        for (const Detection3D& d : found->detections) obstacles.push_back(obstacle_of(d));
        fusion.see_obstacles(obstacles, steady_now());
      }
      if (seen) decide(kImageHop, seen->header);
      if (found) decide(kCloudHop, found->header);
      if (seen) report.received(kPeopleHop, seen, seen->detections.size() * sizeof(Detection2D));
      if (found) report.received(kObstaclesHop, found, found->detections.size() * sizeof(Detection3D));
    }
  });
}

}  // namespace cardan::street

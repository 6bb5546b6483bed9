// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/sensors.hpp"

#include <algorithm>

namespace cardan::bench {

std::string names_of_sensors() {
  std::string names;
  for (const Sensor& sensor : kSensors) {
    if (!names.empty()) names += ',';
    names += sensor.name;
  }
  return names;
}

const Sensor* find_sensor(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(kSensors.begin(), kSensors.end(), [&](const Sensor& s) { return s.name == name; });
  return found == kSensors.end() ? nullptr : found;
}

}  // namespace cardan::bench

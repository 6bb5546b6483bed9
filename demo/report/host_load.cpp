// SPDX-License-Identifier: Apache-2.0
#include "demo/report/host_load.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace cardan::street {

HostLoad HostLoad::parse(std::string_view text, double ticks) {
  std::istringstream in{std::string(text.substr(0, text.find('\n')))};
  std::string name;
  std::array<double, 8> fields{};  // user nice system idle iowait irq softirq steal
  in >> name;
  for (double& field : fields) in >> field;
  if (!in || name != "cpu" || !(ticks > 0)) return {};
  HostLoad load;
  for (const double field : fields) load.all += field / ticks;
  load.stolen = fields[7] / ticks;
  load.busy = load.all - (fields[3] + fields[4]) / ticks - load.stolen;
  return load;
}

HostLoad HostLoad::now() {
  std::ifstream in("/proc/stat");
  std::string line;
  std::getline(in, line);
  return parse(line, static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

std::string disturbance(const HostLoad& before, const HostLoad& after, double own) {
  const double all = after.all - before.all;
  if (!(all > 0)) return {};
  const double others = 100 * std::max(0.0, after.busy - before.busy - own) / all;
  const double stolen = 100 * std::max(0.0, after.stolen - before.stolen) / all;
  if (others <= 15 && stolen <= 2) return {};
  return fmt::format(
      "other programs used {:.0f} % of the processors, and the host of this virtual machine took {:.0f} %", others,
      stolen);
}

}  // namespace cardan::street

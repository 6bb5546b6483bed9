// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace cardan::bench {

/// Where values lie on a line of a plot.
class Axis {
 public:
  /// Covers what is finite of `values`. `zero`: from 0 on, if it is linear.
  Axis(const std::vector<double>& values, bool logarithmic, double from, double to, bool zero = false)
      : logarithmic_(logarithmic), from_(from), to_(to) {
    bool any = false;
    for (const double v : values) {
      if (!std::isfinite(v)) continue;
      // What has no logarithm is drawn at the lower end.
      if (logarithmic_ && v <= 0) continue;
      low_ = any ? std::min(low_, v) : v;
      high_ = any ? std::max(high_, v) : v;
      any = true;
    }
    if (!any) {
      logarithmic_ = false;
      low_ = 0;
      high_ = 1;
    }
    if (logarithmic_) {
      low_ /= 1.1;
      high_ *= 1.1;
    } else {
      if (zero) low_ = std::min(low_, 0.0);
      const double margin = high_ > low_ ? 0.04 * (high_ - low_) : std::max(std::fabs(high_) * 0.1, 0.5);
      high_ += margin;
      if (!zero || low_ < 0) low_ -= margin;
    }
  }

  [[nodiscard]] double at(double value) const {
    const double share = logarithmic_ ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_)
                                      : (value - low_) / (high_ - low_);
    return from_ + std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0) * (to_ - from_);
  }
  /// At most a dozen round values.
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    if (logarithmic_) {
      const double decades = std::log10(high_ / low_);
      const double stride = std::max(1.0, std::ceil(decades / 8));
      for (double power = std::floor(std::log10(low_)); power <= std::log10(high_); power += stride)
        for (const double factor : {1.0, 2.0, 5.0}) {
          if (factor > 1 && decades > 3) continue;
          const double tick = factor * std::pow(10, power);
          if (tick >= low_ && tick <= high_) out.push_back(tick);
        }
      if (out.size() >= 2) return out;
      out.clear();  // less than from 1 to 2: as if it were linear
    }
    const double rough = (high_ - low_) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
    for (double i = std::ceil(low_ / step); i * step <= high_ && out.size() < 12; ++i) out.push_back(i * step);
    return out;
  }

 private:
  bool logarithmic_;
  double from_, to_;
  double low_ = 0, high_ = 1;
};

/// "0.5", "20", "5 k", "2 M": of a tick.
std::string name_of_tick(double value);

}  // namespace cardan::bench

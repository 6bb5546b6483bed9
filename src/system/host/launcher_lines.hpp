// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>

#include "cardan/error.hpp"
#include "cardan/log.hpp"

namespace cardan::host {

/// Tells the launcher how far the start is, and then what is lost.
class LauncherLines {
 public:
  explicit LauncherLines(int fd) : fd_(fd) {}
  void load(const std::string& component) {
    loads_ = true;
    say("load " + component);
  }
  void start(const std::string& component) {
    loads_ = false;
    say("start " + component);
  }
  void ready() const { say("ready"); }
  void ends() const { say("ends"); }
  void keep(const std::string& text) const { say("keep " + text); }
  void threw(const std::string& component, std::uint64_t number) const {
    say(fmt::format("threw {} {}", number, component));
  }
  void chain(const std::string& news) const { say("chain " + news); }
  /// A file or a library does not change by itself; a device, a topic or memory may.
  void failed(const std::exception& e) const {
    const auto* error = dynamic_cast<const Error*>(&e);
    const bool for_good = error != nullptr && (loads_ || error->code() == ErrorCode::InvalidArgument);
    say(std::string(for_good ? "refused " : "failed ") + e.what());
  }

 private:
  void say(std::string line) const {
    if (fd_ < 0) return;
    std::replace(line.begin(), line.end(), '\n', ' ');
    line.resize(std::min<std::size_t>(line.size(), 1000));
    line += '\n';
    if (::write(fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      detail::log(LogLevel::Warning, "the launcher does not get this process's messages");
  }
  int fd_;
  bool loads_ = false;
};

}  // namespace cardan::host

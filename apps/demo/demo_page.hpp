// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace cardan::launcher {
class ChildProcess;
}

namespace cardan::apps {

/// `cardan view` during the demo: a separate process, which ends with this object.
/// Thread safety: one thread. The constructor blocks until the page is there, at most some seconds; the destructor
/// until the process has ended, at most 5 s.
class DemoPage {
 public:
  /// Listens on this computer alone: on the usual port, or, if that is taken, on one that is free. If it cannot be
  /// shown, `trouble()` says why, and the demo continues without it.
  DemoPage();
  DemoPage(const DemoPage&) = delete;
  DemoPage& operator=(const DemoPage&) = delete;
  ~DemoPage();

  /// "http://127.0.0.1:8765"; empty: no page.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

 private:
  /// Without a port on its default one. False: it ended, or said nothing in time.
  bool start(const std::string& program, const std::string& port);

  std::unique_ptr<launcher::ChildProcess> process_;
  std::string address_, trouble_;
};

}  // namespace cardan::apps

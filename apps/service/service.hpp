// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cardan/observer_report.hpp"

namespace cardan::apps {

struct ServiceListOptions {
  std::string domain;
  bool json = false, names = false;
};
struct ServiceInfoOptions {
  std::string domain, service;
  bool json = false, schema = false, others = false;
};
struct CallOptions {
  std::string domain, service, question = "{}";
  double timeout = 5;  ///< seconds
  int list = -1;       ///< as EchoOptions::list
  bool json = false, others = false;
};

// Each returns an exit code or throws Error.
int service_list(const ServiceListOptions& options);
int service_info(const ServiceInfoOptions& options);
int service_call(const CallOptions& options);

/// A service that has a server, as that describes it.
struct FoundService {
  std::string name;
  PublisherReport server{};  ///< of its card: its subscribers are the clients
  uid_t uid = 0;             ///< of the server
  struct Side {
    std::string type{};
    std::uint64_t layout = 0;
    std::string schema{};  ///< ros2msg text; empty: not known
    std::uint64_t max_bytes = 0;
  };
  Side question{}, answer{};
  std::uint32_t pending = 0;
};

/// The description of this service by a server of this user or root; with `others` by any. Any user can serve any name.
/// Empty: it has no such server; the reason was printed, with what is near.
[[nodiscard]] std::optional<FoundService> find_service(const std::string& domain, const std::string& service,
                                                       bool others);

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "src/transport/service/found_service.hpp"

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

using detail::FoundService;

/// The description of this service by a server of this user or root; with `others` by any. Any user can serve any name.
/// Empty: it has no such server; the reason was printed, with what is near.
[[nodiscard]] std::optional<FoundService> find_service(const std::string& domain, const std::string& service,
                                                       bool others);

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cardan {
struct DomainReport;
struct PublisherReport;
}  // namespace cardan

namespace cardan::apps {

struct ListOptions {
  std::string domain;
  bool json = false, verbose = false, names = false;
};
struct InfoOptions {
  std::string domain, topic;
  bool json = false, schema = false;
};
struct EchoOptions {
  std::string domain, topic;
  std::vector<std::string> fields;
  unsigned long count = 0;  ///< 0: until Ctrl-C
  int list = -1;            ///< longest list shown whole; −1: 8 for people, 64 as JSON
  bool once = false, json = false, wait = false;
};
struct StatsOptions {
  std::string domain, topic;
  double seconds = 0;  ///< measured before a figure is given; 0: 2 with --once, 1 live
  bool all = false, once = false, json = false;
};

struct PubOptions {
  std::string domain, topic, type, message = "{}", wait_for_readers;
  std::vector<std::string> msgs;
  double rate = 0;          ///< 0: one message, or one a second
  std::uint64_t count = 0;  ///< 0: one message, or until Ctrl-C with a rate
  bool with_others = false, json = false;
};

// Each returns an exit code or throws Error.
int topic_list(const ListOptions& options);
int topic_info(const InfoOptions& options);
int topic_type(const InfoOptions& options);
int topic_echo(const EchoOptions& options);
int topic_stats(const StatsOptions& options);
int topic_pub(const PubOptions& options);

/// "freshest only, reliable"; "last 8, best effort".
std::string delivery(const PublisherReport& publisher);
/// Says what of the domain could not be looked at.
void warn_of(const DomainReport& report, const std::string& domain);
/// Says on standard error which topics do not let this user in, and whose they are; nothing where there are none.
void warn_of_closed(const DomainReport& report, const std::string& domain);
/// Exit code and words when nobody publishes `topic`; names those that look like it.
int no_such_topic(const std::string& domain, const std::string& topic);

}  // namespace cardan::apps

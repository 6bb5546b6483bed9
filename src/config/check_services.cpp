// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "src/config/check_parts.hpp"
#include "src/config/suggest.hpp"

namespace cardan::config {
namespace {

/// A server or client, and whose it is.
struct End {
  const DeclaredEnd* end;
  const Component* component;
  std::string pointer;  ///< its rename, or else its component
};

struct Service {
  std::vector<End> servers{}, clients{};
};

std::string owner(const End& end) {
  return fmt::format("component '{}' ({} of '{}')", end.component->name, end.end->server ? "server" : "client",
                     end.end->name_in_code);
}

std::string types_of(const DeclaredEnd& end) {
  return fmt::format("a question {} with an answer {}", end.question, end.answer);
}

bool same_names(const DeclaredEnd& a, const DeclaredEnd& b) { return a.question == b.question && a.answer == b.answer; }

class ServiceCheck {
 public:
  ServiceCheck(const Configuration& configuration, const Declarations& declared, ProblemList& problems)
      : all_known_(declared.unknown.empty()), problems_(problems) {
    for (const DeclaredEnd& end : declared.ends) {
      const Component* const component = configuration.component(end.component);
      if (component == nullptr) continue;
      Service& service = services_[component->bus_name(end.name_in_code)];
      const std::string rename = join(component->pointer + "/topics", end.name_in_code);
      (end.server ? service.servers : service.clients)
          .push_back({&end, component, problems_.stands(rename) ? rename : component->pointer});
    }
  }

  void check() {
    for (const auto& [name, service] : services_) {
      if (service.servers.size() > 1) second_server(name, service);
      types(name, service);
      if (service.servers.empty() && all_known_) unserved(name, service);
    }
  }

 private:
  void second_server(const std::string& name, const Service& service) {
    const End &first = service.servers[0], &second = service.servers[1];
    problems_.error(
        second.pointer, fmt::format("service '{}' has two servers: {} and {}", name, owner(first), owner(second)),
        fmt::format("rename it in 'topics' of '{}' and of its clients, or remove one", second.component->name));
  }

  void types(const std::string& name, const Service& service) {
    const End& first = service.servers.empty() ? service.clients.front() : service.servers.front();
    for (const End& other : service.clients) {
      const DeclaredEnd &x = *first.end, &y = *other.end;
      if (same_names(x, y) && x.question_hash == y.question_hash && x.answer_hash == y.answer_hash) continue;
      if (same_names(x, y))
        problems_.error(other.pointer,
                        fmt::format("service '{}' has {} for {} and for {}, but their layouts differ", name,
                                    types_of(x), owner(first), owner(other)),
                        fmt::format("build '{}' and '{}' against the same version of the messages",
                                    first.component->library, other.component->library));
      else
        problems_.error(other.pointer,
                        fmt::format("service '{}' has {} for {}, but {} for {}", name, types_of(x), owner(first),
                                    types_of(y), owner(other)),
                        fmt::format("give one of them another service in its 'topics'"));
    }
  }

  void unserved(const std::string& name, const Service& service) {
    std::vector<std::string> served;
    for (const auto& [other, one] : services_)
      if (!one.servers.empty()) served.push_back(other);
    const std::string near = nearest(name, served);
    const End& first = service.clients.front();
    problems_.warning(first.pointer,
                      fmt::format("no component of this file answers service '{}' of {}", name, owner(first)),
                      (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) +
                          "Rename it in 'topics' of the component, or start a program that answers it");
  }

  bool all_known_;
  ProblemList& problems_;
  std::map<std::string, Service> services_;
};

}  // namespace

void check_services(const Configuration& configuration, const Declarations& declared, ProblemList& problems) {
  ServiceCheck(configuration, declared, problems).check();
}

}  // namespace cardan::config

// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/foxglove/origin.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace cardan::bridge::foxglove {
namespace {

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

/// Without the port and, of an IPv6 address, the brackets.
std::string name_in(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? std::string() : std::string(host.substr(1, end - 1));
  }
  return std::string(host.substr(0, host.find(':')));
}

}  // namespace

bool is_own_host(std::string_view host) {
  const std::string name = name_in(host);
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (::inet_pton(AF_INET, name.c_str(), address.data()) == 1 ||
      ::inet_pton(AF_INET6, name.c_str(), address.data()) == 1)
    return true;
  if (same(name, "localhost")) return true;
  std::array<char, 256> own{};
  if (::gethostname(own.data(), own.size() - 1) != 0) return false;
  const std::string_view computer = own.data();
  return !computer.empty() && (same(name, computer) || same(name, std::string(computer) + ".local"));
}

bool may_connect(std::string_view origin, std::string_view host, const std::vector<std::string>& allowed) {
  if (origin.empty()) return true;
  for (const std::string& one : allowed)
    if (one == "*" || same(one, origin)) return true;
  return same(origin, "http://" + std::string(host)) && is_own_host(host);
}

}  // namespace cardan::bridge::foxglove

// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/foxglove/origin.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>

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
    const bool whole = end != std::string_view::npos && (end + 1 == host.size() || host[end + 1] == ':');
    return whole ? std::string(host.substr(1, end - 1)) : std::string();
  }
  return std::string(host.substr(0, host.find(':')));
}

/// As IPv6 has it; an IPv4 address is mapped.
using Address = std::array<unsigned char, 16>;
constexpr Address kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<Address> address_in(const std::string& text) {
  Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  address = kMapped;
  if (::inet_pton(AF_INET, text.c_str(), &address[12]) == 1) return address;
  return std::nullopt;
}

bool is_loopback(const Address& address) {
  constexpr Address kSix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return address == kSix || (std::equal(kMapped.begin(), kMapped.begin() + 12, address.begin()) && address[12] == 127);
}

}  // namespace

bool is_own_host(std::string_view host, const OwnNames& names) {
  constexpr std::string_view kLocal = "localhost", kBelow = ".localhost";
  const std::string name = name_in(host);
  if (name.empty()) return false;
  const auto address = address_in(name);
  if (address && (is_loopback(*address) || address == address_in(names.address))) return true;
  if (same(name, kLocal)) return true;
  if (name.size() > kBelow.size() && same(std::string_view(name).substr(name.size() - kBelow.size()), kBelow))
    return true;
  return std::any_of(names.hosts.begin(), names.hosts.end(), [&](const std::string& one) {
    const auto wanted = address_in(one);
    return wanted ? address == wanted : same(name, name_in(one));
  });
}

bool may_connect(std::string_view origin, std::string_view host, const std::vector<std::string>& allowed,
                 const OwnNames& names) {
  if (origin.empty()) return true;
  for (const std::string& one : allowed)
    if (one == "*" || same(one, origin)) return true;
  return same(origin, "http://" + std::string(host)) && is_own_host(host, names);
}

}  // namespace cardan::bridge::foxglove

// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/reader_addresses.hpp"

#include "src/bridge/dds/inner_domain.hpp"

#if defined(CARDAN_DDS_BEFORE_11)

#include <array>
#include <map>
#include <set>

namespace cardan::bridge::dds {
namespace {

using Address = std::array<unsigned char, 16 + sizeof(std::uint32_t)>;
using Addresses = std::set<Address>;

struct Audience {
  ::ddsi_guid_t participant{};
  Addresses addresses{};
};

void add_addresses(const ::ddsi_proxy_reader& reader, Addresses& all) {
  std::vector<::ddsi_locator_t> found;
  ::addrset_forall(
      reader.c.as,
      [](const ::ddsi_xlocator_t* one, void* to) {
        static_cast<std::vector<::ddsi_locator_t>*>(to)->push_back(one->c);
      },
      &found);
  for (const ::ddsi_locator_t& locator : found) {
    Address address;
    std::memcpy(address.data(), locator.address, 16);
    std::memcpy(address.data() + 16, &locator.port, sizeof(std::uint32_t));
    all.insert(address);
  }
}

/// By participant.
std::vector<Audience> audience_of(const ::ddsi_domaingv& domain, const ::ddsi_guid_t& writer) {
  std::vector<::ddsi_guid_t> readers;
  if (const auto one = locked(::entidx_lookup_writer_guid(domain.entity_index, &writer)))
    readers = matched(::ddsi_wr_readers_treedef, one->readers, &::ddsi_wr_prd_match::prd_guid);
  std::map<std::array<std::uint32_t, 3>, Audience> all;
  for (const ::ddsi_guid_t& guid : readers) {
    Audience& audience = all[{guid.prefix.u[0], guid.prefix.u[1], guid.prefix.u[2]}];
    audience.participant = guid;
    if (const auto reader = locked(::entidx_lookup_proxy_reader_guid(domain.entity_index, &guid)))
      add_addresses(*reader, audience.addresses);
  }
  std::vector<Audience> list;
  for (auto& [prefix, audience] : all) list.push_back(std::move(audience));
  return list;
}

}  // namespace

std::size_t forget_readers_everywhere(const WireTopic& topic, dds_entity_t writer, const ReaderAddresses& limits) {
  std::size_t forgotten = 0;
  ::ddsi_guid_t guid;
  if (!inner_guid(writer, guid)) return 0;
  in_domain(topic, [&](::ddsi_domaingv& domain) {
    std::vector<Audience> all = audience_of(domain, guid);
    std::sort(all.begin(), all.end(),
              [](const Audience& a, const Audience& b) { return a.addresses.size() > b.addresses.size(); });
    std::size_t sum = 0;
    for (const Audience& one : all) sum += one.addresses.size();
    for (const Audience& one : all) {
      if (one.addresses.size() <= limits.most_of_one && sum <= limits.most) return;
      forget_participant(domain, one.participant);
      sum -= one.addresses.size();
      ++forgotten;
    }
  });
  return forgotten;
}

}  // namespace cardan::bridge::dds

#else

namespace cardan::bridge::dds {

// From 11.0 on, programs do not reach what is known of a reader.
std::size_t forget_readers_everywhere(const WireTopic& /*topic*/, dds_entity_t /*writer*/,
                                      const ReaderAddresses& /*limits*/) {
  return 0;
}

}  // namespace cardan::bridge::dds

#endif

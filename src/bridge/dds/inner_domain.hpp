// SPDX-License-Identifier: Apache-2.0
// Cyclone's own view of a domain, for the few sources that need it. Until 11.0 alone: later, programs do not reach it.
#pragma once

#include "src/bridge/dds/packets.hpp"
#include "src/bridge/dds/wire.hpp"

#if defined(CARDAN_DDS_BEFORE_11)

// Cyclone's own header of these is not C++. They are pointers to what it alone knows.
#define Q_SOCKWAITSET_H
using os_sockWaitset = struct OsSockWaitset*;
using os_sockWaitsetCtx = struct OsSockWaitsetCtx*;

#include <dds/ddsi/ddsi_domaingv.h>
#include <dds/ddsi/ddsi_entity.h>
#include <dds/ddsi/ddsi_entity_index.h>
#include <dds/ddsi/ddsi_entity_match.h>
#include <dds/ddsi/ddsi_proxy_endpoint.h>
#include <dds/ddsi/ddsi_proxy_participant.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_addrset.h>
#include <dds/ddsi/q_bswap.h>
#include <dds/ddsi/q_radmin.h>
#include <dds/ddsi/q_rtps.h>
#include <dds/ddsi/q_thread.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

namespace cardan::bridge::dds {

[[nodiscard]] inline ::ddsi_guid_t inner_form(const Guid& guid) noexcept {
  ::ddsi_guid_t inner;
  static_assert(sizeof inner == sizeof guid);
  std::memcpy(&inner, guid.data(), sizeof inner);
  return ::nn_ntoh_guid(inner);
}

/// Of one of this process's readers or writers. False: it is gone.
[[nodiscard]] inline bool inner_guid(dds_entity_t entity, ::ddsi_guid_t& inner) noexcept {
  ::dds_guid_t guid{};
  if (::dds_get_guid(entity, &guid) != DDS_RETCODE_OK) return false;
  Guid bytes;
  std::copy(std::begin(guid.v), std::end(guid.v), bytes.begin());
  inner = inner_form(bytes);
  return true;
}

/// Calls `use` with the domain, of which nothing is freed meanwhile.
template <class Use>
void in_domain(const WireTopic& topic, const Use& use) {
  auto* const domain = static_cast<::ddsi_domaingv*>(::ddsrt_atomic_ldvoidp(&topic.type->gv));
  if (domain == nullptr) return;
  ::thread_state* const self = ::lookup_thread_state();
  ::thread_state_awake(self, domain);
  const auto end = [](::thread_state* awake) { ::thread_state_asleep(awake); };
  const std::unique_ptr<::thread_state, decltype(end)> until_then(self, end);
  use(*domain);
}

/// Locked until the result is gone.
template <class Entity>
[[nodiscard]] auto locked(Entity* entity) {
  const auto unlock = [](Entity* one) { ::ddsrt_mutex_unlock(&one->e.lock); };
  if (entity != nullptr) ::ddsrt_mutex_lock(&entity->e.lock);
  return std::unique_ptr<Entity, decltype(unlock)>(entity, unlock);
}

/// The others that match one of ours, by the tree that it has of them.
template <class Match, class Tree, class Definition>
[[nodiscard]] std::vector<::ddsi_guid_t> matched(const Definition& definition, Tree& tree,
                                                 ::ddsi_guid_t Match::* guid) {
  std::vector<::ddsi_guid_t> all;
  ::ddsrt_avl_iter_t at;
  for (void* match = ::ddsrt_avl_iter_first(&definition, &tree, &at); match != nullptr;
       match = ::ddsrt_avl_iter_next(&at))
    all.push_back(static_cast<const Match*>(match)->*guid);
  return all;
}

/// Its announcements are gone with it. It is found again when it announces itself.
inline void forget_participant(::ddsi_domaingv& domain, ::ddsi_guid_t guid) noexcept {
  guid.entityid.u = NN_ENTITYID_PARTICIPANT;
  (void)::ddsi_delete_proxy_participant_by_guid(&domain, &guid, ::ddsrt_time_wallclock(), 0);
}

}  // namespace cardan::bridge::dds

#endif

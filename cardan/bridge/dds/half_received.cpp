// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/dds/half_received.hpp"

#include "cardan/bridge/dds/packets.hpp"

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
#include <dds/ddsi/q_bswap.h>
#include <dds/ddsi/q_radmin.h>
#include <dds/ddsi/q_rtps.h>
#include <dds/ddsi/q_thread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

namespace cardan::bridge::dds {
namespace {

::ddsi_guid_t inner_form(const Guid& guid) noexcept {
  ::ddsi_guid_t inner;
  static_assert(sizeof inner == sizeof guid);
  std::memcpy(&inner, guid.data(), sizeof inner);
  return ::nn_ntoh_guid(inner);
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

/// Calls `use` with the writer, locked, if it is there.
template <class Use>
void with_writer(::ddsi_domaingv& domain, const ::ddsi_guid_t& guid, const Use& use) noexcept {
  ::ddsi_proxy_writer* const writer = ::entidx_lookup_proxy_writer_guid(domain.entity_index, &guid);
  if (writer == nullptr) return;
  ::ddsrt_mutex_lock(&writer->e.lock);
  use(*writer);
  ::ddsrt_mutex_unlock(&writer->e.lock);
}

void forget(::ddsi_domaingv& domain, const ::ddsi_guid_t& guid) noexcept {
  with_writer(domain, guid, [&](::ddsi_proxy_writer& writer) {
    const bool asked_again = writer.n_reliable_readers > 0;
    const auto& most = domain.config;
    ::nn_defrag* const empty =
        ::nn_defrag_new(&domain.logconfig, asked_again ? ::NN_DEFRAG_DROP_LATEST : ::NN_DEFRAG_DROP_OLDEST,
                        asked_again ? most.defrag_reliable_maxsamples : most.defrag_unreliable_maxsamples);
    if (empty == nullptr) return;
    ::nn_defrag_free(writer.defrag);
    writer.defrag = empty;
  });
}

bool lets_wait(const ::ddsi_proxy_writer& writer) noexcept {
  constexpr ::seqno_t kMostWaiting = 128;  // Internal/PrimaryReorderMaxSamples
  const ::seqno_t next = ::nn_reorder_next_seq(writer.reorder);
  for (::seqno_t number = next + 1; number <= writer.last_seq && number <= next + kMostWaiting; ++number)
    if (::nn_reorder_wantsample(writer.reorder, number) == 0) return true;
  return false;
}

/// The writers of others that it reads.
std::vector<::ddsi_guid_t> writers_of(const ::ddsi_domaingv& domain, dds_entity_t reader) {
  std::vector<::ddsi_guid_t> writers;
  ::dds_guid_t guid{};
  if (::dds_get_guid(reader, &guid) != DDS_RETCODE_OK) return writers;
  Guid bytes;
  std::copy(std::begin(guid.v), std::end(guid.v), bytes.begin());
  const ::ddsi_guid_t inner = inner_form(bytes);
  ::ddsi_reader* const one = ::entidx_lookup_reader_guid(domain.entity_index, &inner);
  if (one == nullptr) return writers;
  const auto unlock = [](::ddsi_reader* locked) { ::ddsrt_mutex_unlock(&locked->e.lock); };
  ::ddsrt_mutex_lock(&one->e.lock);
  const std::unique_ptr<::ddsi_reader, decltype(unlock)> lock(one, unlock);
  ::ddsrt_avl_iter_t at;
  for (void* match = ::ddsrt_avl_iter_first(&::ddsi_rd_writers_treedef, &one->writers, &at); match != nullptr;
       match = ::ddsrt_avl_iter_next(&at))
    writers.push_back(static_cast<const ::ddsi_rd_pwr_match*>(match)->pwr_guid);
  return writers;
}

}  // namespace

std::int64_t last_number_of(const WireTopic& topic, const Guid& writer) noexcept {
  ::seqno_t last = 0;
  in_domain(topic, [&](::ddsi_domaingv& domain) {
    with_writer(domain, inner_form(writer), [&](const ::ddsi_proxy_writer& one) { last = one.last_seq; });
  });
  return static_cast<std::int64_t>(last);
}

void forget_parts(const WireTopic& topic, const Guid& writer) noexcept {
  in_domain(topic, [&](::ddsi_domaingv& domain) { forget(domain, inner_form(writer)); });
}

void forget_announcements(const WireTopic& topic, const Guid& participant) noexcept {
  constexpr std::array<std::uint32_t, 4> kWriters{
      NN_ENTITYID_SEDP_BUILTIN_PUBLICATIONS_WRITER, NN_ENTITYID_SEDP_BUILTIN_SUBSCRIPTIONS_WRITER,
      NN_ENTITYID_SEDP_BUILTIN_TOPIC_WRITER, NN_ENTITYID_P2P_BUILTIN_PARTICIPANT_MESSAGE_WRITER};
  in_domain(topic, [&](::ddsi_domaingv& domain) {
    ::ddsi_guid_t guid = inner_form(participant);
    for (const std::uint32_t id : kWriters) {
      guid.entityid.u = id;
      forget(domain, guid);
    }
  });
}

void forget_parts_of_all(const WireTopic& topic, dds_entity_t reader) {
  in_domain(topic, [&](::ddsi_domaingv& domain) {
    for (const ::ddsi_guid_t& writer : writers_of(domain, reader)) forget(domain, writer);
  });
}

void forget_who_lets_wait(const WireTopic& topic, dds_entity_t reader) {
  in_domain(topic, [&](::ddsi_domaingv& domain) {
    for (::ddsi_guid_t guid : writers_of(domain, reader)) {
      bool waits = false;
      with_writer(domain, guid, [&](const ::ddsi_proxy_writer& one) { waits = lets_wait(one); });
      guid.entityid.u = NN_ENTITYID_PARTICIPANT;
      if (waits) (void)::ddsi_delete_proxy_participant_by_guid(&domain, &guid, ::ddsrt_time_wallclock(), 0);
    }
  });
}

}  // namespace cardan::bridge::dds

#else

namespace cardan::bridge::dds {

// From 11.0 on, programs do not reach what is known of a writer.
std::int64_t last_number_of(const WireTopic& /*topic*/, const Guid& /*writer*/) noexcept { return 0; }
void forget_parts(const WireTopic& /*topic*/, const Guid& /*writer*/) noexcept {}
void forget_announcements(const WireTopic& /*topic*/, const Guid& /*participant*/) noexcept {}
void forget_parts_of_all(const WireTopic& /*topic*/, dds_entity_t /*reader*/) {}
void forget_who_lets_wait(const WireTopic& /*topic*/, dds_entity_t /*reader*/) {}

}  // namespace cardan::bridge::dds

#endif

// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/half_received.hpp"

#include "src/bridge/dds/inner_domain.hpp"

#if defined(CARDAN_DDS_BEFORE_11)

#include <array>

namespace cardan::bridge::dds {
namespace {

/// Calls `use` with the writer, locked, if it is there.
template <class Use>
void with_writer(::ddsi_domaingv& domain, const ::ddsi_guid_t& guid, const Use& use) noexcept {
  if (const auto writer = locked(::entidx_lookup_proxy_writer_guid(domain.entity_index, &guid))) use(*writer);
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
  ::ddsi_guid_t guid;
  if (!inner_guid(reader, guid)) return {};
  const auto one = locked(::entidx_lookup_reader_guid(domain.entity_index, &guid));
  if (!one) return {};
  return matched(::ddsi_rd_writers_treedef, one->writers, &::ddsi_rd_pwr_match::pwr_guid);
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
    for (const ::ddsi_guid_t& guid : writers_of(domain, reader)) {
      bool waits = false;
      with_writer(domain, guid, [&](const ::ddsi_proxy_writer& one) { waits = lets_wait(one); });
      if (waits) forget_participant(domain, guid);
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

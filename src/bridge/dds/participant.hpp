// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dds/dds.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/bridge/dds/bell.hpp"
#include "src/bridge/dds/discovery_info.hpp"
#include "src/bridge/dds/entity.hpp"
#include "src/bridge/dds/environment.hpp"
#include "src/bridge/rules.hpp"

namespace cardan::bridge::dds {

/// A writer of somebody else.
struct RemoteWriter {
  std::string topic{};      ///< as in ROS 2; kServiceMark and its name: of a service's replies
  std::string type{};       ///< as in ROS 2; empty: not such a name
  std::string type_hash{};  ///< empty: it says none
  Guid participant{}, guid{};
  bool reliable = false, transient_local = false, xcdr1 = true;
  bool alive = true;
};
inline constexpr char kServiceMark = '?';  ///< no topic's name begins with it

/// Text that only bridges of this Cardan domain on this computer have: they know each other by it. Throws what the run
/// directory throws.
[[nodiscard]] std::string domain_marker(const std::string& cardan_domain);

[[nodiscard]] Guid guid_of(dds_entity_t entity);

/// The bridge's place in a DDS domain, and what it sees of others there.
/// Thread safety: one thread. No function blocks but the constructor and the destructor.
class Participant {
 public:
  /// `rules` must outlive it. `bell` rings when anything has happened. Throws Error: Cyclone cannot start.
  Participant(const DomainChoice& choice, const Rules& rules, std::string marker, std::shared_ptr<Bell> bell);

  [[nodiscard]] dds_entity_t entity() const noexcept { return participant_.get(); }
  [[nodiscard]] const Guid& guid() const noexcept { return guid_; }

  /// Looks at what has been discovered since. Returns the topics whose writers have changed, of those that a rule of
  /// `in` names. Throws bad_alloc; the next call then finds what this one missed.
  [[nodiscard]] std::set<std::string> update();
  /// The topics that a rule of `in` names and that have writers, or had some lately.
  [[nodiscard]] std::vector<std::string> topics() const;
  /// The same of services of nodes, with kServiceMark; `offer_services` of the rules.
  [[nodiscard]] std::vector<std::string> services() const;
  /// Whether the writers of replies have changed since the last call. After update().
  [[nodiscard]] bool take_changed_services() noexcept { return std::exchange(services_changed_, false); }
  /// Those of a topic that are there now.
  [[nodiscard]] std::vector<const RemoteWriter*> writers_of(const std::string& topic) const;
  /// One of these, or one that has left lately. If it is not known yet, looks again, because what a writer sends can be
  /// there before anybody has looked; update() still returns that its topic has changed, and until then no entry goes.
  /// Null: no rule names its topic, or there are too many. Throws bad_alloc.
  [[nodiscard]] const RemoteWriter* writer(dds_instance_handle_t handle);
  /// Whether it belongs to a bridge of the same Cardan domain: what it sends is here already.
  [[nodiscard]] bool is_sibling(const RemoteWriter& writer) const;
  /// Writers that are remembered, with those that have left lately.
  [[nodiscard]] std::size_t known() const noexcept { return writers_.size(); }
  /// Others that are there now.
  [[nodiscard]] std::size_t others() const noexcept { return others_.size(); }
  [[nodiscard]] std::vector<Guid> other_participants() const;

 private:
  void look_from_the_start();
  void look_on();
  void update_writers();
  void update_participants();
  void note_writer(dds_instance_handle_t handle, const dds_builtintopic_endpoint_t& endpoint);
  bool make_room(const Guid& newcomer);
  void note_left(RemoteWriter& writer);
  void note_change(const std::string& topic);
  void forget_old();

  const Rules& rules_;
  const std::string marker_;
  std::shared_ptr<Bell> bell_;
  Entity domain_, participant_, participants_reader_, writers_reader_;
  Guid guid_{};
  bool missed_some_ = false;  ///< of what was discovered, for lack of memory
  bool services_changed_ = false;
  std::set<std::string> changed_;  ///< topics, since the last update()
  std::map<dds_instance_handle_t, RemoteWriter> writers_;
  std::map<std::string, std::set<dds_instance_handle_t>> by_topic_;  ///< the same, by their topics
  std::size_t gone_ = 0;                                             ///< of them, those that are not alive
  std::map<Guid, std::size_t> alive_of_;                             ///< the others, by their participants
  std::map<dds_instance_handle_t, Guid> others_;
  std::map<Guid, std::int64_t> siblings_;  ///< and the time when it left; 0: it is there
};

}  // namespace cardan::bridge::dds

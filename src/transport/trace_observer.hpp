// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cardan/observer_report.hpp"
#include "src/transport/protocol/trace_layout.hpp"

namespace cardan::detail {

class ObserverLinks;
namespace handshake {
struct TracedName;
}

/// One event of one thread. Its times are of our steady clock.
struct TracedEvent {
  layout::TraceEvent what{};
  std::uint32_t process = 0;  ///< index in TraceObserver::processes()
  std::uint32_t ring = 0;
  bool after_gap = false;  ///< events of its thread right before it were overwritten, or are not valid
};

/// A process that is traced, by its own statements.
struct TracedProcess {
  std::string name;
  int pid = 0;
  bool foreign = false;  ///< of another user
  bool ended = false;
  bool silent = false;             ///< has not answered yet: its newest names and threads are not known
  std::uint64_t overwritten = 0;   ///< events that were gone before they could be copied
  std::uint64_t without_ring = 0;  ///< events of threads for which no ring was left, since its start
  std::uint64_t malformed = 0;     ///< events that an honest process does not write
};

/// How many events a caller still has room for. Each drain() takes from it.
struct TraceRoom {
  std::size_t all = SIZE_MAX;
  std::size_t of_others = SIZE_MAX;  ///< of these, of other users' processes, which may write what they want
};

struct TracedThreadName {
  std::int64_t thread = 0;  ///< 0: not known
  std::string name;
};

/// Traces all processes of a domain that this user may trace, for as long as it lives. It maps their trace areas
/// read-only, and slows down none.
/// Thread safety: one thread at a time.
class TraceObserver {
 public:
  /// Switches tracing on. `with_past`: also events that rings still have from earlier. Throws Error (Unavailable,
  /// InvalidArgument, Limit, Forked). Blocks at most `timeout` for each process that does not answer.
  explicit TraceObserver(const ObserverOptions& options = {}, bool with_past = false);
  TraceObserver(const TraceObserver&) = delete;
  TraceObserver& operator=(const TraceObserver&) = delete;
  ~TraceObserver();

  /// Finds new processes, and asks all for names and for rings of new threads. Call it about once a second, and once
  /// after the last drain(). Blocks as the constructor does; `between` runs after each process, so that rings can be
  /// drained meanwhile.
  void refresh(const std::function<void()>& between = {});
  /// Appends the events that came since the last call, at most a ring of each thread: of one thread in the order in
  /// which it wrote them, of several in no order. Returns their number. Does not block. Events for which there is no
  /// room stay in the rings until they are overwritten.
  std::size_t drain(std::vector<TracedEvent>& into, TraceRoom& room);
  std::size_t drain(std::vector<TracedEvent>& into) {
    TraceRoom room;
    return drain(into, room);
  }
  /// Gives back the memory and the descriptors of processes that have ended; drain() does it, too. Their names stay.
  void forget_ended();

  [[nodiscard]] const std::vector<TracedProcess>& processes() const noexcept { return processes_; }
  /// One sentence for each process that cannot be traced. Those that did not answer are asked again after five seconds.
  [[nodiscard]] std::vector<std::string> problems() const;
  /// Processes of other users, which only they and root may trace.
  [[nodiscard]] std::size_t of_others() const noexcept { return of_others_.size(); }

  /// The thread that wrote the event.
  [[nodiscard]] TracedThreadName thread_of(const TracedEvent& event) const;
  /// Empty: not known.
  [[nodiscard]] std::string topic_of(std::uint64_t stream) const;
  /// Of all streams whose names are known, each once.
  [[nodiscard]] std::vector<std::string> topics() const;
  [[nodiscard]] std::string callback_of(std::uint32_t process, std::uint64_t number) const;

 private:
  struct Source;
  void find(const std::function<void()>& between = {});
  void ask(Source& source);
  void drain(Source& source, std::vector<TracedEvent>& into, std::size_t most);
  [[nodiscard]] bool remember(Source& source, const handshake::TracedName& name);
  /// Whether the event can have happened while it was traced.
  [[nodiscard]] bool plausible(const layout::TraceEvent& event, std::int64_t now) const noexcept;

  ObserverOptions options_;
  bool with_past_;
  std::shared_ptr<ObserverLinks> links_;  ///< for its directory only
  std::vector<TracedProcess> processes_;
  std::vector<std::unique_ptr<Source>> sources_;  ///< of each process
  std::map<std::string, std::int64_t> asked_;     ///< identities of processes; when to ask again
  std::int64_t began_ns_ = 0;
  std::size_t bytes_of_others_ = 0;  ///< names of other users' processes
  std::set<std::string> of_others_;
  std::map<std::string, std::string> problems_;  ///< by identity
  std::map<std::uint64_t, std::string> topics_;
  std::vector<protocol::EventWords<protocol::kTraceWords>> room_;
};

}  // namespace cardan::detail

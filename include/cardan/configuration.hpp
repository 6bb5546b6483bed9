// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The contents of a configuration file, as plain aggregates. Fields without a comment mean what cardan.schema.json and
/// docs/configuration.md say about the field of that name; a unit is part of the field's name there and of its type
/// here. Everything is in the order of the file where order can matter. `pointer` of a part is its place in the file, a
/// JSON pointer (RFC 6901). Unless a function says otherwise: any thread; does not block.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cardan/messages/geometry.hpp"
#include "cardan/service_options.hpp"
#include "cardan/topic.hpp"

namespace cardan::config {

/// How bad a problem is.
enum class Severity : std::uint8_t {
  Error,    ///< the file cannot be run as it is
  Warning,  ///< it can, but its effect is hardly intended
};

/// A place in the text of a file, both counted from 1 (columns: characters). Line 0: an option gave the value.
struct Place {
  int line = 1, column = 1;
  std::uint32_t file = 0;  ///< 0: the configuration itself; n: Source::included[n - 1], a file or an option
  bool operator==(const Place&) const = default;
};

/// A mistake in a file: its place, its cause, and the remedy.
struct Problem {
  std::string pointer{};     ///< JSON pointer (RFC 6901) of the wrong part; "" is the whole file
  int line = 1, column = 1;  ///< both from 1, of the place to be changed; line 0: an option of the command line
  Severity severity = Severity::Error;
  std::string cause{};   ///< what is wrong, in words
  std::string remedy{};  ///< what to do about it
  std::string file{};    ///< the included file that the place is in, or the option; "": the configuration itself
  bool operator==(const Problem&) const = default;
};

/// Whether one of them is an error.
[[nodiscard]] bool has_errors(const std::vector<Problem>& problems) noexcept;

/// "street.json:12:7: error: … — …", as compilers write it, so that editors jump to the place; "--var n=3: error: …" of
/// an option's value. `file_name`: of the configuration; a problem of an included file has its own. Any thread.
[[nodiscard]] std::string text(const Problem& problem, const std::string& file_name);

/// A parameter's value, and by its alternative the parameter's type. The lists are in the order of their elements.
using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<bool>, std::vector<std::int64_t>,
                           std::vector<double>, std::vector<std::string>>;
inline constexpr std::size_t kMostElements = 65'536;  ///< of a list

/// How the kernel schedules a thread: as ordinary threads (Other), or by the realtime policy of that name.
enum class Policy : std::uint8_t { Other, Fifo, RoundRobin, Deadline };
/// How the CPUs of a group are given to its workers.
enum class Affinity : std::uint8_t {
  Range,     ///< each worker runs on any of the group's CPUs
  OneToOne,  ///< worker i runs on the group's i-th CPU
};
/// Action after an exception leaves a callback; it is always reported and counted.
enum class OnException : std::uint8_t {
  Continue,  ///< the next callback runs as if nothing had been
  Restart,   ///< the component is stopped and started again; its process keeps running
  Crash,     ///< its process ends as if it had crashed, and is restarted by its rule
};
/// Which ends of a process bring a restart.
enum class RestartWhen : std::uint8_t {
  Crash,   ///< after a signal, an exit code other than 0, or a watchdog
  Always,  ///< also after it ended by itself
  Never,   ///< the process stays ended
};
/// State of the whole system. It starts as Starting and ends as Stopped.
enum class State : std::uint8_t {
  Starting,  ///< not all processes are up yet
  Running,   ///< all processes came up
  Degraded,  ///< a process was given up, or a transition says so
  SafeStop,  ///< by a transition
  Stopped,   ///< the end
};

/// Group of a component that names neither a group nor a thread; the file need not name it.
inline constexpr std::string_view kDefaultGroup = "main";
/// Priorities of components and callbacks within their group: 0 (last) to this (first).
inline constexpr int kMaxPriority = 31;

/// A separate thread for a component or a callback.
struct Thread {
  std::vector<int> cpus{};              ///< empty: all that the process may use
  Policy policy = Policy::Other;        ///< the others come before all ordinary threads, and need a right
  int priority = 0;                     ///< Fifo, RoundRobin: 1 to 99
  int nice = 0;                         ///< -20 to 19, as an ordinary thread: of Other, or where its policy is refused
  std::chrono::nanoseconds runtime{0};  ///< Deadline: CPU time in each period
  std::chrono::nanoseconds period{0};   ///< Deadline: also the time by which the runtime was given
  bool operator==(const Thread&) const = default;
};

/// Settings of one callback that differ from its component's.
struct Callback {
  std::string name{};              ///< the input's topic as the code names it, or the name that the code gives it
  std::optional<int> priority{};   ///< absent: the component's
  std::optional<Thread> thread{};  ///< absent: where the component runs
  std::optional<std::chrono::nanoseconds> watchdog{};  ///< absent: the component's
  std::string pointer{};                               ///< its place in the file
  bool operator==(const Callback&) const = default;
};

/// Which callback of a component is its cycle, for recorders: each call of it.
struct Cycle {
  std::string callback{};  ///< empty: the first timer, else the first input
  double weight = 1;       ///< of its computing against that of others; 0: it marks no cycle
  bool operator==(const Cycle&) const = default;
};

/// The effect of a namespace on the names of topics: /image becomes /front/image. Names below /cardan/ stay, and so do
/// /tf and /tf_static.
struct Naming {
  std::string prefix{};                        ///< "/front"; "": none
  std::map<std::string, std::string> links{};  ///< name inside → name outside, without the prefix

  /// The name outside of a name inside: that of `links`, else with the prefix.
  [[nodiscard]] std::string name(const std::string& inside) const;
  bool operator==(const Naming&) const = default;
};

/// A component of a process.
struct Component {
  std::string name{};        ///< unique in the file
  std::string library{};     ///< a path or a name, for component_library_path(); empty: the class is in the program
  std::string class_name{};  ///< as CARDAN_COMPONENT or the Python module names it
  std::map<std::string, Value> parameters{};    ///< value by name; those that are absent have the code's
  bool keep = false;                            ///< values that are set at run time hold after restarts too
  std::map<std::string, std::string> topics{};  ///< name in the code → name on the bus
  std::string group{kDefaultGroup};             ///< of its process; without meaning where it has a thread
  int priority = 0;                             ///< in its group: 0 (last) to kMaxPriority (first)
  std::optional<Thread> thread{};               ///< absent: the workers of `group` run its callbacks
  std::chrono::nanoseconds watchdog{0};         ///< a callback that runs longer counts as a crash; 0: none
  OnException on_exception = OnException::Continue;
  std::optional<Introspection> introspection{};  ///< of its services; absent: as the code has it
  std::optional<Cycle> cycle{};                  ///< absent: the default's, without calls that are too short to matter
  std::vector<Callback> callbacks{};             ///< those whose settings differ from the component's
  std::vector<Naming> namings{};                 ///< of topics that `topics` does not name: the innermost first
  std::string pointer{};

  /// The name on the bus of a topic that the code calls `name`.
  [[nodiscard]] std::string bus_name(const std::string& name) const;
  /// The settings of the callback of that name. Null: the file does not name it.
  [[nodiscard]] const Callback* callback(std::string_view name) const noexcept;
  bool operator==(const Component&) const = default;
};

/// An executor group: a pool of workers. Absent fields have the executor's defaults.
struct Group {
  std::string name{};                              ///< unique in its process
  std::optional<int> workers{};                    ///< threads: this many callbacks of different components run at once
  std::vector<int> cpus{};                         ///< empty: all that the process may use
  std::optional<Affinity> affinity{};              ///< absent: Range
  std::optional<Policy> policy{};                  ///< not Deadline
  std::optional<int> priority{};                   ///< Fifo, RoundRobin: 1 to 99
  std::optional<int> nice{};                       ///< as Thread::nice
  std::optional<std::chrono::nanoseconds> spin{};  ///< how long a worker looks for work before it sleeps
  std::string pointer{};

  /// `workers`; absent: one for each CPU with OneToOne, else one.
  [[nodiscard]] int worker_count() const noexcept;
  bool operator==(const Group&) const = default;
};

/// When a process is restarted, and how often.
struct Restart {
  RestartWhen when = RestartWhen::Crash;  ///< which ends bring a restart
  int limit = 5;                          ///< restarts within the window, after which the process is given up
  std::chrono::nanoseconds window = std::chrono::seconds{60};        ///< in which restarts are counted
  std::chrono::nanoseconds backoff = std::chrono::milliseconds{20};  ///< before the first; doubles with each
  std::chrono::nanoseconds backoff_max = std::chrono::seconds{2};    ///< the longest time before a restart
  bool operator==(const Restart&) const = default;
};

/// A process that is a bridge (docs/bridges.md) instead of having components.
struct Bridge {
  std::string kind{};  ///< "dds": the program is cardan-bridge-dds
  std::string file{};  ///< of its rules, as this process finds it; empty: the kind's defaults
  std::string pointer{};
  bool operator==(const Bridge&) const = default;
};

/// When an event recording begins; any of them.
struct RecordTrigger {
  std::vector<State> states{};          ///< the system comes into one of them
  std::vector<std::string> silent{};    ///< topics: on one of them nothing is published any more for `lasting`
  std::chrono::nanoseconds lasting{0};  ///< of `silent`
  std::vector<std::string> messages{};  ///< topics: a message comes on one of them, after a second without any
  bool operator==(const RecordTrigger&) const = default;
};

/// A process that records (docs/recording.md) instead of having components.
struct Record {
  std::vector<std::string> topics{};   ///< names, or patterns with `*` and `?`; empty: all
  std::vector<std::string> exclude{};  ///< the same
  std::string output{};                ///< folder, as this process finds it
  std::string compression{"none"};     ///< of chunks of small samples: one of kCompressions
  bool causes = true;                  ///< also what each recorded sample rests on, some 20 bytes a sample
  std::chrono::nanoseconds last{0};    ///< events only, with the messages of this time before them; 0: everything
  std::chrono::nanoseconds after = std::chrono::seconds{10};  ///< of an event: duration from its beginning on
  std::optional<RecordTrigger> on{};                          ///< absent: events begin by orders alone
  std::string pointer{};
  bool operator==(const Record&) const = default;
};

/// A process: components, a bridge, a recorder, or a program that does not use Cardan.
struct Process {
  std::string name{};                   ///< unique in the configuration
  std::vector<Component> components{};  ///< of `cardan host`; empty for the other kinds
  std::optional<Bridge> bridge{};       ///< if it is a bridge
  std::optional<Record> record{};       ///< if it is a recorder
  /// A program that does not use Cardan, and its arguments; empty for other processes. The program is a path as
  /// this process finds it, or a name without '/', which is searched in PATH.
  std::vector<std::string> command{};
  std::vector<Group> groups{};                       ///< those that the file names
  std::map<std::string, std::string> environment{};  ///< variables, in addition to those of `cardan run`
  std::uint64_t memory_bytes = 0;                    ///< the most it may use; 0: no limit
  Restart restart{};                                 ///< what follows its end
  std::string pointer{};

  /// Whether it is of components, which `cardan host` runs: not a bridge, a recorder or another program.
  [[nodiscard]] bool has_host() const noexcept { return !bridge && !record && command.empty(); }
  /// The component of that name, or null.
  [[nodiscard]] const Component* component(std::string_view name) const noexcept;
  /// The group of that name. Null also for the default group where the file says nothing about it.
  [[nodiscard]] const Group* group(std::string_view name) const noexcept;
  bool operator==(const Process&) const = default;
};

/// The file's changes of a topic (by its name on the bus); absent options are as the code has them.
struct TopicSettings {
  std::optional<std::uint32_t> depth{};                ///< TopicOptions::depth
  std::optional<bool> reliable{};                      ///< TopicOptions::reliable
  std::optional<std::chrono::nanoseconds> deadline{};  ///< TopicOptions::deadline
  std::optional<bool> process_private{};               ///< TopicOptions::process_private
  std::optional<int> writers{};                        ///< the most publishers; 1 is TopicOptions::exclusive
  std::optional<std::size_t> max_bytes{};              ///< TopicOptions::max_bytes
  std::optional<Waiting::Kind> waiting{};              ///< TopicOptions::waiting
  std::optional<std::chrono::nanoseconds> spin{};      ///< Waiting::limit
  std::string pointer{};
  bool operator==(const TopicSettings&) const = default;
};

/// The options of a topic as the code has them, with what the file changes. Any thread; does not block.
[[nodiscard]] TopicOptions apply(const TopicSettings& settings, TopicOptions options) noexcept;

/// Requirements on the computer; the launcher refuses to start without them.
struct Needs {
  int cpus = 0;                    ///< at least this many
  std::uint64_t memory_bytes = 0;  ///< at least this much
  bool realtime = false;           ///< the right to real-time priorities
  bool operator==(const Needs&) const = default;
};

/// A way of information through the system, and how old it may be at its end (docs/chains.md).
struct Chain {
  std::string name{};                  ///< unique in the configuration
  std::string from{};                  ///< topic on the bus where the information begins
  std::string to{};                    ///< topic on the bus whose publications rest on it
  std::chrono::nanoseconds budget{0};  ///< age of the information at a publication on `to`; 0: no limit
  std::string pointer{};
  bool operator==(const Chain&) const = default;
};
/// Topics of one configuration where chains may begin.
inline constexpr std::size_t kMaxChainBeginnings = 8;

/// The place of a frame in another one, which never changes (docs/transforms.md). `cardan run` publishes all of them.
struct FrameTransform {
  std::string parent{};  ///< the frame in which the place is given
  std::string child{};   ///< the frame whose place is given
  Transform place{};     ///< takes coordinates in the child frame to the parent frame
  std::string pointer{};
  bool operator==(const FrameTransform&) const = default;
};
/// Frames that one configuration places: a tree has room for these, and for some that move.
inline constexpr std::size_t kMaxTransforms = 900;

/// The condition of a transition.
struct Condition {
  /// The kinds of conditions.
  enum class Kind : std::uint8_t {
    Down,        ///< one of the processes or components is not running
    Up,          ///< all of them are running
    Silent,      ///< on one of the topics nothing was published
    GivenUp,     ///< one of the processes used up its restarts
    Publishing,  ///< on each of the topics something is published, without a pause of `lasting`
    Late,        ///< on one of the chains `times` publications exceeded the budget within `lasting`
    InTime,      ///< on each of the chains something is published, and nothing exceeded the budget for `lasting`
  };
  /// Whether `names` are topics.
  [[nodiscard]] bool is_of_topics() const noexcept { return kind == Kind::Silent || kind == Kind::Publishing; }
  /// Whether `names` are chains.
  [[nodiscard]] bool is_of_chains() const noexcept { return kind == Kind::Late || kind == Kind::InTime; }
  Kind kind = Kind::Down;
  std::vector<std::string> names{};     ///< processes or components (processes first), topics on the bus, or chains
  std::chrono::nanoseconds lasting{0};  ///< duration without a break
  int times = 1;                        ///< of Late
  bool operator==(const Condition&) const = default;
};

/// A change of the system's state. Of several whose condition holds, the first in the file is taken.
struct Transition {
  std::vector<State> from{};  ///< states that it leads away from
  Condition when{};
  State to = State::Running;  ///< the state that it leads to
  std::string pointer{};
  bool operator==(const Transition&) const = default;
};

/// An include that renames topics: the names in its `topics` that the included text does not use. Only the included
/// components can know them.
struct IncludeLinks {
  std::string name_space{};             ///< of the included components, from the first file on; "": none
  Naming naming{};                      ///< that of the include
  std::map<std::string, Place> open{};  ///< names inside, and where they are written
  std::vector<std::string> in_text{};   ///< names inside that the text has
  bool operator==(const IncludeLinks&) const = default;
};

/// The text of a configuration: its files, and where its parts are in them, by JSON pointer. Parts of included files
/// have the pointer that they get in the whole: a namespace is part of their names.
struct Source {
  std::string file_name{};                             ///< path of the configuration itself
  std::vector<std::string> included{};                 ///< paths of the other files, and options that gave values
  std::map<std::string, Place, std::less<>> keys{};    ///< of object members: the key's place
  std::map<std::string, Place, std::less<>> values{};  ///< of everything: the value's place
  std::vector<IncludeLinks> links{};                   ///< of includes that rename topics

  /// The place of a part's key; of an array's element, that of its value. Of a part that is not in the file: the place
  /// of the nearest part around it.
  [[nodiscard]] Place key(std::string_view pointer) const;
  /// The place of a part's value. Of a part that is not in the file: as key().
  [[nodiscard]] Place value(std::string_view pointer) const;
  /// The path of the file that a place is in.
  [[nodiscard]] const std::string& file(Place place) const noexcept;
  /// "line 12", of an included file "line 12 of front.json", or the option.
  [[nodiscard]] std::string line(Place place) const;
  /// A problem at `place`.
  [[nodiscard]] Problem problem(std::string pointer, Place place, Severity severity, std::string cause,
                                std::string remedy) const;
  bool operator==(const Source&) const = default;
};

/// The contents of a configuration file, with the files that it includes.
struct Configuration {
  std::string name{};                ///< the file's name without folder and ending, if it gives none
  std::string domain = "default";    ///< of its topics
  bool realtime = false;             ///< lock the memory of every process, and report what the kernel refused
  std::vector<Process> processes{};  ///< in the order in which they start
  std::map<std::string, TopicSettings> topics{};  ///< by name on the bus
  std::vector<Chain> chains{};                    ///< in the order of the file
  std::vector<FrameTransform> transforms{};       ///< in the order of the file
  Needs needs{};                                  ///< requirements on the computer
  std::vector<Transition> transitions{};          ///< in the order of the file
  Source source{};                                ///< the text, for reports about it

  /// The process of that name, or null.
  [[nodiscard]] const Process* process(std::string_view name) const noexcept;
  /// The component of that name, or null.
  [[nodiscard]] const Component* component(std::string_view name) const noexcept;
  /// The process that a component belongs to. Null: unknown component.
  [[nodiscard]] const Process* process_of(std::string_view component) const noexcept;
  /// The path of the file that names a component: its library is looked for next to it.
  [[nodiscard]] const std::string& file_of(const Component& component) const noexcept;
  /// The topic's options as the code has them, with what the file changes.
  [[nodiscard]] TopicOptions options_of(const std::string& bus_name, const TopicOptions& code) const;
  bool operator==(const Configuration&) const = default;
};

/// Limits of composing a configuration; beyond them, it is refused with file and line.
inline constexpr int kMaxIncludeDepth = 8;
inline constexpr std::size_t kMaxIncludes = 64;                           ///< each time that a file is included counts
inline constexpr std::size_t kMaxVariables = 256;                         ///< of a file
inline constexpr std::size_t kMaxTextBytes = std::size_t{2} << 20U;       ///< of all files together
inline constexpr std::size_t kMaxExpandedBytes = std::size_t{16} << 20U;  ///< that variables and instances make of them

/// Options for reading a configuration.
struct ReadOptions {
  std::vector<std::string> variables{};  ///< "name=value" of --var: replaces the value in `variables` of the file
  /// The text of an included file of at most `most` bytes. Throws Error: it cannot be read. Empty: read_text().
  std::function<std::string(const std::string& path, std::size_t most)> read{};
};

/// The text of a regular file; at most `most` + 1 bytes are read, so that the caller sees a longer file. Throws Error
/// (InvalidArgument) if it cannot be read. Any thread; blocks for the file system.
[[nodiscard]] std::string read_text(const std::string& file, std::size_t most);

/// Reads a configuration with the files that it includes, and adds every error in it to `problems`, in the order of the
/// text. The result has defaults in place of wrong values. Run it only if `problems` has no error. Does not throw for
/// mistakes in the text; throws Error (InvalidArgument) for a variable in `options` that the file does not have.
/// Comments (// and /* */) are allowed. Only check() asks the computer and the components. Any thread; blocks for the
/// file system where it includes others.
[[nodiscard]] Configuration parse_configuration(std::string_view text, std::string file_name,
                                                std::vector<Problem>& problems, const ReadOptions& options = {});

/// The text of a configuration, also from a pipe. Throws Error (InvalidArgument): it cannot be read, or has more than
/// kMaxTextBytes. Any thread; blocks for the file system.
[[nodiscard]] std::string read_configuration_text(const std::string& file);

/// parse_configuration() of read_configuration_text().
[[nodiscard]] Configuration read_configuration(const std::string& file, std::vector<Problem>& problems,
                                               const ReadOptions& options = {});

/// A problem at a place of the file that is found only later, as a missing library. Any thread.
[[nodiscard]] Problem problem_at(const Configuration& configuration, std::string pointer, Severity severity,
                                 std::string cause, std::string remedy);

/// A JSON pointer's further step: `~` and `/` in the name escaped.
[[nodiscard]] std::string join(std::string_view pointer, std::string_view name);

/// As in the file: "safe_stop", "fifo", "one_to_one", "prewake".
[[nodiscard]] std::string_view name_of(State state) noexcept;
[[nodiscard]] std::string_view name_of(Policy policy) noexcept;
[[nodiscard]] std::string_view name_of(Affinity affinity) noexcept;
[[nodiscard]] std::string_view name_of(OnException rule) noexcept;
[[nodiscard]] std::string_view name_of(Introspection introspection) noexcept;
[[nodiscard]] std::string_view name_of(RestartWhen when) noexcept;
[[nodiscard]] std::string_view name_of(Condition::Kind kind) noexcept;
/// "bool", "int", "double", "string", and of lists "bool[]", "int[]", "double[]", "string[]".
[[nodiscard]] std::string_view type_of(const Value& value) noexcept;
/// As JSON writes it.
[[nodiscard]] std::string text(const Value& value);
/// Whether it is a list. Any thread; does not block.
[[nodiscard]] constexpr bool is_list(const Value& value) noexcept { return value.index() >= 4; }
/// Whether it is a list without elements. Any thread; does not block.
[[nodiscard]] bool is_empty_list(const Value& value) noexcept;
/// The elements of a list, or the value alone. Any thread; does not block.
[[nodiscard]] std::vector<Value> elements_of(const Value& value);
/// The meaning of a value where one of `like`'s type is needed: a whole number may be a double, and an empty list may
/// be of any type. Otherwise as it is. Any thread; does not block.
[[nodiscard]] Value as_type_of(const Value& like, Value value);

}  // namespace cardan::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "cardan/component_options.hpp"
#include "cardan/detail/declaring.hpp"
#include "cardan/detail/encoded.hpp"
#include "cardan/detail/unset.hpp"
#include "cardan/fusion.hpp"
#include "cardan/log.hpp"
#include "cardan/output.hpp"
#include "cardan/parameter.hpp"
#include "cardan/sample.hpp"
#include "cardan/service.hpp"
#include "cardan/service_client.hpp"
#include "cardan/topic.hpp"
#include "cardan/transforms.hpp"

namespace cardan {

class Context;

namespace detail {
template <class F, class... Ts>
struct Joined;
/// For other languages, whose types are known only at run time: they declare by the functions of declaring.hpp.
[[nodiscard]] inline ComponentCore& core_of(const Context& context) noexcept;
}  // namespace detail

/// The newest sample of a topic, for a control loop to read when it needs it. Context::latest() makes it. One that was
/// not made so throws Error (InvalidArgument) when it is read.
/// Any thread; never blocks.
template <class T>
class Latest {
 public:
  Latest() = default;
  /// Empty if no sample has arrived yet.
  [[nodiscard]] Sample<T> get() const { return detail::sample_of<T>(detail::latest_of(port())); }

 private:
  friend class Context;
  explicit Latest(detail::Port& port) : port_(&port) {}
  [[nodiscard]] detail::Port& port() const {
    if (port_ == nullptr) detail::refuse_unset("Latest", "latest(topic)", detail::type_text<T>());
    return *port_;
  }
  detail::Port* port_ = nullptr;
};

/// The interface with which a component declares its parts, in on_start(). It lives as long as the component. Topics
/// have the names of the component's code; the configuration may rename them and change their options. Each
/// function throws Error with cause and remedy.
/// Declare in on_start() only. Any thread may call now(), name() and log() at any time.
class Context {
 public:
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Calls `callback(const Sample<T>&)` for each sample, one after the other.
  template <class T, std::invocable<const Sample<T>&> F>
  void input(const Topic<T>& topic, F callback, const InputOptions& options = {}) {
    declare<T>(topic, options, [callback = std::move(callback)](detail::SampleBlock* block) mutable {
      const Sample<T> sample = detail::sample_of<T>(block);
      callback(sample);
    });
  }
  /// Keeps the newest sample without a callback.
  template <class T>
  [[nodiscard]] Latest<T> latest(const Topic<T>& topic, const LatestOptions& options = {}) {
    return Latest<T>(declare<T>(topic, {.depth = 1, .rests_on = options.rests_on, .name = options.name}, {}));
  }
  /// Joins 2 to 8 topics into sets by a policy (primary(), approximate(), exact()). Calls
  /// `callback(const Sample<Ts>&...)` for each set, with its samples in the order of the topics.
  template <class F, class... Ts>
    requires std::invocable<F&, const Sample<Ts>&...>
  void fuse(const FusionPolicy& policy, F callback, const Topic<Ts>&... topics) {
    fuse(policy, std::move(callback), FuseOptions{}, topics...);
  }
  /// The same with names and depths:
  /// `context.fuse(exact(), callback, {.inputs = {{.name = "left"}, {.depth = 20}}}, kLeft, kRight)`.
  template <class F, class... Ts>
    requires std::invocable<F&, const Sample<Ts>&...>
  void fuse(const FusionPolicy& policy, F callback, const FuseOptions& options, const Topic<Ts>&... topics) {
    auto join = std::make_shared<detail::Joined<F, Ts...>>(policy, std::move(callback), core_);
    join->watch =
        detail::declare_fusion(core_, policy, options, {topics.name...}, [join] { return join->fusion.statistics(); });
    const auto keeps = static_cast<std::uint32_t>(join->fusion.holds());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (input(topics, [join](const Sample<Ts>& sample) { join->template take<I>(sample); },
             {.depth = options.inputs[I].depth, .keeps = keeps, .name = options.inputs[I].name}),
       ...);
    }(std::index_sequence_for<Ts...>{});
  }
  /// Declares that the component publishes on the topic. The handle that it returns is kept in a member.
  template <class T>
  [[nodiscard]] Output<T> output(const Topic<T>& topic) {
    return Output<T>(detail::declare_output(core_, topic.name, detail::payload_type_of<T>(), topic.options));
  }
  /// Serves: calls `callback(Question<Q, A>)` for each question, one after the other. The callback may answer it, or
  /// keep it and answer later. One that is overdue or cancelled is not delivered. When the component starts, another
  /// server of the service is an error.
  template <Message Q, Message A, std::invocable<Question<Q, A>> F>
  void service(const Service<Q, A>& service, F callback, const AnswerOptions& options = {}) {
    detail::declare_service(core_, service.name, type_of(service), options,
                            [callback = std::move(callback)](detail::TakenQuestion&& question) mutable {
                              callback(Question<Q, A>(detail::sample_of<Q>(question.block), std::move(question.end)));
                            });
  }
  /// Declares that the component asks the service. The handle that it returns is kept in a member.
  template <Message Q, Message A>
  [[nodiscard]] ServiceClient<Service<Q, A>> client(const Service<Q, A>& service, const AskOptions& options = {}) {
    return ServiceClient<Service<Q, A>>(detail::declare_client(core_, service.name, type_of(service), options));
  }
  /// Where frames are: reads /tf and /tf_static on its own thread, so that it is up to date also during a callback.
  /// Publications of components of the same process are known when publish() returns. The handle is kept in a member;
  /// each call returns the same tree, with the options of the first.
  [[nodiscard]] Transforms transforms(const TransformsOptions& options = {}) {
    return detail::declare_transforms(core_, options);
  }
  /// Declares that the component publishes places of frames. The handle that it returns is kept in a member.
  [[nodiscard]] TransformOutput transform_output() { return detail::declare_transform_output(core_); }
  /// Publishes a place that never changes, as long as the component runs. Throws Error (InvalidArgument).
  void static_transform(std::string_view parent, std::string_view child, const Transform& place) {
    detail::declare_static_transform(core_, parent, child, place);
  }
  /// Calls `callback()` at each multiple of `period` after the start, without drift.
  template <std::invocable F>
  void timer(std::chrono::nanoseconds period, F callback, const TimerOptions& options = {}) {
    detail::declare_timer(core_, period, options, std::move(callback));
  }
  /// A value that the configuration and `cardan param` can set. T: bool, std::int64_t, double, std::string, or a
  /// std::vector of one of these.
  template <ParameterType T>
  [[nodiscard]] Parameter<T> parameter(const std::string& name, T initial, ParameterOptions<T> options = {}) {
    return Parameter<T>(
        detail::declare_parameter(core_, name, ParameterValue(std::move(initial)), [&](detail::ParameterCore& p) {
          p.description = std::move(options.description);
          p.fixed = options.fixed;
          if (options.min) p.min = ParameterValue(*options.min);
          if (options.max) p.max = ParameterValue(*options.max);
          if (options.accept)
            p.accept = [accept = std::move(options.accept)](const ParameterValue& v) { return accept(std::get<T>(v)); };
        }));
  }

  /// The component's name, as the configuration gives it.
  [[nodiscard]] const std::string& name() const noexcept;
  /// The runtime's time in nanoseconds: the time of the steady clock, or of the simulation.
  [[nodiscard]] std::int64_t now() const noexcept;
  /// Logs a line for people, prefixed with the component's name. It is left out below the level that
  /// `cardan run --log-level` or `cardan component log` set for the component; without them, below Info.
  void log(LogLevel level, const std::string& text) const;
  /// The same at level Info.
  void log(const std::string& text) const { log(LogLevel::Info, text); }

 private:
  friend class detail::ComponentCore;
  friend detail::ComponentCore& detail::core_of(const Context& context) noexcept;
  explicit Context(detail::ComponentCore& core) noexcept : core_(core) {}
  template <Message Q, Message A>
  [[nodiscard]] static detail::ServiceType type_of(const Service<Q, A>& service) {
    return {detail::message_type_of<Q>(), detail::message_type_of<A>(), detail::adopt_function_of<Q>(),
            detail::adopt_function_of<A>(), service.options};
  }
  template <class T>
  detail::Port& declare(const Topic<T>& topic, const InputOptions& options, detail::InputCall call) {
    detail::ConvertCall convert;
    if constexpr (!Message<T> && detail::Encodable<T>) convert = &detail::decode_sample<T>;
    return detail::declare_input(core_, topic.name, detail::payload_type_of<T>(), topic.options, options,
                                 std::move(call), std::move(convert));
  }

  detail::ComponentCore& core_;
};

namespace detail {

inline ComponentCore& core_of(const Context& context) noexcept { return context.core_; }

/// A fusion of a component, and its callback. Used on the thread of the component's callbacks; any thread may read
/// statistics.
template <class F, class... Ts>
struct Joined {
  Joined(const FusionPolicy& policy, F f, const ComponentCore& c) : fusion(policy), callback(std::move(f)), core(c) {}

  Fusion<Ts...> fusion;
  F callback;
  const ComponentCore& core;  ///< outlives this object
  std::shared_ptr<FusionWatch> watch;

  template <std::size_t I>
  void take(const Sample<std::tuple_element_t<I, std::tuple<Ts...>>>& sample) {
    const std::int64_t now = now_of(core);
    fusion.template offer<I>(sample);
    bool fired = false;
    while (auto set = fusion.next()) {
      fired = true;
      fusion_fired(*watch, now);
      std::apply(callback, *set);
    }
    if (!fired && fusion_offered(*watch, I, now)) fusion_is_silent(*watch, fusion.statistics());
  }
};

}  // namespace detail

}  // namespace cardan

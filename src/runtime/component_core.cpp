// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/component_core.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/context.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/runtime/parameter_words.hpp"
#include "src/runtime/runtime.hpp"
#include "src/transforms/static_transforms.hpp"
#include "src/transforms/transform_store.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan {
const std::string& Context::name() const noexcept { return core_.name(); }
std::int64_t Context::now() const noexcept { return core_.now(); }
void Context::log(LogLevel level, const std::string& text) const {
  if (level >= core_.log_level()) detail::log(level, core_.name() + ": " + text);
}
}  // namespace cardan

namespace cardan::detail {

void ComponentCore::make_context() { context.reset(new Context(*this)); }

std::int64_t ComponentCore::now() const noexcept { return runtime_.clock().now(); }

void Errand::post(std::function<void()> work) {
  group().offer(*this, [&] { work_.push_back(std::move(work)); });
}
void Errand::pick(std::int64_t) noexcept {
  picked_ = std::move(work_.front());
  work_.pop_front();
}
void Errand::invoke() { std::exchange(picked_, nullptr)(); }

ComponentCore::ComponentCore(Runtime& runtime, config::Component settings)
    : runtime_(runtime), settings_(std::move(settings)) {
  const auto& levels = runtime.options().log_levels;
  for (const std::string& name : {std::string(), settings_.name})
    if (const auto level = levels.find(name); level != levels.end()) set_log_level(level->second);
  const Place place = place_of("");
  errand_ = &take_over(std::make_unique<Errand>(settings_.name + "/errand", place.group, strand_, place.priority));
}

ComponentCore::~ComponentCore() {
  component.reset();  // its threads may use the context and latest() until it is gone
  take_back();
}

ComponentCore::Place ComponentCore::place_of(const std::string& callback) {
  const config::Callback* own = settings_.callback(callback);
  const int priority = own != nullptr && own->priority ? *own->priority : settings_.priority;
  if (own != nullptr && own->thread)
    return {runtime_.own_thread(settings_.name + " " + callback, *own->thread), priority};
  if (settings_.thread) return {runtime_.own_thread(settings_.name + " ", *settings_.thread), priority};
  return {runtime_.group(settings_.group), priority};
}

template <class C>
C& ComponentCore::take_over(std::unique_ptr<C> callback) {
  C& c = *callback;
  c.belongs_to(settings_.name);
  c.group().expect(c);
  callbacks_.push_back(std::move(callback));
  return c;
}

void ComponentCore::require_on_start(const char* what, const std::string& name) const {
  if (!sealed_.load(std::memory_order_relaxed)) return;
  const Callback* inside = running_callback();
  throw Error(
      ErrorCode::InvalidArgument,
      fmt::format("component '{}' declares {} '{}' {}", settings_.name, what, name,
                  inside != nullptr && inside->component() == settings_.name
                      ? fmt::format("in its callback '{}'", inside->name())
                      : "after on_start()"),
      "declare everything in on_start(): inputs, outputs, timers, fusions and parameters cannot change after that");
}

ComponentCore::Fused& ComponentCore::fusion(const FusionPolicy& policy, const FuseOptions& options,
                                            const std::vector<std::string>& topics) {
  std::string name = options.name;
  if (name.empty()) name = fusions_.empty() ? "fusion" : fmt::format("fusion{}", fusions_.size() + 1);
  require_on_start("the fusion", name);
  if (options.inputs.named() > topics.size())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("component '{}', fusion '{}': options name input {}, but there are {} inputs",
                            settings_.name, name, options.inputs.named() - 1, topics.size()),
                "inputs are counted from 0");
  const auto same = [&](const Fused& f) { return f.watch->name() == name; };
  if (std::any_of(fusions_.begin(), fusions_.end(), same))
    throw Error(ErrorCode::NameTaken, fmt::format("component '{}' has two fusions named '{}'", settings_.name, name),
                "give one of them another FuseOptions::name");
  std::vector<std::string> inputs, on_bus;
  for (std::size_t i = 0; i < topics.size(); ++i) {
    inputs.push_back(options.inputs[i].name.empty() ? topics[i] : options.inputs[i].name);
    on_bus.push_back(settings_.bus_name(topics[i]));
  }
  return fusions_.emplace_back(
      Fused{.watch = std::make_shared<FusionWatch>(settings_.name, name, policy, std::move(inputs)),
            .topics = std::move(on_bus)});
}

ComponentCore::FailedSamples ComponentCore::failed_on() const {
  FailedSamples all;
  for (const Declared& d : declared_)
    if (d.port != nullptr && !d.port->failed_on().empty()) all[d.port->name()] = d.port->failed_on();
  return all;
}

std::shared_ptr<OutputCore> ComponentCore::output(const std::string& topic, const PayloadType& type,
                                                  const TopicOptions& options) {
  require_on_start("the output", topic);
  const std::string on_bus = settings_.bus_name(topic);
  refuse_name_of_service(on_bus);
  const TopicOptions changed = runtime_.options_of(on_bus, options);
  auto channel = runtime_.channel(on_bus, type, settings_.name);
  Process* process = changed.process_private || !type.shared ? nullptr : runtime_.process();
  auto ends = std::make_shared<ChainEnds>(on_bus, runtime_.options().chains, runtime_.hops());
  ChainRole role{.entries = runtime_.chain_entries(),
                 .topic = runtime_.chain_beginning(on_bus),
                 .component = ChainRole::key(settings_.name)};
  if (!ends->empty()) {
    role.ends = &ChainEnds::published;
    role.self = ends.get();
  }
  std::shared_ptr<PublisherCore> publisher;
  if (type.shared && (type.native || process != nullptr)) {
    TopicOptions room = changed;
    if (!type.native && room.max_bytes == 0) room.max_bytes = kEncodedBytes;
    ChainRole in_slots = role;
    if (!type.native) in_slots.ends = nullptr;  // the output counts the object that it encodes
    publisher = std::make_shared<PublisherCore>(on_bus, *type.shared, room, PublisherOptions{}, in_slots);
  }
  auto core = std::make_shared<OutputCore>(std::move(channel), std::move(publisher), process, runtime_.clock(),
                                           changed.depth, role, std::move(ends));
  core->wait_first(runtime_.recorder_gate());
  declared_.push_back({topic, on_bus, type, changed, options, true, nullptr, core, {}});
  return core;
}

void ComponentCore::refuse_second(const std::string& callback, const char* remedy) const {
  const auto same = [&](const auto& c) { return c->name() == callback; };
  if (std::any_of(callbacks_.begin(), callbacks_.end(), same))
    throw Error(ErrorCode::NameTaken,
                fmt::format("component '{}' has two callbacks named '{}'", settings_.name, callback),
                std::string("give one of them another name: ") + remedy);
}

Strand& ComponentCore::strand(bool overlaps) {
  return overlaps ? *own_strands_.emplace_back(std::make_unique<Strand>()) : strand_;
}

Port& ComponentCore::input(const std::string& topic, const PayloadType& type, const TopicOptions& options,
                           const InputOptions& input, Port::Call call, RemoteSource::Convert convert, bool at_once) {
  require_on_start("the input", topic);
  const std::string on_bus = settings_.bus_name(topic);
  TopicOptions changed = runtime_.options_of(on_bus, options);
  if (!type.native && changed.max_bytes == 0) changed.max_bytes = kEncodedBytes;  // as the output's
  const std::string name = input.name.empty() ? topic : input.name;
  refuse_second(name, "InputOptions::name of an input or a latest(), FuseOptions::inputs of a fusion");
  const Place place = at_once ? own_place() : place_of(name);
  auto channel = runtime_.channel(on_bus, type, settings_.name);
  const std::uint32_t depth = input.depth != 0 ? input.depth : std::min(changed.depth, 64U);
  if (depth < 1 || depth > layout::kMaxDepth || input.keeps > layout::kMaxHolds)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("component '{}', input '{}': depth is {} and keeps is {}", settings_.name, name, depth,
                            input.keeps),
                fmt::format("use a depth of 1 to {}, and keep at most {}", layout::kMaxDepth, layout::kMaxHolds));
  Port& port = take_over(std::make_unique<Port>(name, place.group, strand(input.overlaps), place.priority, depth,
                                                input.keeps, std::move(call)));
  for (const PoisonSample& poison : runtime_.options().poison) {
    if (poison.component != settings_.name || poison.callback != name) continue;
    log(LogLevel::Warning, fmt::format("{}: sample {} of input '{}' is skipped: this process crashed on it twice",
                                       settings_.name, poison.sequence, name));
    port.leave_out({.sequence = poison.sequence, .publish_ns = poison.publish_ns});
  }
  if (const auto failed = failed_before_.find(name); failed != failed_before_.end()) {
    std::vector<std::uint64_t> twice;
    for (const FailedOn& sample : failed->second)
      if (sample.times >= kFailuresToLeaveOut) twice.push_back(sample.sequence);
    if (!twice.empty())
      log(LogLevel::Warning, fmt::format("{}: input '{}' does not get {} of '{}' again, because its callback failed on "
                                         "it twice; cardan component restart {} delivers it once more",
                                         settings_.name, name,
                                         twice.size() == 1 ? fmt::format("sample {}", twice.back())
                                                           : fmt::format("{} samples", twice.size()),
                                         on_bus, settings_.name));
    port.remember_failures(failed->second);
  }
  if (!input.rests_on) port.leave_basis();
  if (at_once) port.take_at_once();
  channel->add(port);
  declared_.push_back({topic, on_bus, type, changed, options, false, &port, {}, std::move(convert)});
  return port;
}

ComponentCore::Place ComponentCore::own_place() {
  return {runtime_.own_thread(settings_.name + " transforms", {}), settings_.priority};
}

Transforms ComponentCore::transforms(const TransformsOptions& options) {
  if (transforms_) return transforms_;
  const auto store = std::make_shared<TransformStore>(options, runtime_.options().threads);
  const auto take = [&](const Topic<TransformMessage>& topic, bool is_static) {
    input(
        topic.name, payload_type_of<TransformMessage>(), topic.options,
        {.depth = topic.options.depth, .keeps = 0, .rests_on = false},
        [store, is_static](SampleBlock* sample) { store->take(sample, is_static); }, {}, true);
  };
  take(kStaticTransforms, true);
  take(kTransforms, false);
  transforms_ = Transforms(store);
  return transforms_;
}

TransformOutput ComponentCore::transform_output() {
  return TransformOutput(context->output(with_room_for(kTransforms, 1)));
}

void ComponentCore::static_transform(std::string_view parent, std::string_view child, const Transform& place) {
  require_on_start("the static transform of", std::string(child));
  static_transforms_.push_back(detail::static_transform(parent, child, place));
  if (static_output_ == nullptr)
    static_output_ = output(kStaticTransforms.name, payload_type_of<TransformMessage>(), kStaticTransforms.options);
  Loan<TransformMessage> loan = typed<TransformMessage>(loan_of_output(*static_output_));
  // All of them each time: who comes later is sure of the last message alone.
  if (!loan || !fill(*loan, static_transforms_))
    throw Error(ErrorCode::Limit, fmt::format("component '{}' has too many static transforms", settings_.name),
                "raise max_bytes of /tf_static in the configuration's topics");
  publish_filled(*static_output_, take_out(loan));
}

void ComponentCore::timer(std::chrono::nanoseconds period, const TimerOptions& options, std::function<void()> call) {
  require_on_start("the timer", options.name);
  if (period.count() <= 0)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("component '{}': a timer of {} ns", settings_.name, period.count()),
                "use a period above zero");
  std::string name = options.name;
  if (name.empty()) name = timers_.empty() ? "timer" : fmt::format("timer{}", timers_.size() + 1);
  const Place place = place_of(name);
  TimerCallback& timer = take_over(std::make_unique<TimerCallback>(name, place.group, strand_, place.priority,
                                                                   period.count(), options, std::move(call)));
  timers_.push_back(&timer);
  place.group.add(timer);
}

void ComponentCore::service(const std::string& service, ServiceType type, const AnswerOptions& options,
                            QuestionCall call) {
  require_on_start("the service", service);
  const std::string name = options.name.empty() ? service : options.name;
  const std::string on_bus = settings_.bus_name(service);
  if (settings_.introspection) type.options.introspection = *settings_.introspection;
  check_service(on_bus, type.options);
  refuse_second(name, "AnswerOptions::name, AskOptions::name");
  constexpr std::uint32_t kMostHeld = 200;
  if (options.holds < 1 || options.holds > kMostHeld)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("component '{}', service '{}': holds is {}", settings_.name, service, options.holds),
                fmt::format("use 1 to {}", kMostHeld));
  const Place place = place_of(name);
  ServiceCallback& callback = take_over(std::make_unique<ServiceCallback>(
      name, place.group, strand(options.overlaps), place.priority, options.holds, std::move(call)));
  services_.push_back({service, on_bus, std::move(type), options.holds, &callback, nullptr});
  runtime_.services().add(services_.back());
}

ClientCallback& ComponentCore::client(const std::string& service, ServiceType type, const AskOptions& options) {
  require_on_start("the client of", service);
  const std::string name = options.name.empty() ? service : options.name;
  const std::string on_bus = settings_.bus_name(service);
  check_service(on_bus, type.options);
  refuse_second(name, "AnswerOptions::name, AskOptions::name");
  const Place place = place_of(name);
  ClientCallback& callback = take_over(std::make_unique<ClientCallback>(name, place.group, strand_, place.priority));
  services_.push_back({service, on_bus, std::move(type), 0, nullptr, &callback});
  return callback;
}

std::shared_ptr<ParameterCore> ComponentCore::parameter(const std::string& name, ParameterValue initial,
                                                        const std::function<void(ParameterCore&)>& describe) {
  require_on_start("the parameter", name);
  auto core = std::make_shared<ParameterCore>(std::move(initial));
  core->name = name;
  describe(*core);
  if (!parameters_.emplace(name, core).second)
    throw Error(ErrorCode::NameTaken, fmt::format("component '{}' has two parameters named '{}'", settings_.name, name),
                "give one of them another name");
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("parameter '{}' of component '{}': {}", name, settings_.name, why), wanted_by(*core));
  };
  ParameterValue value = core->value();
  if (const std::string why = core->refusal(value); !why.empty()) throw refuse("its default is refused: " + why);
  if (const auto set = settings_.parameters.find(name); set != settings_.parameters.end()) {
    value = set->second;
    if (const std::string why = core->refusal(value); !why.empty()) throw refuse(why);
    core->store(std::move(value));
  }
  return core;
}

void ComponentCore::mark_cycle(const std::string& domain) {
  const config::Cycle settings = settings_.cycle.value_or(config::Cycle{});
  if (settings.weight <= 0) return;
  Callback* driving = nullptr;
  if (!settings.callback.empty()) {
    const auto named = [&](const auto& c) { return c.get() != errand_ && c->name() == settings.callback; };
    const auto found = std::find_if(callbacks_.begin(), callbacks_.end(), named);
    if (found == callbacks_.end())
      throw Error(ErrorCode::InvalidArgument, fmt::format("it has no callback '{}' for its cycle", settings.callback),
                  "cardan check shows its callbacks");
    driving = found->get();
  } else if (!timers_.empty()) {
    driving = timers_.front();
  } else {
    const auto calls = [](const Declared& d) { return d.port != nullptr && d.port->calls() && !d.port->at_once(); };
    const auto found = std::find_if(declared_.begin(), declared_.end(), calls);  // of a primary() fusion the primary
    if (found != declared_.end()) driving = found->port;
  }
  if (driving == nullptr) return;
  const auto timer = std::find(timers_.begin(), timers_.end(), driving);
  const std::chrono::nanoseconds period{timer == timers_.end() ? 0 : (*timer)->period_ns()};
  cycle_ = std::make_unique<Cycle>(settings_.name, std::min(period, std::chrono::nanoseconds{CycleHint::kMaxPeriod}),
                                   CycleOptions{.weight = settings.weight, .domain = domain});
  driving->cycle().set(*cycle_, settings_.cycle.has_value());
}

std::vector<Group*> ComponentCore::groups() const {
  std::vector<Group*> all;
  for (const auto& c : callbacks_)
    if (std::find(all.begin(), all.end(), &c->group()) == all.end()) all.push_back(&c->group());
  return all;
}

void ComponentCore::take_back() noexcept {
  for (TimerCallback* timer : timers_) timer->group().remove(*timer);
  for (const Declared& d : declared_) {
    if (d.out != nullptr) d.out->forget_samples();
    if (d.port == nullptr) continue;
    runtime_.channel(d.topic, d.type, settings_.name)->remove(*d.port);
    d.port->group().remotes().remove(*d.port);
    d.port->clear();
  }
  for (const DeclaredService& s : services_) runtime_.services().remove(s);
  for (const auto& c : callbacks_) c->group().forget(*c);
  timers_.clear();
  fusions_.clear();
  services_.clear();
  declared_.clear();  // and with it the outputs that the component does not keep
  callbacks_.clear();
  cycle_.reset();
  transforms_ = {};
  static_output_.reset();
  static_transforms_.clear();
  parameters_.clear();
}

}  // namespace cardan::detail

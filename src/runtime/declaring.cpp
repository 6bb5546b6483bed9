// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/declaring.hpp"

#include <utility>

#include "cardan/detail/forked.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/executor/output_core.hpp"
#include "src/runtime/executor/port.hpp"
#include "src/runtime/fusion/fusion_watch.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail {

std::shared_ptr<OutputCore> declare_output(ComponentCore& core, const std::string& topic, const PayloadType& type,
                                           const TopicOptions& options) {
  return core.output(topic, type, options);
}

Port& declare_input(ComponentCore& core, const std::string& topic, const PayloadType& type, const TopicOptions& options,
                    const InputOptions& input, InputCall call, ConvertCall convert) {
  return core.input(topic, type, options, input, std::move(call), std::move(convert));
}

void declare_timer(ComponentCore& core, std::chrono::nanoseconds period, const TimerOptions& options,
                   std::function<void()> call) {
  core.timer(period, options, std::move(call));
}

std::shared_ptr<ParameterCore> declare_parameter(ComponentCore& core, const std::string& name, config::Value initial,
                                                 const std::function<void(ParameterCore&)>& describe) {
  return core.parameter(name, std::move(initial), describe);
}

std::shared_ptr<FusionWatch> declare_fusion(ComponentCore& core, const FusionPolicy& policy, const FuseOptions& options,
                                            const std::vector<std::string>& topics,
                                            std::function<FusionStatistics()> statistics) {
  ComponentCore::Fused& fused = core.fusion(policy, options, topics);
  fused.statistics = std::move(statistics);
  return fused.watch;
}

void declare_service(ComponentCore& core, const std::string& service, ServiceType type, const AnswerOptions& options,
                     QuestionCall call) {
  core.service(service, std::move(type), options, std::move(call));
}

ClientCallback& declare_client(ComponentCore& core, const std::string& service, ServiceType type,
                               const AskOptions& options) {
  return core.client(service, std::move(type), options);
}

LoanedSlot loan_of_client(ClientCallback& client) noexcept { return is_forked_child() ? LoanedSlot() : client.loan(); }
std::uint64_t ask(ClientCallback& client, Filled filled, std::chrono::nanoseconds timeout, AnswerCall call) {
  return is_forked_child() ? 0 : client.ask(std::move(filled), timeout, std::move(call));
}
std::uint64_t fail_to_ask(ClientCallback& client, AnswerCall call) {
  if (!is_forked_child()) client.fail(std::move(call));
  return 0;
}
void cancel_question(ClientCallback& client, std::uint64_t number) {
  if (!is_forked_child()) client.cancel(number);
}
bool has_server(const ClientCallback& client) noexcept { return !is_forked_child() && client.has_server(); }

Transforms declare_transforms(ComponentCore& core, const TransformsOptions& options) {
  return core.transforms(options);
}

TransformOutput declare_transform_output(ComponentCore& core) { return core.transform_output(); }

void declare_static_transform(ComponentCore& core, std::string_view parent, std::string_view child,
                              const Transform& place) {
  core.static_transform(parent, child, place);
}

std::int64_t now_of(const ComponentCore& core) noexcept { return core.now(); }

void fusion_fired(FusionWatch& watch, std::int64_t now) noexcept { watch.fired(now); }
bool fusion_offered(FusionWatch& watch, std::size_t input, std::int64_t now) noexcept {
  return watch.offered(input, now);
}
void fusion_is_silent(const FusionWatch& watch, const FusionStatistics& statistics) { watch.tell(statistics); }

SampleBlock* latest_of(Port& port) noexcept {
  SampleBlock* block = port.latest();
  if (CallbackBasis* basis = CallbackBasis::here(); basis != nullptr && block != nullptr && port.rests_on()) {
    trace::note(trace::Kind::Read, *block);
    basis->read(*block);
  }
  return block;
}

LoanedSlot loan_of_output(OutputCore& core) noexcept {
  if (is_forked_child()) return {};
  LoanedSlot slot(core.publisher());
  return slot || !core.make_room() ? std::move(slot) : LoanedSlot(core.publisher());
}

bool publish_filled(OutputCore& core, const Filled& filled) noexcept { return core.publish(filled); }
void publish_object(OutputCore& core, SampleBlock* block) noexcept { core.publish(block); }

const std::shared_ptr<PublisherCore>* publisher_of_encoded(OutputCore& core) noexcept {
  if (!core.goes_outside() || is_forked_child()) return nullptr;
  core.begin_encoding();
  return &core.publisher();
}

void note_not_encoded(OutputCore& core) noexcept { core.note_not_encoded(); }
std::uint64_t published_by(const OutputCore& core) noexcept { return core.published(); }

}  // namespace cardan::detail

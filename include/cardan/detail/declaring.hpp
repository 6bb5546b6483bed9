// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/codec.hpp"
#include "cardan/component_options.hpp"
#include "cardan/configuration.hpp"
#include "cardan/detail/loaned_slot.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/fusion_policy.hpp"
#include "cardan/topic.hpp"

// The parts of the runtime's inside that the templates of Context, Output and Latest need. They name its classes and do
// not include them, so that users compile without them.

namespace cardan {
struct Transform;
class TransformOutput;
class Transforms;
struct TransformsOptions;
}  // namespace cardan

namespace cardan::detail {

class ClientCallback;
class ComponentCore;
class FusionWatch;
class OutputCore;
class ParameterCore;
class Port;

/// The callback of an input. Takes over the reference.
using InputCall = std::function<void(SampleBlock*)>;
/// Decodes a sample that came from another process. Takes over the reference; null: malformed.
using ConvertCall = std::function<SampleBlock*(SampleBlock*)>;
/// The callback of a service, and the one of a question that was asked. They take over the reference.
using QuestionCall = std::function<void(TakenQuestion&&)>;
using AnswerCall = std::function<void(Outcome&&)>;

/// Both types of a service, and its contract.
struct ServiceType {
  MessageType question, answer;
  AdoptFunction adopt_question = nullptr, adopt_answer = nullptr;
  ServiceOptions options{};
};

// As the functions of ComponentCore. Set-up, in on_start().
[[nodiscard]] std::shared_ptr<OutputCore> declare_output(ComponentCore& core, const std::string& topic,
                                                         const PayloadType& type, const TopicOptions& options);
Port& declare_input(ComponentCore& core, const std::string& topic, const PayloadType& type, const TopicOptions& options,
                    const InputOptions& input, InputCall call, ConvertCall convert);
void declare_timer(ComponentCore& core, std::chrono::nanoseconds period, const TimerOptions& options,
                   std::function<void()> call);
[[nodiscard]] std::shared_ptr<ParameterCore> declare_parameter(ComponentCore& core, const std::string& name,
                                                               config::Value initial,
                                                               const std::function<void(ParameterCore&)>& describe);
[[nodiscard]] std::shared_ptr<FusionWatch> declare_fusion(ComponentCore& core, const FusionPolicy& policy,
                                                          const FuseOptions& options,
                                                          const std::vector<std::string>& topics,
                                                          std::function<FusionStatistics()> statistics);
void declare_service(ComponentCore& core, const std::string& service, ServiceType type, const AnswerOptions& options,
                     QuestionCall call);
[[nodiscard]] ClientCallback& declare_client(ComponentCore& core, const std::string& service, ServiceType type,
                                             const AskOptions& options);
[[nodiscard]] Transforms declare_transforms(ComponentCore& core, const TransformsOptions& options);
[[nodiscard]] TransformOutput declare_transform_output(ComponentCore& core);
void declare_static_transform(ComponentCore& core, std::string_view parent, std::string_view child,
                              const Transform& place);
/// The runtime's time; any thread.
[[nodiscard]] std::int64_t now_of(const ComponentCore& core) noexcept;

// As the functions of FusionWatch. On the thread that is in the fusion's callback.
void fusion_fired(FusionWatch& watch, std::int64_t now) noexcept;
[[nodiscard]] bool fusion_offered(FusionWatch& watch, std::size_t input, std::int64_t now) noexcept;
void fusion_is_silent(const FusionWatch& watch, const FusionStatistics& statistics);

/// The newest sample of an input, with a reference for the caller; null: none yet. Any thread.
[[nodiscard]] SampleBlock* latest_of(Port& port) noexcept;

// As the functions of ClientCallback. Any thread.
[[nodiscard]] LoanedSlot loan_of_client(ClientCallback& client) noexcept;
std::uint64_t ask(ClientCallback& client, Filled filled, std::chrono::nanoseconds timeout, AnswerCall call);
std::uint64_t fail_to_ask(ClientCallback& client, AnswerCall call);
void cancel_question(ClientCallback& client, std::uint64_t number);
[[nodiscard]] bool has_server(const ClientCallback& client) noexcept;

// Of an output; one thread at a time.
/// A slot. Empty when all loans are out and no slot can be added, and in a child of fork().
[[nodiscard]] LoanedSlot loan_of_output(OutputCore& core) noexcept;
/// As Publisher::publish.
bool publish_filled(OutputCore& core, const Filled& filled) noexcept;
/// An object of this process, to its inputs. Takes over the reference.
void publish_object(OutputCore& core, SampleBlock* block) noexcept;
/// Where an encoded object goes. Null: no other process may read it.
[[nodiscard]] const std::shared_ptr<PublisherCore>* publisher_of_encoded(OutputCore& core) noexcept;
/// An object could not be published to other processes: logged once.
void note_not_encoded(OutputCore& core) noexcept;
[[nodiscard]] std::uint64_t published_by(const OutputCore& core) noexcept;

}  // namespace cardan::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cardan/codec.hpp"
#include "cardan/component_options.hpp"
#include "cardan/configuration.hpp"
#include "cardan/detail/loaned_slot.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/fusion_policy.hpp"
#include "cardan/topic.hpp"

// The parts of the runtime's inside that the templates of Context, Output and Latest need. They name its classes and do
// not include them, so that users compile without them.

namespace cardan::detail {

class ComponentCore;
class FusionWatch;
class OutputCore;
class ParameterCore;
class Port;

/// The callback of an input. Takes over the reference.
using InputCall = std::function<void(SampleBlock*)>;
/// Decodes a sample that came from another process. Takes over the reference; null: malformed.
using ConvertCall = std::function<SampleBlock*(SampleBlock*)>;

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
/// The runtime's time; any thread.
[[nodiscard]] std::int64_t now_of(const ComponentCore& core) noexcept;

// As the functions of FusionWatch. On the thread that is in the fusion's callback.
void fusion_fired(FusionWatch& watch, std::int64_t now) noexcept;
[[nodiscard]] bool fusion_offered(FusionWatch& watch, std::size_t input, std::int64_t now) noexcept;
void fusion_is_silent(const FusionWatch& watch, const FusionStatistics& statistics);

/// The newest sample of an input, with a reference for the caller; null: none yet. Any thread.
[[nodiscard]] SampleBlock* latest_of(Port& port) noexcept;

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

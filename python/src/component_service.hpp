// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>

#include "python/src/component.hpp"
#include "python/src/held.hpp"
#include "python/src/service.hpp"

namespace cardan::python {

/// As Context::service(): `callback` is called with a `QuestionHandle`. Throws Error.
void declare_service(detail::ComponentCore& core, const ServiceContract& contract, Held cls, Held callback,
                     const AnswerOptions& options);
/// As Context::client(): a `ComponentClientHandle`. Throws Error.
[[nodiscard]] nanobind::object declare_client(std::shared_ptr<const Life> life, const ServiceContract& contract,
                                              Held cls, const AskOptions& options);

void bind_component_service(nanobind::module_& m);

}  // namespace cardan::python

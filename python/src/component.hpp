// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "cardan/error.hpp"
#include "cardan/component.hpp"

namespace cardan::python {

/// A component of Python, as its handles see it; they may live longer than it.
struct Life {
  const Context* context = nullptr;  ///< null: it has ended
  [[nodiscard]] const Context& of() const {
    if (context == nullptr)
      throw Error(ErrorCode::InvalidArgument, "the component has ended", "use its parts in its callbacks only");
    return *context;
  }
};

/// A `ContextHandle`.
[[nodiscard]] nanobind::object context_handle(std::shared_ptr<const Life> life);
/// A component of the runtime that represents this instance of a Python class.
[[nodiscard]] std::shared_ptr<Component> component_of(nanobind::object instance);

/// `ContextHandle`, `OutputHandle`, `ParameterHandle`, `LatestHandle`: what a component in Python declares.
void bind_component(nanobind::module_& m);
/// `_run_host`, `_declare`: processes of `cardan run` that have components in Python.
void bind_host(nanobind::module_& m);
/// `SimulationHandle`.
void bind_simulation(nanobind::module_& m);

/// The component of the runtime that represents an instance of a Python class. `make` is called with the class's name
/// ("module:Class") and returns the instance.
void set_factory(nanobind::object make);
void offer_class(const std::string& name);

}  // namespace cardan::python

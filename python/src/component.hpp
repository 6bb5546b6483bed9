// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace cardan::python {

/// `ContextHandle`, `OutputHandle`, `ParameterHandle`, `LatestHandle`: what a component in Python declares.
void bind_component(nanobind::module_& m);
/// `_run_host`, `_declare`: processes of `cardan run` that have components in Python.
void bind_host(nanobind::module_& m);

/// The component of the runtime that stands for an instance of a Python class. `make` is called with the class's name
/// ("module:Class") and returns the instance.
void set_factory(nanobind::object make);
void offer_class(const std::string& name);

}  // namespace cardan::python

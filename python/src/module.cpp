// SPDX-License-Identifier: Apache-2.0
// The extension `cardan._cardan`. The interface for users is written in Python over it.
#include <nanobind/nanobind.h>

#include "python/src/arrays.hpp"
#include "python/src/component.hpp"
#include "python/src/errors.hpp"
#include "python/src/fusion.hpp"
#include "python/src/image.hpp"
#include "python/src/message.hpp"
#include "python/src/numpy_array.hpp"
#include "python/src/options.hpp"
#include "python/src/publisher.hpp"
#include "python/src/recorded.hpp"
#include "python/src/service.hpp"
#include "python/src/subscriber.hpp"
#include "python/src/transforms.hpp"
#include "python/src/type.hpp"

NB_MODULE(_cardan, m) {
  m.attr("__version__") = CARDAN_VERSION;
  nanobind::set_leak_warnings(false);  // endpoints of a program that ends are not leaks
  cardan::python::translate_errors(nanobind::module_::import_("cardan._errors").attr("Error"));
  cardan::python::bind_type(m);
  cardan::python::bind_options(m);
  cardan::python::bind_view(m);
  cardan::python::bind_numpy_array(m);
  cardan::python::bind_message(m);
  cardan::python::bind_image(m);
  cardan::python::bind_recorded(m);
  cardan::python::bind_publisher(m);
  cardan::python::bind_subscriber(m);
  cardan::python::bind_service(m);
  cardan::python::bind_transforms(m);
  cardan::python::bind_fusion(m);
  cardan::python::bind_component(m);
  cardan::python::bind_host(m);
  cardan::python::bind_simulation(m);
}

// SPDX-License-Identifier: Apache-2.0
// The extension `cardan._record`: recordings. It is loaded when it is used first, so that a program that only
// communicates needs neither compressors nor io_uring.
#include "python/src/record_module.hpp"

#include "python/src/errors.hpp"

NB_MODULE(_record, m) {
  nanobind::set_leak_warnings(false);
  nanobind::module_::import_("cardan._cardan");  // whose `Type` messages of files have
  cardan::python::translate_errors(nanobind::module_::import_("cardan._errors").attr("Error"));
  cardan::python::bind_bag_reader(m);
  cardan::python::bind_bag_writer(m);
  cardan::python::bind_recorder(m);
  cardan::python::bind_player(m);
  cardan::python::bind_replay(m);
}

// SPDX-License-Identifier: Apache-2.0
#include "python/src/options.hpp"

#include <nanobind/stl/string.h>

#include <chrono>
#include <cstdint>

#include "cardan/endpoint_options.hpp"
#include "cardan/topic.hpp"
#include "python/src/instance.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

template <class T>
auto set_nanoseconds(std::chrono::nanoseconds T::* member) {
  return [member](T& self, std::int64_t ns) { self.*member = std::chrono::nanoseconds(ns); };
}

Waiting waiting_of(int kind, std::int64_t limit) {
  return {enumerator(kind, Waiting::Kind::Follow, "waiting"), std::chrono::nanoseconds(limit)};
}

}  // namespace

void bind_options(nb::module_& m) {
  using Topic = TopicOptions;
  nb::class_<Topic>(m, "TopicOptions")
      .def(nb::init<>())
      .def_rw("max_bytes", &Topic::max_bytes)
      .def_rw("depth", &Topic::depth)
      .def_rw("reliable", &Topic::reliable)
      .def("set_reliable_timeout", set_nanoseconds(&Topic::reliable_timeout))
      .def("set_deadline", set_nanoseconds(&Topic::deadline))
      .def("set_lifespan", set_nanoseconds(&Topic::lifespan))
      .def("set_waiting", [](Topic& self, int kind, std::int64_t limit) { self.waiting = waiting_of(kind, limit); })
      .def("set_access", [](Topic& self, int access) { self.access = enumerator(access, Access::Policy, "access"); })
      .def_rw("checksum", &Topic::checksum)
      .def_rw("exclusive", &Topic::exclusive)
      .def_rw("process_private", &Topic::process_private)
      .def_rw("loans", &Topic::loans)
      .def_rw("max_memory", &Topic::max_memory);
  using Subscriber = SubscriberOptions;
  nb::class_<Subscriber>(m, "SubscriberOptions")
      .def(nb::init<>())
      .def_rw("domain", &Subscriber::domain)
      .def_rw("holds", &Subscriber::holds)
      .def_rw("depth", &Subscriber::depth)
      .def_rw("reliable", &Subscriber::reliable)
      .def_rw("background", &Subscriber::background)
      .def("set_waiting",
           [](Subscriber& self, int kind, std::int64_t limit) { self.waiting = waiting_of(kind, limit); })
      .def_rw("not_via", &Subscriber::not_via)
      .def_rw("events_end_wait", &Subscriber::events_end_wait);
}

}  // namespace cardan::python

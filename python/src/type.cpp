// SPDX-License-Identifier: Apache-2.0
#include "python/src/type.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cardan/type_layout.hpp"
#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/waits.hpp"
#include "src/messages/ros2_definitions.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

std::shared_ptr<AnyType> known(const std::string& name) {
  const auto definition = known_definition(name);
  if (!definition)
    throw Error(ErrorCode::InvalidArgument, "no message type '" + name + "' is known here",
                "give its definition: cardan.from_ros2msg(name, text)");
  return std::make_shared<AnyType>(AnyType::of_definition(name, *definition));
}

std::shared_ptr<AnyType> of_topic(const std::string& topic, const std::string& domain) {
  refuse_fork();
  std::optional<AnyType> type;
  {
    const OthersRun others_run;
    type = AnyType::of_topic(topic, {.domain = domain});
  }
  if (!type)
    throw Error(ErrorCode::Unavailable, "nobody publishes '" + topic + "' with a type that can be read",
                "start the publisher first, or give the type");
  return std::make_shared<AnyType>(std::move(*type));
}

/// A field's type as in a ROS 2 definition.
std::string text_of_type(const TypeLayout& t) {
  const std::string bound = t.count == 0 ? "" : "<=" + std::to_string(t.count);
  switch (t.kind) {
    case TypeLayout::Kind::Message:
      return t.name;
    case TypeLayout::Kind::FixedString:
    case TypeLayout::Kind::String:
      return "string" + bound;
    case TypeLayout::Kind::WString:
      return "wstring" + bound;
    case TypeLayout::Kind::Array:
      return text_of_type(*t.element) + "[" + std::to_string(t.count) + "]";
    case TypeLayout::Kind::FixedVector:
    case TypeLayout::Kind::Vector:
      return text_of_type(*t.element) + "[" + bound + "]";
    default:
      return dtype_name(t);
  }
}

}  // namespace

void bind_type(nb::module_& m) {
  nb::class_<AnyType>(m, "Type")
      .def_static("known", &known, nb::arg("name"))
      .def_static("of_topic", &of_topic, nb::arg("topic"), nb::arg("domain"))
      .def_static(
          "of_definition",
          [](const std::string& name, const std::string& text) {
            return std::make_shared<AnyType>(AnyType::of_definition(name, text));
          },
          nb::arg("name"), nb::arg("definition"))
      .def("payload_bytes", &AnyType::payload_bytes, nb::arg("cdr_bytes"))
      .def_prop_ro("name", [](const AnyType& self) { return self.layout().name; })
      .def_prop_ro("definition", [](const AnyType& self) { return self.message_type().schema; })
      .def_prop_ro("hash", [](const AnyType& self) { return self.message_type().hash; })
      .def_prop_ro("has_lists", [](const AnyType& self) { return self.layout().has_vectors(); })
      .def_prop_ro("fields", [](const AnyType& self) {
        std::vector<std::pair<std::string, std::string>> all;
        for (const TypeLayout::Field& f : self.layout().fields) all.emplace_back(f.name, text_of_type(*f.type));
        return all;
      });
}

}  // namespace cardan::python

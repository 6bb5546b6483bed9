// SPDX-License-Identifier: Apache-2.0
#include "python/src/message.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/detail/sample_clock.hpp"
#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/image.hpp"
#include "python/src/instance.hpp"
#include "python/src/values.hpp"
#include "src/messages/layout_cdr.hpp"

namespace nb = nanobind;

namespace cardan::python {
Message& message_in(PyObject* self) {
  if (!nb::inst_ready(self))
    raise(PyExc_TypeError, "messages come from a subscriber or a loan; this one was made without either");
  return *nb::inst_ptr<Message>(self);
}

namespace {

using Kind = TypeLayout::Kind;

std::vector<std::string> names(const TypeLayout& layout) {
  std::vector<std::string> all;
  all.reserve(layout.fields.size());
  for (const TypeLayout::Field& f : layout.fields) all.push_back(f.name);
  return all;
}

PyObject* classes = nullptr;  // the dict: name of a type -> its class

std::string_view name_of(PyObject* name) {
  Py_ssize_t bytes = 0;
  const char* const first = PyUnicode_AsUTF8AndSize(name, &bytes);
  if (first == nullptr) throw_python();
  return {first, static_cast<std::size_t>(bytes)};
}

/// The class Image, whose `mat` is looked up before anything else: half of the time of a search would be cache misses.
PyTypeObject* image_class = nullptr;
PyObject* mat_name = nullptr;

/// An AttributeError about a name that neither the message nor its class has becomes one that says which fields there
/// are.
void say_which_fields(PyObject* self, PyObject* name, std::string_view word) {
  if (word.starts_with("_") || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return;
  nb::python_error missing;  // takes it
  if (PyObject_HasAttr(reinterpret_cast<PyObject*>(Py_TYPE(self)), name) != 0) throw missing;
  raise_no_field(PyExc_AttributeError, *message_in(self).layout, std::string(word));
}

PyObject* get_attribute(PyObject* self, PyObject* name) noexcept {
  try {
    if (name == mat_name && Py_TYPE(self) == image_class) return image_mat(self).release().ptr();
    const std::string_view word = name_of(name);
    if (!word.starts_with("_")) {
      const Message& m = message_in(self);
      if (const TypeLayout::Field* f = find_field(*m.layout, word)) {
        m.content->require_readable();
        return read(m.content, *f->type, m.at + f->offset).release().ptr();
      }
    }
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (found == nullptr) say_which_fields(self, name, word);
    return found;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) noexcept {
  try {
    const std::string_view word = name_of(name);
    const Message& m = message_in(self);
    const TypeLayout::Field* const f = word.starts_with("_") ? nullptr : find_field(*m.layout, word);
    if (f == nullptr) {
      const int done = PyObject_GenericSetAttr(self, name, value);
      if (done != 0) say_which_fields(self, name, word);
      return done;
    }
    if (value == nullptr) raise(PyExc_TypeError, "a field of a message cannot be deleted");
    const Content::Filling filling(m.content);
    write(m.content, *f->type, m.at + f->offset, value, f->name);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

nb::object get_item(nb::handle_t<Message> self, const std::string& name) {
  const Message& m = message_in(self.ptr());
  const TypeLayout::Field* const f = find_field(*m.layout, name);
  if (f == nullptr) raise_no_field(PyExc_KeyError, *m.layout, name);
  m.content->require_readable();
  return read(m.content, *f->type, m.at + f->offset);
}

void set_item(nb::handle_t<Message> self, const std::string& name, nb::handle value) {
  const Message& m = message_in(self.ptr());
  const TypeLayout::Field* const f = find_field(*m.layout, name);
  if (f == nullptr) raise_no_field(PyExc_KeyError, *m.layout, name);
  const Content::Filling filling(m.content);
  write(m.content, *f->type, m.at + f->offset, value, f->name);
}

nb::object allocate(nb::handle_t<Message> self, const std::string& name, std::size_t count) {
  const Message& m = message_in(self.ptr());
  const TypeLayout::Field* const f = find_field(*m.layout, name);
  const bool list = f != nullptr && (f->type->kind == Kind::Vector || f->type->kind == Kind::FixedVector);
  if (!list) raise(PyExc_TypeError, m.layout->name + " has no list '" + name + "'");
  const Content::Filling filling(m.content);
  make_room(*m.content, *f->type, m.at + f->offset, count, name);
  return read(m.content, *f->type, m.at + f->offset);
}

/// The bytes of a list or an array of numbers, for an array of another shape over them.
nb::object view(const Message& m, const std::string& name) {
  const TypeLayout::Field* const f = find_field(*m.layout, name);
  const bool list =
      f != nullptr && f->type->element != nullptr && f->type->kind != Kind::Enum && is_number(*f->type->element);
  if (!list) raise(PyExc_TypeError, m.layout->name + " has no list of numbers '" + name + "'");
  m.content->require_readable();
  const Elements all = elements_of(*m.content, *f->type, m.at + f->offset);
  return nb::cast(View{m.content, all.first, all.count * f->type->element->size});
}

void fill(nb::handle_t<Message> self, nb::handle value) {
  const Message& m = message_in(self.ptr());
  const Content::Filling filling(m.content);
  write(m.content, *m.layout, m.at, value, "");
}

/// The message's CDR form, in three parts of which the payload is not copied.
nb::tuple cdr_parts(nb::handle_t<Message> self) {
  const Message& m = message_in(self.ptr());
  m.content->require_readable();
  if (m.at != m.content->root())
    raise(PyExc_TypeError, "a part of a message has no CDR form of its own; take the message's");
  CdrFrame frame;
  if (m.content->writable())
    frame_cdr(*m.layout, m.at, frame);
  else if (!frame_cdr(*m.layout, m.at, m.content->payload(), frame))
    throw Error(ErrorCode::Incompatible, "the message is malformed",
                "its publisher is hostile or broken: cardan topic info names it");
  const auto bytes = [](const std::vector<std::byte>& from) { return nb::bytes(from.data(), from.size()); };
  return nb::make_tuple(
      bytes(frame.prefix),
      array_over(m.content, byte_type(), const_cast<std::byte*>(frame.payload.data()), frame.payload.size()),
      bytes(frame.suffix));
}

nb::bytes cdr(nb::handle_t<Message> self) {
  const Message& m = message_in(self.ptr());
  m.content->require_readable();
  if (m.at != m.content->root())
    raise(PyExc_TypeError, "a part of a message has no CDR form of its own; take the message's");
  CdrFrame frame;
  if (m.content->writable())
    frame_cdr(*m.layout, m.at, frame);
  else if (!frame_cdr(*m.layout, m.at, m.content->payload(), frame))
    throw Error(ErrorCode::Incompatible, "the message is malformed",
                "its publisher is hostile or broken: cardan topic info names it");
  nb::object all = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(frame.size())));
  if (!all.is_valid()) throw_python();
  auto* to = reinterpret_cast<std::byte*>(PyBytes_AsString(all.ptr()));
  to = std::copy(frame.prefix.begin(), frame.prefix.end(), to);
  to = std::copy(frame.payload.begin(), frame.payload.end(), to);
  std::copy(frame.suffix.begin(), frame.suffix.end(), to);
  return nb::borrow<nb::bytes>(all);
}

nb::object copy(nb::handle_t<Message> self) {
  const Message& m = message_in(self.ptr());
  if (m.at != m.content->root()) raise(PyExc_TypeError, "copy the message, not a part of it");
  std::shared_ptr<Content> copied = m.content->copied();
  std::byte* const root = copied->root();
  return make_message(self.type(), std::move(copied), *m.layout, root);
}

nb::tuple info(nb::handle_t<Message> self) {
  const Info& i = message_in(self.ptr()).content->info();
  return nb::make_tuple(i.sequence, i.missed, i.publish_ns, i.source_ns, i.log_ns, i.topic, i.origin_ns);
}

double age(const Message& m) {
  if (m.content->own()) return 0.0;  // recorded: its times are another clock's
  const std::int64_t published = m.content->info().publish_ns;
  return published == 0 ? 0.0 : static_cast<double>(detail::sample_clock_now() - published) * 1e-9;
}

std::optional<double> origin_age(const Message& m) {
  const std::int64_t origin = m.content->own() ? 0 : m.content->info().origin_ns;
  if (origin == 0) return std::nullopt;
  return static_cast<double>(detail::sample_clock_now() - origin) * 1e-9;
}

nb::object at(nb::handle_t<Records> self, Py_ssize_t i) {
  const auto& all = instance<Records>(self);
  const auto count = static_cast<Py_ssize_t>(all.count);
  if (i < 0) i += count;
  if (i < 0 || i >= count) raise(PyExc_IndexError, "the list has " + std::to_string(all.count) + " elements");
  all.content->require_readable();
  return make_message(nb::handle(), all.content, *all.element,
                      all.first + static_cast<std::size_t>(i) * all.element->size);
}

/// The fields as NumPy's structured dtype wants them: (name, dtype or the same again, offset, count); null if the
/// element has fields that are not plain numbers or texts of a fixed room.
nb::object described(const TypeLayout& t) {
  nb::list fields;
  for (const TypeLayout::Field& f : t.fields) {
    if (is_number(*f.type)) {
      fields.append(nb::make_tuple(f.name, dtype_name(*f.type), f.offset, 0));
    } else if (f.type->kind == Kind::Array && is_number(*f.type->element)) {
      fields.append(nb::make_tuple(f.name, dtype_name(*f.type->element), f.offset, f.type->count));
    } else if (f.type->kind == Kind::Message) {
      nb::object inner = described(*f.type);
      if (inner.is_none()) return nb::none();
      fields.append(nb::make_tuple(f.name, inner, f.offset, 0));
    } else {
      return nb::none();
    }
  }
  return nb::make_tuple(fields, t.size);
}

}  // namespace

const TypeLayout::Field* find_field(const TypeLayout& layout, std::string_view name) noexcept {
  for (const TypeLayout::Field& f : layout.fields)
    if (f.name == name) return &f;
  return nullptr;
}

void raise_no_field(PyObject* kind, const TypeLayout& layout, const std::string& name, const std::string& path) {
  nb::object text = nb::module_::import_("cardan._errors").attr("_no_field")(layout.name, name, names(layout), path);
  raise(kind, nb::cast<std::string>(text));
}

nb::object make_message(nb::handle cls, std::shared_ptr<Content> content, const TypeLayout& layout, std::byte* at) {
  if (!cls.is_valid()) {
    cls = classes == nullptr ? nullptr : PyDict_GetItemString(classes, layout.name.c_str());
    if (!cls.is_valid()) cls = nb::type<Message>();
  }
  nb::object made = empty_message(cls);
  place_message(made, std::move(content), layout, at);
  return made;
}

nb::object empty_message(nb::handle cls) {
  if (PyType_Check(cls.ptr()) == 0 || PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()),
                                                       reinterpret_cast<PyTypeObject*>(nb::type<Message>().ptr())) == 0)
    raise(PyExc_TypeError, "the class of a message is a subclass of cardan.Message");
  return nb::inst_alloc(cls);
}

void place_message(nb::handle empty, std::shared_ptr<Content> content, const TypeLayout& layout, std::byte* at) {
  new (nb::inst_ptr<Message>(empty)) Message{std::move(content), &layout, at};
  nb::inst_mark_ready(empty);
}

void bind_message(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                                {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                                {0, nullptr}};
  nb::class_<Message>(m, "Message", nb::type_slots(slots), nb::is_weak_referenceable())
      .def("__getitem__", [](nb::handle_t<Message> self, const std::string& name) { return get_item(self, name); })
      .def(
          "__setitem__",
          [](nb::handle_t<Message> self, const std::string& name, nb::handle value) { set_item(self, name, value); },
          nb::arg("name"), nb::arg("value").none())
      .def("_view", &view)
      .def("_fields", [](const Message& self) { return names(*self.layout); })
      .def("_type_name", [](const Message& self) { return self.layout->name; })
      .def("_writable", [](const Message& self) { return self.content->writable(); })
      .def("_track",
           [](const Message& self, nb::handle array) {
             if (self.content->writable()) self.content->track(array.ptr());
           })
      .def("_info", [](nb::handle_t<Message> self) { return info(self); })
      .def(
          "allocate",
          [](nb::handle_t<Message> self, const std::string& name, std::size_t count) {
            return allocate(self, name, count);
          },
          nb::arg("name"), nb::arg("count"))
      .def(
          "fill", [](nb::handle_t<Message> self, nb::handle value) { fill(self, value); }, nb::arg("value").none())
      .def("cdr", [](nb::handle_t<Message> self) { return cdr(self); })
      .def("cdr_parts", [](nb::handle_t<Message> self) { return cdr_parts(self); })
      .def("copy", [](nb::handle_t<Message> self) { return copy(self); })
      .def("soon",
           [](const Message& self) {
             self.content->require_writable();
             if (!self.content->own()) self.content->loan().soon();
           })
      .def(
          "set_source_time", [](const Message& self, std::int64_t ns) { self.content->set_source_time(ns); },
          nb::arg("nanoseconds"))
      .def(
          "rests_on", [](const Message& self, const Message& other) { self.content->rests_on(*other.content); },
          nb::arg("message"))
      .def_prop_ro("age", &age)
      .def_prop_ro("origin_age", &origin_age)
      .def_prop_ro("origin_time", [](const Message& self) { return self.content->info().origin_ns; })
      .def_prop_ro("missed", [](const Message& self) { return self.content->info().missed; })
      .def_prop_ro("sequence", [](const Message& self) { return self.content->info().sequence; })
      .def_prop_ro("publish_time", [](const Message& self) { return self.content->info().publish_ns; })
      .def_prop_ro("source_time", [](const Message& self) { return self.content->info().source_ns; })
      .def_prop_ro("topic", [](const Message& self) { return self.content->info().topic; })
      .def_prop_ro("log_ns", [](const Message& self) { return self.content->info().log_ns; })
      .def_prop_ro("publish_ns", [](const Message& self) { return self.content->info().publish_ns; });
  nb::class_<Records>(m, "Records", nb::is_weak_referenceable())
      .def("__len__", [](const Records& self) { return self.count; })
      .def(
          "__getitem__", [](nb::handle_t<Records> self, Py_ssize_t i) { return at(self, i); }, nb::arg("index"))
      .def("_described", [](const Records& self) { return described(*self.element); })
      .def("_bytes",
           [](nb::handle_t<Records> self) {
             const auto& all = instance<Records>(self);
             all.content->require_readable();
             return array_over(all.content, byte_type(), all.first, all.count * all.element->size);
           })
      .def("_track",
           [](const Records& self, nb::handle array) {
             if (self.content->writable()) self.content->track(array.ptr());
           })
      .def("_type_name", [](const Records& self) { return self.element->name; });
  m.def("_set_classes", [](nb::dict by_name) {
    image_class = reinterpret_cast<PyTypeObject*>(PyDict_GetItemString(by_name.ptr(), "sensor_msgs/msg/Image"));
    mat_name = PyUnicode_InternFromString("mat");
    classes = by_name.release().ptr();
  });
}

}  // namespace cardan::python

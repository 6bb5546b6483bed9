// SPDX-License-Identifier: Apache-2.0
#include "python/src/recorded.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "python/src/arrays.hpp"
#include "python/src/errors.hpp"
#include "python/src/message.hpp"
#include "python/src/values.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Kind = TypeLayout::Kind;

/// Below this size, letting other threads run costs more than the copy.
constexpr std::size_t kLetOthersRun = 64 * 1024;

[[noreturn]] void no_memory(const std::string& what) {
  throw Error(ErrorCode::NoMemory, "there is no memory for " + what, "keep fewer messages, or lower max_memory");
}

/// A file may say anything; times of Python's side are signed.
std::int64_t time_of(std::uint64_t ns) noexcept {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, std::numeric_limits<std::int64_t>::max()));
}

/// Bytes of another object, as long as this lives.
class Buffer {
 public:
  explicit Buffer(nb::handle from) {
    if (PyObject_GetBuffer(from.ptr(), &view_, PyBUF_SIMPLE) != 0) throw_python();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

/// The message; or, in words, why its bytes do not fit the type.
nb::object recorded(nb::handle cls, const std::shared_ptr<AnyType>& type, nb::handle data, bool encoded,
                    std::uint64_t most_bytes, const std::string& topic, std::uint64_t log_ns, std::uint64_t publish_ns,
                    std::uint32_t sequence, std::int64_t source_ns) {
  const Buffer buffer(data);
  const std::span<const std::byte> bytes = buffer.bytes();
  std::string why;
  std::shared_ptr<Content> content;
  Info info{.sequence = sequence,
            .publish_ns = time_of(publish_ns),
            .source_ns = source_ns,
            .log_ns = time_of(log_ns),
            .topic = topic};
  const auto decode = [&] { content = Content::of_recorded(type, bytes, encoded, most_bytes, std::move(info), why); };
  try {
    if (bytes.size() < kLetOthersRun) {
      decode();
    } else {
      const nb::gil_scoped_release others_run;
      decode();
    }
  } catch (const std::bad_alloc&) {
    no_memory("a message of " + std::to_string(bytes.size()) + " bytes on " + topic);
  }
  if (content == nullptr) return nb::str(why.c_str());
  std::byte* const root = content->root();
  return make_message(cls, std::move(content), type->layout(), root);
}

nb::object draft(nb::handle cls, const std::shared_ptr<AnyType>& type, std::size_t capacity) {
  std::shared_ptr<Content> content;
  try {
    content = Content::of_draft(type, capacity);
  } catch (const std::bad_alloc&) {
    no_memory("a message of " + std::to_string(capacity) + " bytes");
  }
  std::byte* const root = content->root();
  return make_message(cls, std::move(content), type->layout(), root);
}

/// (name, dtype, offset, count or 0) of all numbers that each message of the type has at the same place.
void add_columns(const TypeLayout& t, const std::string& prefix, std::size_t offset, nb::list& all) {
  for (const TypeLayout::Field& f : t.fields) {
    const std::string name = prefix + f.name;
    if (is_number(*f.type)) {
      all.append(nb::make_tuple(name, dtype_name(*f.type), offset + f.offset, 0));
    } else if (f.type->kind == Kind::Array && is_number(*f.type->element)) {
      all.append(nb::make_tuple(name, dtype_name(*f.type->element), offset + f.offset, f.type->count));
    } else if (f.type->kind == Kind::Message) {
      add_columns(*f.type, name + ".", offset + f.offset, all);
    }
  }
}

/// The fixed struct of a message, in which those columns are.
nb::bytes root_bytes(const Message& m) {
  m.content->require_readable();
  return nb::bytes(m.content->root(), m.content->type().layout().size);
}

}  // namespace

void bind_recorded(nb::module_& m) {
  m.def("_recorded", &recorded, nb::arg("cls"), nb::arg("type"), nb::arg("data"), nb::arg("encoded"),
        nb::arg("most_bytes"), nb::arg("topic"), nb::arg("log_ns"), nb::arg("publish_ns"), nb::arg("sequence"),
        nb::arg("source_ns"));
  m.def("_draft", &draft, nb::arg("cls"), nb::arg("type"), nb::arg("capacity"));
  m.def(
      "_columns",
      [](const AnyType& type) {
        nb::list all;
        add_columns(type.layout(), "", 0, all);
        return nb::make_tuple(all, type.layout().size);
      },
      nb::arg("type"));
  m.def("_root", &root_bytes, nb::arg("message"));
}

}  // namespace cardan::python

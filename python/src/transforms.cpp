// SPDX-License-Identifier: Apache-2.0
#include "python/src/transforms.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/context.hpp"
#include "python/src/errors.hpp"
#include "python/src/waits.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

Numbers numbers_of(const Transform& t) noexcept {
  return {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w};
}

/// Names of others may be something else than UTF-8.
nb::object text(std::string_view name) {
  PyObject* const made = PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "replace");
  if (made == nullptr) throw_python();
  return nb::steal<nb::object>(made);
}

/// (numbers, stamp, "", "", "", 0), or (None, stamp, reason, text, frame, nanoseconds beyond).
nb::tuple result_of(const FoundTransform& found) {
  if (found) return nb::make_tuple(numbers_of(*found), found.stamp(), "", "", "", 0);
  return nb::make_tuple(nb::none(), found.stamp(), to_string(found.reason()), text(found.text()),
                        text(found.frame().view()), found.beyond().count());
}

class TransformsHandle {
 public:
  explicit TransformsHandle(Transforms transforms) : transforms_(std::move(transforms)) {}

  nb::tuple lookup(std::string_view target, std::string_view source, std::int64_t stamp) const {
    return result_of(transforms_.lookup(target, source, stamp));
  }
  nb::tuple across(std::string_view target, std::int64_t target_stamp, std::string_view source,
                   std::int64_t source_stamp, std::string_view fixed) const {
    return result_of(transforms_.lookup(target, target_stamp, source, source_stamp, fixed));
  }
  nb::tuple wait(std::string_view target, std::string_view source, std::int64_t stamp, std::int64_t timeout) const {
    const InWait waiting;
    const std::int64_t until = deadline_of(timeout);
    for (;;) {
      const std::int64_t left = std::clamp<std::int64_t>(until - steady_now(), 0, kSlice);
      const FoundTransform found = [&] {
        const OthersRun others_run;
        return transforms_.wait(target, source, stamp, std::chrono::nanoseconds(left));
      }();
      look_at_signals();
      const bool is_final = found || (found.reason() == NoTransform::TooOld && stamp != kNewest);
      if (is_final || !detail::waits(transforms_) || steady_now() >= until || waits.ended || stopping()) return result_of(found);
    }
  }
  nb::list frames() const {
    nb::list all;
    for (const FrameReport& f : transforms_.frames())
      all.append(nb::make_tuple(text(f.name), text(f.parent), f.is_static, numbers_of(f.place), f.newest_stamp, f.oldest_stamp,
                                f.received, text(f.publisher)));
    return all;
  }
  nb::list problems() const {
    nb::list all;
    for (const TransformProblem& p : transforms_.problems())
      all.append(nb::make_tuple(to_string(p.kind), text(p.frame), text(p.text), p.count));
    return all;
  }
  void clear() { transforms_.clear(); }

 private:
  Transforms transforms_;
};

class TransformOutputHandle {
 public:
  TransformOutputHandle(TransformOutput output, std::shared_ptr<const Life> life)
      : output_(std::move(output)), life_(std::move(life)) {}

  bool publish(std::string_view parent, std::string_view child, std::int64_t stamp, const Numbers& numbers) {
    refuse_fork();
    if (life_ != nullptr) (void)life_->of();
    return output_.publish(parent, child, stamp, transform_of(numbers));
  }

 private:
  TransformOutput output_;
  std::shared_ptr<const Life> life_;  ///< null: not of a component
};

}  // namespace

Transform transform_of(const Numbers& n) noexcept {
  return {.translation = {n[0], n[1], n[2]}, .rotation = {n[3], n[4], n[5], n[6]}};
}

nb::object declare_transforms(const std::shared_ptr<const Life>& life, std::int64_t history_ns) {
  return nb::cast(TransformsHandle(detail::declare_transforms(detail::core_of(life->of()),
                                                              {.history = std::chrono::nanoseconds(history_ns)})));
}

nb::object declare_transform_output(std::shared_ptr<const Life> life) {
  TransformOutput output = detail::declare_transform_output(detail::core_of(life->of()));
  return nb::cast(TransformOutputHandle(std::move(output), std::move(life)));
}

void bind_transforms(nb::module_& m) {
  nb::class_<TransformsHandle>(m, "TransformsHandle")
      .def(
          "__init__",
          [](TransformsHandle* self, std::int64_t history_ns, const std::string& domain) {
            Transforms transforms;
            {
              const OthersRun others_run;
              transforms = Transforms({.history = std::chrono::nanoseconds(history_ns), .domain = domain});
            }
            new (self) TransformsHandle(std::move(transforms));
          },
          nb::arg("history_ns"), nb::arg("domain"))
      .def("lookup", &TransformsHandle::lookup, nb::arg("target"), nb::arg("source"), nb::arg("stamp"))
      .def("across", &TransformsHandle::across, nb::arg("target"), nb::arg("target_stamp"), nb::arg("source"),
           nb::arg("source_stamp"), nb::arg("fixed"))
      .def("wait", &TransformsHandle::wait, nb::arg("target"), nb::arg("source"), nb::arg("stamp"),
           nb::arg("timeout_ns"))
      .def("frames", &TransformsHandle::frames)
      .def("problems", &TransformsHandle::problems)
      .def("clear", &TransformsHandle::clear);
  nb::class_<TransformOutputHandle>(m, "TransformOutputHandle")
      .def(
          "__init__",
          [](TransformOutputHandle* self, const std::string& domain) {
            new (self) TransformOutputHandle(TransformOutput(PublisherOptions{.domain = domain}), nullptr);
          },
          nb::arg("domain"))
      .def("publish", &TransformOutputHandle::publish, nb::arg("parent"), nb::arg("child"), nb::arg("stamp"),
           nb::arg("numbers"));
  nb::class_<StaticTransform>(m, "StaticTransformHandle")
      .def(
          "__init__",
          [](StaticTransform* self, std::string_view parent, std::string_view child, const Numbers& numbers,
             const std::string& domain) {
            new (self) StaticTransform(parent, child, transform_of(numbers), {.domain = domain});
          },
          nb::arg("parent"), nb::arg("child"), nb::arg("numbers"), nb::arg("domain"));
}

}  // namespace cardan::python

// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cardan/detail/forked.hpp"
#include "cardan/recorder.hpp"
#include "python/src/errors.hpp"
#include "python/src/instance.hpp"
#include "python/src/record_module.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using record::Recorder;
using record::RecorderOptions;
using record::RecorderReport;
using record::TopicReport;

class RecorderHandle {
 public:
  explicit RecorderHandle(const RecorderOptions& options) {
    refuse_fork();
    const nb::gil_scoped_release others_run;
    recorder_ = std::make_unique<Recorder>(options);
  }
  RecorderHandle(const RecorderHandle&) = delete;
  RecorderHandle& operator=(const RecorderHandle&) = delete;
  ~RecorderHandle() {
    if (is_forked_child()) leave_to_parent(recorder_);
  }

  void stop() {
    refuse_fork();
    const nb::gil_scoped_release others_run;
    recorder_->stop();
  }
  Recorder& recorder() const {
    refuse_fork();
    return *recorder_;
  }

 private:
  std::unique_ptr<Recorder> recorder_;
};

nb::dict topic_dict(const TopicReport& t) {
  nb::dict lost;
  for (std::size_t i = 0; i < record::kLossCauses; ++i)
    if (t.lost[i] != 0) lost[record::to_string(static_cast<record::LossCause>(i))] = t.lost[i];
  nb::dict made;
  made["topic"] = t.topic;
  made["type"] = t.type;
  made["recorded"] = t.recorded;
  made["bytes"] = t.bytes;
  made["lost"] = t.lost_in_all();
  made["causes"] = lost;
  made["refused"] = t.refused;
  made["left_out"] = t.left_out;
  made["queued"] = t.queued;
  made["problem"] = t.problem;
  return made;
}

nb::dict recorder_dict(const RecorderHandle& self) {
  const RecorderReport r = self.recorder().report();
  nb::list topics;
  for (const TopicReport& t : r.topics) topics.append(topic_dict(t));
  nb::dict made;
  made["file"] = r.file;
  made["files"] = r.files;
  made["mode"] = r.mode;
  made["topics"] = topics;
  made["recorded"] = r.recorded;
  made["lost"] = r.lost;
  made["refused"] = r.refused;
  made["unreadable"] = r.unreadable;
  made["missing"] = r.missing;
  made["bytes"] = r.bytes;
  made["free_bytes"] = r.free_bytes;
  made["duration"] = static_cast<double>(r.duration_ns) * 1e-9;
  made["paused"] = r.paused;
  made["triggered"] = r.triggered;
  made["failure"] = r.failure;
  return made;
}

}  // namespace

void bind_recorder(nb::module_& m) {
  nb::class_<RecorderOptions>(m, "RecorderOptions")
      .def(nb::init<>())
      .def_rw("path", &RecorderOptions::path)
      .def_rw("folder", &RecorderOptions::folder)
      .def_rw("domain", &RecorderOptions::domain)
      .def_rw("topics", &RecorderOptions::topics)
      .def_rw("types", &RecorderOptions::types)
      .def_rw("exclude", &RecorderOptions::exclude)
      .def_rw("reliable", &RecorderOptions::reliable)
      .def_rw("paused", &RecorderOptions::start_paused)
      .def_rw("simulated_clock", &RecorderOptions::simulated_clock)
      .def_rw("statistics", &RecorderOptions::statistics)
      .def_rw("causes", &RecorderOptions::causes)
      .def_rw("split_bytes", &RecorderOptions::split_bytes)
      .def_rw("min_space", &RecorderOptions::min_space)
      .def("set_access",
           [](RecorderOptions& self, int access) { self.access = enumerator(access, Access::Policy, "access"); })
      .def("set_compression",
           [](RecorderOptions& self, const std::string& name, int level) {
             self.compression = mcap::require_compression(name);
             self.level = level;
           })
      .def("set_split_time",
           [](RecorderOptions& self, std::int64_t ns) { self.split_time = std::chrono::nanoseconds(ns); })
      .def("set_keep_last",
           [](RecorderOptions& self, std::int64_t ns) { self.keep_last = std::chrono::nanoseconds(ns); });
  nb::class_<RecorderHandle>(m, "RecorderHandle")
      .def(nb::init<const RecorderOptions&>(), nb::arg("options"))
      .def("stop", &RecorderHandle::stop)
      .def("pause", [](const RecorderHandle& self, bool on) { self.recorder().pause(on); })
      .def("split", [](const RecorderHandle& self) { self.recorder().split(); })
      .def("trigger", [](const RecorderHandle& self) { self.recorder().trigger(); })
      .def("ended", [](const RecorderHandle& self) { return self.recorder().ended(); })
      .def("totals",
           [](const RecorderHandle& self) {
             const RecorderReport r = self.recorder().report();
             return std::pair(r.recorded, r.lost);
           })
      .def("report", &recorder_dict);
}

}  // namespace cardan::python

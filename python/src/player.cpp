// SPDX-License-Identifier: Apache-2.0
#include "cardan/player.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/detail/forked.hpp"
#include "python/src/errors.hpp"
#include "python/src/instance.hpp"
#include "python/src/record_module.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using record::Player;
using record::PlayerOptions;
using record::PlayerReport;

/// A player and the thread that it plays on.
class PlayerHandle {
 public:
  PlayerHandle(const std::vector<std::string>& files, const PlayerOptions& options) {
    refuse_fork();
    const nb::gil_scoped_release others_run;
    player_ = std::make_unique<Player>(files, options);
    thread_ = std::thread([this] { play(); });
  }
  PlayerHandle(const PlayerHandle&) = delete;
  PlayerHandle& operator=(const PlayerHandle&) = delete;
  ~PlayerHandle() {
    if (is_forked_child()) {
      leave_to_parent(player_);
      thread_.detach();
      return;
    }
    end();
  }

  /// True: it has ended within that time.
  bool wait(std::int64_t timeout_ns) {
    refuse_fork();
    std::exception_ptr failure;
    {
      const nb::gil_scoped_release others_run;
      std::unique_lock lock(mutex_);
      if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), [this] { return ended_; })) return false;
      failure = std::exchange(failure_, nullptr);
    }
    if (failure != nullptr) std::rethrow_exception(failure);
    return true;
  }

  void stop() {
    refuse_fork();
    const nb::gil_scoped_release others_run;
    end();
  }

  Player& player() const {
    refuse_fork();
    return *player_;
  }

 private:
  void play() {
    std::exception_ptr failure;
    try {
      player_->run();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  }

  void end() {
    player_->stop();
    const std::lock_guard lock(ending_);
    if (thread_.joinable()) thread_.join();
  }

  std::unique_ptr<Player> player_;
  std::mutex mutex_, ending_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

std::chrono::nanoseconds span_of(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(seconds, -4e9, 4e9) * 1e9));
}

nb::dict player_dict(const PlayerHandle& self) {
  const PlayerReport r = self.player().report();
  nb::list topics, left_out;
  for (const record::PlayedTopic& t : r.topics) {
    nb::dict one;
    one["topic"] = t.topic;
    one["type"] = t.type;
    one["published"] = t.published;
    one["failed"] = t.failed;
    one["failure"] = t.failure;
    one["subscribers"] = t.subscribers;
    topics.append(one);
  }
  for (const record::LeftOut& l : r.left_out) {
    nb::dict one;
    one["file"] = l.file;
    one["topic"] = l.topic;
    one["type"] = l.type;
    one["why"] = l.why;
    one["by_design"] = l.by_design;
    left_out.append(one);
  }
  nb::dict made;
  made["topics"] = topics;
  made["left_out"] = left_out;
  made["problems"] = r.problems;
  made["unfinished"] = r.unfinished;
  made["published"] = r.published;
  made["failed"] = r.failed;
  made["position"] = static_cast<double>(r.position_ns) * 1e-9;
  made["end"] = static_cast<double>(r.end_ns) * 1e-9;
  made["lap"] = r.lap;
  made["rate"] = r.rate;
  made["paused"] = r.paused;
  made["waits_for"] = r.waits_for;
  made["late_p99"] = static_cast<double>(r.late_p99) * 1e-9;
  return made;
}

}  // namespace

void bind_player(nb::module_& m) {
  nb::class_<PlayerOptions>(m, "PlayerOptions")
      .def(nb::init<>())
      .def_rw("rate", &PlayerOptions::rate)
      .def_rw("loop", &PlayerOptions::loop)
      .def_rw("topics", &PlayerOptions::topics)
      .def_rw("exclude", &PlayerOptions::exclude)
      .def_rw("remap", &PlayerOptions::remap)
      .def_rw("paused", &PlayerOptions::paused)
      .def_rw("as_fast_as_readers", &PlayerOptions::as_fast_as_readers)
      .def_rw("reliable", &PlayerOptions::reliable)
      .def_rw("depth", &PlayerOptions::depth)
      .def_rw("domain", &PlayerOptions::domain)
      .def_rw("clock_hz", &PlayerOptions::clock_hz)
      .def_rw("wait_for_readers", &PlayerOptions::wait_for_readers)
      .def("set_access",
           [](PlayerOptions& self, int access) { self.access = enumerator(access, Access::Policy, "access"); })
      .def("set_start", [](PlayerOptions& self, double seconds) { self.start = span_of(seconds); })
      .def("set_until", [](PlayerOptions& self, double seconds) { self.until = span_of(seconds); });
  nb::class_<PlayerHandle>(m, "PlayerHandle")
      .def(nb::init<const std::vector<std::string>&, const PlayerOptions&>(), nb::arg("files"), nb::arg("options"))
      .def("wait", &PlayerHandle::wait, nb::arg("timeout_ns"))
      .def("stop", &PlayerHandle::stop)
      .def("pause", [](const PlayerHandle& self, bool on) { self.player().pause(on); })
      .def("step", [](const PlayerHandle& self, std::uint64_t messages) { self.player().step(messages); })
      .def("seek", [](const PlayerHandle& self, double seconds) { self.player().seek(span_of(seconds)); })
      .def("set_rate", [](const PlayerHandle& self, double rate) { self.player().set_rate(rate); })
      .def("totals",
           [](const PlayerHandle& self) {
             const PlayerReport r = self.player().report();
             return std::pair(r.published, r.failed);
           })
      .def("report", &player_dict);
}

}  // namespace cardan::python

// SPDX-License-Identifier: Apache-2.0
// `SimulationHandle`: components in Python, and those of a file, on the simulation's thread and clock.
#include "cardan/simulation.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/detail/forked.hpp"
#include "src/config/python_component.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/fusion/fusion_watch.hpp"
#include "src/runtime/runtime.hpp"
#include "src/system/plan/plan.hpp"
#include "python/src/component.hpp"
#include "python/src/errors.hpp"
#include "python/src/held.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

using Names = std::vector<std::string>;

/// A Simulation, and the thread that it belongs to.
class SimulationHandle {
 public:
  /// `file`: "" for none. `offer(classes, files)` makes the file's components in Python known.
  SimulationHandle(const std::string& file, const Names& variables, const Names& set, const Names& without,
                   std::int64_t begin, const nb::object& offer) {
    refuse_fork();
    if (file.empty()) {
      simulation_ = std::make_unique<Simulation>(options(begin));
    } else {
      const config::Configuration configuration =
          plan::make_plan(file, {.variables = variables, .set = set}).configuration;
      Names python_classes, files;
      for (const config::Process& process : configuration.processes)
        for (const config::Component& component : process.components)
          if (config::is_python(component) &&
              std::find(without.begin(), without.end(), component.name) == without.end()) {
            python_classes.push_back(component.class_name);
            files.push_back(configuration.file_of(component));
          }
      if (!python_classes.empty()) nb::object done = offer(python_classes, files);
      const nb::gil_scoped_release others_run;
      simulation_ = std::make_unique<Simulation>(configuration, without, options(begin));
    }
    know_outside();
  }
  SimulationHandle(const SimulationHandle&) = delete;
  SimulationHandle& operator=(const SimulationHandle&) = delete;
  ~SimulationHandle() {
    if (is_forked_child()) leave_to_parent(simulation_);
    close();
  }

  void add(const std::string& name, nb::object instance, const std::map<std::string, ParameterValue>& parameters,
           const std::map<std::string, std::string>& topics, int priority) {
    own().add({.name = name, .parameters = parameters, .topics = topics, .priority = priority},
              component_of(std::move(instance)));
  }
  nb::object outside() {
    (void)own();
    return context_handle(outside_);
  }
  void at(std::int64_t time, nb::object what) {
    own().at(time, [call = held(std::move(what))] { in_python([&] { nb::object r = nb::handle(call.get())(); }); });
  }
  void start() {
    Simulation& simulation = idle();
    outside_->context = nullptr;  // it gets another one
    try {
      interruptible([&] { return simulation.start(), std::size_t{0}; });
    } catch (...) {
      know_outside();
      throw;
    }
    know_outside();
  }
  std::size_t run() {
    Simulation& simulation = idle();
    return interruptible([&] { return simulation.run(); });
  }
  std::size_t run_until(std::int64_t time) {
    Simulation& simulation = idle();
    return interruptible([&] { return simulation.run_until(time); });
  }
  void stop() {
    Simulation& simulation = idle();
    interruptible([&] { return simulation.stop(), std::size_t{0}; });
  }
  /// Nothing happens while it runs.
  void close() {
    if (simulation_ == nullptr || runs_) return;
    runs_ = true;  // on_stop() may run any code, and other threads
    simulation_->stop();
    outside_->context = nullptr;
    simulation_.reset();
    runs_ = false;
  }
  [[nodiscard]] bool closed() const noexcept { return simulation_ == nullptr; }
  [[nodiscard]] std::int64_t now() { return own().now(); }
  /// Exceptions that left callbacks, and samples that newer ones pushed out of an input's queue.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> losses() {
    std::uint64_t failures = 0, dropped = 0;
    (void)own();
    for (const auto& core : runtime().components())
      for (const auto& callback : core->callbacks()) {
        failures += callback->statistics().failures.load(std::memory_order_relaxed);
        dropped += callback->statistics().dropped.load(std::memory_order_relaxed);
      }
    return {failures, dropped};
  }
  /// Sets that each fusion made, by "component/fusion".
  [[nodiscard]] std::map<std::string, std::uint64_t> fusions() {
    std::map<std::string, std::uint64_t> all;
    (void)own();
    for (const auto& core : runtime().components())
      for (const auto& fused : core->fusions())
        all[core->name() + "/" + fused.watch->name()] = fused.statistics().fired;
    return all;
  }

 private:
  /// Components run, and other threads of Python may.
  class Inside {
   public:
    explicit Inside(SimulationHandle& of) : of_(of) { of_.runs_ = true; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { of_.runs_ = false; }

   private:
    SimulationHandle& of_;
    nb::gil_scoped_release others_run_;
  };

  /// An exception that ends a program, by Ctrl-C or exit() in a callback, ends the work and is raised after it. Returns
  /// the number of callbacks.
  template <class Work>
  std::size_t interruptible(Work work) {
    std::size_t ran = 0;
    try {
      const Inside inside(*this);
      ran = work();
    } catch (...) {
      raise_interruption();
      throw;
    }
    raise_interruption();
    return ran;
  }
  /// Signals are looked at by this thread alone, and components in C++ do not.
  [[nodiscard]] bool ended() {
    constexpr std::int64_t kLook = 50'000'000;
    if (is_interrupted()) return true;
    if (steady_now() < next_look_) return false;
    next_look_ = steady_now() + kLook;
    const nb::gil_scoped_acquire inside;
    if (PyErr_CheckSignals() == 0) return false;
    interrupt();
    return true;
  }
  [[nodiscard]] SimulationOptions options(std::int64_t begin) {
    return {.begin = begin, .ended = [this] { return ended(); }};
  }

  void know_outside() { outside_->context = runtime().components().front()->context.get(); }
  [[nodiscard]] Runtime& runtime() { return detail::runtime_of(*simulation_); }
  [[nodiscard]] Simulation& own() {
    refuse_fork();
    if (std::this_thread::get_id() != thread_)
      throw Error(ErrorCode::InvalidArgument, "a simulation is used by another thread than the one that made it",
                  "make a simulation for each thread");
    if (simulation_ == nullptr) throw Error(ErrorCode::InvalidArgument, "the simulation is closed", "make a new one");
    return *simulation_;
  }
  [[nodiscard]] Simulation& idle() {
    Simulation& simulation = own();
    if (runs_)
      throw Error(ErrorCode::InvalidArgument, "a simulation is run from within its own callback",
                  "run it from outside; use at() for what comes later");
    return simulation;
  }

  std::thread::id thread_ = std::this_thread::get_id();
  std::shared_ptr<Life> outside_ = std::make_shared<Life>();
  std::unique_ptr<Simulation> simulation_;
  bool runs_ = false;
  std::int64_t next_look_ = 0;
};

}  // namespace

void bind_simulation(nb::module_& m) {
  nb::class_<SimulationHandle>(m, "SimulationHandle")
      .def(nb::init<const std::string&, const Names&, const Names&, const Names&, std::int64_t, nb::object>(),
           nb::arg("file"), nb::arg("variables"), nb::arg("set"), nb::arg("without"), nb::arg("begin"),
           nb::arg("offer"))
      .def("add", &SimulationHandle::add, nb::arg("name"), nb::arg("instance"), nb::arg("parameters"),
           nb::arg("topics"), nb::arg("priority"))
      .def("outside", &SimulationHandle::outside)
      .def("at", &SimulationHandle::at, nb::arg("time"), nb::arg("callback"))
      .def("start", &SimulationHandle::start)
      .def("run", &SimulationHandle::run)
      .def("run_until", &SimulationHandle::run_until, nb::arg("time"))
      .def("stop", &SimulationHandle::stop)
      .def("close", &SimulationHandle::close)
      .def("closed", &SimulationHandle::closed)
      .def("now", &SimulationHandle::now)
      .def("losses", &SimulationHandle::losses)
      .def("fusions", &SimulationHandle::fusions);
}

}  // namespace cardan::python

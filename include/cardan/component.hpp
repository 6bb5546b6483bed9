// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cardan/context.hpp"

namespace cardan {

/// A part of a vehicle's software: inputs with callbacks, outputs, timers and parameters, declared in on_start(). The
/// configuration decides on which process, thread and CPU it runs. Its callbacks never overlap, unless an input asks
/// for it.
///
/// ```cpp
/// class Detector : public cardan::Component {
///   void on_start(cardan::Context& context) override {
///     out_ = context.output(kPeople);
///     context.input(kImages, [this](const cardan::Sample<cardan::Image>& image) { … });
///   }
///   cardan::Output<cardan::Detections2D> out_;
/// };
/// CARDAN_COMPONENT(Detector)
/// ```
class Component {
 public:
  Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  virtual ~Component() = default;

  /// Declares everything. May throw: then the component does not start, and the exception's text is shown. No callback
  /// runs before all components of the process have started.
  virtual void on_start(Context& context) = 0;
  /// Called after its last callback. Components stop in the reverse order of their start.
  virtual void on_stop() {}
};

namespace detail {

/// Numbers and sizes on which a component library and the program that loads it must agree. The first field never
/// moves.
struct BuildStamp {
  std::uint32_t stamp_bytes = sizeof(BuildStamp);
  std::uint32_t runtime_version = 5;  ///< counts up with each change of the runtime's interface to libraries
  std::uint32_t context_bytes = sizeof(Context);
  std::uint32_t component_bytes = sizeof(Component);
  std::uint32_t sample_bytes = sizeof(SampleBlock);
  std::uint32_t standard_library = 0;
  bool operator==(const BuildStamp&) const = default;
};

consteval BuildStamp build_stamp() {
  BuildStamp stamp;
#if defined(__GLIBCXX__)
  stamp.standard_library = 0x10000 + _GLIBCXX_USE_CXX11_ABI;
#elif defined(_LIBCPP_VERSION)
  stamp.standard_library = 0x20000;
#endif
  return stamp;
}

/// A component class that a library or the program itself offers.
struct ComponentClass {
  BuildStamp stamp;
  const char* name;
  Component* (*create)();
  void (*destroy)(Component*);
};

/// For CARDAN_COMPONENT. Static initialization; not freed before the program ends.
struct Registration {
  explicit Registration(const ComponentClass& component);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  const ComponentClass& component;
};

}  // namespace detail

/// The names of all component classes that are registered now. Any thread; takes a mutex.
[[nodiscard]] std::vector<std::string> component_classes();
/// Makes a component. Throws Error: Unavailable (unknown class; lists the known ones), Incompatible (its library was
/// built against another version of Cardan).
/// Any thread.
[[nodiscard]] std::shared_ptr<Component> make_component(const std::string& class_name);

/// Loads a component library (its name, searched like any shared library, or a path), once. It stays loaded. Throws
/// Error: Unavailable (the library or one that it needs is missing; names it), Incompatible.
/// Set-up; any thread.
void load_component_library(const std::string& library);

/// The path from which a configuration's library is loaded: next to the configuration file, otherwise in lib or
/// lib/cardan of this installation (or build), otherwise a name as it is, for the loader; never in the working folder.
/// Throws Error (Refused): one next to the file is another user's (not root's, ours or the file's), or all can write
/// it. Any thread; looks at the file system.
[[nodiscard]] std::string component_library_path(const std::string& library, const std::string& configuration_file);

}  // namespace cardan

#define CARDAN_CONCAT_(a, b) a##b
#define CARDAN_NAME_(a, b) CARDAN_CONCAT_(a, b)
/// Offers a component class under its name as written here: CARDAN_COMPONENT(street::Detector). Write it at namespace
/// scope in a .cpp file.
#define CARDAN_COMPONENT(Class) CARDAN_COMPONENT_(Class, __COUNTER__)
#define CARDAN_COMPONENT_(Class, number)                                                           \
  namespace {                                                                                      \
  const ::cardan::detail::ComponentClass CARDAN_NAME_(cardan_class_, number){                      \
      ::cardan::detail::build_stamp(), #Class, []() -> ::cardan::Component* { return new Class; }, \
      [](::cardan::Component* component) { delete component; }};                                   \
  const ::cardan::detail::Registration CARDAN_NAME_(cardan_registration_,                          \
                                                    number){CARDAN_NAME_(cardan_class_, number)};  \
  }

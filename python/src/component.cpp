// SPDX-License-Identifier: Apache-2.0
#include "python/src/component.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cardan/any_publisher.hpp"
#include "cardan/any_type.hpp"
#include "cardan/component.hpp"
#include "python/src/component_service.hpp"
#include "python/src/errors.hpp"
#include "python/src/fusion.hpp"
#include "python/src/held.hpp"
#include "python/src/in_use.hpp"
#include "python/src/instance.hpp"
#include "python/src/message.hpp"
#include "python/src/samples.hpp"
#include "python/src/transforms.hpp"
#include "python/src/waits.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/runtime.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

class OutputHandle {
 public:
  OutputHandle(std::shared_ptr<const Life> life, std::string topic, std::shared_ptr<AnyType> type,
               std::shared_ptr<detail::OutputCore> core, bool reliable)
      : life_(std::move(life)),
        topic_(std::move(topic)),
        type_(std::move(type)),
        core_(std::move(core)),
        reliable_(reliable) {}

  nb::object loan(nb::handle cls) {
    refuse_fork();
    (void)life_->of();
    const InUse inside(*busy_, topic_);
    detail::LoanedSlot slot = detail::loan_of_output(*core_);
    if (!slot)
      throw Error(ErrorCode::Limit, "all slots of '" + topic_ + "' are held or on loan",
                  "publish or discard the loan that is out, or let components keep fewer samples");
    std::shared_ptr<const void> memory = slot.core();
    publisher_ = memory.get();
    auto content = Content::of_loan(type_, detail::untyped(std::move(slot), type_->message_type()), std::move(memory));
    std::byte* const root = content->root();
    return make_message(cls, std::move(content), type_->layout(), root);
  }

  bool publish(const Message& message) {
    refuse_fork();
    (void)life_->of();
    const InUse inside(*busy_, topic_);
    check_own(message);
    AnyLoan loan = message.content->release();
    const detail::Filled filled = detail::take_out(loan);
    if (!reliable_) return detail::publish_filled(*core_, filled);
    const OthersRun others_run;
    return detail::publish_filled(*core_, filled);
  }

  void fill_cdr(const Message& message, nb::handle bytes) {
    check_own(message);
    fill_from_cdr(message.content, bytes.ptr());
  }

  [[nodiscard]] std::uint64_t published() const noexcept { return detail::published_by(*core_); }
  [[nodiscard]] bool closed() const noexcept { return life_->context == nullptr; }

 private:
  void check_own(const Message& message) const {
    if (publisher_ == nullptr || message.content->publisher() != publisher_ || message.at != message.content->root())
      throw Error(ErrorCode::InvalidArgument, "this message is not a loan of the output '" + topic_ + "'",
                  "publish what loan() returned");
  }

  std::shared_ptr<const Life> life_;
  std::string topic_;
  std::shared_ptr<AnyType> type_;
  std::shared_ptr<detail::OutputCore> core_;
  const void* publisher_ = nullptr;  ///< what its loans are of
  std::unique_ptr<std::atomic<bool>> busy_ = std::make_unique<std::atomic<bool>>(false);
  bool reliable_;
};

class LatestHandle {
 public:
  LatestHandle(std::shared_ptr<const Life> life, std::shared_ptr<AnyType> type, nb::object cls, detail::Port& port)
      : life_(std::move(life)), type_(std::move(type)), cls_(held(std::move(cls))), port_(port) {}
  nb::object get() const {
    (void)life_->of();
    detail::SampleBlock* const block = detail::latest_of(port_);
    return block == nullptr ? nb::none() : message_of(block, cls_.get(), type_);
  }

 private:
  std::shared_ptr<const Life> life_;
  std::shared_ptr<AnyType> type_;
  Held cls_;
  detail::Port& port_;
};

nb::object python_of(const ParameterValue& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return nb::bool_(*truth);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return nb::int_(*whole);
  if (const auto* number = std::get_if<double>(&value)) return nb::float_(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return nb::cast(*text);
  nb::list all;
  for (const ParameterValue& element : config::elements_of(value)) all.append(python_of(element));
  return all;
}

template <class T>
std::vector<T> list_of(nb::handle value) {
  std::vector<T> all;
  for (const nb::handle element : value) all.push_back(nb::cast<T>(element));
  return all;
}

/// All of one kind; whole numbers may be among others.
ParameterValue list_value_of(nb::handle value) {
  bool truths = true, wholes = true, numbers = true, texts = true;
  for (const nb::handle element : value) {
    PyObject* const e = element.ptr();
    const bool truth = PyBool_Check(e), whole = !truth && PyLong_Check(e);
    truths = truths && truth;
    wholes = wholes && whole;
    numbers = numbers && (whole || PyFloat_Check(e));
    texts = texts && PyUnicode_Check(e);
  }
  if (nb::len(value) == 0) return std::vector<double>{};
  if (truths) return list_of<bool>(value);
  if (wholes) return list_of<std::int64_t>(value);
  if (numbers) return list_of<double>(value);
  if (texts) return list_of<std::string>(value);
  raise(PyExc_TypeError, "the elements of a parameter's list are all bool, numbers or str");
}

ParameterValue value_of(nb::handle value) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyLong_Check(value.ptr())) return nb::cast<std::int64_t>(value);
  if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) return list_value_of(value);
  raise(PyExc_TypeError, "a parameter is a bool, an int, a float, a str, or a list of one of these");
}

struct ParameterHandle {
  std::shared_ptr<detail::ParameterCore> core;
};

class ContextHandle {
 public:
  explicit ContextHandle(std::shared_ptr<const Life> life) : life_(std::move(life)) {}

  void input(const std::string& topic, const std::shared_ptr<AnyType>& type, nb::object cls,
             const TopicOptions& options, nb::object callback, std::uint32_t depth, std::uint32_t keeps, bool rests_on,
             const std::string& name) {
    const Held call = held(std::move(callback)), kind = held(std::move(cls));
    detail::declare_input(core(), topic, payload_of(*type, true), options,
                          {.depth = depth, .keeps = keeps, .rests_on = rests_on, .name = name},
                          [call, kind, type](detail::SampleBlock* block) {
                            in_python([&] {
                              nb::object message = message_of(block, kind.get(), type);
                              nb::object result = nb::handle(call.get())(message);
                            });
                          },
                          {});
  }
  LatestHandle latest(const std::string& topic, const std::shared_ptr<AnyType>& type, nb::object cls,
                      const TopicOptions& options, bool rests_on, const std::string& name) {
    detail::Port& port = detail::declare_input(core(), topic, payload_of(*type, true), options,
                                               {.depth = 1, .rests_on = rests_on, .name = name}, {}, {});
    return {life_, type, std::move(cls), port};
  }
  OutputHandle output(const std::string& topic, const std::shared_ptr<AnyType>& type, const TopicOptions& options) {
    return {life_, topic, type, detail::declare_output(core(), topic, payload_of(*type, false), options),
            core().runtime().options_of(core().settings().bus_name(topic), options).reliable};
  }
  void service(const std::string& service, std::shared_ptr<AnyType> question, std::shared_ptr<AnyType> answer,
               nb::object cls, const ServiceOptions& options, nb::object callback, std::uint32_t holds,
               const std::string& name) {
    declare_service(core(), {service, std::move(question), std::move(answer), options}, held(std::move(cls)),
                    held(std::move(callback)), {.holds = holds, .name = name});
  }
  nb::object client(const std::string& service, std::shared_ptr<AnyType> question, std::shared_ptr<AnyType> answer,
                    nb::object cls, const ServiceOptions& options, const std::string& name) {
    return declare_client(life_, {service, std::move(question), std::move(answer), options}, held(std::move(cls)),
                          {.name = name});
  }
  nb::object transforms(std::int64_t history_ns) { return declare_transforms(life_, history_ns); }
  nb::object transform_output() { return declare_transform_output(life_); }
  void static_transform(const std::string& parent, const std::string& child, const Numbers& numbers) {
    detail::declare_static_transform(core(), parent, child, transform_of(numbers));
  }
  void timer(std::int64_t period_ns, nb::object callback, bool catch_up, std::int64_t delay_ns,
             const std::string& name) {
    const Held call = held(std::move(callback));
    detail::declare_timer(core(), std::chrono::nanoseconds(period_ns),
                          {.overrun = catch_up ? Overrun::CatchUp : Overrun::Skip,
                           .delay = std::chrono::nanoseconds(delay_ns),
                           .name = name},
                          [call] { in_python([&] { nb::object result = nb::handle(call.get())(); }); });
  }
  void fuse(const FusionPolicy& policy, nb::object callback, const std::vector<std::string>& names,
            const std::vector<std::shared_ptr<AnyType>>& types, const nb::list& classes,
            const std::vector<TopicOptions>& options, const std::vector<std::string>& input_names,
            const std::vector<std::uint32_t>& depths, std::uint32_t keeps, const std::string& name) {
    if (types.size() != names.size() || nb::len(classes) != names.size() || options.size() != names.size())
      throw Error(ErrorCode::InvalidArgument, "a fusion of topics without types, classes or options",
                  "give one of each for each topic");
    if (names.size() > kMaxFusionInputs)
      throw Error(ErrorCode::InvalidArgument, "a fusion of " + std::to_string(names.size()) + " topics",
                  "a fusion joins 2 to " + std::to_string(kMaxFusionInputs));
    std::vector<FusedTopic> topics;
    for (std::size_t i = 0; i < names.size(); ++i)
      topics.push_back({names[i], types.at(i), held(nb::object(classes[i])), options.at(i)});
    FuseOptions own{.name = name};
    for (std::size_t i = 0; i < std::min(input_names.size(), kMaxFusionInputs); ++i)
      own.inputs[i].name = input_names[i];
    for (std::size_t i = 0; i < std::min(depths.size(), kMaxFusionInputs); ++i) own.inputs[i].depth = depths[i];
    python::fuse(core(), policy, own, topics, keeps, held(std::move(callback)));
  }
  ParameterHandle parameter(const std::string& name, nb::handle initial, nb::handle min, nb::handle max,
                            const std::string& description, bool fixed, nb::object accept) {
    ParameterValue value = value_of(initial);
    const auto bound = [&](nb::handle given) -> std::optional<ParameterValue> {
      if (given.is_none()) return std::nullopt;
      ParameterValue made = value_of(given);
      const bool real = std::holds_alternative<double>(value) || std::holds_alternative<std::vector<double>>(value);
      const bool whole =
          std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::vector<std::int64_t>>(value);
      if (real) made = config::as_type_of(0.0, std::move(made));
      if (!(real && std::holds_alternative<double>(made)) && !(whole && std::holds_alternative<std::int64_t>(made)))
        raise(PyExc_TypeError, "min and max of the parameter '" + name + "' are numbers of the default's type");
      return made;
    };
    const std::optional<ParameterValue> least = bound(min), most = bound(max);
    Held check = accept.is_none() ? Held() : held(std::move(accept));
    return {detail::declare_parameter(core(), name, std::move(value), [&](detail::ParameterCore& p) {
      p.description = description;
      p.fixed = fixed;
      p.min = least;
      p.max = most;
      if (check != nullptr)
        p.accept = [check](const ParameterValue& wanted) {
          std::string refusal;
          in_python([&] {
            nb::object why = nb::handle(check.get())(python_of(wanted));
            if (!why.is_none()) refusal = nb::cast<std::string>(nb::str(why));
          });
          return refusal;
        };
    })};
  }
  [[nodiscard]] std::string name() const { return life_->of().name(); }
  [[nodiscard]] std::int64_t now() const { return life_->of().now(); }
  void log(int level, const std::string& text) const {
    constexpr int kFirst = static_cast<int>(LogLevel::Debug);  // Python counts from there
    life_->of().log(level == 0 ? LogLevel::Debug : enumerator(level + kFirst, LogLevel::Error, "the level"), text);
  }

 private:
  [[nodiscard]] detail::ComponentCore& core() const { return detail::core_of(life_->of()); }
  std::shared_ptr<const Life> life_;
};

/// Never freed: the interpreter ends before static objects do.
Held& factory = *new Held;

class PythonComponent final : public Component {
 public:
  /// `given`: the instance; null: the factory makes one of the class that the settings name.
  explicit PythonComponent(Held given = {}) : given_(std::move(given)) {}
  ~PythonComponent() override { life_->context = nullptr; }

  void on_start(Context& context) override {
    in_python(
        [&] {
          life_->context = &context;
          nb::object handle = context_handle(life_);
          if (given_ != nullptr) {
            instance_ = given_;
            nb::handle(given_.get()).attr("_bind")(handle);
          } else {
            const std::string& class_name = detail::core_of(context).settings().class_name;
            nb::object made = nb::handle(factory.get())(class_name, handle);
            instance_ = held(std::move(made));
          }
          nb::object result = nb::handle(instance_.get()).attr("_start")();
        },
        true);
  }
  void on_stop() override {
    if (instance_ == nullptr) return;
    in_python([&] { nb::object result = nb::handle(instance_.get()).attr("on_stop")(); });
  }

 private:
  std::shared_ptr<Life> life_ = std::make_shared<Life>();
  Held given_, instance_;
};

}  // namespace

namespace {

thread_local PyObject* interruption = nullptr;

void keep_interruption(nb::python_error& error) {
  // Before Python 3.12 the traceback is a part of the error, and not always of the exception.
  if (error.traceback().is_valid() && !error.traceback().is_none())
    PyException_SetTraceback(error.value().ptr(), error.traceback().ptr());
  Py_XDECREF(std::exchange(interruption, nb::object(nb::borrow(error.value())).release().ptr()));
}

}  // namespace

bool is_interrupted() noexcept { return interruption != nullptr; }

void interrupt() {
  nb::python_error error;
  keep_interruption(error);
}

void raise_interruption() {
  if (interruption == nullptr) return;
  const nb::object kept = nb::steal(std::exchange(interruption, nullptr));
  PyErr_SetObject(kept.type().ptr(), kept.ptr());
  throw_python();
}

void throw_as_cpp(nb::python_error& error, bool set_up) {
  if (!error.matches(PyExc_Exception)) keep_interruption(error);
  std::string text = "an exception of Python", code, cause, remedy;
  try {
    nb::object parts =
        nb::module_::import_("cardan._errors").attr("_described")(error.value(), error.traceback(), set_up);
    text = nb::cast<std::string>(parts[0]);
    code = nb::cast<std::string>(parts[1]);
    cause = nb::cast<std::string>(parts[2]);
    remedy = nb::cast<std::string>(parts[3]);
  } catch (const nb::python_error&) {  // its text cannot be made
  }
  if (set_up && code == "invalid_argument") throw Error(ErrorCode::InvalidArgument, cause, remedy);
  if (set_up && !cause.empty()) throw Error(code.empty() ? ErrorCode::System : ErrorCode::Unavailable, cause, remedy);
  throw std::runtime_error(text);
}

nb::object context_handle(std::shared_ptr<const Life> life) { return nb::cast(ContextHandle(std::move(life))); }

std::shared_ptr<Component> component_of(nb::object instance) {
  return std::make_shared<PythonComponent>(held(std::move(instance)));
}

void set_factory(nb::object make) { factory = held(std::move(make)); }

void offer_class(const std::string& name) {
  static auto& offered = *new std::set<std::string>;
  const auto [at, is_new] = offered.insert(name);
  if (!is_new) return;
  auto* const described =
      new detail::ComponentClass{detail::build_stamp(), at->c_str(), []() -> Component* { return new PythonComponent; },
                                 [](Component* component) { delete component; }};
  new detail::Registration(*described);  // to the end of the process
}

void bind_component(nb::module_& m) {
  bind_component_service(m);
  nb::class_<OutputHandle>(m, "OutputHandle")
      .def("loan", &OutputHandle::loan, nb::arg("cls"))
      .def("publish", &OutputHandle::publish, nb::arg("message"))
      .def(
          "discard", [](OutputHandle&, const Message& message) { message.content->discard(); }, nb::arg("message"))
      .def("fill_cdr", &OutputHandle::fill_cdr, nb::arg("message"), nb::arg("data"))
      .def("published", &OutputHandle::published)
      .def("closed", &OutputHandle::closed);
  nb::class_<LatestHandle>(m, "LatestHandle").def("get", &LatestHandle::get);
  nb::class_<ParameterHandle>(m, "ParameterHandle").def("value", [](const ParameterHandle& self) {
    return python_of(self.core->value());
  });
  nb::class_<ContextHandle>(m, "ContextHandle")
      .def("input", &ContextHandle::input, nb::arg("topic"), nb::arg("type"), nb::arg("cls"), nb::arg("options"),
           nb::arg("callback"), nb::arg("depth"), nb::arg("keeps"), nb::arg("rests_on"), nb::arg("name"))
      .def("latest", &ContextHandle::latest, nb::arg("topic"), nb::arg("type"), nb::arg("cls"), nb::arg("options"),
           nb::arg("rests_on"), nb::arg("name"))
      .def("output", &ContextHandle::output, nb::arg("topic"), nb::arg("type"), nb::arg("options"))
      .def("service", &ContextHandle::service, nb::arg("service"), nb::arg("question"), nb::arg("answer"),
           nb::arg("cls"), nb::arg("options"), nb::arg("callback"), nb::arg("holds"), nb::arg("name"))
      .def("client", &ContextHandle::client, nb::arg("service"), nb::arg("question"), nb::arg("answer"), nb::arg("cls"),
           nb::arg("options"), nb::arg("name"))
      .def("transforms", &ContextHandle::transforms, nb::arg("history_ns"))
      .def("transform_output", &ContextHandle::transform_output)
      .def("static_transform", &ContextHandle::static_transform, nb::arg("parent"), nb::arg("child"),
           nb::arg("numbers"))
      .def("timer", &ContextHandle::timer, nb::arg("period_ns"), nb::arg("callback"), nb::arg("catch_up"),
           nb::arg("delay_ns"), nb::arg("name"))
      .def("parameter", &ContextHandle::parameter, nb::arg("name"), nb::arg("initial"), nb::arg("min").none(),
           nb::arg("max").none(), nb::arg("description"), nb::arg("fixed"), nb::arg("accept").none())
      .def("fuse", &ContextHandle::fuse, nb::arg("policy"), nb::arg("callback"), nb::arg("topics"), nb::arg("types"),
           nb::arg("classes"), nb::arg("options"), nb::arg("names"), nb::arg("depths"), nb::arg("keeps"),
           nb::arg("name"))
      .def("name", &ContextHandle::name)
      .def("now", &ContextHandle::now)
      .def("log", &ContextHandle::log, nb::arg("level"), nb::arg("text"));
  m.def(
      "_offer",
      [](const std::vector<std::string>& classes, nb::object make) {
        for (const std::string& name : classes) offer_class(name);
        set_factory(std::move(make));
      },
      nb::arg("classes"), nb::arg("make"));
}

}  // namespace cardan::python

// SPDX-License-Identifier: Apache-2.0
#include "python/src/subscriber.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cardan/any_subscriber.hpp"
#include "cardan/clock.hpp"
#include "cardan/stop.hpp"
#include "cardan/wait_any.hpp"
#include "python/src/errors.hpp"
#include "python/src/in_use.hpp"
#include "python/src/instance.hpp"
#include "python/src/message.hpp"
#include "python/src/waits.hpp"

namespace nb = nanobind;

namespace cardan::python {
namespace {

/// Ends all waits, also later ones, and returns when no other thread is inside, or after a second.
void end_waits() {
  waits.ended.store(true, std::memory_order_seq_cst);
  const std::int64_t until = deadline_of(1'000'000'000);
  const nb::gil_scoped_release others_run;
  while (waits.inside.load(std::memory_order_seq_cst) != 0 && steady_now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

/// Receives messages of one type from a topic.
class SubscriberHandle {
 public:
  SubscriberHandle(std::string topic, std::shared_ptr<AnyType> type, nb::handle cls, const TopicOptions& options,
                   const SubscriberOptions& endpoint)
      : topic_(std::move(topic)), type_(std::move(type)), cls_(nb::borrow(cls)) {
    const OthersRun others_run;
    end_ = std::make_shared<AnySubscriber>(topic_, type_->message_type(), options, endpoint);
  }

  nb::object take() {
    refuse_fork();
    const std::shared_ptr<AnySubscriber> end = shared_end();
    const InUse inside(busy_, topic_);
    return handed_over(*end, [&] { return end->take(); });
  }

  /// None: reason() says why.
  nb::object wait(std::int64_t timeout) {
    refuse_fork();
    const std::shared_ptr<AnySubscriber> end = shared_end();
    const InUse inside(busy_, topic_);
    const InWait waiting;
    const std::int64_t until = deadline_of(timeout);
    for (;;) {
      nb::object message = handed_over(*end, [&] {
        const std::int64_t left = std::clamp<std::int64_t>(until - steady_now(), 0, kSlice);
        const OthersRun others_run;
        return end->wait(std::chrono::nanoseconds(left));
      });
      if (!message.is_none()) return message;
      look_at_signals();
      if (reason_ != Reason::TimedOut || steady_now() >= until) return nb::none();
      if (end_ == nullptr || waits.ended) return nb::none();  // closed by another thread
    }
  }

  std::optional<Event> event() { return shared_end()->event(); }
  int fileno() { return shared_end()->fd(); }
  std::uint64_t missed() const { return shared_end()->missed(); }
  std::uint64_t received() const { return shared_end()->received() - malformed_; }
  std::uint64_t bad() const { return shared_end()->bad() + malformed_; }
  std::size_t publishers() const { return shared_end()->publishers(); }
  const char* reason() const noexcept { return word_of(reason_); }
  bool closed() const noexcept { return end_ == nullptr; }

  void close() {
    std::shared_ptr<AnySubscriber> last = std::move(end_);
    end_ = nullptr;
    const OthersRun others_run;
    last.reset();  // unless a thread waits: that one then ends it, at most 100 ms later
  }

  /// Throws Error (Limit) if the last take was empty for that reason.
  void refuse_limit() const {
    if (reason_ == Reason::Limit)
      throw Error(ErrorCode::Limit, "more messages of '" + topic_ + "' are kept than the subscriber announced",
                  "drop them (and arrays over them) sooner, keep .copy(), or give subscriber(holds=…)");
  }

  [[nodiscard]] std::shared_ptr<AnySubscriber> shared_end() const {
    if (end_ == nullptr)
      throw Error(ErrorCode::InvalidArgument, "the subscriber of '" + topic_ + "' is closed", "make a new one");
    return end_;
  }
  [[nodiscard]] std::atomic<bool>& busy() noexcept { return busy_; }
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }

 private:
  template <class Take>
  nb::object handed_over(AnySubscriber& end, Take take) {
    for (;;) {
      if (!next_.is_valid()) next_ = empty_message(cls_);
      AnySample sample = take();
      reason_ = sample ? Reason::None : end.reason();
      if (!sample) return nb::none();
      auto content = Content::of_sample(type_, std::move(sample));
      if (content != nullptr) {
        std::byte* const root = content->root();
        place_message(next_, std::move(content), type_->layout(), root);
        return std::move(next_);
      }
      ++malformed_;
      look_at_signals();
    }
  }

  std::string topic_;
  std::shared_ptr<const AnyType> type_;
  nb::object cls_;
  nb::object next_;  ///< made before the wait: after it each microsecond is latency
  std::shared_ptr<AnySubscriber> end_;
  std::atomic<bool> busy_{false};
  std::uint64_t malformed_ = 0;
  Reason reason_ = Reason::None;
};

/// `for frame in sub`, without a line of Python between the wake-up and the frame.
PyObject* next_message(PyObject* self) noexcept {
  try {
    auto& subscriber = instance<SubscriberHandle>(self);
    if (subscriber.closed()) return nullptr;
    nb::object message = subscriber.wait(-1);
    if (!message.is_none()) return message.release().ptr();
    subscriber.refuse_limit();
    return nullptr;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

/// The index of the first that is ready; -1: a stop was requested, or the time is up.
std::int64_t wait_any_of(const nb::list& given, std::int64_t timeout) {
  refuse_fork();
  const nb::tuple things(given);  // what is called here may change the list
  const std::size_t count = nb::len(things);
  if (count > detail::kMostWaitedFor)
    throw Error(ErrorCode::Limit, "wait_any() waits for at most " + std::to_string(detail::kMostWaitedFor) + " things",
                "use several threads, or asyncio with fileno()");
  detail::AnySet set;
  std::vector<std::shared_ptr<AnySubscriber>> kept;
  std::deque<InUse> inside;
  for (nb::handle thing : things) {
    if (nb::isinstance<SubscriberHandle>(thing)) {
      auto& subscriber = nb::cast<SubscriberHandle&>(thing);
      kept.push_back(subscriber.shared_end());
      inside.emplace_back(subscriber.busy(), subscriber.topic());
      set.add(*kept.back());
    } else {
      set.add(Readable{nb::cast<int>(thing)});
    }
  }
  const InWait waiting;
  const std::int64_t until = deadline_of(timeout);
  for (;;) {
    const std::int64_t now = steady_now();
    std::size_t ready = kNothing;
    {
      const OthersRun others_run;
      ready = set.wait(now + std::clamp<std::int64_t>(until - now, 0, kSlice));
    }
    if (ready != kNothing) return static_cast<std::int64_t>(ready);
    look_at_signals();
    if (stopping() || steady_now() >= until || waits.ended) return -1;
    for (nb::handle thing : things)
      if (nb::isinstance<SubscriberHandle>(thing) && nb::cast<SubscriberHandle&>(thing).closed()) return -1;
  }
}

}  // namespace

void bind_subscriber(nb::module_& m) {
  nb::class_<Event>(m, "Event")
      .def_prop_ro("kind", [](const Event& self) { return to_string(self.kind); })
      .def_ro("pid", &Event::pid)
      .def_ro("text", &Event::text)
      .def("__repr__",
           [](const Event& self) { return std::string("Event(") + to_string(self.kind) + ": " + self.text + ")"; });
  static PyType_Slot iteration[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                    {Py_tp_iternext, reinterpret_cast<void*>(next_message)},
                                    {0, nullptr}};
  nb::class_<SubscriberHandle>(m, "SubscriberHandle", nb::type_slots(iteration))
      .def(nb::init<std::string, std::shared_ptr<AnyType>, nb::handle, const TopicOptions&, const SubscriberOptions&>(),
           nb::arg("topic"), nb::arg("type"), nb::arg("cls"), nb::arg("options"), nb::arg("endpoint"))
      .def("take", &SubscriberHandle::take)
      .def("wait", &SubscriberHandle::wait, nb::arg("timeout_ns"))
      .def("event", &SubscriberHandle::event)
      .def("fileno", &SubscriberHandle::fileno)
      .def("missed", &SubscriberHandle::missed)
      .def("received", &SubscriberHandle::received)
      .def("bad", &SubscriberHandle::bad)
      .def("publishers", &SubscriberHandle::publishers)
      .def("reason", &SubscriberHandle::reason)
      .def("refuse_limit", &SubscriberHandle::refuse_limit)
      .def("closed", &SubscriberHandle::closed)
      .def("close", &SubscriberHandle::close);
  nb::class_<Timer>(m, "TimerHandle")
      .def(
          "__init__",
          [](Timer* self, std::int64_t period_ns) {
            refuse_fork();
            new (self) Timer(std::chrono::nanoseconds(period_ns));
          },
          nb::arg("period_ns"))
      .def("expired", &Timer::expired)
      .def("fileno", &Timer::fd);
  m.def("wait_any", &wait_any_of, nb::arg("things"), nb::arg("timeout_ns"));
  m.def("end_waits", &end_waits);
  m.def("stop_on_signals", &stop_on_signals);
  m.def("request_stop", &request_stop);
  m.def("stopping", &stopping);
}

}  // namespace cardan::python

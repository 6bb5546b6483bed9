// SPDX-License-Identifier: Apache-2.0
// FastCycle's workload as Cardan components: the same code for objects and for messages.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "bench/runtime/workload.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/shm_vector.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::bench {

/// A frame that can live in shared memory.
struct RuntimeFrame {
  std::uint64_t number = 0;
  shm::vector<std::uint8_t> data;
};
/// One that cannot.
struct RuntimeObject {
  std::vector<std::byte> data;
};

}  // namespace cardan::bench

CARDAN_MESSAGE(cardan::bench::RuntimeFrame, "cardan_bench/msg/Frame", number, data);

namespace cardan::bench {
namespace {

template <class T>
Topic<T> topic(const char* name, std::size_t bytes) {
  return {name, {.max_bytes = Message<T> ? bytes : 0, .depth = kRuntimeDepth, .process_private = true}};
}

/// The frame number of each answer, in the order of the answers; written before the answer is published.
using Answered = std::vector<std::size_t>;

/// How a frame is made, and how its number is read.
struct Objects {
  using Type = RuntimeObject;
  explicit Objects(std::size_t bytes)
      : written_once(
            std::make_shared<const RuntimeObject>(RuntimeObject{std::vector<std::byte>(bytes, std::byte{1})})) {}
  void publish(Output<RuntimeObject>& out, std::size_t, std::size_t) const { out.publish(written_once); }
  static std::size_t number(const Sample<RuntimeObject>& sample) { return sample.sequence() - 1; }
  // An object carries no number, and after a lost frame the answers are numbered otherwise than the frames.
  static std::size_t number(const Sample<RuntimeObject>& answer, const Answered& answered) {
    return answered[answer.sequence() - 1];
  }
  static void echo(Output<RuntimeObject>& out, const Sample<RuntimeObject>& sample) {
    out.publish(cardan::share(sample));
  }
  std::shared_ptr<const RuntimeObject> written_once;
};
struct Messages {
  using Type = RuntimeFrame;
  explicit Messages(std::size_t) {}
  static void publish(Output<RuntimeFrame>& out, std::size_t n, std::size_t bytes) {
    auto loan = out.loan();
    loan->number = n;
    (void)loan->data.try_resize_for_overwrite(bytes);
    out.publish(std::move(loan));
  }
  static std::size_t number(const Sample<RuntimeFrame>& sample) { return sample->number; }
  static std::size_t number(const Sample<RuntimeFrame>& answer, const Answered&) { return answer->number; }
  static void echo(Output<RuntimeFrame>& out, const Sample<RuntimeFrame>& sample) {
    auto loan = out.loan();
    loan->number = sample->number;
    (void)loan->data.try_resize_for_overwrite(sample->data.size());
    out.publish(std::move(loan));
  }
};

template <class Kind>
class Driver : public Component {
 public:
  Driver(const RuntimeCell& cell, const RuntimeBenchOptions& options, RuntimeStamps& stamps, const Answered& answered)
      : cell_(cell), options_(options), stamps_(stamps), answered_(answered), kind_(cell.bytes) {}
  void on_start(Context& context) override {
    using T = typename Kind::Type;
    out_ = context.output(topic<T>("/frame", cell_.bytes));
    if (cell_.echo)
      context.input(topic<T>("/echo", cell_.bytes),
                    [this](const Sample<T>& sample) { stamps_.back[Kind::number(sample, answered_)] = now_ns(); });
    context.timer(std::chrono::nanoseconds(options_.interval_ns), [this] {
      if (n_ == options_.frames) return;
      stamps_.sent[n_] = now_ns();
      kind_.publish(out_, n_++, cell_.bytes);
    });
  }

 private:
  const RuntimeCell& cell_;
  const RuntimeBenchOptions& options_;
  RuntimeStamps& stamps_;
  const Answered& answered_;
  Kind kind_;
  Output<typename Kind::Type> out_;
  std::size_t n_ = 0;
};

template <class Kind>
class Reader : public Component {
 public:
  Reader(const RuntimeCell& cell, std::vector<std::int64_t>& received, Answered& answered)
      : cell_(cell), received_(received), answered_(answered) {}
  void on_start(Context& context) override {
    using T = typename Kind::Type;
    if (cell_.echo) back_ = context.output(topic<T>("/echo", cell_.bytes));
    context.input(topic<T>("/frame", cell_.bytes), [this](const Sample<T>& sample) {
      const std::size_t n = Kind::number(sample);
      received_[n] = now_ns();
      if (!cell_.echo) return;
      answered_[answers_++] = n;
      Kind::echo(back_, sample);
    });
  }

 private:
  const RuntimeCell& cell_;
  std::vector<std::int64_t>& received_;
  Answered& answered_;
  Output<typename Kind::Type> back_;
  std::size_t answers_ = 0;
};

template <class Kind>
RuntimeSamples run(const RuntimeCell& cell, const RuntimeBenchOptions& options) {
  RuntimeStamps stamps(cell, options);
  Answered answered(options.frames);
  Runtime runtime({.transport = false,
                   .groups = {{.name = "publisher", .cpus = {options.publisher_cpu}},
                              {.name = "readers", .cpus = {options.reader_cpu}}}});
  runtime.add({.name = "driver", .group = "publisher"},
              std::make_shared<Driver<Kind>>(cell, options, stamps, answered));
  for (std::uint32_t r = 0; r < cell.readers; ++r)
    runtime.add({.name = "reader" + std::to_string(r), .group = "readers"},
                std::make_shared<Reader<Kind>>(cell, stamps.received[r], answered));
  runtime.start();
  std::this_thread::sleep_for(std::chrono::nanoseconds(options.interval_ns * (options.frames + 20)));
  runtime.stop();
  return stamps.evaluate(cell, options);
}

}  // namespace

RuntimeSamples run_components(const RuntimeCell& cell, RuntimePeer peer, const RuntimeBenchOptions& options) {
  return peer == RuntimePeer::Slot ? run<Messages>(cell, options) : run<Objects>(cell, options);
}

}  // namespace cardan::bench

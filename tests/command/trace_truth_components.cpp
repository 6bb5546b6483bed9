// SPDX-License-Identifier: Apache-2.0
// For trace_truth_test.py: eight stages that take random times and write down what they have done themselves.
//
//   eyes    camera ──/camera──┬─▶ detector ──/objects──┐           lidar ──/lidar──▶ predictor
//   mind                      └─▶ lanes ─────/lanes────┴─▶ fuser ──/scene (an object)──▶ predictor ──/predicted─┐
//   hands                                             driver ◀──/plan── planner (a timer) ◀────────────────────┘
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/component.hpp"
#include "cardan/message.hpp"

namespace {

struct Parcel {
  std::uint64_t number;   ///< of its topic, from 1
  std::uint64_t picture;  ///< of the camera: what belongs together
  std::int64_t root_ns;   ///< before the oldest publication of a sensor on which it rests
  std::uint64_t last;     ///< 1: nothing comes after it
};
/// Passes as a pointer.
struct Scene {
  Parcel parcel;
};

}  // namespace

CARDAN_MESSAGE(Parcel, "test_msgs/msg/Parcel", number, picture, root_ns, last);

namespace {

using namespace std::chrono_literals;
using cardan::Context;
using cardan::Sample;
using cardan::steady_now;

constexpr cardan::Topic<Parcel> kCamera{"/camera", {.depth = 16}};
constexpr cardan::Topic<Parcel> kLidar{"/lidar", {.depth = 16}};
constexpr cardan::Topic<Parcel> kObjects{"/objects", {.depth = 16}};
constexpr cardan::Topic<Parcel> kLanes{"/lanes", {.depth = 16}};
constexpr cardan::Topic<Scene> kScene{"/scene", {.depth = 16}};
constexpr cardan::Topic<Parcel> kPredicted{"/predicted", {.depth = 16}};
constexpr cardan::Topic<Parcel> kPlan{"/plan", {.depth = 64}};
constexpr cardan::Topic<Parcel> kCommand{"/command", {.depth = 64}};

const Parcel& parcel_of(const Parcel& parcel) { return parcel; }
const Parcel& parcel_of(const Scene& scene) { return scene.parcel; }

/// A sample that a callback has read, by its own words and by Cardan's.
struct Ground {
  const char* topic = nullptr;
  std::uint64_t number = 0;
  std::uint64_t sequence = 0;
  std::int64_t publish_ns = 0, origin_ns = 0, origin_age = 0;
  std::int64_t before_age = 0, after_age = 0;  ///< stamps around the question for its age
};

/// A publication. Stamps are of the steady clock.
struct Deed {
  std::uint64_t number = 0;
  std::uint64_t published = 0;  ///< Output::published()
  std::int64_t work_ns = 0;     ///< what it was told to take
  std::int64_t entered = 0;     ///< first line of the callback
  std::int64_t before = 0, after = 0;
  std::array<Ground, 2> grounds{};
};

class Stage : public cardan::Component {
 protected:
  Stage(const char* topic, std::uint64_t shortest_us, std::uint64_t longest_us)
      : topic_(topic), shortest_us_(shortest_us), longest_us_(longest_us) {}
  void begin(Context& context) {
    file_.open(*context.parameter<std::string>("folder", "", {.fixed = true}) + "/" + context.name(), std::ios::app);
    const auto seed = *context.parameter<std::int64_t>("seed", 1, {.fixed = true});
    random_ = static_cast<std::uint64_t>(seed) * 1'000'003 + std::hash<std::string>{}(context.name());
  }

  void enter() {
    deed_ = {.entered = steady_now()};
    parcel_ = {};
    read_ = 0;
  }
  template <class T>
  void read(const char* topic, const Sample<T>& sample) {
    Ground& ground = deed_.grounds.at(read_++);
    const Parcel& parcel = parcel_of(*sample);
    ground = {.topic = topic,
              .number = parcel.number,
              .sequence = sample.sequence(),
              .publish_ns = sample.publish_time(),
              .origin_ns = sample.origin_time()};
    ground.before_age = steady_now();
    ground.origin_age = sample.origin_age().value_or(-1ns).count();
    ground.after_age = steady_now();
    parcel_.picture = std::max(parcel_.picture, parcel.picture);
    parcel_.root_ns = parcel_.root_ns == 0 ? parcel.root_ns : std::min(parcel_.root_ns, parcel.root_ns);
  }
  /// Sleeps or computes. One in 32 takes eight times as long, so that queues form.
  void work() {
    std::uint64_t us = shortest_us_ + random() % (longest_us_ - shortest_us_ + 1);
    if (random() % 32 == 0) us *= 8;
    deed_.work_ns = static_cast<std::int64_t>(us) * 1000;
    if (random() % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(us));
    } else {
      while (steady_now() - deed_.entered < std::min<std::int64_t>(deed_.work_ns, 200'000)) continue;
      const std::int64_t left = deed_.work_ns - (steady_now() - deed_.entered);
      if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
    }
  }
  template <class T>
  void publish(cardan::Output<T>& out, std::int64_t source_time = 0) {
    parcel_.number = deeds_ + 1;
    deed_.number = parcel_.number;
    deed_.before = steady_now();
    if (parcel_.root_ns == 0) parcel_.root_ns = deed_.before;
    bool published = true;
    if constexpr (cardan::Message<T>) {
      auto loan = out.loan();
      if (!loan) return;
      *loan = parcel_;
      loan.set_source_time(source_time);
      deed_.before = steady_now();
      published = out.publish(std::move(loan));
    } else {
      published = out.publish(T{parcel_});
    }
    deed_.after = steady_now();
    deed_.published = out.published();
    if (!published) return;
    ++deeds_;
    write_down();
  }
  [[nodiscard]] Parcel& parcel() { return parcel_; }
  [[nodiscard]] std::uint64_t deeds() const { return deeds_; }

 private:
  /// At once: on a busy computer, its process may be killed when it ends.
  void write_down() {
    file_ << topic_ << ' ' << deed_.number << ' ' << deed_.published << ' ' << deed_.work_ns << ' ' << deed_.entered
          << ' ' << deed_.before << ' ' << deed_.after;
    for (const Ground& ground : deed_.grounds)
      if (ground.topic != nullptr)
        file_ << ' ' << ground.topic << ' ' << ground.number << ' ' << ground.sequence << ' ' << ground.publish_ns
              << ' ' << ground.origin_ns << ' ' << ground.origin_age << ' ' << ground.before_age << ' '
              << ground.after_age;
    file_ << std::endl;
  }
  /// splitmix64
  std::uint64_t random() {
    std::uint64_t x = random_ += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
  }

  const char* topic_;
  std::uint64_t shortest_us_, longest_us_;
  std::ofstream file_;
  std::uint64_t random_ = 0;
  std::uint64_t deeds_ = 0;
  Deed deed_;
  Parcel parcel_{};
  std::size_t read_ = 0;
};

/// A sensor: it rests on nothing.
class Sensor : public Stage {
 protected:
  Sensor(const cardan::Topic<Parcel>& topic, std::chrono::microseconds period)
      : Stage(topic.name, 10, 1'000), of_(topic), period_(period) {}

 private:
  void on_start(Context& context) override {
    begin(context);
    out_ = context.output(of_);
    context.timer(period_, [this] {
      enter();
      work();
      parcel().picture = deeds() + 1;
      publish(out_, static_cast<std::int64_t>(deeds() + 1));
    });
  }
  const cardan::Topic<Parcel>& of_;
  std::chrono::microseconds period_;
  cardan::Output<Parcel> out_;
};
class TruthCamera : public Sensor {
 public:
  TruthCamera() : Sensor(kCamera, 8ms) {}
};
class TruthLidar : public Sensor {
 public:
  TruthLidar() : Sensor(kLidar, 11ms) {}
};

/// Works on each sample of its input; the picture's number is the stamp by which results are joined.
class Finder : public Stage {
 protected:
  Finder(const cardan::Topic<Parcel>& from, const cardan::Topic<Parcel>& to, std::uint64_t longest_us)
      : Stage(to.name, 50, longest_us), from_(from), to_(to) {}
  virtual void published(const Parcel&) {}
  Context* context_ = nullptr;

 private:
  void on_start(Context& context) override {
    begin(context);
    context_ = &context;
    out_ = context.output(to_);
    context.input(from_, [this](const Sample<Parcel>& sample) {
      enter();
      read(from_.name, sample);
      work();
      publish(out_, static_cast<std::int64_t>(sample->picture));
      published(*sample);
    });
  }
  const cardan::Topic<Parcel>&from_, &to_;
  cardan::Output<Parcel> out_;
};
class TruthDetector : public Finder {
 public:
  TruthDetector() : Finder(kCamera, kObjects, 2'000) {}
};
class TruthLanes : public Finder {
 public:
  TruthLanes() : Finder(kCamera, kLanes, 2'000) {}
};
class TruthDriver : public Finder {
 public:
  TruthDriver() : Finder(kPlan, kCommand, 500) {}

 private:
  void published(const Parcel& plan) override {
    if (plan.last != 0) context_->log("the last command is out");
  }
};

class TruthFuser : public Stage {
 public:
  TruthFuser() : Stage(kScene.name, 20, 500) {}

 private:
  void on_start(Context& context) override {
    begin(context);
    out_ = context.output(kScene);
    context.fuse(
        cardan::exact({.queue = 64}),
        [this](const Sample<Parcel>& objects, const Sample<Parcel>& lanes) {
          enter();
          read(kObjects.name, objects);
          read(kLanes.name, lanes);
          work();
          publish(out_);
        },
        kObjects, kLanes);
  }
  cardan::Output<Scene> out_;
};

/// Two causes: a scene, or a scan, which it joins with the last scene.
class TruthPredictor : public Stage {
 public:
  TruthPredictor() : Stage(kPredicted.name, 50, 1'000) {}

 private:
  void on_start(Context& context) override {
    begin(context);
    out_ = context.output(kPredicted);
    last_scene_ = context.latest(kScene, {.name = "last scene"});
    context.input(kScene, [this](const Sample<Scene>& scene) {
      enter();
      read(kScene.name, scene);
      work();
      publish(out_);
    });
    context.input(kLidar, [this](const Sample<Parcel>& scan) {
      enter();
      read(kLidar.name, scan);
      if (const Sample<Scene> scene = last_scene_.get()) read(kScene.name, scene);
      work();
      publish(out_);
    });
  }
  cardan::Latest<Scene> last_scene_;
  cardan::Output<Parcel> out_;
};

/// Plans at its own times, as often as `plans` says, by what is there; from then on only on sensors' new samples.
class TruthPlanner : public Stage {
 public:
  TruthPlanner() : Stage(kPlan.name, 20, 1'000) {}

 private:
  void on_start(Context& context) override {
    begin(context);
    plans_ = context.parameter<std::int64_t>("plans", 0, {.min = 0, .description = "how many"});
    predicted_ = context.latest(kPredicted);
    out_ = context.output(kPlan);
    context.timer(9ms, [this] {
      const auto plans = static_cast<std::uint64_t>(*plans_);
      if (plans == 0 || deeds() == plans) return;
      if (since_ns_ == 0) since_ns_ = steady_now();
      enter();
      const Sample<Parcel> predicted = predicted_.get();
      if (!predicted || predicted->root_ns < since_ns_) return;
      read(kPredicted.name, predicted);
      work();
      parcel().last = deeds() + 1 == plans ? 1 : 0;
      publish(out_);
    });
  }
  cardan::Parameter<std::int64_t> plans_;
  std::int64_t since_ns_ = 0;
  cardan::Latest<Parcel> predicted_;
  cardan::Output<Parcel> out_;
};

CARDAN_COMPONENT(TruthCamera)
CARDAN_COMPONENT(TruthLidar)
CARDAN_COMPONENT(TruthDetector)
CARDAN_COMPONENT(TruthLanes)
CARDAN_COMPONENT(TruthFuser)
CARDAN_COMPONENT(TruthPredictor)
CARDAN_COMPONENT(TruthPlanner)
CARDAN_COMPONENT(TruthDriver)

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The components of the kill test, each a process: two sources, a middle stage, and two that only read.
#include "tests/runtime/kill_components.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "cardan/component.hpp"
#include "cardan/stop.hpp"

namespace {

using namespace std::chrono_literals;
using namespace cardan::test;
using cardan::Context;
using cardan::Sample;

/// A life that counts what it does in the tally.
class Counted : public cardan::Component {
 protected:
  void begin(Context& context) {
    tally_ = std::make_unique<Tally<KillTally>>(*context.parameter<std::string>("tally", "", {.fixed = true}));
    life_ = ++(*tally_)->lives;
    if (life_ >= kMostLives) throw std::runtime_error("more lives than the tally has room for");
  }
  KillTally& tally() { return **tally_; }

  void writes(Stream stream) {
    tally().stream_of[life_] = 1 + stream;
    previous_ = tally().writer[stream].exchange(life_);
  }
  /// Whether a reader of the stream has so much to do that one frame more must wait. The queue is one for all lives
  /// that write into it, so the next one waits until the rest of the last one has been read.
  bool must_wait(Stream stream) {
    for (std::size_t reader = 0; reader < kReaders; ++reader) {
      if (!reads(reader, stream)) continue;
      const std::uint64_t reading = tally().reader[reader];
      const std::uint64_t seen = tally().seen[reader][life_];
      const bool attached = writer_of(seen) == reading;
      if (tally().published[life_] - (attached ? number_of(seen) : 0) >= (attached ? kWindow[stream] : kFirst))
        return true;
      const std::uint64_t left = tally().seen[reader][previous_];
      if (previous_ != 0 && writer_of(left) == reading && number_of(left) < tally().published[previous_]) return true;
    }
    return false;
  }
  template <class T, class F>
  void publish(cardan::Output<T>& output, F fill_in) {
    auto loan = output.loan();
    const std::uint64_t number = output.published() + 1;
    if (loan) fill_in(*loan, key_of(life_, number));
    if (!loan || !output.publish(std::move(loan)))
      ++tally().refused;
    else
      tally().published[life_] = number;
  }

  template <Stream S, Reader R, class T>
  void read(Context& context, const cardan::Topic<T>& topic) {
    auto kept = std::make_shared<Sample<T>>();
    context.input(topic,
                  [this, kept](const Sample<T>& sample) {
                    check<S, R>(sample);
                    if (*kept && !intact(*kept)) ++tally().torn;
                    *kept = sample;  // dies with it in the hand
                  },
                  {.depth = kQueue[S], .keeps = 1});
  }
  template <Stream S, Reader R, class T>
  void check(const Sample<T>& sample) {
    if (!intact(sample)) ++tally().torn;
    const std::uint64_t writer = writer_of(sample->key);
    const std::uint64_t number = number_of(sample->key);
    if (follow(last_[writer], number)) tally().missed += sample.missed();
    if constexpr (S == kDerivedStream) follow(derived_[{writer, writer_of(sample->source)}], number_of(sample->source));
    ++tally().received[R];
    if (writer < kMostLives) tally().seen[R][writer] = key_of(life_, number);
  }
  /// Whether something is lost before this one.
  bool follow(std::uint64_t& last, std::uint64_t number) {
    const bool gap = last != 0 && number > last + 1;
    if (last != 0 && number <= last) ++tally().disordered;
    if (gap) tally().lost += number - last - 1;
    last = number;
    return gap;
  }

  std::uint64_t life_ = 0;

 private:
  std::uint64_t previous_ = 0;  ///< life that wrote the same stream
  std::unique_ptr<Tally<KillTally>> tally_;
  std::map<std::uint64_t, std::uint64_t> last_;                               ///< number by writer
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> derived_;  ///< number by writer and its source
};

class SmallSource : public Counted {
  void on_start(Context& context) override {
    begin(context);
    out_ = context.output(kSmallFrames);
    context.timer(3ms, [this] {
      if (!must_wait(kSmallStream)) publish(out_, [](Small& frame, std::uint64_t key) { fill(frame, key, 0); });
    });
    writes(kSmallStream);
  }
  cardan::Output<Small> out_;
};
CARDAN_COMPONENT(SmallSource)

class LargeSource : public Counted {
  void on_start(Context& context) override {
    begin(context);
    out_ = context.output(kLargeFrames);
    context.timer(8ms, [this] {
      if (must_wait(kLargeStream)) return;
      publish(out_, [](Big& frame, std::uint64_t key) { fill(frame, key, 1 + number_of(key) * 7919 % kMostWords); });
    });
    writes(kLargeStream);
  }
  cardan::Output<Big> out_;
};
CARDAN_COMPONENT(LargeSource)

class Middle : public Counted {
  void on_start(Context& context) override {
    begin(context);
    out_ = context.output(kDerivedFrames);
    context.input(kSmallFrames,
                  [this](const Sample<Small>& sample) {
                    check<kSmallStream, kMiddle>(sample);
                    while (must_wait(kDerivedStream) && !cardan::stopping()) std::this_thread::sleep_for(1ms);
                    publish(out_, [&](Derived& frame, std::uint64_t key) {
                      frame.key = key;
                      frame.source = sample->key;
                      fill(std::span<std::uint64_t>(frame.words), key);
                    });
                  },
                  {.depth = kQueue[kSmallStream]});
    read<kLargeStream, kMiddle>(context, kLargeFrames);
    tally().reader[kMiddle] = life_;
    writes(kDerivedStream);
  }
  cardan::Output<Derived> out_;
};
CARDAN_COMPONENT(Middle)

template <Reader R>
class ReadsAll : public Counted {
  void on_start(Context& context) override {
    begin(context);
    read<kSmallStream, R>(context, kSmallFrames);
    read<kLargeStream, R>(context, kLargeFrames);
    read<kDerivedStream, R>(context, kDerivedFrames);
    tally().reader[R] = life_;
  }
};
class Watch : public ReadsAll<kWatch> {};
CARDAN_COMPONENT(Watch)
class Store : public ReadsAll<kStore> {};
CARDAN_COMPONENT(Store)

}  // namespace

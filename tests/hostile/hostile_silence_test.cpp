// SPDX-License-Identifier: Apache-2.0
// Another user publishes on a topic whose silence decides the state of our system, or begins the recording of an event.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "cardan/message.hpp"
#include "cardan/publisher.hpp"
#include "src/system/launcher/silence_watch.hpp"
#include "tests/hostile/strangers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/run_directory.hpp"

namespace cardan::test {

struct Beat {
  std::int64_t number = 0;
};
CARDAN_MESSAGE(Beat, "cardan_test_msgs/msg/Beat", number);

namespace {

using namespace std::chrono_literals;

constexpr Topic<Beat> kWatched{"/watched", {.depth = 4, .access = Access::Everyone}};

class HostileSilence : public OwnRunDirectory {
 protected:
  HostileSilence() { ::chmod(run_directory().c_str(), 01777); }
};

TEST_F(HostileSilence, PublicationsOfAnotherUserAreNotASignOfLife) {
  SKIP_UNLESS_ROOT();
  Publisher ours{kWatched};
  launcher::SilenceWatch watch({kWatched.name}, {}, 10ms);
  ours.publish({1});
  ASSERT_TRUE(eventually([&] { return watch.last_published(kWatched.name) != 0; }));
  const std::int64_t last = watch.last_published(kWatched.name);
  Child theirs("publishes_on_watched", {}, as_stranger());
  theirs.expect("ready");
  // A publisher of ours that comes later than theirs is seen: by then theirs would have been, too.
  Publisher later{kWatched};
  later.publish({2});
  ASSERT_TRUE(eventually([&] { return watch.last_published(kWatched.name) > last; }));
  const std::int64_t newest = watch.last_published(kWatched.name);
  for (int i = 0; i < 20; ++i) {
    theirs.expect("published");
    watch.look();
    EXPECT_EQ(watch.last_published(kWatched.name), newest);
  }
  theirs.close_input();
  EXPECT_EQ(theirs.end(), 0);
}

}  // namespace
}  // namespace cardan::test

CARDAN_ROLE(publishes_on_watched) {
  using namespace cardan::test;
  cardan::Publisher out{kWatched};
  say("ready");
  for (std::int64_t i = 0; !heard(); ++i) {
    out.publish({i});
    say("published");
    std::this_thread::sleep_for(10ms);
  }
  return 0;
}

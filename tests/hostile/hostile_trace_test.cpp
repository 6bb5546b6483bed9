// SPDX-License-Identifier: Apache-2.0
// Another user asks for a trace; and root traces another user's process.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cardan/publisher.hpp"
#include "src/transport/endpoint/trace.hpp"
#include "src/transport/trace_observer.hpp"
#include "tests/hostile/attack.hpp"

namespace cardan::test {
namespace {

class HostileTrace : public AttackTest {};

TEST_F(HostileTrace, AnotherUserIsRefused) {
  SKIP_UNLESS_ROOT();  // the own user may
  Publisher ours{kPing};
  Child theirs = stranger("asks_for_a_trace");
  EXPECT_EQ(theirs.expect("answer"), "access without memory");
  EXPECT_FALSE(detail::trace::on());
  theirs.close_input();
  EXPECT_EQ(theirs.end(), 0);
}

TEST_F(HostileTrace, RootMayTraceEachUser) {
  SKIP_UNLESS_ROOT();
  Child theirs("publishes_traced", {}, as_user(kUser));
  theirs.expect("ready");
  detail::TraceObserver observer;
  const auto& processes = observer.processes();
  ASSERT_TRUE(std::any_of(processes.begin(), processes.end(), [&](const auto& p) { return p.pid == theirs.pid(); }));
  theirs.say("publish");
  theirs.expect("published");
  std::vector<detail::TracedEvent> events;
  EXPECT_TRUE(eventually([&] {
    observer.refresh();
    return observer.drain(events) != 0;
  }));
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const auto& event) { return event.what.kind == layout::TraceKind::Publish; }));
  theirs.close_input();
  EXPECT_EQ(theirs.end(), 0);
}

}  // namespace
}  // namespace cardan::test

CARDAN_ROLE(asks_for_a_trace) {
  using namespace cardan::test;
  const RawPeer peer(target_of("/ping").socket);
  if (!peer || !peer.hello() || !peer.send(handshake::Trace{.id = 7})) return 1;
  const auto answer = peer.receive_op("refused");
  if (!answer || id_of(*answer) != 7) return 2;
  const bool access = answer->text.find("\"code\":\"access\"") != std::string::npos;
  say(std::string("answer ") + (access ? "access" : "other") +
      (answer->fds.empty() ? " without memory" : " with memory"));
  hear();
  return 0;
}

CARDAN_ROLE(publishes_traced) {
  using namespace cardan::test;
  cardan::Publisher out{kPong};
  say("ready");
  hear();
  publish_next(out, 1, 0);
  say("published");
  hear();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "demo/processes/processes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cardan/error.hpp"

namespace cardan::street {
namespace {

using std::chrono::milliseconds;
const auto kIgnore = [](std::size_t, const Note&) {};

Processes::Start shell(const std::string& name, const std::string& script) { return {name, "/bin/sh", {"-c", script}}; }

std::optional<Ending> wait_for_end(Processes& processes) {
  for (int i = 0; i < 1000; ++i) {
    processes.poll(milliseconds{10}, kIgnore);
    ::usleep(1000);
    if (auto e = processes.ended()) return e;
  }
  return std::nullopt;
}

TEST(Processes, ADeathIsExplained) {
  Processes processes;
  processes.start(shell("detector", "echo oh dear >&2; kill -SEGV $$"));
  const auto e = wait_for_end(processes);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->signal, SIGSEGV);
  const std::string text = explain(*e);
  EXPECT_NE(text.find("detector (pid "), std::string::npos);
  EXPECT_NE(text.find("signal 11"), std::string::npos);
  EXPECT_NE(text.find("report it"), std::string::npos);
  EXPECT_NE(text.find("oh dear"), std::string::npos);
  EXPECT_FALSE(processes.ended()) << "told once";
}

TEST(Processes, AnExitCodeIsTold) {
  Processes processes;
  processes.start(shell("camera", "exit 7"));
  const auto e = wait_for_end(processes);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->exit_code, 7);
  EXPECT_NE(explain(*e).find("exit code 7"), std::string::npos);
}

TEST(Processes, AllAreStoppedAlsoProcessesThatIgnoreSigterm) {
  Processes processes;
  processes.start(shell("kind", "exec sleep 100"));
  processes.start(shell("deaf", "trap '' TERM; while :; do sleep 1; done"));
  ::usleep(100'000);  // the trap must be set
  EXPECT_EQ(processes.running(), 2U);
  const auto killed = processes.stop(milliseconds{300}, kIgnore);
  ASSERT_EQ(killed.size(), 1U);
  EXPECT_EQ(killed[0], "deaf");
  EXPECT_EQ(processes.running(), 0U);
}

TEST(Processes, OnlyTheirOwnDescriptorsAreHandedOver) {
  Processes processes;
  const Fd stray{::open("/dev/null", O_RDONLY)};  // NOLINT(android-cloexec-open): it must be inherited, if anything is
  processes.start(shell("p", "for n in $(seq 0 9) $(seq 11 300); do [ -e /proc/$$/fd/$n ] && echo $n >&2; done"));
  const auto ending = wait_for_end(processes);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->output, "0\n1\n2\n3\n");  // 10 is the shell's own
}

TEST(Processes, NotesComeInAndTheCpuIsCounted) {
  Processes processes;
  // A shell cannot send notes in our form; other texts than notes must not disturb.
  processes.start(shell("noise", "echo short >&3; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 100"));
  int notes = 0;
  double cpu = 0;
  for (int i = 0; i < 300 && cpu < 0.05; ++i) {
    processes.poll(milliseconds{10}, [&](std::size_t, const Note&) { ++notes; });
    ::usleep(10'000);
    cpu = processes.cpu_seconds(0);
  }
  EXPECT_GE(cpu, 0.05);
  EXPECT_EQ(notes, 0);
}

TEST(Processes, AMissingProgramIsAnError) {
  Processes processes;
  EXPECT_THROW(processes.start({"x", "/nonexistent/program", {}}), Error);
  EXPECT_EQ(processes.running(), 0U);
}

}  // namespace
}  // namespace cardan::street

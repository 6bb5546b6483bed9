// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/fake_host.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <thread>

#include "cardan/clock.hpp"
#include "tests/support/child.hpp"

namespace cardan::launcher {
namespace {

using namespace std::chrono_literals;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct FakeHost {
  std::string name;
  int ready_fd = -1, report_fd = -1;

  void ready() const { (void)!::write(ready_fd, "ready\n", 6); }
  void report(const std::string& words) const { (void)!::write(report_fd, words.data(), words.size()); }
  /// Until SIGTERM, which was blocked from the beginning.
  int until_told() const {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    int signal = 0;
    sigwait(&term, &signal);
    test::say("ends " + name);
    return 0;
  }
  [[noreturn]] static void crash() {
    // No core dump: it would be slow, and lie about.
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGSEGV, SIG_DFL);
    for (;;) std::raise(SIGSEGV);
  }

  int steady() const {
    ready();
    return until_told();
  }
  void tell(const std::string& line) const { (void)!::write(ready_fd, (line + "\n").data(), line.size() + 1); }
  int hangs_in_start() const {
    tell("load lidar");
    tell("start lidar");
    tell("load camera");
    tell("start camera");
    return until_told();
  }
  int cannot_start(const char* word) const {
    tell("start camera");
    tell(std::string(word) + " component 'camera' did not start: there is no such thing");
    return 1;
  }
  int crashes() const {
    ready();
    test::say("about to crash");
    report("callback: /fake\n");
    crash();
  }
  /// Once it throws twice and crashes, once it throws three times and ends.
  int throws() const {
    const std::string mark = variable("FAKE_FOLDER") + "/threw-" + name;
    const bool again = static_cast<bool>(std::ifstream(mark));
    ready();
    tell("threw 1 camera");
    tell("threw 2 nobody");
    tell("threw x camera");
    tell(again ? "threw 3 camera" : "threw 2 camera");
    if (again) return 0;
    std::ofstream(mark) << "once" << std::flush;
    crash();
  }
  /// News of a chain, true ones and others.
  int tells_of_chains() const {
    ready();
    tell("chain 10 1 2 71300000 41000000 brake camera");
    for (const char* const lie :
         {"", "1", "1 0 0 0 0 brake", "1 0 0 0 0 nobody camera", "1 0 0 0 0 free camera", "1 1 1 0 0 brake camera",
          "x 0 0 0 0 brake camera", "-1 0 0 0 0 brake camera", "18446744073709551615 0 0 0 0 brake camera",
          "99999999999999999999 0 0 0 0 brake camera", "1 0 0 0 0  camera"})
      tell(std::string("chain ") + lie);
    tell("chain 3 0 1 80000000 1 brake nobody");
    return 0;
  }
  int crashes_once() const {
    const std::string mark = variable("FAKE_FOLDER") + "/crashed-" + name;
    ready();
    if (std::ifstream(mark)) return until_told();
    // Not before the launcher may have seen all of them run.
    while (!std::ifstream(variable("FAKE_FOLDER") + "/go")) std::this_thread::sleep_for(1ms);
    std::ofstream(mark) << steady_now() << std::flush;
    crash();
  }
  /// Runs, crashes, is refused, runs.
  int refused_once_later() const {
    const std::string crashed = variable("FAKE_FOLDER") + "/crashed-" + name;
    const std::string refused = variable("FAKE_FOLDER") + "/refused-" + name;
    if (!std::ifstream(crashed)) return crashes_once();
    if (std::ifstream(refused)) return steady();
    std::ofstream(refused) << "once";
    return cannot_start("refused");
  }
  int freezes_once() const {
    const std::string mark = variable("FAKE_FOLDER") + "/froze-" + name;
    ready();
    if (std::ifstream(mark)) return until_told();
    std::ofstream(mark) << "once" << std::flush;
    ::raise(SIGSTOP);
    return 98;  // nobody lets it run again
  }
  int stubborn() const {
    ready();
    for (;;) ::pause();
  }
  int writes() const {
    ready();
    std::string text;
    for (int i = 0; i < 2000; ++i)
      text += name + " " + std::to_string(i) + " " + std::string(static_cast<unsigned>(i) % 97U, '.') + "\n";
    text += name + " end";  // without the line's end
    std::size_t at = 0;
    for (unsigned n = 1; at < text.size(); ++n) {
      const std::size_t size = std::min<std::size_t>(1 + n * 7919U % 211U, text.size() - at);
      const ssize_t written = ::write(STDOUT_FILENO, text.data() + at, size);
      if (written > 0) at += static_cast<std::size_t>(written);
    }
    return 0;
  }
  int floods() const {
    ready();
    const std::string line = std::string(99, '.') + "\n";
    for (int i = 0; i < 100'000; ++i) (void)!::write(STDOUT_FILENO, line.data(), line.size());
    test::say("the last line");
    return 0;
  }
  int one_component_floods() const {
    ready();
    const std::string loud = "loud: " + std::string(93, '.') + "\n";
    for (int i = 0; i < 100'000; ++i) {
      (void)!::write(STDOUT_FILENO, loud.data(), loud.size());
      if (i % 1000 == 0) test::say("quiet: its line");
    }
    return 0;
  }
  int beats() const {
    Publisher<Beat> out(kBeats);
    ready();
    for (int i = 0; i < 50; ++i) {
      out.publish({i});
      std::this_thread::sleep_for(10ms);
    }
    test::say("last " + std::to_string(steady_now()));
    return until_told();
  }
  int leaves_a_child() const {
    const pid_t child = ::fork();
    if (child == 0)
      for (;;) ::pause();
    test::say("child " + std::to_string(child));
    ready();
    return 0;
  }
  int takes_memory() const {
    ready();
    try {
      std::vector<char> much(std::size_t{4} << 30U);
      test::say("got it: " + std::to_string(reinterpret_cast<std::uintptr_t>(much.data())));
    } catch (const std::bad_alloc&) {
      test::say("refused");
    }
    return 0;
  }
  int shows_itself() const {
    test::say("word " + variable("FAKE_WORD"));
    test::say("domain " + variable("CARDAN_DOMAIN"));
    std::string open;
    for (int fd = 0; fd < 256; ++fd)
      if (::fcntl(fd, F_GETFD) >= 0) open += " " + std::to_string(fd);
    test::say("open" + open);
    test::say("group " + std::to_string(::getpgid(0) == ::getpid() ? 1 : 0));
    struct sigaction pipe{};
    ::sigaction(SIGPIPE, nullptr, &pipe);
    test::say("pipe " + std::to_string(pipe.sa_handler == SIG_DFL ? 1 : 0));
    return 0;
  }
};

int act(const FakeHost& host, const std::string& what) {
  if (what == "steady") return host.steady();
  if (what == "crashes") return host.crashes();
  if (what == "crashes once") return host.crashes_once();
  if (what == "throws") return host.throws();
  if (what == "tells of chains") return host.tells_of_chains();
  if (what == "fails") return 3;
  if (what == "hangs in start") return host.hangs_in_start();
  if (what == "is refused") return host.cannot_start("refused");
  if (what == "is refused once later") return host.refused_once_later();
  if (what == "cannot start") return host.cannot_start("failed");
  if (what == "finishes" || what == "exits") return host.ready(), 0;
  if (what == "freezes once") return host.freezes_once();
  if (what == "stubborn") return host.stubborn();
  if (what == "writes") return host.writes();
  if (what == "floods") return host.floods();
  if (what == "one component floods") return host.one_component_floods();
  if (what == "beats") return host.beats();
  if (what == "leaves a child") return host.leaves_a_child();
  if (what == "takes memory") return host.takes_memory();
  if (what == "shows itself") return host.shows_itself();
  return 99;
}

CARDAN_ROLE(fake_host) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  FakeHost host;
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) {
    if (args[i] == "--process") host.name = args[i + 1];
    if (args[i] == "--ready-fd") host.ready_fd = std::stoi(args[i + 1]);
    if (args[i] == "--report-fd") host.report_fd = std::stoi(args[i + 1]);
  }
  const std::string what = variable("FAKE");
  const int code = act(host, what);
  if (code == 0 && what != "exits") host.tell("ends");
  return code;
}

}  // namespace
}  // namespace cardan::launcher

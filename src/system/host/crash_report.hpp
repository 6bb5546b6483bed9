// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan {
class Runtime;
}

/// The last report of a process when it dies: which component and callback, the samples that each input was given last,
/// and the stack. It is written by the handler of the signal (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT), which then
/// lets the signal do what it does, so that the parent sees it and a core dump is made where they are on.
namespace cardan::host::crash_report {

/// Installs the handlers for this process, named `process` in its configuration. The report goes to `fd`, −1: standard
/// error. Loads what the stack trace needs. Set-up; once.
void install(const std::string& process, int fd);

/// When the report is written, before the signal does what it does, runs this program, with the signal's number as its
/// last word and the report as its standard input, and waits until it has ended, at most 10 s: for a process that no
/// launcher looks after. The first word is the path. Set-up; once, after install() with a file.
void then_run(const std::vector<std::string>& words);

/// An interpreter's stack, for the report to have it above its own.
struct Interpreter {
  void (*prepare)(int fd);  ///< called by install(): the report's descriptor. It may raise nothing.
  void (*write_stack)();    ///< in the handler, on the thread that crashes: writes its stack there
};
/// Set-up; once, before install().
void know_interpreter(Interpreter interpreter);

/// From now on the report names this runtime's inputs; null: none. Before callbacks that it knew are taken back it has
/// to be told null. One thread at a time.
void know(const Runtime* runtime);

/// Why a process ends itself, for the launcher: the line "ended by" of the report.
enum class EndedBy : std::uint8_t {
  Watchdog,  ///< a callback that runs too long
  Rule,      ///< an exception, by the rule of its component
};

/// Ends the process as a crash of the calling thread: report with `reason`, then SIGABRT. Any thread.
[[noreturn]] void die(std::string_view reason) noexcept;

/// SIGSEGV in the calling thread, with `reason` in the report: to see what follows a crash.
[[noreturn]] void crash_on_purpose(std::string_view reason) noexcept;

/// The same as a crash of another thread of this process, whose stack is in the report; when that thread does not get
/// to its handler within a second, without it. Any thread; does not come back.
[[noreturn]] void die_of(pid_t thread, std::string_view reason) noexcept;

}  // namespace cardan::host::crash_report

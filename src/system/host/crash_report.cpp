// SPDX-License-Identifier: Apache-2.0
#include "src/system/host/crash_report.hpp"

#include <execinfo.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/detail/atomic.hpp"
#include "src/runtime/executor/life_step.hpp"
#include "src/runtime/executor/signal_stack.hpp"
#include "src/runtime/runtime.hpp"

namespace cardan::host::crash_report {
namespace {

/// The handler's data: made beforehand, because it may neither allocate nor lock.
struct Inputs {
  struct Input {
    const detail::Callback* callback;
    std::string topic;
    std::uint32_t capacity;
  };
  std::vector<Input> all;
};

int report_fd = STDERR_FILENO;
char process_name[128] = "";
char reason_text[512] = "";
EndedBy ended_by = EndedBy::Rule;  ///< read once `reason_there`
Atomic<bool> ends_itself{false};
Atomic<bool> reason_there{false};
Atomic<const Inputs*> inputs{nullptr};
Interpreter interpreter_of_process{};
Atomic<pid_t> reporting{0};  ///< the thread that writes the report
/// The handler's work, made beforehand as well.
std::vector<std::string> words_then;
std::vector<char*> arguments_then;  ///< of these, with room for the signal's number and the end
char signal_then[16] = "";

/// Text into a buffer of the handler's, written out whenever it is full.
class Writer {
 public:
  ~Writer() { flush(); }
  Writer& operator<<(std::string_view text) noexcept {
    for (const char c : text) {
      if (used_ == buffer_.size()) flush();
      buffer_[used_++] = c;
    }
    return *this;
  }
  Writer& operator<<(std::int64_t number) noexcept { return digits(number, 10); }
  Writer& operator<<(std::uint64_t number) noexcept { return digits(number, 10); }
  Writer& operator<<(int number) noexcept { return digits(number, 10); }
  Writer& address(const void* at) noexcept {
    *this << "0x";
    return digits(reinterpret_cast<std::uintptr_t>(at), 16);
  }
  /// Nanoseconds as milliseconds with three decimals.
  Writer& ms(std::int64_t ns) noexcept {
    const std::int64_t us = std::max<std::int64_t>(0, ns / 1000);
    *this << us / 1000 << ".";
    for (std::int64_t unit = 100; unit > 0; unit /= 10) *this << us / unit % 10;
    return *this << " ms";
  }
  void flush() noexcept {
    for (std::size_t at = 0; at < used_;) {
      const ssize_t n = ::write(report_fd, buffer_.data() + at, used_ - at);
      if (n < 0 && errno != EINTR) break;
      if (n > 0) at += static_cast<std::size_t>(n);
    }
    used_ = 0;
  }

 private:
  template <class Number>
  Writer& digits(Number number, int base) noexcept {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof(text), number, base).ptr;
    return *this << std::string_view(text, static_cast<std::size_t>(end - text));
  }
  std::array<char, 1024> buffer_;
  std::size_t used_ = 0;
};

const char* name_of_signal(int signal) noexcept {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV (memory that is not there, or may not be accessed so)";
    case SIGBUS:
      return "SIGBUS (memory whose file or device is gone)";
    case SIGILL:
      return "SIGILL (an instruction that this CPU does not have)";
    case SIGFPE:
      return "SIGFPE (division by zero, or its like)";
    case SIGABRT:
      return "SIGABRT (abort)";
    default:
      return "a signal";
  }
}

void write_samples(Writer& out, const detail::Callback* running) noexcept {
  const Inputs* known = inputs.load(std::memory_order_acquire);
  if (known == nullptr || known->all.empty()) return;
  out << "last samples:\n";
  const std::int64_t now = steady_now();
  for (const Inputs::Input& input : known->all) {
    const CallbackStatistics& s = input.callback->statistics();
    out << (input.callback == running ? "> " : "  ") << input.callback->component() << " " << input.topic << ": ";
    if (const std::uint64_t sequence = s.last_sequence.load(std::memory_order_relaxed); sequence != 0)
      (out << "sequence " << sequence << ", published ").ms(now - s.last_publish_ns.load(std::memory_order_relaxed))
          << " ago";
    else
      out << "none yet";
    out << ", " << std::uint64_t{s.queued.load(std::memory_order_relaxed)} << " of " << std::uint64_t{input.capacity}
        << " waiting\n";
  }
}

/// Of the sample that the callback was given, what the launcher knows it by when it comes again.
void write_sample(Writer& out, const detail::Callback& running) noexcept {
  const Inputs* known = inputs.load(std::memory_order_acquire);
  if (known == nullptr) return;
  for (const Inputs::Input& input : known->all) {
    const CallbackStatistics& s = running.statistics();
    if (input.callback != &running || s.last_sequence.load(std::memory_order_relaxed) == 0) continue;
    out << "sample: sequence " << s.last_sequence.load(std::memory_order_relaxed) << ", published at "
        << s.last_publish_ns.load(std::memory_order_relaxed) << " ns\n";
  }
}

/// Whether a byte there can be read: the kernel looks at it, and answers EFAULT where it cannot.
bool readable(std::uintptr_t address) noexcept {
  constexpr int kNoSuchWay = -1;  // refused as such, but only after the set was read
  address &= ~std::uintptr_t{7};
  return address != 0 && ::syscall(SYS_rt_sigprocmask, kNoSuchWay, address, nullptr, 8) != 0 && errno != EFAULT;
}

/// The stack pointer at the signal; 0: not known on this processor.
std::uintptr_t stack_pointer([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.sp);
#else
  return 0;
#endif
}

void write_hint(Writer& out, const siginfo_t& info, const void* context) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  const std::uintptr_t stack = stack_pointer(context);
  constexpr std::uintptr_t kNear = std::uintptr_t{64} << 10U;
  const bool near = stack != 0 && (address < stack ? stack - address : address - stack) < kNear;
  if (!readable(address) && (near || (stack != 0 && !readable(stack))))
    out << "hint: the thread's stack is full: a recursion that goes too deep, or local variables too large for it "
           "(`ulimit -s`).\n";
  else if (info.si_code == SEGV_ACCERR && readable(address))
    out << "hint: the address may only be read. Samples are immutable: copy before you write (cv::Mat::clone()).\n";
}

void write_report(int signal, const siginfo_t& info, const void* context) noexcept {
  Writer out;
  char thread[17] = "";
  ::prctl(PR_GET_NAME, thread);
  out << "=== cardan crash report ===\nprocess: " << process_name << " (pid " << ::getpid() << "), thread " << thread
      << " (" << static_cast<int>(::syscall(SYS_gettid)) << ")\n";
  const detail::Callback* running = detail::running_callback();
  if (running != nullptr)
    out << "component: " << running->component() << "\ncallback: " << running->name() << ", its call number "
        << running->statistics().calls.load(std::memory_order_relaxed) << "\n";
  else if (const detail::LifeStep* step = detail::LifeStep::now())
    out << "component: " << step->component() << "\nstep: " << step->step() << "\n";
  else
    out << "component: none (the thread was in no callback)\n";
  if (running != nullptr) write_sample(out, *running);
  if (reason_there.load(std::memory_order_acquire)) {
    if (ends_itself.load(std::memory_order_relaxed))
      out << "ended by: " << (ended_by == EndedBy::Watchdog ? "watchdog" : "rule") << "\n";
    out << "reason: " << reason_text << "\n";
  }
  out << "signal: " << name_of_signal(signal);
  if (info.si_code > 0 && signal != SIGABRT) (out << " at address ").address(info.si_addr);
  out << "\n";
  if (signal == SIGSEGV && info.si_code > 0) write_hint(out, info, context);
  write_samples(out, running);
  if (interpreter_of_process.write_stack != nullptr) {
    out.flush();
    interpreter_of_process.write_stack();
  }
  out << "stack:\n";
  out.flush();
  std::array<void*, 64> frames;
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())), report_fd);
  out << "=== end of crash report ===\n";
}

void run_then(int signal) noexcept {
  if (arguments_then.empty()) return;
  *std::to_chars(signal_then, signal_then + sizeof(signal_then) - 1, signal).ptr = '\0';
  // Not fork(): its handlers take locks that this thread may hold.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::dup2(report_fd, STDIN_FILENO) >= 0) ::execve(arguments_then.front(), arguments_then.data(), environ);
    ::_exit(127);
  }
  constexpr int kLooks = 2000;
  const timespec between{.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int i = 0; child > 0 && i < kLooks && ::waitpid(child, nullptr, WNOHANG) == 0; ++i)
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &between, nullptr);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  pid_t nobody = 0;
  if (reporting.compare_exchange_strong(nobody, self)) {
    write_report(signal, *info, context);
    run_then(signal);
  } else if (nobody != self) {
    for (;;) ::pause();  // the process ends with the thread that reports
  }
  struct sigaction plain{};
  plain.sa_handler = SIG_DFL;
  ::sigaction(signal, &plain, nullptr);
  // A fault happens again as soon as we return; what was sent has to be sent again, and waits until then.
  if (info->si_code <= 0) ::syscall(SYS_tgkill, ::getpid(), self, signal);
}

void set_reason(std::string_view reason) noexcept {
  const std::size_t bytes = std::min(reason.size(), sizeof(reason_text) - 1);
  std::memcpy(reason_text, reason.data(), bytes);
  std::replace(reason_text, reason_text + bytes, '\n', ' ');  // the report has a line for it
  reason_text[bytes] = '\0';
  reason_there.store(true, std::memory_order_release);
}

}  // namespace

void install(const std::string& process, int fd) {
  const std::size_t bytes = std::min(process.size(), sizeof(process_name) - 1);
  std::memcpy(process_name, process.data(), bytes);
  process_name[bytes] = '\0';
  if (fd >= 0) report_fd = fd;
  if (interpreter_of_process.prepare != nullptr) interpreter_of_process.prepare(report_fd);
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // the first call loads a library
  static const detail::SignalStack stack_of_this_thread;
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGABRT);  // the watchdog's does not interrupt a report
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

void know_interpreter(Interpreter interpreter) { interpreter_of_process = interpreter; }

void then_run(const std::vector<std::string>& words) {
  words_then = words;
  arguments_then.clear();
  for (std::string& word : words_then) arguments_then.push_back(word.data());
  arguments_then.push_back(signal_then);
  arguments_then.push_back(nullptr);
}

void know(const Runtime* runtime) {
  // The one before stays for a handler that may look at it right now.
  static std::array<std::unique_ptr<const Inputs>, 2> kept;
  auto fresh = std::make_unique<Inputs>();
  if (runtime != nullptr)
    for (const auto& core : runtime->components())
      for (const auto& d : core->declared())
        if (d.port != nullptr) fresh->all.push_back({d.port, d.topic, d.port->capacity()});
  inputs.store(fresh.get(), std::memory_order_release);
  kept[1] = std::exchange(kept[0], std::move(fresh));
}

void die(std::string_view reason) noexcept {
  ends_itself.store(true, std::memory_order_relaxed);
  set_reason(reason);
  std::abort();
}

void crash_on_purpose(std::string_view reason) noexcept {
  set_reason(reason);
  std::raise(SIGSEGV);
  std::abort();  // another handler has taken the signal over
}

void die_of(pid_t thread, std::string_view reason) noexcept {
  ended_by = EndedBy::Watchdog;
  ends_itself.store(true, std::memory_order_relaxed);
  set_reason(reason);
  ::syscall(SYS_tgkill, ::getpid(), thread, SIGABRT);
  timespec second{.tv_sec = 1, .tv_nsec = 0};
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &second, &second) == EINTR) {
  }
  std::abort();  // waits if the report is being written
}

}  // namespace cardan::host::crash_report

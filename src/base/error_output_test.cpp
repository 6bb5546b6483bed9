// SPDX-License-Identifier: Apache-2.0
#include "src/base/error_output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "cardan/detail/fd.hpp"
#include "tests/support/child.hpp"

namespace {

using cardan::Fd;
using cardan::detail::write_error_line;

/// Standard error of this process, until it goes: what is written there arrives at `reader`.
class ErrorInto {
 public:
  explicit ErrorInto(bool is_socket) : before_(::dup(STDERR_FILENO)) {
    int fds[2];
    if (is_socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 : ::pipe2(fds, O_CLOEXEC) != 0)
      return;
    reader = Fd(fds[0]);
    ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
    ::dup2(fds[1], STDERR_FILENO);
    ::close(fds[1]);
    if (!is_socket) ::fcntl(STDERR_FILENO, F_SETPIPE_SZ, 4096);
  }
  ErrorInto(const ErrorInto&) = delete;
  ErrorInto& operator=(const ErrorInto&) = delete;
  ~ErrorInto() { ::dup2(before_.get(), STDERR_FILENO); }

  [[nodiscard]] std::string read_all() const {
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t n = 0; (n = ::read(reader.get(), part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(n));
    return all;
  }
  Fd reader;

 private:
  Fd before_;
};

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// More lines than fit, then those that are there, and one more: a wait would be without end.
void overflow(bool is_socket) {
  std::string first;
  std::string second;
  constexpr std::size_t kLines = 20'000;
  {
    const ErrorInto error(is_socket);
    for (std::size_t i = 0; i < kLines; ++i) write_error_line(std::string(99, 'x'));
    first = error.read_all();
    write_error_line("the last");
    second = error.read_all();
  }
  EXPECT_GT(lines_in(first), 10U);
  EXPECT_LT(lines_in(first), kLines);
  EXPECT_NE(second.find(std::to_string(kLines - lines_in(first)) + " lines before this one are missing"),
            std::string::npos)
      << second;
  EXPECT_NE(second.find("the last\n"), std::string::npos) << second;
}

}  // namespace

CARDAN_ROLE(error_into_a_pipe_that_cannot_be_opened_again) {  // another user's
  const ErrorInto error(false);
  if (::setresuid(4711, 4711, 4711) != 0) return 2;
  if (Fd(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC))) return 3;
  write_error_line("one");
  std::size_t lines = 1;
  for (; lines < 1000; ++lines) write_error_line(std::string(99, 'x'));
  const std::string text = error.read_all();
  return text.starts_with("one\n") && lines_in(text) < lines ? 0 : 4;
}

namespace {

TEST(ErrorOutput, AFullPipeLosesLinesAndSaysHowMany) { overflow(false); }

TEST(ErrorOutput, AFullSocketLosesLinesAndSaysHowMany) { overflow(true); }

TEST(ErrorOutput, APipeOfAnotherUserThatIsFullStopsNobody) {
  SKIP_UNLESS_ROOT();
  cardan::test::Child child("error_into_a_pipe_that_cannot_be_opened_again");
  constexpr int kNotStarted = 127;
  const int end = child.end();
  if (end == kNotStarted) GTEST_SKIP() << "skipped: qemu-user runs no second program";
  EXPECT_EQ(end, 0);
}

TEST(ErrorOutput, ALongLineIsCut) {
  std::string text;
  {
    const ErrorInto error(false);
    write_error_line(std::string(10'000, 'y'));
    text = error.read_all();
  }
  EXPECT_EQ(text.size(), 4096U);
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace

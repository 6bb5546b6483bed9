// SPDX-License-Identifier: Apache-2.0
#include "apps/graph/graphviz.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cardan/error.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::apps {
namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
/// A file without a name: unlike a pipe, it needs nobody that reads while another writes.
using Scratch = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void cannot_draw(const std::string& cause) {
  throw Error(ErrorCode::System, cause, "--dot prints the graph for other programs that draw");
}

Scratch scratch_file() {
  Scratch file(std::tmpfile());
  if (!file) cannot_draw(std::string("no temporary file: ") + std::strerror(errno));
  return file;
}

void go_to_begin(std::FILE* file) {
  if (std::fseek(file, 0, SEEK_SET) != 0)
    cannot_draw(std::string("the temporary file is not readable: ") + std::strerror(errno));
}

std::string content_of(std::FILE* file) {
  std::string text;
  std::array<char, 1 << 16> part{};
  go_to_begin(file);
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), bytes);
  return text;
}

}  // namespace

std::string svg_of(const std::string& dot) {
  const std::string program = launcher::interpreter_file("dot");
  if (program.empty())
    throw Error(ErrorCode::Unavailable, "the picture needs Graphviz's `dot`, which is not installed",
                "install the package graphviz; --mermaid and --dot print the graph without it");
  const Scratch in = scratch_file(), out = scratch_file();
  if (std::fwrite(dot.data(), 1, dot.size(), in.get()) != dot.size() || std::fflush(in.get()) != 0)
    cannot_draw(std::string("the temporary file is not written: ") + std::strerror(errno));
  go_to_begin(in.get());
  posix_spawn_file_actions_t files{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, ::fileno(in.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, ::fileno(out.get()), STDOUT_FILENO);
  std::string name = "dot", form = "-Tsvg";
  const std::array<char*, 3> words{name.data(), form.data(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &files, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed != 0) cannot_draw(program + ": " + std::strerror(failed));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) cannot_draw(std::string("waitpid: ") + std::strerror(errno));
  if (status != 0) cannot_draw(program + " has failed");
  return content_of(out.get());
}

}  // namespace cardan::apps

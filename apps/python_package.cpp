// SPDX-License-Identifier: Apache-2.0
#include "apps/python_package.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/become.hpp"
#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"
#include "src/system/launcher/child_process.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;

/// After kLeaveWorkingFolder. Nothing is imported: that would take the time of the import twice. A folder `cardan`
/// without the package's files, as Cardan's sources have one, is a package to Python too; it has no origin.
constexpr const char* kQuestion = R"(
def find(name, path=None):
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec

def state(path=None):
    package = find("cardan", path)
    if package is None or package.origin in (None, "namespace"):
        return "missing", ""
    found = find("cardan._cardan", package.submodule_search_locations)
    return "there" if found else "foreign", package.origin

def managed():
    """Debian's pip does not install next to the distribution's packages."""
    import os, sysconfig
    return sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))

has, where = state()
tried = bool(sys.argv[1]) and state([sys.argv[1]])[0] == "there"
rerun = find("rerun") is not None
print("cardan", has, rerun, tried, not (has == "there" and rerun) and managed(), "%d.%d" % sys.version_info[:2])
print(where)
print(sys.executable)
)";

struct Answer {
  std::string has, version, where, executable;
  bool rerun = false, beside = false, managed = false;
};

/// Everything that the interpreter prints; absent: it does not end, or not in order, of which `code` is its exit code.
std::optional<std::string> output_of(launcher::ChildProcess& child, int& code) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (std::chrono::steady_clock::now() < end && text.size() < 65536) {
    const auto ending = child.ended();  // before the read: then all is in the pipe
    std::array<char, 4096> some{};
    for (ssize_t got = 0; (got = ::read(child.output_fd(), some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(got));
    if (ending) code = ending->exit_code;
    if (ending) return ending->in_order() ? std::optional(text) : std::nullopt;
    pollfd over{.fd = child.end_fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&over, 1, 100);
  }
  return {};
}

std::optional<Answer> parsed(const std::string& text) {
  const auto at = text.rfind("cardan ");  // a site may print before
  if (at == std::string::npos) return {};
  std::istringstream words(text.substr(at + 7));
  Answer answer;
  std::string rerun, is_beside, managed, rest;
  if (!(words >> answer.has >> rerun >> is_beside >> managed >> answer.version) || !std::getline(words, rest) ||
      !std::getline(words, answer.where) || !std::getline(words, answer.executable))
    return {};
  answer.rerun = rerun == "True";
  answer.beside = is_beside == "True";
  answer.managed = managed == "True";
  return answer;
}

/// Python since 3.11 has -P. Of these, 3.13 imports modules for -c before it runs the text, so the text cannot keep it
/// from the working folder. Older ones refuse -P, and import nothing before.
std::optional<Answer> ask(const std::string& interpreter, const std::string& beside, bool& safe_path) try {
  constexpr int kUnknownOption = 2;
  for (safe_path = true;; safe_path = false) {
    std::vector<std::string> words{interpreter};
    if (safe_path) words.emplace_back("-P");
    words.insert(words.end(), {"-c", std::string(launcher::kLeaveWorkingFolder) + kQuestion, beside});
    launcher::ChildProcess child({.program = interpreter, .arguments = std::move(words)});
    int code = 0;
    if (const auto text = output_of(child, code)) return parsed(*text);
    if (!safe_path || code != kUnknownOption) return {};
  }
} catch (const Error&) {
  return {};  // no process is left, or the like
}

/// The folder of the package in the build tree that this program is from; "": it is installed.
std::string built_beside() {
  std::error_code failed;
  const std::filesystem::path package = program_folder().parent_path() / "python";
  return std::filesystem::is_regular_file(package / "cardan" / "__init__.py", failed) ? package.string() : "";
}

}  // namespace

const char* in_environment(const PythonNeeds& needs) noexcept {
  return needs.process ? ", also in \"environment\" of the process" : "";
}

bool require_package(const std::string& interpreter, const PythonNeeds& needs) {
  const std::string beside = built_beside();
  bool safe_path = true;
  const auto answer = ask(interpreter, beside, safe_path);
  if (!answer) return safe_path;
  const bool no_rerun = needs.rerun && !answer->rerun;
  if (answer->has == "there" && !no_rerun) return safe_path;
  const std::string who = fmt::format("{} (Python {})", answer->executable, answer->version);
  const std::string pip = answer->managed ? "VENV/bin/python -m pip install " : answer->executable + " -m pip install ";
  std::string cause, remedy;
  if (answer->has == "foreign") {
    const std::string folder = std::filesystem::path(answer->where).parent_path().string();
    cause = fmt::format("the package cardan in {} is not for the interpreter {}{}", folder, who,
                        no_rerun ? ", which lacks the package rerun-sdk too" : "");
  } else if (answer->has == "missing") {
    cause = fmt::format("the interpreter {} lacks the package cardan{}", who, no_rerun ? " and rerun-sdk" : "");
  } else {
    cause = fmt::format("the interpreter {} lacks the package rerun-sdk", who);
  }
  if (answer->has != "there" && kInWheel) {
    remedy = "install the wheel there, too (pip install FILE.whl), or unset CARDAN_PYTHON";
  } else if (answer->has != "there") {
    remedy = fmt::format("{}run {}./python in the sources of Cardan",
                         answer->managed ? "install the Debian package python3-cardan, or " : "", pip);
    if (answer->beside)
      remedy += fmt::format(", or set PYTHONPATH={}", beside);
    else if (answer->has == "missing")
      remedy += ", or set PYTHONPATH to the folder python of a build of Cardan for this Python";
  }
  if (no_rerun) remedy += fmt::format("{}{}rerun-sdk", remedy.empty() ? "run " : "; ", pip);
  if (answer->managed) remedy += fmt::format(" (VENV: {} -m venv VENV)", answer->executable);
  remedy += fmt::format("; or name another interpreter: CARDAN_PYTHON=/path/to/python3{}", in_environment(needs));
  throw Error(ErrorCode::Unavailable, cause, remedy);
}

}  // namespace cardan::apps

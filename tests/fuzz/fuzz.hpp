// SPDX-License-Identifier: Apache-2.0
// The common part of the fuzzers. A target is one file, `<name>_fuzz.cpp`: a function of some bytes, and inputs to
// begin with. Built by clang's libFuzzer it is a separate program (fuzz_main.cpp); all of them together are one test
// that feeds them what is known (replay_main.cpp), so that they do not rot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cardan::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view input);  ///< returns, whatever the input; the same each time
  std::vector<std::string> (*seeds)();  ///< inputs that reach far; made by the code itself, so that they stay right
};

/// In this program, in no order.
std::vector<Target>& targets();

struct Registered {
  explicit Registered(Target target) { targets().push_back(target); }
};

/// Ends the process as a failed assertion does, so that the fuzzer keeps the input.
[[noreturn]] void fail(const std::string& what);
inline void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

/// A folder of this program in $TMPDIR, else /tmp; it goes at exit. Its path is short enough for a socket in it.
const std::string& folder();

/// `folder()` as run directory and a domain in it, made; gives its path. Switches the library's log off: the
/// lines that a hostile peer causes would fill it.
std::string run_domain(const char* domain);

/// Takes an input apart from its beginning; after its end come zeros.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
  /// Little-endian, of at most 8 bytes.
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes && i < bytes_.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    bytes_.remove_prefix(bytes < bytes_.size() ? bytes : bytes_.size());
    return value;
  }
  /// Up to the next `mark`, which goes too.
  std::string_view until(char mark) {
    const std::size_t at = bytes_.find(mark);
    const std::string_view part = bytes_.substr(0, at);
    bytes_.remove_prefix(at == std::string_view::npos ? bytes_.size() : at + 1);
    return part;
  }
  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace cardan::fuzz

/// At the end of a target's file: its name, as the folder of tests/fuzz/corpus has it.
#define CARDAN_FUZZ_TARGET(name, run, seeds)                               \
  namespace {                                                              \
  const ::cardan::fuzz::Registered registered_##name{{#name, run, seeds}}; \
  }

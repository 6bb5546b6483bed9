// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "src/transport/protocol/order_table.hpp"

/// Two sides with the same content. Readers read the shown side, and never wait. One writer changes the hidden side,
/// shows it, waits until the last reader has left the other side, and changes that one too ("Left-Right", Ramalhete and
/// Correia, 2013).
///
///   reader                                   writer
///   S1 v := version                          S5 s := shown, w := version   (its own words)
///   S2 inside[v] += 1                           changes side 1 − s
///   S3 s := shown                            S6 shown := 1 − s
///      reads side s                          S7 waits until inside[1 − w] = 0
///   S4 inside[v] −= 1                        S8 version := 1 − w
///                                            S7 waits until inside[w] = 0
///                                               changes side s
///
/// Invariants:
///   I31 sides apart      I32 change seen
/// docs/protocols/sides.md has the reason for each step.
namespace cardan::protocol {

/// The words of two sides, in one process. Readers of both versions write a line each.
template <class Env>
struct SidesWords {
  using Word = typename Env::template Word<std::uint32_t>;
  struct alignas(64) Inside {
    Word readers{};
  };
  Word shown{};
  Word version{};
  std::array<Inside, 2> inside{};
};

struct SideRead {
  std::uint32_t side = 0;     ///< may be read until leave_side()
  std::uint32_t version = 0;  ///< for leave_side()
};

/// Wait-free. Any thread.
template <class Env>
[[nodiscard]] SideRead enter_side(SidesWords<Env>& words) noexcept {
  const std::uint32_t version = Env::template load<Site::S1>(words.version) & 1;
  Env::template add<Site::S2>(words.inside[version].readers, std::uint32_t{1});
  return {.side = Env::template load<Site::S3>(words.shown) & 1, .version = version};
}

/// Wait-free.
template <class Env>
void leave_side(SidesWords<Env>& words, const SideRead& read) noexcept {
  Env::template subtract<Site::S4>(words.inside[read.version].readers, std::uint32_t{1});
}

/// Whether no reader is there any more that entered with this version.
template <class Env>
[[nodiscard]] bool is_left(const typename Env::template Word<std::uint32_t>& inside) noexcept {
  return Env::template load<Site::S7>(inside) == 0;
}

/// Calls `change(side)` for the hidden side, shows it, and calls it for the other one when no reader is in it any more.
/// `wait(inside)` returns after `is_left(inside)`. One thread at a time.
template <class Env, class Change, class Wait>
void change_sides(SidesWords<Env>& words, Change&& change, Wait&& wait) {
  const std::uint32_t old = Env::template load<Site::S5>(words.shown);
  change(1 - old);
  Env::template store<Site::S6>(words.shown, 1 - old);
  const std::uint32_t version = Env::template load<Site::S5>(words.version);
  wait(words.inside[1 - version].readers);  // those that came before the last change, and are still there
  Env::template store<Site::S8>(words.version, 1 - version);
  wait(words.inside[version].readers);
  change(old);
}

}  // namespace cardan::protocol

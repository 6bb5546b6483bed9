// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cardan::detail {

struct SampleBlock;

/// Nobody can tell how old the oldest publication is on which a sample rests.
inline constexpr std::int64_t kUnknownOrigin = -1;

/// The grounds of a publication: the oldest publication on which it rests, and the sample that caused it.
struct Basis {
  std::int64_t origin_ns = 0;  ///< steady clock; 0: it rests on nothing; kUnknownOrigin
  std::uint64_t stream = 0;    ///< of the cause; 0: none
  std::uint64_t sequence = 0;  ///< of the cause
  /// The same of the nearest cause that other processes can find, too: the cause itself, or, if that passes within this
  /// process only, the one on which it rests, or, if there is not one, another ground.
  std::uint64_t shared_stream = 0, shared_sequence = 0;

  /// The older of two origins. An unknown one could be older than any.
  [[nodiscard]] static std::int64_t older(std::int64_t a, std::int64_t b) noexcept {
    return a == 0 ? b : b == 0 ? a : std::min(a, b);
  }
  /// Adds another ground. The one with the oldest origin is the cause.
  void add(const Basis& other) noexcept {
    if (other.origin_ns == 0) return;
    const std::int64_t oldest = older(origin_ns, other.origin_ns);
    if (oldest != origin_ns || stream == 0)
      caused_by(other);
    else if (shared_stream == 0)
      share(other);
    origin_ns = oldest;
  }
  /// Its cause becomes that of `other`.
  void caused_by(const Basis& other) noexcept {
    stream = other.stream;
    sequence = other.sequence;
    if (other.shared_stream != 0) share(other);
  }
  /// Adds a sample that was read.
  void add(const SampleBlock& sample) noexcept;

 private:
  void share(const Basis& other) noexcept {
    shared_stream = other.shared_stream;
    shared_sequence = other.shared_sequence;
  }
};

/// The part of one chain in the grounds of a publication (docs/chains.md). Its members have no initial value, because
/// each callback has room for many.
struct ChainGround {
  std::uint32_t from;      ///< ChainRole::key() of the topic where the chain begins; 0: none
  std::uint32_t hop;       ///< the same of the component that took longest so far; 0: no component yet
  std::int64_t origin_ns;  ///< the oldest publication on that topic; kUnknownOrigin
  std::int64_t hop_ns;     ///< duration of `hop`
  std::int64_t since_ns;   ///< publish time of the sample that brought it here
};

/// At most one ground for each beginning of a chain.
class ChainGrounds {
 public:
  static constexpr std::size_t kMost = 8;

  /// Of two with the same beginning, the older one stays. More than kMost are left out.
  void add(const ChainGround& ground) noexcept {
    for (ChainGround& known : std::span(all_.data(), count_))
      if (known.from == ground.from) {
        if (ground.origin_ns < known.origin_ns) known = ground;
        return;
      }
    if (count_ < kMost) all_[count_++] = ground;
  }
  void add(const ChainGrounds& others) noexcept {
    for (const ChainGround& ground : others.all()) add(ground);
  }
  /// Those that a sample brings.
  void add(const SampleBlock& sample) noexcept;
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] std::span<const ChainGround> all() const noexcept { return {all_.data(), count_}; }
  [[nodiscard]] std::span<ChainGround> all() noexcept { return {all_.data(), count_}; }

 private:
  std::array<ChainGround, kMost> all_;
  std::size_t count_ = 0;
};

/// The samples that the callback on this thread has read: its publications rest on them. One lives while a callback of
/// a component runs, and the inner one counts if several do.
///
///   trigger   the sample that the callback is called for: the cause
///   fused     instead of the trigger, the set that a fusion has made: the cause is the trigger if the set has it, else
///             the sample with the oldest origin
///   read      what latest.get() returned, and what rests_on() named
///
/// One thread; never blocks.
class CallbackBasis {
 public:
  CallbackBasis() noexcept;
  CallbackBasis(const CallbackBasis&) = delete;
  CallbackBasis& operator=(const CallbackBasis&) = delete;
  ~CallbackBasis();

  void triggered_by(const SampleBlock& sample) noexcept;
  void fused(SampleBlock* const* set, std::size_t inputs) noexcept;
  void read(const SampleBlock& sample) noexcept {
    read_.add(sample);
    read_chains_.add(sample);
  }
  /// The basis of a publication that also names grounds.
  [[nodiscard]] Basis with(Basis named) const noexcept;
  /// Adds what its publications rest on of chains.
  void add_chains(ChainGrounds& to) const noexcept {
    to.add(chains_);
    to.add(read_chains_);
  }

  /// The one of this thread; null: no callback of a component runs.
  [[nodiscard]] static CallbackBasis* here() noexcept;

 private:
  Basis trigger_, given_, read_;       ///< given: the trigger, or the fused set
  ChainGrounds chains_, read_chains_;  ///< of the trigger, or of the fused set; of what was read
  CallbackBasis* outer_;
};

/// The basis of a publication on this thread: what its loan names, and what the callback has read.
[[nodiscard]] Basis basis_of_publication(const Basis& named) noexcept;

}  // namespace cardan::detail

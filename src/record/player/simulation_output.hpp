// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cardan/cdr.hpp"
#include "cardan/mcap/writer.hpp"
#include "cardan/type_layout.hpp"
#include "src/mcap/new_file.hpp"
#include "src/record/player/simulate.hpp"
#include "src/runtime/executor/channel.hpp"

namespace cardan::record {

/// Counts what components publish, and writes it into a file that depends on nothing else. One thread.
class SimulationOutput {
 public:
  /// `path` empty: it is only counted. `shift`: of the simulation's times to those in the file. Throws Error
  /// (InvalidArgument, System).
  SimulationOutput(const std::string& path, bool replace, std::int64_t shift);

  void set_shift(std::int64_t shift) noexcept { shift_ = shift; }
  /// An error waits for rethrow(): a publisher cannot throw.
  void write(const detail::Channel& channel, const detail::SampleBlock& sample) noexcept;
  void rethrow();

  /// Writes the file's end. Returns how many bytes it has. Throws Error (System).
  std::uint64_t finish();
  [[nodiscard]] std::vector<SimulatedTopic> topics() const;

 private:
  struct Topic {
    SimulatedTopic report{};
    std::uint16_t channel = 0;                   ///< 0: it is not written
    std::shared_ptr<const TypeLayout> layout{};  ///< of a native message
  };
  Topic& topic_of(const detail::Channel& channel);
  void describe(const detail::Channel& channel, Topic& topic);
  void write_sample(const detail::Channel& channel, const detail::SampleBlock& sample);

  std::int64_t shift_;
  std::unique_ptr<mcap::NewFile> file_;
  std::unique_ptr<mcap::Writer> writer_;
  std::map<std::string, Topic> topics_;
  std::uint16_t channels_ = 0;
  CdrFrame frame_;
  std::vector<std::byte> bytes_;
  std::exception_ptr failure_;
};

}  // namespace cardan::record

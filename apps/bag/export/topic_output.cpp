// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/export/topic_output.hpp"

namespace cardan::apps {
namespace {

/// A file that lies about each message in another way should not fill the screen.
constexpr std::size_t kMostCauses = 16;

class Nothing final : public TopicOutput {
 public:
  explicit Nothing(std::string cause) : cause_(std::move(cause)) {}
  void take(const mcap::MessageView& view) override {
    ++tally_.messages;
    tally_.skip(cause_, view.message.log_time);
  }
  [[nodiscard]] std::string as() const override { return {}; }
  [[nodiscard]] std::set<std::string> files() const override { return {}; }

 private:
  std::string cause_;
};

}  // namespace

void ExportTally::skip(std::string cause, std::uint64_t log_time) {
  if (skipped.size() >= kMostCauses && !skipped.contains(cause)) cause = "other causes";
  const auto [at, is_new] = skipped.try_emplace(std::move(cause), Skipped{0, log_time});
  ++at->second.messages;
}

std::unique_ptr<TopicOutput> nothing_of(std::string cause) { return std::make_unique<Nothing>(std::move(cause)); }

}  // namespace cardan::apps

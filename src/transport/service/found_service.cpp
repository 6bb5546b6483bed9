// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/found_service.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan::detail {

bool FoundService::is_ours() const noexcept { return server.uid == ::geteuid() || server.uid == 0; }

AnyType FoundService::Side::any_type() const {
  if (auto known = AnyType::of_publisher(type, layout, schema)) return *std::move(known);
  throw Error(ErrorCode::Incompatible, "the memory layout of " + type + " is not known here",
              "ask with a program: only types whose layout follows from their definition can be asked without it, not "
              "those with alignas or bit fields");
}

std::string ros_service_type(std::string_view question, std::string_view answer) {
  const std::string_view package = question.substr(0, question.find('/'));
  // "Map" of "pkg/srv/Map_Request"
  const auto name_in = [package](std::string_view type, std::string_view ending) {
    const std::string_view folder = type.substr(0, std::min(type.rfind('/'), type.size()));
    const bool fits = folder == fmt::format("{}/srv", package) || folder == fmt::format("{}/msg", package);
    if (!fits || !type.ends_with(ending)) return std::string_view();
    return type.substr(folder.size() + 1, type.size() - folder.size() - 1 - ending.size());
  };
  const std::string_view name = name_in(question, "_Request");
  if (name.empty() || name_in(answer, "_Response") != name) return {};
  return fmt::format("{}/srv/{}", package, name);
}

std::string service_of(const std::string& card) { return card.substr(0, card.find('?')); }

FoundService read_card(const std::string& domain, const PublisherReport& server, std::chrono::nanoseconds timeout) {
  FoundService found{.name = service_of(server.topic), .server = server};
  Observer observer(server.topic, {.domain = domain, .timeout = timeout});
  ObservedSample sample;
  for (const auto& stream : observer.streams()) {
    if (stream->process() != server.process || stream->serial() != server.serial) continue;
    if (!stream->copy_latest(sample)) continue;
    const auto* const card = sample.as<ServiceCard>();
    if (card == nullptr) continue;
    found.question = {.type = std::string(card->question_type.view()),
                      .layout = card->question_layout,
                      .schema = std::string(card->question_schema.view()),
                      .max_bytes = card->max_bytes};
    found.answer = {.type = std::string(card->answer_type.view()),
                    .layout = card->answer_layout,
                    .schema = std::string(card->answer_schema.view()),
                    .max_bytes = card->max_answer_bytes};
    found.pending = card->pending;
  }
  return found;
}

}  // namespace cardan::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/observer.hpp"
#include "cardan/type_layout.hpp"

namespace cardan::apps {

/// The sample's fields by name. Lists longer than `longest_list` become {"count": n, "first": […]}; offsets that lead
/// out of the sample become null (a publisher may say anything).
nlohmann::ordered_json decode(const TypeLayout& type, const ObservedSample& sample, std::size_t longest_list);

/// The view of a sample of unknown type: its sizes and the first bytes in hexadecimal.
nlohmann::ordered_json undecoded(const ObservedSample& sample);

/// The bytes of an encoded object (cardan/detail/encoded.hpp). Empty: the sample has none.
std::optional<std::span<const std::byte>> encoded_bytes(const ObservedSample& sample);

/// The view of a message whose encoding is not decoded, or that does not fit its definition.
nlohmann::ordered_json undecoded(std::string_view encoding, std::span<const std::byte> message);

/// A JSON message from a file or from another process. Empty: the text is not JSON, or it is nested deeper than 64
/// levels (what shows it is recursive), or an object has more than 4,096 keys (each key is compared with those before
/// it), or there are more than a million values.
/// `why` (if it is not null) then says where it stops being JSON, or which limit it exceeds.
std::optional<nlohmann::ordered_json> parse_json(std::span<const std::byte> text, std::string* why = nullptr);
inline constexpr const char* kNotShownJson =
    "it is not JSON, or it is nested deeper than 64, or it has more than 4,096 keys in an object or a million values";

/// A list as the decoders shorten it to `longest_list`: {"count": n, "first": […]}.
bool is_cut_list(const nlohmann::ordered_json& value, std::size_t longest_list);

/// Only the named fields ("header.stamp"), in that order; what is within a null is null. Throws Error (InvalidArgument)
/// that lists the fields if no field has that name.
nlohmann::ordered_json pick_fields(const nlohmann::ordered_json& message, const std::vector<std::string>& names);

/// As indented lines for people.
std::string readable(const nlohmann::ordered_json& value, int indent = 0);

/// As one line, without its end; text that is not UTF-8 does not throw, and nothing in it can harm a terminal.
std::string one_line(const nlohmann::ordered_json& value);
/// The same as indented lines, with their ends.
std::string json_lines(const nlohmann::ordered_json& value);

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
// Images and point clouds of a hostile publisher, on their way to a page. Must hold: a word or a picture, no larger
// than the preview says, whatever sizes the message claims.
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "cardan/cdr_writer.hpp"
#include "src/bridge/foxglove/preview.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::foxglove_previews_target {
namespace {

using bridge::OutgoingFrame;
using bridge::foxglove::Preview;

constexpr std::size_t kMostPayload = std::size_t{4} << 20;

/// A byte that says what is asked for, three of how large the payload is (0: all bytes are in one), and the message.
void run(std::string_view input) {
  static const std::vector<std::byte> payload = [] {
    std::vector<std::byte> bytes(kMostPayload);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i / 7);
    return bytes;
  }();
  Input parts(input);
  const std::uint8_t how = parts.byte();
  const std::size_t size = parts.number(3) % kMostPayload;
  const auto preview = bridge::foxglove::preview_named((how & 1U) != 0 ? "picture" : "points", how * 50U);
  require(preview.has_value(), "a preview that there is not");
  OutgoingFrame frame;
  const auto bytes = std::as_bytes(std::span(parts.rest()));
  frame.cdr.prefix.assign(bytes.begin(), bytes.end());
  frame.cdr.payload = std::span(payload).first(size);
  const std::vector<std::byte> made = preview_of(frame, *preview);
  std::uint32_t length = 0;
  require(made.size() >= sizeof(length), "a preview without its length");
  std::memcpy(&length, made.data(), sizeof(length));
  require(length <= made.size() - sizeof(length) && length < 64 * 1024, "a head that is too long");
  const auto* const text = reinterpret_cast<const char*>(made.data()) + sizeof(length);
  const auto head = nlohmann::json::parse(text, text + length, nullptr, false);
  require(head.is_object() && head.contains("problem") != head.contains("shown"), "a head that is neither");
  const std::size_t rest = made.size() - sizeof(length) - length;
  if (head.contains("problem")) return require(rest == 0, "bytes of a problem");
  if (preview->kind == Preview::Kind::Points)
    return require(rest == head["shown"]["points"].get<std::size_t>() * 16 && rest <= std::size_t{preview->most} * 16,
                   "more points than were asked for");
  const auto& shown = head["shown"];
  require(shown["width"].get<std::uint32_t>() <= preview->most && shown["height"].get<std::uint32_t>() <= preview->most,
          "a larger picture than was asked for");
  require(rest > 4 && rest <= std::size_t{preview->most} * preview->most * 3 + 4096, "a picture of a strange size");
}

std::string start(char how, std::size_t payload) {
  return {how, static_cast<char>(payload), static_cast<char>(payload >> 8U), static_cast<char>(payload >> 16U)};
}

std::string message(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string image(const char* encoding, std::uint32_t width, std::uint32_t height, std::uint32_t step, bool apart) {
  std::vector<std::byte> prefix, suffix;
  CdrWriter out(prefix, suffix, nullptr);
  out.number(std::int32_t{7});
  out.number(std::uint32_t{8});
  out.string(std::string_view("front"));
  out.number(height);
  out.number(width);
  out.string(std::string_view(encoding));
  out.number(std::uint8_t{0});
  out.number(step);
  out.count(std::size_t{step} * height);
  if (!apart) prefix.resize(prefix.size() + std::size_t{step} * height);
  return start('\3', apart ? std::size_t{step} * height : 0) + message(prefix);
}

std::string cloud(std::uint32_t width, std::uint32_t height, bool big) {
  constexpr std::uint32_t kStep = 20;
  std::vector<std::byte> prefix, suffix;
  CdrWriter out(prefix, suffix, nullptr);
  out.number(std::int32_t{7});
  out.number(std::uint32_t{8});
  out.string(std::string_view("top"));
  out.number(height);
  out.number(width);
  out.count(std::size_t{4});
  std::uint32_t offset = 0;
  for (const char* name : {"x", "y", "z", "intensity"}) {
    out.string(std::string_view(name));
    out.number(offset);
    out.number(std::uint8_t{7});
    out.number(std::uint32_t{1});
    offset += 4;
  }
  out.number(static_cast<std::uint8_t>(big ? 1 : 0));
  out.number(kStep);
  out.number(kStep * width);
  out.count(std::size_t{kStep} * width * height);
  return start('\2', std::size_t{kStep} * width * height) + message(prefix);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{cloud(100, 1, false), cloud(3, 40, true), cloud(60'000, 1, false)};
  for (const char* encoding : {"bgr8", "rgba8", "mono8", "mono16", "16UC1", "32FC1", "bayer_gbrg8", "yuv422", "yuyv"}) {
    all.push_back(image(encoding, 8, 6, 40, false));
    all.push_back(image(encoding, 640, 400, 640 * 4, true));
  }
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(foxglove_previews, run, seeds)
}  // namespace cardan::fuzz::foxglove_previews_target

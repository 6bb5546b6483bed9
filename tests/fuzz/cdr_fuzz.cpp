// SPDX-License-Identifier: Apache-2.0
// Bytes that claim to be the wire form of a message, of Cardan's own types and of any layout that a schema can
// describe. Must hold: they are refused, or give a message within its storage whose own wire form reads back.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "cardan/error.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/ros_layout.hpp"
#include "src/messages/standard_messages.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::cdr_target {
namespace {

constexpr auto kTypes = []<class... T>(detail::MessageList<T...>) {
  return std::array{message_traits<T>::type_name()...};
}(detail::StandardMessages{});
constexpr std::size_t kArena = 16 * 1024;

/// A message in memory as a loan has it: the struct, then room for its lists.
class Storage {
 public:
  explicit Storage(const TypeLayout& type) : bytes_((type.size + 63) / 64 * 64 + kArena), memory_(make(bytes_)) {
    std::memset(memory_.get(), 0, bytes_);
    arena_.place(memory_.get() + (type.size + 63) / 64 * 64, kArena);
    bind(type, memory_.get(), arena_);
  }
  [[nodiscard]] std::byte* message() { return memory_.get(); }
  [[nodiscard]] std::span<std::byte> payload() { return {memory_.get() + bytes_ - kArena, arena_.used}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  static std::byte* make(std::size_t bytes) { return static_cast<std::byte*>(std::aligned_alloc(64, bytes)); }
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  shm::Arena arena_;
};

std::string wire_form(const TypeLayout& type, const std::byte* message) {
  CdrFrame frame;
  frame_cdr(type, message, frame);
  std::string all(reinterpret_cast<const char*>(frame.prefix.data()), frame.prefix.size());
  all.append(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  all.append(reinterpret_cast<const char*>(frame.suffix.data()), frame.suffix.size());
  return all;
}

CdrResult read(const TypeLayout& type, const std::string& bytes, Storage& into) {
  return from_cdr(type, std::as_bytes(std::span(bytes)), into.message());
}

/// The same bytes in pieces, which are cut where the bytes themselves say: the same message, or the same refusal.
void read_in_pieces(const TypeLayout& type, const std::string& bytes, const CdrResult& expected, Storage& whole) {
  const std::span all = std::as_bytes(std::span(bytes));
  std::vector<std::vector<std::byte>> memory;  // each piece by itself, so that nothing beyond its end is read unnoticed
  std::uint32_t dice = static_cast<std::uint32_t>(bytes.size()) * 2654435761U;
  for (const char c : bytes) dice = (dice ^ static_cast<unsigned char>(c)) * 16777619U;
  for (std::size_t from = 0; from < all.size();) {
    dice = dice * 1664525U + 1013904223U;
    const std::size_t most = (dice >> 8U) % 4 == 0 ? 64 : 7;
    const std::size_t size = std::min<std::size_t>((dice >> 16U) % (most + 1), all.size() - from);
    memory.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(from),
                        all.begin() + static_cast<std::ptrdiff_t>(from + size));
    from += size;
  }
  const std::vector<std::span<const std::byte>> pieces(memory.begin(), memory.end());
  Storage into(type);
  const CdrResult result = from_cdr(type, CdrPieces(pieces), into.message());
  require(result.error == expected.error && result.offset == expected.offset && result.field == expected.field,
          "pieces are refused for another reason than the whole");
  if (result)
    require(wire_form(type, into.message()) == wire_form(type, whole.message()), "pieces give another message");
}

/// The same bytes as a reader in another process makes of them; and whatever else the payload may say, none beyond it.
void read_as_others(const TypeLayout& type, Storage& from, const std::string& wire) {
  std::string copy(type.size, '\0');
  auto* const bytes = reinterpret_cast<std::byte*>(copy.data());
  CdrFrame frame;
  const auto all = [&]() -> std::optional<std::string> {
    std::memcpy(bytes, from.message(), type.size);
    if (!adopt(type, bytes, from.message(), from.payload()) || !frame_cdr(type, bytes, from.payload(), frame))
      return std::nullopt;
    std::string text(reinterpret_cast<const char*>(frame.prefix.data()), frame.prefix.size());
    text.append(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
    return text.append(reinterpret_cast<const char*>(frame.suffix.data()), frame.suffix.size());
  };
  require(all() == wire, "another process reads something else");
  const std::span<std::byte> payload = from.payload();
  for (std::size_t i = 0; i + 8 <= payload.size(); i += 8 * (1 + payload.size() / 512)) {
    payload[i + wire.size() % 8] ^= static_cast<std::byte>(1U << wire.size() / 8 % 8);
    (void)all();
  }
}

/// The first byte: a type of Cardan's own; after the last, a schema's text comes first, to a NUL: as a compiler lays
/// it out, or from 192 on in a layout of our making.
void run(std::string_view input) {
  Input parts(input);
  const std::size_t which = parts.byte();
  std::shared_ptr<const TypeLayout> type = known_layout(kTypes[which % kTypes.size()]);
  if (which >= 128) {
    const std::string text(parts.until('\0'));
    type = which < 192 ? detail::layout_of_schema("x_msgs/msg/A", text) : layout_of_definition("x_msgs/msg/A", text);
  }
  if (type == nullptr || type->size > (1U << 16)) return;
  const std::string bytes(parts.rest());
  (void)most_payload_bytes(*type, bytes.size());
  Storage first(*type);
  const CdrResult result = read(*type, bytes, first);
  require(result || !result.text().empty(), "a refusal without words");
  read_in_pieces(*type, bytes, result, first);
  if (!result) return;
  const std::string again = wire_form(*type, first.message());
  Storage second(*type);
  require(static_cast<bool>(read(*type, again, second)), "what was read cannot be written and read");
  require(wire_form(*type, second.message()) == again, "what was read is not what was written");
  require(second.payload().size() <= most_payload_bytes(*type, again.size()), "more payload than there can be");
  read_as_others(*type, second, again);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    const auto type = known_layout(kTypes[i]);
    if (type == nullptr) continue;
    Storage empty(*type);
    all.push_back(static_cast<char>(i) + wire_form(*type, empty.message()));
  }
  const std::string schema =
      "int32 a\nfloat64[2] b\nstring c\nuint16[] d\nstring<=8 e\nx_msgs/B[<=3] f\nx_msgs/B[] g\n" +
      std::string(80, '=') + "\nMSG: x_msgs/B\nbool g\nint8[2] h\n";
  if (const auto type = detail::layout_of_schema("x_msgs/msg/A", schema)) {
    Storage empty(*type);
    all.push_back('\x80' + schema + '\0' + wire_form(*type, empty.message()));
  }
  const std::string nested = "x_msgs/B[] b\nwstring w\nstring<=4[<=3] s\nfloat64[] d\nC c\n" + std::string(80, '=') +
                             "\nMSG: x_msgs/B\nstring[] names\nuint16[] n\nbool[2] f\n" + std::string(80, '=') +
                             "\nMSG: x_msgs/C\n";
  if (const auto type = layout_of_definition("x_msgs/msg/A", nested)) {
    Storage empty(*type);
    all.push_back('\xc0' + nested + '\0' + wire_form(*type, empty.message()));
    const std::string some("\0\1\0\0\2\0\0\0\1\0\0\0\2\0\0\0a\0\0\0\1\0\0\0\7\0\1\0\0\0\0\0\0\0\0\0\1\0\0\0", 40);
    all.push_back('\xc0' + nested + '\0' + some + std::string(40, '\0'));
  }
  return all;
}

}  // namespace
CARDAN_FUZZ_TARGET(cdr, run, seeds)
}  // namespace cardan::fuzz::cdr_target

// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/discovery_info.hpp"

#include <cstring>

#include "cardan/cdr_reader.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kHeader = 4;
constexpr std::size_t kMostNodes = 4096, kMostEndpoints = 65536;
constexpr std::size_t kMostLettersOfNode = 256;

class InfoWriter {
 public:
  explicit InfoWriter(int gid_bytes) : gid_bytes_(static_cast<std::size_t>(gid_bytes)) {
    bytes_ = {std::byte{0}, std::byte{1}, std::byte{0}, std::byte{0}};
  }
  void gid(const Guid& guid) {
    for (std::size_t i = 0; i < gid_bytes_; ++i) bytes_.push_back(i < guid.size() ? std::byte{guid[i]} : std::byte{0});
  }
  void number(std::size_t value) {
    while ((bytes_.size() - kHeader) % 4 != 0) bytes_.push_back(std::byte{0});
    for (unsigned shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<std::byte>(value >> shift));
  }
  void text(const std::string& letters) {
    number(letters.size() + 1);
    for (const char c : letters) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.push_back(std::byte{0});
  }
  void gids(const std::vector<Guid>& list) {
    number(list.size());
    for (const Guid& guid : list) gid(guid);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  const std::size_t gid_bytes_;
  std::vector<std::byte> bytes_;
};

bool read_gid(CdrReader& in, Guid& guid, std::size_t gid_bytes) {
  std::array<std::uint8_t, kOldGidBytes> bytes{};
  if (!in.numbers(bytes.data(), gid_bytes)) return false;
  std::memcpy(guid.data(), bytes.data(), guid.size());
  return true;
}

bool read_gids(CdrReader& in, std::vector<Guid>& list, std::size_t gid_bytes) {
  std::size_t count = 0;
  if (!in.count(count, gid_bytes) || count > kMostEndpoints) return false;
  list.resize(count);
  for (Guid& guid : list)
    if (!read_gid(in, guid, gid_bytes)) return false;
  return true;
}

bool read_text(CdrReader& in, std::string& text) {
  std::string_view letters;
  if (!in.string(letters) || letters.size() > kMostLettersOfNode) return false;
  text = letters;
  return true;
}

}  // namespace

std::vector<std::byte> discovery_info(const ParticipantEntities& entities, int gid_bytes) {
  InfoWriter out(gid_bytes);
  out.gid(entities.participant);
  out.number(entities.nodes.size());
  for (const NodeEntities& node : entities.nodes) {
    out.text(node.name_space);
    out.text(node.name);
    out.gids(node.readers);
    out.gids(node.writers);
  }
  return out.take();
}

std::optional<ParticipantEntities> parse_discovery_info(std::span<const std::byte> cdr, int gid_bytes) {
  const auto each = static_cast<std::size_t>(gid_bytes);
  ParticipantEntities all;
  CdrReader in(cdr);
  std::size_t nodes = 0;
  if (!read_gid(in, all.participant, each) || !in.count(nodes, 16) || nodes > kMostNodes) return std::nullopt;
  all.nodes.resize(nodes);
  for (NodeEntities& node : all.nodes)
    if (!read_text(in, node.name_space) || !read_text(in, node.name) || !read_gids(in, node.readers, each) ||
        !read_gids(in, node.writers, each))
      return std::nullopt;
  if (in.failed() || in.left() >= 4) return std::nullopt;
  return all;
}

int gid_bytes_of(std::span<const std::byte> cdr) {
  const bool fits_old = parse_discovery_info(cdr, kOldGidBytes).has_value();
  const bool fits_new = parse_discovery_info(cdr, kNewGidBytes).has_value();
  if (fits_old == fits_new) return 0;
  return fits_old ? kOldGidBytes : kNewGidBytes;
}

}  // namespace cardan::bridge::dds

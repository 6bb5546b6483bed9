// SPDX-License-Identifier: Apache-2.0
#include "examples/street/note.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace cardan::street {
namespace {

struct Wire {
  std::uint8_t kind, topic, brake, unused;
  float distance;
  std::uint64_t sequence, missed, bytes;
  std::int64_t published, asked, received;
};
constexpr std::size_t kLongestText = 2000;

}  // namespace

bool send_note(int fd, const Note& note) noexcept {
  if (fd < 0) return false;
  Wire wire{static_cast<std::uint8_t>(note.kind),
            note.topic,
            static_cast<std::uint8_t>(note.brake ? 1 : 0),
            0,
            note.distance,
            note.sequence,
            note.missed,
            note.bytes,
            note.published,
            note.asked,
            note.received};
  iovec parts[2] = {{&wire, sizeof(wire)},
                    {const_cast<char*>(note.text.data()), std::min(note.text.size(), kLongestText)}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  return ::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

std::optional<Note> receive_note(int fd, bool& ended) {
  std::array<char, sizeof(Wire) + kLongestText> buffer;
  while (true) {
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) ended = true;
    if (got < static_cast<ssize_t>(sizeof(Wire))) return std::nullopt;
    Wire wire;
    std::memcpy(&wire, buffer.data(), sizeof(wire));
    Note note;
    note.kind = static_cast<Note::Kind>(wire.kind);
    note.topic = wire.topic;
    note.brake = wire.brake != 0;
    note.distance = wire.distance;
    note.sequence = wire.sequence;
    note.missed = wire.missed;
    note.bytes = wire.bytes;
    note.published = wire.published;
    note.asked = wire.asked;
    note.received = wire.received;
    note.text.assign(buffer.data() + sizeof(wire), static_cast<std::size_t>(got) - sizeof(wire));
    return note;
  }
}

}  // namespace cardan::street

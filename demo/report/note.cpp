// SPDX-License-Identifier: Apache-2.0
#include "demo/report/note.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <string>

namespace cardan::street {

Note ready_note(std::uint8_t role, std::string_view what, std::uint64_t width) {
  Note note;
  note.kind = Note::Kind::Ready;
  note.topic = role;
  note.text = FixedString<700>(what);
  note.sequence = width;
  return note;
}

Note decided_note(std::uint8_t sensor, std::uint64_t sequence, std::int64_t when, bool brake, float distance,
                  std::string_view reason) {
  Note note;
  note.kind = Note::Kind::Decided;
  note.topic = sensor;
  note.sequence = sequence;
  note.received = when;
  note.brake = brake;
  note.distance = distance;
  note.text = FixedString<700>(reason);
  return note;
}

Note failed_note(std::string_view cause, std::string_view remedy, int exit_code) {
  Note note;
  note.kind = Note::Kind::Failed;
  note.sequence = static_cast<std::uint64_t>(exit_code);
  note.text = FixedString<700>(std::string(cause) + "\n" + std::string(remedy));
  return note;
}

bool send_note(int fd, const Note& note) noexcept {
  return fd >= 0 && ::send(fd, &note, sizeof(note), MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

std::optional<Note> receive_note(int fd, bool& ended) {
  Note note;
  while (true) {
    const ssize_t got = ::recv(fd, &note, sizeof(note), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) ended = true;
    if (got != static_cast<ssize_t>(sizeof(note))) return std::nullopt;
    return note;
  }
}

}  // namespace cardan::street

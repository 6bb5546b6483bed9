// SPDX-License-Identifier: Apache-2.0
// The inputs of the handshake's fuzzers: the messages of a hostile peer, as text that people can read and a fuzzer can
// cut and paste.
#pragma once

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/detail/fd.hpp"
#include "src/base/area.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/handshake.hpp"
#include "src/transport/endpoint/bell_board.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/frames.hpp"

namespace cardan::fuzz {

namespace handshake = detail::handshake;

using Message = test::Big;
inline constexpr std::uint32_t kWords = 16;

/// One datagram: `0p {"op":"hello"}` goes out on connection 0 with descriptor p; `1-` hangs up connection 1.
struct Letter {
  unsigned connection = 0;
  std::string descriptors;
  std::string text;
  bool hang_up = false;
};
inline constexpr unsigned kConnections = 3;

/// A line a letter. `$H` in a text becomes the layout's hash of `Message`, `$I` for `id`, `$B` for `bytes`.
inline std::vector<Letter> letters_of(std::string_view input, const std::string& id = "1", std::size_t bytes = 0) {
  constexpr std::size_t kMost = 24;
  std::vector<Letter> all;
  char hash[17];
  std::snprintf(hash, sizeof(hash), "%016llx",
                static_cast<unsigned long long>(detail::message_type_of<Message>().hash));
  for (Input lines(input); !lines.empty() && all.size() < kMost;) {
    const std::string_view line = lines.until('\n');
    const std::size_t space = line.find(' ');
    if (line.empty() || space == 0) continue;
    const std::string_view head = line.substr(0, space);
    Letter letter{
        static_cast<unsigned char>(line[0]) % kConnections, std::string(head.substr(1, socket::kMaxFds)), {}, false};
    letter.hang_up = letter.descriptors == "-";
    if (space != std::string_view::npos) {
      for (Input rest(line.substr(space + 1)); !rest.empty();) {
        letter.text += rest.until('$');
        const std::string_view left = rest.rest();
        if (left.empty()) break;
        if (left[0] != 'H' && left[0] != 'I' && left[0] != 'B') {
          letter.text += '$';
          continue;
        }
        letter.text += left[0] == 'H' ? std::string(hash) : left[0] == 'I' ? id : std::to_string(bytes);
        rest.byte();
      }
    }
    all.push_back(std::move(letter));
  }
  return all;
}

/// Numbers of a message that become `$I` and `$B` in its line.
inline constexpr std::uint64_t kTheirId = 7'100'000'000'000'000'001;
inline constexpr std::uint64_t kAreaBytes = 7'200'000'000'000'000'002;

/// The line of a letter: `to` is its connection and descriptors.
inline std::string line(const std::string& to, const handshake::Message& message) {
  std::string text = handshake::encode(message);
  for (const auto& [number, mark] : {std::pair{kTheirId, "$I"}, std::pair{kAreaBytes, "$B"}}) {
    const std::string digits = std::to_string(number);
    for (std::size_t at = text.find(digits); at != std::string::npos; at = text.find(digits))
      text.replace(at, digits.size(), mark);
  }
  return to + " " + text + "\n";
}

/// The descriptors that a hostile peer may hand over, by letter; the descriptors stay ours and are duplicated on their
/// way.
class Offers {
 public:
  Offers();
  /// An unknown letter is a pipe.
  [[nodiscard]] int of(char letter) const;
  [[nodiscard]] std::vector<int> of(const std::string& letters) const {
    std::vector<int> all;
    for (const char c : letters) all.push_back(of(c));
    return all;
  }
  [[nodiscard]] std::size_t area_bytes() const { return publisher_->area().size(); }
  [[nodiscard]] detail::PublisherCore& publisher() const { return *publisher_; }

 private:
  std::shared_ptr<detail::PublisherCore> publisher_;  ///< honest, with some publications
  std::unique_ptr<detail::BellBoard> bells_;
  detail::Area page_, other_version_, two_pages_, spoilt_, hole_;
  Fd unsealed_, pipe_read_, pipe_write_, pair_, other_end_, event_, null_, folder_;
};

/// Sends what the socket takes; a peer that reads nothing loses the rest.
inline void say(int socket, const Letter& letter, const Offers& offers) {
  socket::send(socket, letter.text, offers.of(letter.descriptors));
}

/// Bytes that the other end has not read yet.
inline int unread(int socket) {
  int bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

/// Publishes the next frame of `Message`, checked by `test::intact`.
void publish_on(detail::PublisherCore& publisher);

/// A reader of a hostile publisher's message: reads each byte.
std::uint64_t look_at(const Message& message);

}  // namespace cardan::fuzz

// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/speech.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace cardan::fuzz {
namespace {

constexpr TopicOptions kOptions{.max_bytes = kWords * sizeof(std::uint64_t), .depth = 4, .max_memory = 16 * 1024};

detail::Area page_of(std::size_t bytes, std::uint64_t magic) {
  detail::Area area("fuzz", bytes);
  auto* page = new (area.data()) layout::SubscriberPage{};
  page->magic = magic;
  page->version = layout::kVersion;
  return area;
}

}  // namespace

Offers::Offers()
    : publisher_(std::make_shared<detail::PublisherCore>("/fuzz", detail::message_type_of<Message>(), kOptions,
                                                         PublisherOptions{})),
      bells_(std::make_unique<detail::BellBoard>()),
      page_(page_of(layout::kPage, layout::kMagic)),
      other_version_(page_of(layout::kPage, layout::kMagic + 1)),
      two_pages_(page_of(2 * layout::kPage, layout::kMagic)),
      spoilt_("fuzz", publisher_->area().size()),
      hole_("fuzz", std::size_t{1} << 40),
      unsealed_(::memfd_create("fuzz", MFD_CLOEXEC)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      null_(::open("/dev/null", O_RDWR | O_CLOEXEC)),
      folder_(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  for (int i = 0; i < 6; ++i) publish_on(*publisher_);
  std::memcpy(spoilt_.data(), publisher_->area().data(), spoilt_.size());
  auto* header = reinterpret_cast<layout::Header*>(spoilt_.data());
  header->slots_offset += layout::kLine;
  // A publisher's area in front, a terabyte of nothing after it.
  std::memcpy(hole_.data(), publisher_->area().data(), publisher_->area().size());
  reinterpret_cast<layout::Header*>(hole_.data())->area_bytes = hole_.size();
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    pipe_read_ = Fd(ends[0]);
    pipe_write_ = Fd(ends[1]);
  }
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0) {
    pair_ = Fd(ends[0]);
    other_end_ = Fd(ends[1]);
  }
  require(unsealed_ && pipe_write_ && pair_ && event_ && null_ && folder_ &&
              ::ftruncate(unsealed_.get(), layout::kPage) == 0,
          "no descriptors for the fuzzer");
}

int Offers::of(char letter) const {
  switch (letter) {
    case 'a':
      return publisher_->area().read_only_fd();
    case 'b':
      return bells_->read_only_fd();
    case 'd':
      return folder_.get();
    case 'e':
      return event_.get();
    case 'h':
      return hole_.read_only_fd();
    case 'l':
      return pair_.get();
    case 'n':
      return null_.get();
    case 'p':
      return page_.read_only_fd();
    case 'q':
      return other_version_.read_only_fd();
    case 's':
      return spoilt_.read_only_fd();
    case 't':
      return two_pages_.read_only_fd();
    case 'u':
      return unsealed_.get();
    default:
      return pipe_write_.get();
  }
}

void publish_on(detail::PublisherCore& publisher) {
  const int slot = publisher.loan();
  if (slot < 0) return;
  auto* message = new (publisher.message(slot)) Message;
  auto* arena = new (publisher.arena(slot)) shm::Arena;
  arena->place(publisher.payload(slot), publisher.payload_capacity());
  shm::bind(*message, *arena);
  test::fill(*message, test::key_of(7, publisher.published() + 1), kWords);
  publisher.publish(slot, arena->used, 0);
}

std::uint64_t look_at(const Message& message) {
  std::uint64_t sum = message.key;
  for (const std::uint64_t word : message.words.span()) sum += word;
  return sum;
}

}  // namespace cardan::fuzz

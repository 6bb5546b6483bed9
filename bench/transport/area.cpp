// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/area.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "bench/transport/futex.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

[[noreturn]] void fail(std::string what) {
  const int error = errno;
  throw Error(error == ENOMEM || error == ENOSPC ? ErrorCode::NoMemory : ErrorCode::System,
              fmt::format("{}: {}", what, std::strerror(error)), "free some memory or measure smaller payloads");
}

std::size_t area_bytes(const Cell& cell) {
  const std::size_t columns = cell.scenario.publishers * (1 + std::size_t{cell.scenario.subscribers});
  return sizeof(AreaHeader) + columns * (std::size_t{cell.frames} + 1) * sizeof(Stamps);
}

}  // namespace

Fd make_memory(const char* name, std::size_t bytes) {
  Fd fd(::memfd_create(name, MFD_CLOEXEC));
  if (fd.get() < 0) fail("cannot create shared memory");
  // fallocate, not ftruncate: too little memory is an error here, and no SIGBUS in the middle of a run.
  if (const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)); error != 0) {
    errno = error;
    fail(fmt::format("cannot get {} bytes of shared memory", bytes));
  }
  return fd;
}

Mapping::Mapping(int fd, std::size_t bytes) : size_(bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (at == MAP_FAILED) fail(fmt::format("cannot map {} bytes", bytes));
  data_ = static_cast<std::byte*>(at);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Area::Area(const Contender& contender, const Cell& cell, std::string_view topic)
    : fd_(make_memory("cardan-bench-results", area_bytes(cell))),
      mapping_(fd_.get(), area_bytes(cell)),
      header_(new(mapping_.data()) AreaHeader{}) {
  header_->contender = contender;
  header_->cell = cell;
  topic.copy(header_->topic, sizeof header_->topic - 1);
}

Area::Area(int fd) : fd_(fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(AreaHeader))) {
    throw Error(ErrorCode::InvalidArgument, "a role of the bench was started without its results area",
                "start `cardan bench transport` without --role-fd");
  }
  mapping_ = Mapping(fd, static_cast<std::size_t>(status.st_size));
  header_ = std::launder(reinterpret_cast<AreaHeader*>(mapping_.data()));
  if (mapping_.size() < area_bytes(header_->cell)) {
    throw Error(ErrorCode::InvalidArgument, "the results area of the bench is too short", "start it without --role-fd");
  }
}

std::span<Stamps> Area::column(std::size_t index) const {
  const std::size_t rows = std::size_t{header_->cell.frames} + 1;
  auto* const first = reinterpret_cast<Stamps*>(mapping_.data() + sizeof(AreaHeader));
  return {first + index * rows, rows};
}

std::span<Stamps> Area::published(std::uint32_t publisher) const { return column(publisher); }

std::span<Stamps> Area::received(std::uint32_t reader, std::uint32_t publisher) const {
  return column(publishers() + std::size_t{reader} * publishers() + publisher);
}

void Area::set_error(std::size_t role_index, std::string_view words) const noexcept {
  if (role_index >= kMostRoles) return;
  auto& error = header_->roles[role_index].error;
  const std::size_t length = std::min(words.size(), error.size() - 1);
  words.copy(error.data(), length);
  error[length] = '\0';
}

bool Area::arrive_and_wait() const noexcept {
  header_->ready.fetch_add(1, std::memory_order_release);
  const pid_t harness = ::getppid();
  while (header_->go.load(std::memory_order_acquire) == 0) {
    futex_wait(header_->go, 0, 500'000'000);
    if (::getppid() != harness) return false;
  }
  return true;
}

}  // namespace cardan::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace cardan::test {

/// A struct of atomics in a file that a test and its processes share, so that what a killed process counted is not
/// lost.
template <class T>
class Tally {
 public:
  explicit Tally(std::string path) : path_(std::move(path)) {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ::ftruncate(fd, sizeof(T)) != 0) throw std::runtime_error("cannot make " + path_);
    ::fchmod(fd, 0666);
    void* at = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    if (at == MAP_FAILED) throw std::runtime_error("cannot map " + path_);
    all_ = static_cast<T*>(at);  // a new file is zero, and so are its atomics
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  ~Tally() { ::munmap(all_, sizeof(T)); }
  T* operator->() const { return all_; }
  T& operator*() const { return *all_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  T* all_ = nullptr;
};

}  // namespace cardan::test

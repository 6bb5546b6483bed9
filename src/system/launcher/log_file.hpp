// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace cardan::launcher {

struct LogFileOptions {
  std::string path{};
  std::size_t bytes = std::size_t{10} << 20U;  ///< of a file; the line that would exceed it starts the next
  std::size_t files = 5;                       ///< kept in addition to the present one: PATH.1 (the newest) to PATH.5
};

/// A log in files of bounded size. A separate thread writes the lines, so that a slow disk delays no caller: what
/// waits too long is left out, counted, and said in the file. The file that is there is continued. A link, a pipe or a
/// device is refused. Thread safety: any thread; add() takes a mutex that is never held during a write.
class LogFile {
 public:
  static constexpr std::size_t kWaiting = std::size_t{4} << 20U;  ///< bytes of lines that may wait

  /// Throws Error (System): the file cannot be opened; InvalidArgument: fewer than 1 KiB. Set-up.
  explicit LogFile(LogFileOptions options);
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile();  ///< as close()

  /// Writes what waits, and ends. Returns, for people, which of these lines, or of those left out before, are not in
  /// the file; "": all are. Lines added later are lost. Blocks for the disk; once, and not at the same time as add().
  [[nodiscard]] std::string close();

  /// A line with its end. Never blocks for the disk.
  void add(std::string_view line);
  /// Failures since the last call, as text; "": none. The first failure in a row is reported.
  [[nodiscard]] std::string trouble();

 private:
  void serve();
  /// Lines that could not be written.
  [[nodiscard]] std::uint64_t write(std::string_view lines);
  [[nodiscard]] bool write_some(std::string_view part);
  void open();
  void rotate();
  void failed(const std::string& what, int error);

  LogFileOptions options_;
  int fd_ = -1;           // of the thread; before it starts of the constructor
  std::size_t size_ = 0;  // of the present file
  bool failing_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string waiting_, trouble_, last_trouble_;
  std::uint64_t dropped_ = 0;  ///< lines
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace cardan::launcher

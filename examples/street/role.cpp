// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "cardan/memory/error.hpp"
#include "cardan/transport/stop.hpp"
#include "examples/street/role_context.hpp"

namespace cardan::street {

void Reporter::picture(const cv::Mat& picture) const {
  std::vector<unsigned char> png;
  if (picture_fd_ < 0 || !cv::imencode(".png", picture, png)) return;
  for (std::size_t at = 0; at < png.size();) {
    const ssize_t wrote = ::write(picture_fd_, png.data() + at, png.size() - at);
    if (wrote <= 0) return;
    at += static_cast<std::size_t>(wrote);
  }
}

int run_role(const RoleOptions& options) {
  // Without its parent nobody would end it.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == 1 && options.note_fd >= 0) return 1;
  stop_on_signals();
  const Reporter report(options);
  const auto fail = [&](const std::string& cause, const std::string& remedy, std::uint64_t code) {
    Note note;
    note.kind = Note::Kind::Failed;
    note.sequence = code;
    note.text = cause + "\n" + remedy;
    if (!send_note(options.note_fd, note)) std::fprintf(stderr, "%s\n", note.text.c_str());
    return static_cast<int>(code);
  };
  try {
    switch (options.role) {
      case Role::Camera:
        run_camera(options, report);
        break;
      case Role::Lidar:
        run_lidar(options, report);
        break;
      case Role::Detector:
        run_detector(options, report);
        break;
      case Role::Obstacles:
        run_obstacles(options, report);
        break;
      case Role::Decision:
        run_decision(options, report);
        break;
    }
  } catch (const Error& error) {
    return fail(error.cause(), error.remedy(), 1);
  } catch (const std::exception& error) {
    return fail(error.what(), "this is a bug: please report it", 1);
  }
  return 0;
}

}  // namespace cardan::street

// SPDX-License-Identifier: Apache-2.0
// Programs of other users here: without a message about them, it seems that nothing runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cardan::apps {

/// "user 'robot' (1000)", or several of them.
std::string names_of(const std::vector<uid_t>& users);

/// How to ask what those users' processes answer: "run the command as that user: sudo -u robot cardan …".
std::string as_user(const std::vector<uid_t>& users);

/// Reports on standard error that processes of these users run in the domain and answer their own user alone; nothing
/// where there are none.
void warn_of_others(const std::vector<uid_t>& users);

/// Users other than this one whose processes of `cardan run` this computer has, in whichever run directory and domain.
/// Reads /proc; what that hides is not found.
std::vector<uid_t> others_who_run();

/// Why nothing was found, as the second half of a message: `otherwise`, and what other users run on this computer.
/// `here`: the users that warn_of_others() was given.
std::string why_none(const std::vector<uid_t>& here, const std::string& otherwise);
inline constexpr const char* kStartSome = "`cardan run FILE` starts some.";  ///< `otherwise` of a list that is empty

}  // namespace cardan::apps

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cardan/detail/fd.hpp"

namespace cardan {

/// Opens the output that a user named: a new file, or the one that exists. It is not emptied: see empty_output(). In a
/// folder that others can write, a file, a pipe or a link of another user would give that user what is written, or
/// would lead to a file of ours, so these are refused. A link of root, such as /dev/stdout, may lead to anything.
/// Throws Error (InvalidArgument): it belongs to another user; (System): it cannot be opened. Any thread; waits for the
/// reader of a pipe.
[[nodiscard]] Fd open_output(const std::string& path);
/// Empties what open_output() opened, just before it is written: until then there is perhaps nothing to write, and the
/// user keeps the file. Throws Error (System).
void empty_output(const Fd& output, const std::string& path);

/// Throws as open_output() if the name is that of another user's file, pipe or link; opens nothing. A folder may be
/// another user's, which then can read and remove what is in it.
void refuse_output_of_others(const std::string& path);

/// Makes the folder for outputs, and those above it. Throws Error as refuse_output_of_others(), and (System): it cannot
/// be made. Any thread; blocks for the disk.
void make_output_folder(const std::string& path);

/// Writes a whole file in this way. Throws Error as open_output(), and (System): the disk fails or is full.
void write_output(const std::string& path, const std::string& content);

}  // namespace cardan

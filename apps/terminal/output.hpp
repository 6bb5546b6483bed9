// SPDX-License-Identifier: Apache-2.0
// Output of the command for people, under its own namespace.
#pragma once

#include "src/terminal/output.hpp"
#include "src/terminal/progress.hpp"
#include "src/terminal/screen.hpp"

namespace cardan::apps {

using terminal::bytes_text;
using terminal::complain;
using terminal::count_text;
using terminal::cut;
using terminal::emit;
using terminal::erase_progress;
using terminal::ExitCode;
using terminal::finish_output;
using terminal::full_screen;
using terminal::in_words;
using terminal::kFailed;
using terminal::kLoss;
using terminal::kOk;
using terminal::kUsage;
using terminal::LiveBlock;
using terminal::number_of;
using terminal::output_failed;
using terminal::printable;
using terminal::printable_lines;
using terminal::Progress;
using terminal::Room;
using terminal::show_progress;
using terminal::sleep_for;
using terminal::stdout_is_terminal;
using terminal::Table;
using terminal::terminal_size;
using terminal::text_of;
using terminal::time_text;
using terminal::warn;
using terminal::width_of;
using terminal::wrapped;

}  // namespace cardan::apps

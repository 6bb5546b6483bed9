// SPDX-License-Identifier: Apache-2.0
#pragma once

// std::chrono's durations, clocks and literals, without its calendars, which take a program that includes Cardan three
// times as long to compile. A standard library that does not keep them apart gives all of <chrono>.
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>  // IWYU pragma: export
#else
#include <chrono>  // IWYU pragma: export
#endif

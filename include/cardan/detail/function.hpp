// SPDX-License-Identifier: Apache-2.0
#pragma once

// std::function without the rest of <functional> (searchers with their hash tables), for the same reason as
// duration.hpp.
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/std_function.h>)
#include <bits/std_function.h>  // IWYU pragma: export
#else
#include <functional>  // IWYU pragma: export
#endif

// SPDX-License-Identifier: Apache-2.0
// expect: deleted
#include "cardan/messages.hpp"

cardan::Image copy_of(const cardan::Image& image) { return image; }

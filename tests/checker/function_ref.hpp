// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace cardan::checker {

/// A callable that its caller keeps. Unlike std::function it owns nothing, so a fiber may hold one and never return.
template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(const F& f)  // NOLINT(google-explicit-constructor): a lambda is passed as it stands
      : object_(&f), call_([](const void* o, Arguments... a) -> Result { return (*static_cast<const F*>(o))(a...); }) {}
  Result operator()(Arguments... a) const { return call_(object_, a...); }

 private:
  const void* object_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace cardan::checker

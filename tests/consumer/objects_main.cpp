// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

// Loads shared objects that hold the library, built with different flags, into one process, with
// their symbols in one pool, and compares every bit of what they compute.

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

int main(int argc, char* argv[]) {
  using run_steps = void const* (*)(std::size_t*);
  void const* first = nullptr;
  std::size_t first_bytes = 0;
  int failures = argc < 3;
  for (int i = 1; i < argc; ++i) {
    void* const object = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (!object) return std::printf("%s\n", dlerror()), 1;
    auto const run = reinterpret_cast<run_steps>(dlsym(object, "run_steps"));
    if (!run) return std::printf("%s has no run_steps\n", argv[i]), 1;
    std::size_t n_bytes = 0;
    void const* const result = run(&n_bytes);
    if (!result) return std::printf("%s: a call was refused\n", argv[i]), 1;
    if (i == 1) first = result, first_bytes = n_bytes;
    bool const same = n_bytes == first_bytes && std::memcmp(result, first, n_bytes) == 0 &&
                      (i == 1 || result != first);
    std::printf("%s: %zu bytes, %s\n", argv[i], n_bytes, same ? "equal" : "DIFFERENT");
    failures += !same;
  }
  return failures != 0;
}

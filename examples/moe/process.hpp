// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Child processes (POSIX): a function with a peak of resident memory of its own, or a program.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace moe {

/// Most bytes of memory that this process held at once. A forked process starts with its parent's
/// pages, so the parent should be small.
inline std::int64_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return std::int64_t{usage.ru_maxrss} * 1024;
#endif
}

/// Returns f() from a child process; an Error thrown there is thrown here, with its text.
///
/// Call it before this process starts threads. The pipe carries a letter, then the result's bytes
/// ('r') or the error's text ('e' an Error, 'x' any other exception).
template <class Error, class F>
auto run_in_process(F const& f) {
  using result = decltype(f());
  static_assert(std::is_trivially_copyable_v<result>, "the result travels through a pipe as bytes");

  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    close(ends[0]);
    std::string message;
    try {
      result const r = f();
      message.assign(1 + sizeof r, 'r');
      std::memcpy(message.data() + 1, &r, sizeof r);
    } catch (Error const& error) {
      message = std::string("e") + error.what();
    } catch (std::exception const& error) {
      message = std::string("x") + error.what();
    }
    for (std::size_t sent = 0; sent < message.size();) {
      auto const n = write(ends[1], message.data() + sent, message.size() - sent);
      if (n <= 0) _exit(1);
      sent += static_cast<std::size_t>(n);
    }
    std::fflush(nullptr);
    _exit(0);  // the parent's atexit handlers and static objects are not this process's business
  }

  close(ends[1]);
  std::string message;
  std::array<char, 4096> piece;
  for (ssize_t n; (n = read(ends[0], piece.data(), piece.size())) > 0;) {
    message.append(piece.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int outcome = 0;
  waitpid(child, &outcome, 0);
  if (WIFSIGNALED(outcome)) {
    throw std::runtime_error("the process was ended by signal " +
                             std::to_string(WTERMSIG(outcome)));
  }
  if (message.starts_with('e')) throw Error(message.substr(1));
  if (message.starts_with('x')) throw std::runtime_error(message.substr(1));
  if (message.size() != 1 + sizeof(result)) throw std::runtime_error("the process gave no result");
  result r;
  std::memcpy(&r, message.data() + 1, sizeof r);
  return r;
}

/// Runs a program of the search path in a folder and waits for it.
/// @return its exit status; 127 when there is none, 128 and more when a signal ended it
inline int run_program(std::filesystem::path const& folder, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    if (chdir(folder.c_str()) == 0) execvp(argv[0], argv.data());
    _exit(127);
  }
  int outcome = 0;
  waitpid(child, &outcome, 0);
  return WIFSIGNALED(outcome) ? 128 + WTERMSIG(outcome) : WEXITSTATUS(outcome);
}

}  // namespace moe

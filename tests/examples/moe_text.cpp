// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The example's text and its child processes.

#include "moe/process.hpp"
#include "moe/text.hpp"
#include "support/catch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

/// A folder that is gone at the end of the test.
struct scratch_folder {
  fs::path path = fs::temp_directory_path() / ("tieropt-moe-text-" + std::to_string(getpid()));
  scratch_folder() { fs::create_directories(path); }
  scratch_folder(scratch_folder const&) = delete;
  ~scratch_folder() { fs::remove_all(path); }

  fs::path write(fs::path const& name, std::string_view text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

std::string numbered_text(int i) {
  std::string text;
  for (int line = 0; line < 40; ++line) {
    text += "document " + std::to_string(i) + ", line " + std::to_string(line * i) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the split does not depend on the order or the names of the files") {
  scratch_folder const folder;
  for (int i = 0; i < 60; ++i) {
    folder.write("a/" + std::to_string(i) + ".txt", numbered_text(i));
    folder.write("b/deep/er/" + std::to_string(100 - i) + ".md", numbered_text(i));
  }
  auto const a = moe::read_corpus({folder.path / "a"}, 100);
  auto const b = moe::read_corpus({folder.path / "b"}, 100);
  REQUIRE(a.n_documents == 60);
  REQUIRE(a.train == b.train);
  REQUIRE(a.validation == b.validation);
  REQUIRE(a.validation.size() < a.train.size());

  // Twice the same text: every document is on the same side as its copy.
  auto const both = moe::read_corpus({folder.path / "b", folder.path / "a"}, 100);
  REQUIRE(both.n_documents == 120);
  REQUIRE(both.train.size() == 2 * a.train.size());
  REQUIRE(both.validation.size() == 2 * a.validation.size());
}

TEST_CASE("hidden entries and links below a folder are not read") {
  scratch_folder const folder;
  folder.write("text/seen.txt", "seen");
  folder.write("text/.hidden.txt", "hidden");
  folder.write("text/.git/object", "hidden");
  auto const elsewhere = folder.write("elsewhere.txt", "linked");
  fs::create_symlink(elsewhere, folder.path / "text/link.txt");
  auto const sources = moe::list_sources({folder.path / "text"});
  REQUIRE(sources.size() == 1);
  REQUIRE(sources.front().name == "seen.txt");
}

TEST_CASE("long texts are cut behind line ends and nothing is lost") {
  std::string text;
  while (text.size() < 3 * moe::document_limit)
    text += numbered_text(static_cast<int>(text.size()));
  text += std::string(2 * moe::document_limit, 'x');  // a line that has to be cut
  std::string joined;
  int n = 0;
  moe::for_each_document(text, [&](std::string_view document) {
    REQUIRE(document.size() <= moe::document_limit);
    REQUIRE((document.back() == '\n' || document.back() == 'x'));
    joined += document;
    ++n;
  });
  REQUIRE(joined == text);
  REQUIRE(n >= 5);
}

TEST_CASE("input that cannot be used is refused") {
  scratch_folder const folder;
  auto const empty = folder.write("empty.txt", "");
  auto const little = folder.write("little.txt", "too little");
  fs::create_directories(folder.path / "nothing");
  for (auto const& path : {empty, little, folder.path / "nothing", folder.path / "absent.txt",
                           fs::path("/dev/null")}) {
    INFO(path.string());
    REQUIRE_THROWS_AS(moe::read_corpus({path}, 129), moe::input_error);
  }
}

TEST_CASE("targets are the bytes after the inputs and batches repeat with the seed") {
  moe::configuration c;
  c.context = 7;
  c.batch = 3;
  std::string text(200, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i);
  moe::batch_sampler one(c, text, 5), same(c, text, 5);
  for (int step = 0; step < 50; ++step) {
    auto const& batch = one.next();
    auto const& again = same.next();
    REQUIRE(batch.inputs == again.inputs);
    REQUIRE(batch.targets == again.targets);
    for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
      REQUIRE(batch.targets[i] == batch.inputs[i] + 1);  // bytes above 127 included
    }
  }
  auto const even = moe::even_batches(c, text, 4);
  REQUIRE(even.size() == 4);
  REQUIRE(even.front().inputs.front() == 0);
  REQUIRE(even.back().targets.back() == 199);
}

TEST_CASE("unigram perplexity is the effective number of bytes") {
  moe::token_batch const two{{}, {7, 9, 7, 9}}, one{{}, {7, 7, 7, 7}};
  REQUIRE(std::abs(moe::unigram_perplexity({two}) - 2) < 1e-12);
  REQUIRE(std::abs(moe::unigram_perplexity({one}) - 1) < 1e-12);
  // Frequencies 3/4 and 1/4: exp(-(3/4 log 3/4 + 1/4 log 1/4)) = 4 / 3^(3/4).
  REQUIRE(std::abs(moe::unigram_perplexity({two, one}) - 4 / std::pow(3.0, 0.75)) < 1e-12);
}

TEST_CASE("a child process hands back its result, its error or its end") {
  struct values {
    int a;
    double b;
  };
  int local = 0;
  auto const r = moe::run_in_process<moe::input_error>([&] {
    local = 1;  // in the child's memory only
    return values{3, 0.25};
  });
  REQUIRE(local == 0);
  REQUIRE(r.a == 3);
  REQUIRE(r.b == 0.25);

  auto const input = []() -> values { throw moe::input_error("no such text"); };
  REQUIRE_THROWS_AS(moe::run_in_process<moe::input_error>(input), moe::input_error);
  REQUIRE_THROWS_WITH(moe::run_in_process<moe::input_error>(input), "no such text");
  auto const other = []() -> values { throw std::runtime_error("other"); };
  REQUIRE_THROWS_WITH(moe::run_in_process<moe::input_error>(other), "other");
  auto const killed = []() -> values {
    std::raise(SIGKILL);
    return {};
  };
  REQUIRE_THROWS_WITH(moe::run_in_process<moe::input_error>(killed),
                      "the process was ended by signal 9");
}

TEST_CASE("a program that is run elsewhere tells how it ended") {
  scratch_folder const folder;
  folder.write("here.txt", "");
  REQUIRE(moe::run_program(folder.path, {"test", "-e", "here.txt"}) == 0);
  REQUIRE(moe::run_program(folder.path, {"test", "-e", "there.txt"}) == 1);
  REQUIRE(moe::run_program(folder.path, {"there is no such program"}) == 127);
  REQUIRE(moe::run_program(folder.path / "absent", {"true"}) == 127);
  REQUIRE(moe::run_program(folder.path, {"sh", "-c", "kill -9 $$"}) == 128 + SIGKILL);
}

// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Text for training and validation: bytes of files, split by document, cut into batches.
#pragma once

#include "moe/errors.hpp"
#include "moe/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moe {

/// Documents one after the other, a zero byte after each.
struct corpus {
  std::string train, validation;
  std::int64_t n_documents = 0;
};

inline constexpr std::int64_t corpus_limit = 8 << 20;     // bytes read at most
inline constexpr std::int64_t document_limit = 32 << 10;  // longer files are several documents
inline constexpr std::uint64_t validation_share = 10;     // one document in ten

/// FNV-1a, its bits spread by the finish of splitmix64.
inline std::uint64_t hash(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (char const c : bytes) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

/// A file to read, and what orders it.
struct source {
  std::uint64_t order;
  std::string name;  // relative to the folder that was given
  std::filesystem::path path;
};

/// Regular files of the inputs, folders searched, hidden entries and links below them left out.
///
/// They come in the order of the hash of their relative names: where the limit cuts, it cuts a
/// sample of the whole, and the same one wherever the folder lies.
inline std::vector<source> list_sources(std::vector<std::filesystem::path> const& inputs) {
  namespace fs = std::filesystem;
  std::vector<source> sources;
  auto const add = [&](fs::path const& path, std::string name) {
    sources.push_back({hash(name), std::move(name), path});
  };
  for (fs::path const& input : inputs) {
    try {
      auto const type = fs::status(input).type();
      if (type == fs::file_type::not_found)
        throw input_error(input.string() + ": no such file or folder");
      if (type == fs::file_type::regular) {
        add(input, input.filename().string());
        continue;
      }
      if (type != fs::file_type::directory) {
        throw input_error(input.string() + ": neither a regular file nor a folder");
      }
      for (fs::recursive_directory_iterator entry(input), end; entry != end; ++entry) {
        if (entry->path().filename().string().starts_with('.')) {
          entry.disable_recursion_pending();
        } else if (entry->symlink_status().type() == fs::file_type::regular) {
          add(entry->path(), entry->path().lexically_relative(input).generic_string());
        }
      }
    } catch (fs::filesystem_error const& error) {
      throw input_error(error.path1().string() + ": " + error.code().message());
    }
  }
  std::sort(sources.begin(), sources.end(), [](source const& a, source const& b) {
    return std::tie(a.order, a.name) < std::tie(b.order, b.name);
  });
  return sources;
}

/// At most `limit` bytes from the start of a file.
inline std::string read_file(std::filesystem::path const& path, std::int64_t limit) {
  std::error_code failed;
  auto const size = std::filesystem::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(std::min<std::uintmax_t>(
                       failed ? 0 : size, static_cast<std::uintmax_t>(limit))),
                   '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (failed || !file) throw input_error(path.string() + ": cannot be read");
  return text;
}

/// Cuts a text into documents of at most document_limit bytes, behind a line end where there is
/// one.
template <class F>
void for_each_document(std::string_view text, F const& f) {
  while (!text.empty()) {
    auto length = std::min(text.size(), static_cast<std::size_t>(document_limit));
    if (length < text.size()) {
      auto const line_end = text.substr(0, length).rfind('\n');
      length = line_end == std::string_view::npos ? length : line_end + 1;
    }
    f(text.substr(0, length));
    text.remove_prefix(length);
  }
}

/// Reads and splits. A document's side depends on nothing but its content, and so does its place:
/// equal documents are on the same side, and the order of files does not matter.
inline corpus read_corpus(std::vector<std::filesystem::path> const& inputs, std::int64_t window) {
  std::vector<std::pair<std::uint64_t, std::string>> documents;
  std::int64_t room = corpus_limit;
  for (source const& one : list_sources(inputs)) {
    if (room == 0) break;
    std::string const text = read_file(one.path, room);
    room -= static_cast<std::int64_t>(text.size());
    for_each_document(
        text, [&](std::string_view document) { documents.emplace_back(hash(document), document); });
  }
  if (documents.empty()) throw input_error("the input holds no text");

  std::sort(documents.begin(), documents.end());
  corpus c;
  for (auto const& [key, document] : documents) {
    std::string& side = key % validation_share == 0 ? c.validation : c.train;
    side.append(document).push_back('\0');
    ++c.n_documents;
  }
  auto const shortest = static_cast<std::int64_t>(std::min(c.train.size(), c.validation.size()));
  if (shortest < window) {
    throw input_error("too little text: " + std::to_string(c.n_documents) + " document(s) leave " +
                      std::to_string(c.train.size()) + " bytes to train on and " +
                      std::to_string(c.validation.size()) + " to validate on, both need " +
                      std::to_string(window) + "; give more or longer files");
  }
  return c;
}

/// Copies the window that starts at `first` into sequence `s` of a batch.
inline void fill_sequence(configuration const& c, token_batch& batch, int s, std::string_view text,
                          std::size_t first) {
  for (int t = 0; t < c.context; ++t) {
    auto const from = first + static_cast<std::size_t>(t);
    auto const to = static_cast<std::size_t>(s * c.context + t);
    batch.inputs[to] = static_cast<unsigned char>(text[from]);
    batch.targets[to] = static_cast<unsigned char>(text[from + 1]);
  }
}

inline token_batch empty_batch(configuration const& c) {
  auto const n = static_cast<std::size_t>(c.tokens());
  return {std::vector<int>(n), std::vector<int>(n)};
}

/// Windows at random places; the sequence of batches is a function of the seed alone.
class batch_sampler {
 public:
  batch_sampler(configuration const& c, std::string_view text, std::uint64_t seed)
      : c_{c}, text_{text}, bits_{seed}, batch_{empty_batch(c)} {}

  token_batch const& next() {
    auto const places = text_.size() - static_cast<std::size_t>(c_.context);
    for (int s = 0; s < c_.batch; ++s) {
      fill_sequence(c_, batch_, s, text_, bits_() % places);
    }
    return batch_;
  }

 private:
  configuration c_;
  std::string_view text_;
  std::mt19937_64 bits_;
  token_batch batch_;
};

/// n batches of windows spread evenly over a text.
inline std::vector<token_batch> even_batches(configuration const& c, std::string_view text, int n) {
  std::vector<token_batch> batches(static_cast<std::size_t>(n), empty_batch(c));
  auto const last =
      text.size() - static_cast<std::size_t>(c.context) - 1;  // the last window's start
  auto const windows = static_cast<std::size_t>(n * c.batch);
  for (std::size_t i = 0; i < windows; ++i) {
    fill_sequence(c, batches[i / static_cast<std::size_t>(c.batch)],
                  static_cast<int>(i % static_cast<std::size_t>(c.batch)), text,
                  last * i / std::max<std::size_t>(windows - 1, 1));
  }
  return batches;
}

/// Perplexity of the targets under their own byte frequencies, exp(entropy): no model that ignores
/// the context can do better on them.
inline double unigram_perplexity(std::vector<token_batch> const& batches) {
  std::array<double, 256> count{};
  double n = 0;
  for (token_batch const& batch : batches) {
    for (int const target : batch.targets) {
      count[static_cast<std::size_t>(target)] += 1;
      n += 1;
    }
  }
  double entropy = 0;
  for (double const k : count) {
    entropy -= k == 0 ? 0 : k / n * std::log(k / n);
  }
  return std::exp(entropy);
}

}  // namespace moe

// SPDX-FileCopyrightText: 2026 The tieropt authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Charts of the CSV files, drawn by gnuplot.
#pragma once

#include "moe/errors.hpp"
#include "moe/job.hpp"
#include "moe/process.hpp"
#include "moe/report.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moe {

inline std::string chart_head(std::string_view size) {
  return "# Run by gnuplot in this folder.\n"
         "set terminal pngcairo noenhanced font 'sans,11' size " +
         std::string(size) +
         "\n"
         "set output 'chart.png'\n"
         "set datafile separator ','\n"
         "set grid\n";
}

inline std::string axis_of(task_words const& words) {
  return "set ylabel '" + std::string(words.metric) + "'\n" +
         (words.higher_is_better ? "set key bottom right\n" : "set logscale y 2\n");
}

/// The metric against the steps, and bars of state.
inline std::string comparison_chart(task_words const& words, double baseline,
                                    std::vector<std::string> const& names) {
  std::string script = chart_head("1400,560") +
                       "set multiplot layout 1,2\n"
                       "set title 'held-out data'\n"
                       "set xlabel 'step'\n" +
                       axis_of(words) + "plot ";
  for (std::string const& name : names) {
    script +=
        "'" + name + ".csv' skip 1 using 1:4 with linespoints title '" + name + "', \\\n     ";
  }
  script += format("%.17g", baseline) +
            " with lines dashtype 2 linecolor 'gray' title 'baseline'\n"
            "unset logscale\n"
            "set title 'optimizer state'\n"
            "unset xlabel\n"
            "set ylabel 'MiB'\n"
            "set key top right\n"
            "set style data histograms\n"
            "set style histogram rowstacked\n"
            "set style fill solid border -1\n"
            "set boxwidth 0.7\n"
            "set xtics rotate by -30\n"
            "set yrange [0:*]\n"
            "plot ";
  char const* const populations[] = {"backbone", "experts", "router"};
  for (int i = 0; i < 3; ++i) {
    script += format("%s'results.csv' skip 1 using ($%d/1048576)%s title '%s'",
                     i == 0 ? "" : ", \\\n     ", 7 + i, i == 0 ? ":xtic(1)" : "", populations[i]);
  }
  return script + "\nunset multiplot\n";
}

/// Means of a sweep against the learning rate, with the least and the most of the seeds.
inline std::string sweep_chart(task_words const& words, std::vector<std::string> const& names,
                               std::span<schedule const> schedules) {
  std::string script = chart_head("1200,600") +
                       "set title 'held-out data: mean, least and most of the seeds'\n" +
                       "set xlabel 'learning rate'\n"
                       "set logscale x\n" +
                       axis_of(words) +
                       "set key outside right\n"
                       "set datafile missing NaN\n"  // a line goes on behind another one's points
                       "plot ";
  bool first = true;
  for (std::string const& name : names) {
    for (schedule const s : schedules) {
      std::string const plan(name_of(s));
      script += std::string(first ? "" : ", \\\n     ") +
                "'sweep.csv' skip 1 using (strcol(1) eq '" + name + "' && strcol(4) eq '" + plan +
                "' ? $2 : NaN):7:9:10 with yerrorlines title '" + name + ", " + plan + "'";
      first = false;
    }
  }
  return script + "\n";
}

/// Writes the script to a folder, runs it there, and says on a line what came of it.
inline void draw(std::filesystem::path const& out, std::string const& script) {
  auto const path = out / "chart.gp";
  std::ofstream file(path);
  file << script;
  file.close();
  if (!file) throw input_error(path.string() + ": cannot be written");
  std::filesystem::remove(out / "chart.png");
  int const status = run_program(out, {"gnuplot", "chart.gp"});
  if (status == 0) {
    std::printf("chart: %s\n", (out / "chart.png").string().c_str());
  } else if (status == 127) {
    std::printf("chart: left out, there is no gnuplot (Debian's gnuplot-nox); its script: %s\n",
                path.string().c_str());
  } else {
    std::printf("chart: left out, gnuplot failed on %s\n", path.string().c_str());
  }
}

}  // namespace moe

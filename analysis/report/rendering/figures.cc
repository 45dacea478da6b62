// Figures through gnuplot, which knows axes and labels; nothing is drawn by hand. Points beyond a few thousand are
// thinned evenly, because an SVG holds each one.
#include "analysis/report/rendering/figures.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "analysis/statistics/distributions/distributions.h"
#include "base/number_text.h"
#include "base/unique_fd.h"

namespace stab::report {
namespace {

constexpr size_t kMostPoints = 4000;

// Inside double quotes of gnuplot, labels set with noenhanced.
std::string gnuplot_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string file_name(const std::string& kind, const std::string& workload) {
  std::string out = kind + "-";
  for (char c : workload) out += std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ? c : '_';
  return out + ".svg";
}

std::string line(double x, double y) {
  return number_text(x) + " " + number_text(y) + "\n";
}

std::string preamble(const std::string& title, const std::string& x, const std::string& y) {
  return "set terminal svg noenhanced size 800,500 font 'sans,12'\nset title " + gnuplot_string(title) + "\nset xlabel " +
         gnuplot_string(x) + "\nset ylabel " + gnuplot_string(y) + "\nset grid\nset key outside right top\n";
}

std::string cell_name(const Samples& design, const CellUnits& cell) {
  std::string name;
  for (size_t f = 0; f < design.factors.size(); ++f)
    if (design.factors[f].levels.size() > 1) name += (name.empty() ? "" : " ") + design.factors[f].levels[cell.levels[f]];
  return name.empty() ? "all" : name;
}

std::string response_label(const Samples& design) {
  const Response& response = design.responses[0];
  return response.name + (response.unit.empty() ? "" : " (" + response.unit + ")");
}

size_t stride(size_t points) { return std::max<size_t>(1, (points + kMostPoints - 1) / kMostPoints); }

std::string strip(const Samples& design, const std::string& name, const WorkloadUnits& workload) {
  std::string script = preamble(name + ": every unit", "", response_label(design));
  std::string tics, data;
  size_t total = 0, at = 0;
  for (const CellUnits& cell : workload.cells) total += cell.raw.size();
  for (size_t c = 0; c < workload.cells.size(); ++c) {
    const CellUnits& cell = workload.cells[c];
    tics += (c ? ", " : "") + gnuplot_string(cell_name(design, cell)) + " " + std::to_string(c);
    for (size_t i = 0; i < cell.raw.size(); ++i) {
      if (at++ % stride(total) != 0) continue;
      // Golden-ratio jitter: even, and the same every time.
      const double jitter = std::fmod(static_cast<double>(i) * 0.6180339887, 1.0) - 0.5;
      data += line(static_cast<double>(c) + 0.5 * jitter, cell.raw[i]);
    }
  }
  return script + "set xtics rotate by -30 (" + tics + ")\nset xrange [-0.6:" +
         std::to_string(workload.cells.size() - 1) + ".6]\n$points << EOD\n" + data +
         "EOD\nplot $points with points pt 7 ps 0.3 notitle\n";
}

// Residuals over their cell's sd, in the order of the run.
std::vector<double> residuals_in_order(const WorkloadUnits& workload) {
  std::vector<std::pair<uint32_t, double>> rows;
  for (const CellUnits& cell : workload.cells) {
    if (cell.moments.n < 2 || cell.moments.m2 <= 0) continue;
    for (size_t i = 0; i < cell.values.size(); ++i)
      rows.emplace_back(cell.orders[i], (cell.values[i] - cell.moments.mean) / cell.moments.sd());
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> residuals;
  for (const auto& [order, residual] : rows) residuals.push_back(residual);
  return residuals;
}

std::string qq(const std::string& name, std::vector<double> residuals) {
  std::sort(residuals.begin(), residuals.end());
  std::string data;
  const auto n = static_cast<double>(residuals.size());
  for (size_t i = 0; i < residuals.size(); i += stride(residuals.size()))
    data += line(statistics::normal_quantile((static_cast<double>(i) + 0.5) / n), residuals[i]);
  return preamble(name + ": residuals against the normal distribution", "normal quantile", "standardized residual") +
         "$points << EOD\n" + data + "EOD\nplot $points with points pt 7 ps 0.4 notitle, x with lines dt 2 notitle\n";
}

std::string sequence(const std::string& name, const std::vector<double>& residuals) {
  std::string data;
  for (size_t i = 0; i < residuals.size(); i += stride(residuals.size())) data += line(static_cast<double>(i + 1), residuals[i]);
  return preamble(name + ": residuals in the order of the run", "position in the run", "standardized residual") +
         "$points << EOD\n" + data + "EOD\nplot $points with points pt 7 ps 0.4 notitle, 0 with lines dt 2 notitle\n";
}

// Means over the other factors; empty where fewer than two factors vary.
std::string interaction(const Samples& design, const std::string& name, const WorkloadUnits& workload) {
  std::vector<size_t> varying;
  for (size_t f = 0; f < design.factors.size(); ++f)
    if (design.factors[f].levels.size() > 1) varying.push_back(f);
  if (varying.size() < 2) return {};
  const Factor& along = design.factors[varying[0]];
  const Factor& lines = design.factors[varying[1]];
  const bool log_scale = design.responses[0].scale == Scale::kLog;
  std::string blocks, plots, tics;
  for (size_t x = 0; x < along.levels.size(); ++x)
    tics += (x ? ", " : "") + gnuplot_string(along.levels[x]) + " " + std::to_string(x);
  for (size_t l = 0; l < lines.levels.size(); ++l) {
    blocks += "$line" + std::to_string(l) + " << EOD\n";
    for (size_t x = 0; x < along.levels.size(); ++x) {
      double sum = 0, cells = 0;
      for (const CellUnits& cell : workload.cells) {
        if (cell.levels[varying[0]] != x || cell.levels[varying[1]] != l) continue;
        sum += cell.moments.mean;
        cells += 1;
      }
      if (cells > 0) blocks += line(static_cast<double>(x), log_scale ? std::exp(sum / cells) : sum / cells);
    }
    blocks += "EOD\n";
    plots += (l ? ", " : "") + std::string("$line") + std::to_string(l) + " with linespoints pt 7 title " +
             gnuplot_string(lines.name + " " + lines.levels[l]);
  }
  return preamble(name + ": " + along.name + " by " + lines.name, along.name, response_label(design)) + "set xtics (" +
         tics + ")\nset xrange [-0.2:" + std::to_string(along.levels.size() - 1) + ".2]\n" + blocks + "plot " + plots + "\n";
}

// Its standard output is a new file.
Status run_gnuplot(const std::string& script_path, const std::string& output_path) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const char* const arguments[] = {"gnuplot", script_path.c_str(), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, "gnuplot", &actions, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT)
    return Error{ErrorCode::kUnavailable, "figures need gnuplot, which is not installed; apt install gnuplot-nox", {}};
  if (failed != 0) return system_error("run gnuplot", failed);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return system_error("wait for gnuplot", errno);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::kSystem, "gnuplot failed on '" + script_path + "', which is kept", {}};
  return {};
}

// Whole or not at all. Where gnuplot fails its script stays, to see why.
Status draw_one(const Figure& figure, const std::string& folder) {
  const std::string path = folder + "/" + figure.file, script_path = path + ".gnuplot", drawn_path = path + ".new";
  std::FILE* script = std::fopen(script_path.c_str(), "we");
  if (!script) return system_error("write '" + script_path + "'", errno);
  const bool written = std::fwrite(figure.script.data(), 1, figure.script.size(), script) == figure.script.size();
  Status done = std::fclose(script) != 0 || !written ? system_error("write '" + script_path + "'", errno)
                                                     : run_gnuplot(script_path, drawn_path);
  if (done && ::rename(drawn_path.c_str(), path.c_str()) != 0) done = system_error("write '" + path + "'", errno);
  if (!done) ::unlink(drawn_path.c_str());
  if (done || done.error().code == ErrorCode::kUnavailable) ::unlink(script_path.c_str());
  return done;
}

}  // namespace

std::vector<Figure> figures_of(const Samples& design, const std::vector<WorkloadUnits>& workloads) {
  std::vector<Figure> figures;
  for (size_t w = 0; w < workloads.size(); ++w) {
    const std::string& name = design.workloads[w];
    if (workloads[w].cells.empty()) continue;
    figures.push_back({file_name("strip", name), strip(design, name, workloads[w])});
    const std::vector<double> residuals = residuals_in_order(workloads[w]);
    if (residuals.size() > 2) {
      figures.push_back({file_name("qq", name), qq(name, residuals)});
      figures.push_back({file_name("sequence", name), sequence(name, residuals)});
    }
    const std::string means = interaction(design, name, workloads[w]);
    if (!means.empty()) figures.push_back({file_name("interaction", name), means});
  }
  return figures;
}

Status draw(const std::vector<Figure>& figures, const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return system_error("make the folder '" + folder + "'", errno);
  for (const Figure& figure : figures) STAB_CHECK_OK(draw_one(figure, folder));
  return {};
}

}  // namespace stab::report

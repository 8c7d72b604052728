#include "options.h"

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace mini_sim {
namespace {

[[noreturn]] void refuse(const std::string& option, const char* what) {
  throw std::invalid_argument(option + " needs " + what);
}

int64_t count(const std::string& option, const char* text, int64_t least, int64_t most) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < least || value > most) refuse(option, "a number");
  return value;
}

int number(const std::string& option, const char* text) { return static_cast<int>(count(option, text, 1, 1'000'000)); }

// "64M": units of 1024.
int64_t bytes(const std::string& option, const char* text) {
  const std::string digits = text, units = "KMGT";
  const size_t unit = digits.empty() ? std::string::npos : units.find(digits.back());
  if (unit == std::string::npos) return count(option, text, 1, int64_t(1) << 40);
  const int shift = 10 * (static_cast<int>(unit) + 1);
  return count(option, digits.substr(0, digits.size() - 1).c_str(), 1, int64_t(1) << (40 - shift)) << shift;
}

double seconds(const std::string& option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value) || value <= 0) refuse(option, "seconds");
  return value;
}

void check(const Options& options) {
  if (options.work_seconds > 0 && options.work_units > 0)
    throw std::invalid_argument("--work and --work-units exclude each other");
  if (!options.restart.empty() && options.checkpoint.single_precision)
    throw std::invalid_argument("single precision is not enough to resume from");
}

}  // namespace

const char* const kUsage =
    "Usage: mpiexec -n RANKS forebay-mini-sim [OPTION...]\n"
    "A 3-D gas with tracer particles. Each rank writes one HDF5 file per checkpoint: DIR/dump_NNNN/rankRRRR.h5\n"
    "\n"
    "  --out DIR          where the checkpoints go (default: .)\n"
    "  --cells N          cells per side of the cube (default: 32)\n"
    "  --steps N          time steps in all (default: 60)\n"
    "  --every N          steps between checkpoints (default: 20)\n"
    "  --sedov            Sedov's point explosion, instead of a blast wave in an uneven gas\n"
    "  --stirred          a periodic box of gas in motion everywhere\n"
    "  --particles N      tracer particles in the whole cube (default: 1000)\n"
    "  --restart DIR      resume from the checkpoint in this directory, DIR/rankRRRR.h5\n"
    "\n"
    "Under Forebay ($FOREBAY_STAGE), checkpoints go to the stage, and the newest one is resumed from:\n"
    "  --durable          go on only when a checkpoint is in the store\n"
    "\n"
    "How checkpoints are written:\n"
    "  --ghosts           with the ghost zones\n"
    "  --float            in single precision, from which no run can resume\n"
    "  --ballast SIZE     so many bytes more in each rank's file: 200M\n"
    "\n"
    "To measure what disturbs the computation:\n"
    "  --work SECONDS     keep each core busy for so long between two checkpoints, with a fixed amount of work\n"
    "  --work-units N     the same, with the amount that an earlier run with --work has printed\n"
    "  --intervals FILE   write a table rank,interval,seconds: how long the work between two checkpoints took, or the\n"
    "                     time steps if there is none\n";

Options parse(int argc, char** argv) {
  Options options;
  using Flag = std::function<void()>;
  using Setter = std::function<void(const std::string& option, const char* value)>;
  const std::map<std::string, Flag> flags{
      {"--help", [&] { options.help = true; }},
      {"--sedov", [&] { options.problem = Problem::sedov; }},
      {"--stirred", [&] { options.problem = Problem::stirred; }},
      {"--durable", [&] { options.durable = true; }},
      {"--ghosts", [&] { options.checkpoint.ghosts = true; }},
      {"--float", [&] { options.checkpoint.single_precision = true; }},
  };
  const std::map<std::string, Setter> setters{
      {"--out", [&](auto&, auto* value) { options.out = value; }},
      {"--restart", [&](auto&, auto* value) { options.restart = value; }},
      {"--intervals", [&](auto&, auto* value) { options.intervals = value; }},
      {"--cells", [&](auto& option, auto* value) { options.cells = number(option, value); }},
      {"--steps", [&](auto& option, auto* value) { options.steps = number(option, value); }},
      {"--every", [&](auto& option, auto* value) { options.every = number(option, value); }},
      {"--particles",
       [&](auto& option, auto* value) { options.checkpoint.particles = count(option, value, 0, 100'000'000); }},
      {"--ballast", [&](auto& option, auto* value) { options.checkpoint.ballast = (bytes(option, value) + 7) / 8; }},
      {"--work", [&](auto& option, auto* value) { options.work_seconds = seconds(option, value); }},
      {"--work-units",
       [&](auto& option, auto* value) { options.work_units = count(option, value, 1, 1'000'000'000'000); }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (const auto flag = flags.find(option); flag != flags.end())
      flag->second();
    else if (const auto setter = setters.find(option); setter != setters.end() && i + 1 < argc)
      setter->second(option, argv[++i]);
    else
      throw std::invalid_argument("unknown or incomplete option " + option);
  }
  check(options);
  return options;
}

}  // namespace mini_sim

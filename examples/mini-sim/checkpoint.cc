#include "checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "ballast.h"
#include "hdf5_file.h"

namespace mini_sim {
namespace {

constexpr const char* kNames[kFields] = {"Density",     "MomentumX",     "MomentumY",     "MomentumZ",
                                         "TotalEnergy", "EjectaDensity", "AmbientDensity"};
constexpr const char* kPositions[3] = {"PositionX", "PositionY", "PositionZ"};
constexpr const char* kVelocities[3] = {"VelocityX", "VelocityY", "VelocityZ"};

std::string numbered(const char* format, int number) {
  char name[32];
  std::snprintf(name, sizeof name, format, number);
  return name;
}

struct Parameter {
  const char* name;
  int64_t value;
};

// What a run shares with those that resume from its checkpoints.
std::vector<Parameter> parameters(const Block& block, const CheckpointOptions& options) {
  return {{"Ranks", block.ranks()},
          {"Rank", block.rank()},
          {"CellsPerSide", block.global_cells()},
          {"Periodic", block.periodic()},
          {"Particles", options.particles},
          {"Ballast", options.ballast},
          {"SinglePrecision", options.single_precision}};
}

std::vector<int64_t> list(const Triple& values) { return {values.begin(), values.end()}; }

Dims shape(const Block& block, int64_t ghosts) {
  const Triple& cells = block.cells();
  return {hsize_t(cells[2] + 2 * ghosts), hsize_t(cells[1] + 2 * ghosts), hsize_t(cells[0] + 2 * ghosts)};
}

std::vector<double> column(const Particles& particles, std::array<double, 3> Particle::* vector, int axis) {
  std::vector<double> values(particles.size());
  std::ranges::transform(particles, values.begin(), [&](const Particle& one) { return (one.*vector)[axis]; });
  return values;
}

void write_particles(OutputFile& file, hid_t parent, const Particles& particles) {
  const Handle group = file.group(parent, "Particles");
  const Dims dims{particles.size()};
  std::vector<int64_t> ids(particles.size());
  std::ranges::transform(particles, ids.begin(), &Particle::id);
  file.attribute(group, "Count", std::vector<int64_t>{int64_t(particles.size())});
  file.array(group, "Id", dims, ids);
  for (int axis = 0; axis < 3; ++axis) {
    file.array(group, kPositions[axis], dims, column(particles, &Particle::position, axis));
    file.array(group, kVelocities[axis], dims, column(particles, &Particle::velocity, axis));
  }
}

Particles read_particles(InputFile& file, hid_t parent, int64_t most) {
  const Handle group = file.group(parent, "Particles");
  std::vector<int64_t> count(1);
  file.attribute(group, "Count", count);
  if (count[0] < 0 || count[0] > most) throw std::runtime_error("it has more particles than there are");
  const size_t size = static_cast<size_t>(count[0]);
  Particles particles(size);
  std::vector<int64_t> ids(size);
  std::vector<double> values(size);
  file.array(group, "Id", {size}, ids);
  for (size_t i = 0; i < size; ++i) particles[i].id = ids[i];
  for (int axis = 0; axis < 3; ++axis) {
    file.array(group, kPositions[axis], {size}, values);
    for (size_t i = 0; i < size; ++i) particles[i].position[axis] = values[i];
    file.array(group, kVelocities[axis], {size}, values);
    for (size_t i = 0; i < size; ++i) particles[i].velocity[axis] = values[i];
  }
  return particles;
}

// Calls action(name, number, size) for each dataset of the ballast.
template <class Action>
void for_each_part(int64_t ballast, Action action) {
  for (int part = 0; part * kBallastPart < ballast; ++part)
    action(numbered("Part%04d", part), part, std::min(kBallastPart, ballast - part * kBallastPart));
}

void write_ballast(OutputFile& file, hid_t parent, int rank, int dump, int64_t ballast) {
  const Handle group = file.group(parent, "Ballast");
  for_each_part(ballast, [&](const std::string& name, int part, int64_t size) {
    file.array(group, name.c_str(), {hsize_t(size)}, make_ballast(rank, dump, part, size));
  });
}

// Only for the checksum: nothing depends on these values.
void read_ballast(InputFile& file, hid_t parent, int64_t ballast) {
  const Handle group = file.group(parent, "Ballast");
  for_each_part(ballast, [&](const std::string& name, int, int64_t size) {
    std::vector<double> values(static_cast<size_t>(size));
    file.array(group, name.c_str(), {hsize_t(size)}, values);
  });
}

void read_parameters(InputFile& file, const Block& block, const CheckpointOptions& options) {
  for (const Parameter& parameter : parameters(block, options)) {
    std::vector<int64_t> found(1);
    file.attribute(file.root(), parameter.name, found);
    if (found[0] != parameter.value)
      throw std::runtime_error(std::string(parameter.name) + " is " + std::to_string(found[0]) +
                               " in the checkpoint, but " + std::to_string(parameter.value) + " in this run");
  }
}

Moment read_moment(InputFile& file) {
  std::vector<int64_t> step(1), dump(1);
  std::vector<double> time(1);
  file.attribute(file.root(), "Step", step);
  file.attribute(file.root(), "Dump", dump);
  file.attribute(file.root(), "Time", time);
  return {static_cast<int>(step[0]), time[0], static_cast<int>(dump[0])};
}

void read_block(InputFile& file, hid_t group, Block& block) {
  std::vector<int64_t> first(3), cells(3), ghosts(1);
  file.attribute(group, "FirstCell", first);
  file.attribute(group, "Cells", cells);
  file.attribute(group, "GhostZones", ghosts);
  if (first != list(block.first()) || cells != list(block.cells()) || (ghosts[0] != 0 && ghosts[0] != kGhosts))
    throw std::runtime_error("it has another block of the cube");
  const Dims dims = shape(block, ghosts[0]);
  std::vector<double> values(dims[0] * dims[1] * dims[2]);
  for (int f = 0; f < kFields; ++f) {
    file.array(group, kNames[f], dims, values);
    block.set_field(f, static_cast<int>(ghosts[0]), values);
  }
}

}  // namespace

std::string set_name(int dump) { return numbered("dump_%04d", dump); }
std::string file_name(int rank) { return numbered("rank%04d.h5", rank); }

void write_checkpoint(const std::filesystem::path& path, const Block& block, const Particles& particles,
                      const Moment& moment, const CheckpointOptions& options) {
  OutputFile file(path.string());
  const int ghosts = options.ghosts ? kGhosts : 0;
  for (const Parameter& parameter : parameters(block, options))
    file.attribute(file.root(), parameter.name, std::vector<int64_t>{parameter.value});
  file.attribute(file.root(), "Step", std::vector<int64_t>{moment.step});
  file.attribute(file.root(), "Dump", std::vector<int64_t>{moment.dump});
  file.attribute(file.root(), "Time", std::vector<double>{moment.time});
  {
    const Handle group = file.group(file.root(), numbered("/Block%08d", block.rank()).c_str());
    file.attribute(group, "FirstCell", list(block.first()));
    file.attribute(group, "Cells", list(block.cells()));
    file.attribute(group, "GhostZones", std::vector<int64_t>{ghosts});
    for (int f = 0; f < kFields; ++f)
      file.array(group, kNames[f], shape(block, ghosts), block.field(f, ghosts), options.single_precision);
    if (options.particles > 0) write_particles(file, group, particles);
    if (options.ballast > 0) write_ballast(file, group, block.rank(), moment.dump, options.ballast);
  }
  file.close();
}

Moment read_checkpoint(const std::filesystem::path& path, Block& block, Particles& particles,
                       const CheckpointOptions& options) {
  try {
    InputFile file(path.string());
    read_parameters(file, block, options);
    const Moment moment = read_moment(file);
    const Handle group = file.group(file.root(), numbered("/Block%08d", block.rank()).c_str());
    read_block(file, group, block);
    particles.clear();
    if (options.particles > 0) particles = read_particles(file, group, options.particles);
    if (options.ballast > 0) read_ballast(file, group, options.ballast);
    file.check();
    return moment;
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("cannot resume from " + path.string() + ": " + error.what());
  }
}

}  // namespace mini_sim

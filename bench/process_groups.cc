// Lists of process groups, without ranks and without data; and what it costs to take values from a program.
//
//   forebay-process-groups tree RANKS VARIABLES
//       the list of one step, merged on the way up a binary tree: time, bytes, memory
//   forebay-process-groups steps STEPS VARIABLES RANKS FILE
//       a file that grows step by step: the time of appends, of opening it, of finding one block
//   forebay-process-groups copy MEGABYTES
//       values copied, with checksums and characteristics or without, beside memcpy()
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "base/checksum.h"
#include "io/file/file_reader.h"
#include "io/file/growing_file.h"
#include "io/file/part.h"
#include "io/session/copy.h"

using namespace forebay;
using namespace forebay::io;

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class T, class E>
T value(std::expected<T, E> result) {
  if (result) return *std::move(result);
  if constexpr (requires { result.error().error; }) {
    std::fprintf(stderr, "%s\n", result.error().error.message().c_str());
  } else {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
  }
  std::exit(1);
}

void check(Result<void> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    std::exit(1);
  }
}

long peak_mib() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// What ranks of a simulation write: blocks of three-dimensional arrays of a regular decomposition, lists of particles
// whose lengths differ, and scalars.
struct Simulation {
  uint32_t ranks = 0, variables = 0;
  std::vector<double> values = std::vector<double>(64, 0.5);

  // Shape, global shape and offsets of the arrays, then the shape of the lists.
  std::vector<Shape> places(uint32_t rank) const {
    const uint32_t across = 50;
    const uint64_t x = rank % across, y = rank / across % across, z = rank / across / across;
    return {{4, 4, 4},
            {4 * (ranks / across / across + 1), 4 * across, 4 * across},
            {4 * z, 4 * y, 4 * x},
            {10 + rank * 7919 % 23}};
  }

  ProcessGroup group(uint32_t rank, uint64_t step) const {
    const std::vector<Shape> at = places(rank);
    ProcessGroup group;
    group.group = "simulation";
    group.time_index_name = "step";
    group.rank = rank;
    group.step = step;
    group.time_index = static_cast<uint32_t>(step + 1);
    for (uint32_t v = 0; v < variables; ++v) {
      io::Block block;
      block.name = "variable/" + std::to_string(v);
      block.type = ValueType::float64;
      block.is_array = v % 10 != 9;
      if (v % 10 < 7) {
        block.shape = at[0];
        block.global_shape = at[1];
        block.offsets = at[2];
      } else if (v % 10 < 9) {
        block.shape = at[3];
      }
      block.bytes = std::as_bytes(std::span(values)).first(8 * element_count(block.shape));
      block.characteristics = {.count = element_count(block.shape),
                               .min = 0.001 * rank - v,
                               .max = 0.002 * rank + v,
                               .sum = 0.3 * rank,
                               .sum_of_squares = 0.7 * v};
      group.blocks.push_back(std::move(block));
    }
    return group;
  }
};

// The listing of another rank, without encoding its values once more.
Listing as_of(Listing listing, const Simulation& simulation, uint32_t rank) {
  ListedPart& part = listing.parts[0];
  part.rank = rank;
  part.offset = 4096 + uint64_t{rank} * (part.bytes + 1000);
  part.index_bytes += rank * 31 % 40;
  part.index_hash = hash64(std::as_bytes(std::span(&rank, 1)));
  std::vector<uint64_t> places;
  for (const Shape& shape : simulation.places(rank)) places.insert(places.end(), shape.begin(), shape.end());
  listing.places = std::move(places);
  for (StepCharacteristics& row : listing.characteristics) row.values.max += 0.001 * rank;
  return listing;
}

// As ranks do it: each node takes in what its children send, encoded.
Listing climb(const Listing& leaf, const Simulation& simulation, uint32_t first, uint32_t count, double& own_seconds) {
  if (count == 1) return as_of(leaf, simulation, first);
  const uint32_t half = count / 2;
  double ignored = 0;
  Listing left = climb(leaf, simulation, first, half, own_seconds);
  const Bytes message = value(encode(climb(leaf, simulation, first + half, count - half, ignored)));
  const double begin = seconds();
  left.merge(value(decode_listing(message, uint64_t{1} << 30)));
  own_seconds += seconds() - begin;
  return left;
}

int tree(uint32_t ranks, uint32_t variables) {
  const Simulation simulation{ranks, variables};
  const ProcessGroup group = simulation.group(1, 0);
  const double begin_part = seconds();
  const EncodedPart part = value(EncodedPart::make(group, {.container_id = 1}));
  uint64_t bytes_of_values = 0;
  for (const io::Block& block : group.blocks) bytes_of_values += block.bytes.size();
  std::printf("one process group of %u variables: %.0f us, %llu bytes and %llu around them\n", variables,
              1e6 * (seconds() - begin_part), static_cast<unsigned long long>(bytes_of_values),
              static_cast<unsigned long long>(part.bytes() - bytes_of_values));
  const double begin = seconds();
  double own = 0;
  const Listing all = climb(part.listing(), simulation, 0, ranks, own);
  const double merged = seconds();
  const Bytes bytes = value(encode(all));
  const double encoded = seconds();
  const Listing again = value(decode_listing(bytes, uint64_t{1} << 30));
  std::printf(
      "%u process groups x %u variables: merged by all ranks in turn %.2f s, of which the first %.3f s;\n"
      "encoded %.3f s, decoded %.3f s, %.2f MB, %.0f MB in memory, peak %ld MiB, %zu patterns\n",
      ranks, variables, merged - begin, own, encoded - merged, seconds() - encoded,
      1e-6 * static_cast<double>(bytes.size()), 1e-6 * static_cast<double>(again.memory_bytes()), peak_mib(),
      again.patterns.size());
  return 0;
}

int steps(uint64_t count, uint32_t variables, uint32_t ranks, const std::string& path) {
  const Simulation simulation{ranks, variables};
  std::vector<double> times;
  for (uint64_t step = 0; step < count; ++step) {
    std::vector<ProcessGroup> groups;
    for (uint32_t rank = 0; rank < ranks; ++rank) groups.push_back(simulation.group(rank, step));
    const double begin = seconds();
    const auto file = value(step == 0 ? GrowingFile::create(path) : GrowingFile::append(path));
    Listing all;
    uint64_t at = file->end();
    for (const ProcessGroup& group : groups) {
      EncodedPart part = value(EncodedPart::make(group, {.container_id = file->container_id()}));
      uint64_t to = at;
      for (const auto piece : part.pieces()) {
        if (::pwrite(file->fd(), piece.data(), piece.size(), static_cast<off_t>(to)) < 0) return 1;
        to += piece.size();
      }
      part.listing().shift(at);
      all.merge(std::move(part.listing()));
      at = to;
    }
    check(file->commit(std::move(all), at, false));
    times.push_back(seconds() - begin);
  }
  const auto mean = [&](size_t from, size_t to) {
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += times[i];
    return 1e3 * sum / static_cast<double>(to - from);
  };
  const size_t tenth = std::max<size_t>(1, times.size() / 10);
  std::printf("%llu steps x %u variables x %u ranks: append %.2f ms at first, %.2f ms at last, at most %.2f ms\n",
              static_cast<unsigned long long>(count), variables, ranks, mean(0, tenth),
              mean(times.size() - tenth, times.size()), 1e3 * std::ranges::max(times));
  const double begin = seconds();
  const auto reader = value(FileReader::open(path, uint64_t{1} << 30));
  const double opened = seconds();
  const Listing& listing = reader->listing();
  const std::string wanted = "variable/" + std::to_string(variables / 2);
  for (size_t i = 0; i < listing.parts.size(); ++i) {
    const ListedPart& part = listing.parts[i];
    if (part.step != count / 2 || part.rank != ranks / 2) continue;
    const StoredPart stored = value(reader->open_part(i));
    for (size_t block = 0; block < stored.group().blocks.size(); ++block) {
      if (stored.group().blocks[block].name != wanted) continue;
      Bytes values(stored.bytes(block));
      check(stored.read(block, values));
    }
  }
  std::printf("open %.1f ms, find and read one block %.1f ms; %.0f MB in memory\n", 1e3 * (opened - begin),
              1e3 * (seconds() - opened), 1e-6 * static_cast<double>(listing.memory_bytes()));
  return 0;
}

// Gigabytes a second of `take`, the best of some rounds.
template <class Take>
double rate(uint64_t bytes, const Take& take) {
  double best = 0;
  for (int round = 0; round < 10; ++round) {
    const double begin = seconds();
    take();
    best = std::max(best, 1e-9 * static_cast<double>(bytes) / (seconds() - begin));
  }
  return best;
}

int copy(uint64_t megabytes) {
  std::vector<double> values(megabytes * 1'000'000 / 8);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.37 * static_cast<double>(i);
  const auto from = std::as_bytes(std::span(values));
  Bytes to(from.size());
  const auto take = [&](Statistics statistics) {
    io::Block block;
    block.type = ValueType::float64;
    block.is_array = true;
    block.shape = {values.size()};
    take_values(block, from, to, statistics, nullptr);
  };
  const double plain = rate(from.size(), [&] { std::memcpy(to.data(), from.data(), from.size()); });
  const double hashed = rate(from.size(), [&] { take(Statistics::none); });
  const double full = rate(from.size(), [&] { take(Statistics::full); });
  std::printf("memcpy %.1f GB/s; with checksums %.1f GB/s; with checksums and characteristics %.1f GB/s\n", plain,
              hashed, full);
  return 0;
}

uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "tree") == 0)
    return tree(static_cast<uint32_t>(number(argv[2])), static_cast<uint32_t>(number(argv[3])));
  if (argc == 3 && std::strcmp(argv[1], "copy") == 0) return copy(number(argv[2]));
  if (argc == 6 && std::strcmp(argv[1], "steps") == 0)
    return steps(number(argv[2]), static_cast<uint32_t>(number(argv[3])), static_cast<uint32_t>(number(argv[4])),
                 argv[5]);
  std::fputs("usage: forebay-process-groups tree RANKS VARIABLES | copy MEGABYTES | steps STEPS VARIABLES RANKS FILE\n",
             stderr);
  return 2;
}

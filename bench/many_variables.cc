// forebay-many-variables: makes checkpoint files of many small variables, or of the same bytes in few large ones.
// Usage: forebay-many-variables DIR FILES VARIABLES JOIN
//   Writes DIR/many.cpuNNNN, FILES of them, with VARIABLES / JOIN datasets of JOIN * 9,000 bytes each. The same DIR but
//   another JOIN up to 100 gives the same values, in the same order; above it, as many bytes of each type.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <hdf5.h>

namespace {

constexpr size_t kVariableBytes = 9000;
constexpr uint64_t kTypePeriod = 10;  // of ten neighbouring blocks of 100 variables: two are of integers
constexpr uint64_t kTypeRun = 100;

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

bool is_integer(uint64_t variable) { return variable / kTypeRun % kTypePeriod >= kTypePeriod - 2; }

// A smooth field with noise of one part in 10,000: doubles; or counters with small steps: 32-bit integers.
void append_values(std::vector<std::byte>& bytes, uint64_t file, uint64_t variable, bool integers) {
  Random random(file * 1'000'003 + variable);
  const size_t start = bytes.size();
  bytes.resize(start + kVariableBytes);
  if (integers) {
    auto* values = reinterpret_cast<int32_t*>(bytes.data() + start);
    auto value = static_cast<int32_t>(variable);
    for (size_t i = 0; i < kVariableBytes / sizeof *values; ++i)
      values[i] = value += static_cast<int32_t>(random.next() % 4);
    return;
  }
  auto* values = reinterpret_cast<double*>(bytes.data() + start);
  const double phase = 0.1 * static_cast<double>(file), scale = 1 + static_cast<double>(variable % 97);
  for (size_t i = 0; i < kVariableBytes / sizeof *values; ++i)
    values[i] = scale * (2 + std::sin(phase + 0.01 * static_cast<double>(i))) * (1 + 1e-4 * random.uniform());
}

bool write_dataset(hid_t file, uint64_t first, uint64_t join, const std::vector<std::byte>& bytes) {
  const hid_t type = is_integer(first) ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE;
  const hsize_t count = bytes.size() / H5Tget_size(type);
  const std::string name = "variable" + std::to_string(first / join);
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t dataset = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const bool done = H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
  return H5Dclose(dataset) >= 0 && H5Sclose(space) >= 0 && done;
}

bool write_file(const std::string& path, uint64_t number, uint64_t variables, uint64_t join) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  bool done = file >= 0;
  std::vector<std::byte> bytes;
  for (uint64_t first = 0; done && first < variables; first += join) {
    bytes.clear();
    for (uint64_t variable = first; variable < first + join; ++variable)
      append_values(bytes, number, variable, is_integer(first));
    done = write_dataset(file, first, join, bytes);
  }
  return H5Fclose(file) >= 0 && done;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int index) { return index < argc ? std::strtoull(argv[index], nullptr, 10) : 0; };
  const uint64_t files = number(2), variables = number(3), join = number(4);
  if (argc != 5 || files == 0 || variables == 0 || join == 0 || variables % join != 0 ||
      (kTypeRun % join != 0 && join % kTypeRun != 0)) {
    std::fputs(
        "usage: forebay-many-variables DIR FILES VARIABLES JOIN\n"
        "JOIN divides VARIABLES, and divides 100 or is a multiple of it\n",
        stderr);
    return 2;
  }
  std::error_code ignored;
  std::filesystem::create_directories(argv[1], ignored);
  for (uint64_t file = 0; file < files; ++file) {
    char name[32];
    std::snprintf(name, sizeof name, "/many.cpu%04u", static_cast<unsigned>(file));
    if (!write_file(argv[1] + std::string(name), file, variables, join)) {
      std::fprintf(stderr, "forebay-many-variables: cannot write %s%s\n", argv[1], name);
      return 1;
    }
  }
}

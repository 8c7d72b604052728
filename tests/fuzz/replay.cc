// Stands in for libFuzzer's main where the compiler has none: runs every file of the given directories (or the given
// files) through the target once, and each with single bytes changed and the end cut off, so that the corpus is an
// ordinary test with every compiler.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

void run(const Input& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

void run_variants(const Input& input) {
  constexpr int kVariants = 400;
  run(input);
  std::mt19937 random(static_cast<uint32_t>(input.size()));
  for (int i = 0; i < kVariants && !input.empty(); ++i) {
    Input variant = input;
    if (i % 4 == 0) variant.resize(random() % variant.size());
    for (uint32_t changes = random() % 4; changes-- > 0 && !variant.empty();)
      variant[random() % variant.size()] = static_cast<uint8_t>(random());
    run(variant);
  }
}

}  // namespace

int main(int argc, char** argv) {
  size_t inputs = 0;
  run({});
  for (int i = 1; i < argc; ++i) {
    std::vector<std::filesystem::path> paths;
    if (std::filesystem::is_directory(argv[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) paths.push_back(entry.path());
    } else if (std::filesystem::exists(argv[i])) {
      paths.emplace_back(argv[i]);
    }
    for (const auto& path : paths) {
      std::ifstream file(path, std::ios::binary);
      run_variants(Input(std::istreambuf_iterator<char>(file), {}));
      ++inputs;
    }
  }
  std::printf("%zu inputs\n", inputs);
  return inputs == 0 ? 1 : 0;
}

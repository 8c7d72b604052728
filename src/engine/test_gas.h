// Checkpoint trees with variables that follow from each other.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_sets.h"

namespace forebay::engine {

// Variables of one file, and the file.
class Tensors {
 public:
  void add(const std::string& name, const std::vector<double>& values, const std::string& shape) {
    const size_t begin = data_.size();
    data_ += to_text(values);
    header_ += fmt::format(R"({}"{}":{{"dtype":"F64","shape":[{}],"data_offsets":[{},{}]}})",
                           header_.empty() ? "" : ",", name, shape, begin, data_.size());
  }
  std::string file() const {
    const std::string header = "{" + header_ + "}";
    return to_text(std::vector<uint64_t>{header.size()}) + header + data_;
  }

 private:
  std::string header_, data_;
};

class GasTest : public SetTest {
 protected:
  static constexpr size_t kPlanes = 12, kRows = 20, kColumns = 24;

  // Densities of a gas, of which `share` is hydrogen, at random speeds.
  void write_gas(double share, int ranks = 3) const {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> any(1, 2);
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<double> density, hydrogen, helium, speed, energy;
      for (size_t i = 0; i < kPlanes * kRows * kColumns; ++i) {
        density.push_back(any(random));
        hydrogen.push_back(share * density.back());
        helium.push_back(density.back() - hydrogen.back());
        speed.push_back(any(random) - 1.5);
        energy.push_back(3e-5 * density.back() + 0.5 * speed.back() * speed.back());
      }
      Tensors tensors;
      const std::string shape = fmt::format("{},{},{}", kPlanes, kRows, kColumns);
      for (const auto& [name, values] :
           {std::pair("density", &density), std::pair("hydrogen", &hydrogen), std::pair("helium", &helium),
            std::pair("speed", &speed), std::pair("energy", &energy)})
        tensors.add(name, *values, shape);
      write(tree() + fmt::format("/dump.{}.safetensors", rank), tensors.file());
    }
  }

  PackOptions named(const std::string& name) const {
    PackOptions options = this->options("auto", "max");
    options.name = name;
    return options;
  }
};

}  // namespace forebay::engine

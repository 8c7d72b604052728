// What the methods that write Forebay containers have in common: they differ in which ranks share a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/method/method.h"
#include "io/method/parameters.h"
#include "io/method/shared_file.h"

namespace forebay::io {

struct ContainerLayout {
  // How many files the ranks are spread over, by their number: the lowest ranks share the first, and so on. 0: all
  // share one, which is the file that readers name. Otherwise they lie in NAME.dir, and NAME is a small file that lists
  // what is in them.
  std::function<uint32_t(uint32_t ranks)> subfiles = [](uint32_t) { return 0u; };
  // Asked for NAME.dir by one rank, with subfiles: how many there had better be, if the file system tells.
  std::function<std::optional<uint32_t>(const std::string& directory)> targets;
  std::optional<uint32_t>
      colour;  // of this rank, if all have one: ranks of one colour share a subfile, whatever their number
  bool has_top_file = true;  // with subfiles
  Overflow overflow = Overflow::fails;
  bool can_read = true;
  FillSettings fill;
};

std::unique_ptr<Method> container_method(ContainerLayout layout);

// The names of all parameters that any of these methods heeds, and of those that ADIOS's have beside them: a
// configuration in which only the name of the method was changed is no reason for warnings.
std::vector<std::string> container_parameters();

// The settings that these methods know: stripe_size or block_size (alignment), openers, sync. invalid_argument.
Outcome<FillSettings> fill_settings(const Parameters& parameters);

}  // namespace forebay::io

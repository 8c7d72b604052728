// What is behind the handles of forebay_read.h, and how its functions fail.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/last_failure.h"
#include "base/error.h"
#include "forebay/forebay_read.h"
#include "view/read/selection.h"
#include "view/source/run.h"

namespace forebay::api {

// Facts about values, where pointers to them stay valid as long as they do.
class KeptValues {
 public:
  // Null if nothing is known.
  const forebay_read_values* keep(const std::optional<container::Characteristics>& known);

 private:
  forebay_read_values values_{};
};

// The structures that programs get pointers to, and what these point to. None is moved any more once one was given.
struct ArrayFacts {
  forebay_read_array facts{};
  std::string type_name;
  KeptValues values;
};
struct BlockFacts {
  forebay_read_block facts{};
  KeptValues values;
};
struct AttributeFacts {
  forebay_read_attribute facts{};
  std::string type_name;
};

// Keeps the text for forebay_message(); returns the code.
int read_failed(const Error& error);
inline int refused(const char* what) { return failed(FOREBAY_ARGUMENT, what); }

// Whether a caller's structure, which begins with its size, can be filled as far as it reaches.
template <class T>
bool has_size(const T& given) {
  return given.size >= sizeof given.size;
}

}  // namespace forebay::api

struct forebay_read_run {
  std::unique_ptr<forebay::view::Run> run;
};

// All its functions are thread-safe.
struct forebay_read_step {
  explicit forebay_read_step(std::shared_ptr<const forebay::view::Step> opened);

  std::shared_ptr<const forebay::view::Step> step;
  forebay_read_step_info info{};
  std::vector<forebay::api::ArrayFacts> arrays;

  // Read when somebody first asks for them.
  const std::vector<forebay::api::AttributeFacts>& attributes() const;

  // The blocks of an array, kept from the first time that they are asked for.
  forebay::Result<const std::vector<forebay::view::Block>*> blocks(size_t array) const;
  // invalid_argument: the array has no such block.
  forebay::Result<const forebay_read_block*> block_facts(size_t array, uint64_t block) const;

 private:
  struct Blocks {
    std::vector<forebay::view::Block> blocks;
    std::vector<forebay::api::BlockFacts> facts;  // of as many, or empty: nobody has asked
  };
  static void describe_all(Blocks& of);
  forebay::Result<Blocks*> find_blocks(size_t array) const;

  mutable std::once_flag attributes_read_;
  mutable std::vector<forebay::api::AttributeFacts> attributes_;
  mutable std::mutex mutex_;
  mutable std::map<size_t, Blocks> blocks_;
};

struct forebay_read_plan {
  std::vector<forebay::view::Request> requests;  // yet to be read
  forebay::view::ReadResult result;              // of those that were read last
  forebay_read_cost cost{};
};

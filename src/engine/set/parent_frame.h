// How a frame is stored that lies in another set already: as a recipe that names it (docs/codecs.md, "parent"). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::engine {

// Where the bytes of a frame lie.
struct ParentFrame {
  std::string set, container;  // the names of a set of the same store, and of one of its container files
  uint64_t container_id = 0;   // Reader::id() of that container
  uint32_t number = 0;         // the frame's in that container

  bool operator==(const ParentFrame&) const = default;
};

// What an index calls the chain of such a frame.
inline constexpr std::string_view kParentChain = "base";
// What comes before the chain of a frame that was predicted from one in another set.
inline constexpr std::string_view kBeforePrefix = "before,";

// "frame 7 of DD0008/00001-of-00001.fbc".
std::string to_string(const ParentFrame& parent);

// The recipe that names `parent`, both names of which store::is_set_name() accepts. Its payload is empty.
Bytes parent_recipe(const ParentFrame& parent);

// Whether a recipe is that of a frame in another set, rather than a chain of codecs.
bool is_parent_recipe(std::span<const std::byte> recipe);

// The inverse of parent_recipe(). `recipe` is hostile: corrupt unless it is one that parent_recipe() makes.
Result<ParentFrame> parse_parent_recipe(std::span<const std::byte> recipe);

// The recipe of a frame that was encoded by `recipe` with `before` as its last reference. Not of one that has a parent
// recipe, or is stored as it is.
Bytes before_recipe(const ParentFrame& before, std::span<const std::byte> recipe);

// A recipe of before_recipe() taken apart.
struct BeforeRecipe {
  ParentFrame before;
  Bytes recipe;
};

// Whether a recipe is one of before_recipe().
bool is_before_recipe(std::span<const std::byte> recipe);

// The inverse of before_recipe(). `recipe` is hostile: corrupt unless it is one that before_recipe() makes.
Result<BeforeRecipe> parse_before_recipe(std::span<const std::byte> recipe);

}  // namespace forebay::engine

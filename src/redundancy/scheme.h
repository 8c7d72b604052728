// How the nodes that hold a checkpoint set protect each other's part of it (decision 0037). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::redundancy {

enum class Scheme : uint8_t {
  none,     // no protection: the loss of a node is the loss of the set
  partner,  // groups of two, each with a copy of the other's part
  xor_,     // groups of which any one member may be lost
  rs,       // groups of which any `losses` members may be lost
};

struct Protection {
  Scheme scheme = Scheme::none;
  unsigned group_size = 8;  // members of a group, at least, where there are as many nodes; not for partner
  unsigned losses = 2;      // rs; the other schemes survive one, none of them none
  bool operator==(const Protection&) const = default;
};

// "none", "partner", "xor", "xor:SIZE", "rs", "rs:LOSSES", "rs:LOSSES:SIZE". invalid_argument for anything else, or if
// a group would not have more members than it survives losses, or more than 255.
Result<Protection> parse_protection(std::string_view text);
std::string to_text(const Protection& protection);

// Losses that each group survives: 0, 1 or Protection::losses.
unsigned losses_of(const Protection& protection);
// The same for a group of so many members, which may be fewer than were asked for: at most members - 1.
unsigned losses_of(const Protection& protection, unsigned members);

}  // namespace forebay::redundancy

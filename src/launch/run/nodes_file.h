// The nodes of a job, as MPI launchers take them in a file, and which rank runs on which. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::launch {

inline constexpr uint32_t kMostSlots = 1u << 20;  // of a node

// How a line says the number of slots: the launchers do not understand each other's.
enum class SlotStyle : uint8_t {
  lines,   // a line for each
  colon,   // "HOST:SLOTS"
  equals,  // "HOST slots=SLOTS"
  names,   // not at all: each host once
};

struct Nodes {
  // Consecutive ranks on one node.
  struct Block {
    size_t host = 0;  // index into `hosts`
    uint32_t slots = 1;
    bool operator==(const Block&) const = default;
  };
  std::vector<std::string> hosts;  // distinct, in the order of the file
  std::vector<Block> blocks;       // likewise; a host may have several
  std::vector<SlotStyle> styles;   // of the hosts, as far as they are known

  SlotStyle style_of(size_t host) const { return host < styles.size() ? styles[host] : SlotStyle::lines; }
};

// A line is "HOST", "HOST:SLOTS" or "HOST slots=SLOTS"; what follows '#', and empty lines, do not count. The same host
// in consecutive lines is one block of the sum of their slots. invalid_argument, with `path` and the line, for anything
// else, and if there is no host.
Result<Nodes> parse_nodes(std::string_view text, const std::string& path);

// What parse_nodes() reads: a line for each block, as the file that they come from had it.
std::string nodes_text(const Nodes& nodes);

// The form that the launcher reads that a program of this name is; nothing if the name does not tell.
std::optional<SlotStyle> style_of_launcher(std::string_view program);
Nodes in_style(Nodes nodes, SlotStyle style);

// "{hosts}" in a word of a command stands for the names of the nodes, each once, with commas between them.
std::string with_hosts(std::string word, const Nodes& nodes);

// A single node, all of whose ranks are there.
Nodes one_node(std::string host);

// Per host the ranks 0 .. ranks-1 that an MPI launcher starts there by default: blocks are filled in order, and again
// from the first when all are full.
std::vector<std::vector<uint32_t>> place_ranks(const Nodes& nodes, uint32_t ranks);

// "0-3,8": the ranks of one host as text, and back. parse_ranks(): invalid_argument unless they ascend and are below
// `total`.
std::string ranks_text(const std::vector<uint32_t>& ranks);
Result<std::vector<uint32_t>> parse_ranks(std::string_view text, uint32_t total);

}  // namespace forebay::launch

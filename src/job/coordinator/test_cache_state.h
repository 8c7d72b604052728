// What lies on nodes and what processes know on the way of sets into caches, for test_cache_checker.h. Of the tests
// only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "job/coordinator/protection.h"

namespace forebay::job::cache_check {

enum class Variant : uint8_t {
  none,
  protected_before_encoded,   // an agent says that it is done when it is not
  removed_before_sealed,      // older sets go when a node has encoded its own part
  room_at_begin,              // or when a newer one is begun
  no_write_number,            // two attempts at one set are not told apart
  marker_before_data,         // a rank says that it is complete before it is
  encoded_before_complete,    // the coordinator does not wait for all ranks
  any_seal_believed,          // who is sealed vouches for those that have nothing
  restored_without_encoding,  // what was repaired counts at once, and others go
  committed_before_all,       // the store's set before all of its parts
  removed_while_due,          // nothing keeps what is to be stored
};

struct Held {
  uint8_t id = 0;
  bool sealed = false, good = false;  // good: of the truth, made of data that was there
};
struct Copy {
  uint8_t write = 0;  // 0: there is none
  bool data = false, marker = false;
  std::vector<Held> held;
};
struct Setup {
  unsigned nodes = 3, sets = 2, crashes = 2;
  bool flush = true, losses = true;
  Variant variant = Variant::none;
};
using Node = std::vector<Copy>;  // by set
using Nodes = std::vector<Node>;

// Of one set, as long as the processes live.
struct Way {
  std::vector<uint8_t> stage;  // of each node: 0, then data or marker, then both
  std::shared_ptr<const SetProtection> machine;
  uint32_t protect_told = 0, encoded = 0, encoded_told = 0, seal_told = 0, sealed = 0, sealed_told = 0, news = 0;
  bool promised = false;
};

struct State {
  Nodes nodes;
  std::vector<uint32_t> stored_parts;  // of each set, by node
  std::vector<uint8_t> stored_write;   // that they are of
  std::vector<bool> committed;
  std::vector<Way> ways;
  std::vector<Nodes> recovery;  // what the nodes have after each of its steps; empty: at work
  size_t recovered = 0;
  unsigned attempt = 0, crashes = 0, first = 0, promised = 0;  // sets are counted from 1
  int lost = -1;  // the node that was lost since the set was whole and protected; -2: several

  // The same for states that differ in the order of the nodes only.
  std::string key() const {
    std::vector<std::string> own(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      put(own[i], nodes[i]);
      for (size_t v = 0; v < ways.size(); ++v) {
        const Way& way = ways[v];
        own[i] += static_cast<char>(way.stage[i]);
        unsigned bits = 0;
        for (const uint32_t of_all : {way.protect_told, way.encoded, way.encoded_told, way.seal_told, way.sealed,
                                      way.sealed_told, way.news, stored_parts[v]})
          bits = bits * 2 + (of_all >> i & 1);
        own[i] += static_cast<char>(bits);
      }
      own[i] += static_cast<char>(lost == static_cast<int>(i));
      for (size_t step = recovered; step < recovery.size(); ++step) put(own[i], recovery[step][i]);
    }
    std::ranges::sort(own);
    std::string key;
    for (const std::string& one : own) key += one;
    for (size_t v = 0; v < ways.size(); ++v)
      key += static_cast<char>(stored_write[v] * 8 + committed[v] * 4 + ways[v].promised * 2 +
                               (ways[v].machine != nullptr));
    for (const size_t number : {recovery.size() - recovered, size_t{attempt}, size_t{crashes}, size_t{first},
                                size_t{promised}, size_t{std::min(lost, 0) + 2u}})
      key += static_cast<char>(number);
    return key;
  }

  static void put(std::string& key, const Node& node) {
    for (const Copy& copy : node) {
      key += static_cast<char>(copy.write * 4 + copy.data * 2 + copy.marker);
      key += static_cast<char>(copy.held.size());
      for (const Held& held : copy.held) key += static_cast<char>(held.id * 4 + held.sealed * 2 + held.good);
    }
  }
};

}  // namespace forebay::job::cache_check

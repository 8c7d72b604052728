// Values by keys, of which those go first that were used least recently. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace forebay {

// Each value has a cost, in a unit of the caller's. Pointers to values stay valid until these are taken out.
template <class Key, class Value>
class Lru {
 public:
  // The value, which counts as used now; null if there is none.
  Value* find(const Key& key) {
    const auto known = places_.find(key);
    if (known == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, known->second);
    return &known->second->value;
  }
  bool contains(const Key& key) const { return places_.contains(key); }

  // The value that is there now, used: this one, or one that was there before.
  Value& add(Key key, Value value, uint64_t cost = 1) {
    if (Value* const known = find(key)) return *known;
    entries_.push_front({key, std::move(value), cost});
    places_.emplace(std::move(key), entries_.begin());
    cost_ += cost;
    return entries_.front().value;
  }

  // A value that is there costs this much more.
  void add_cost(const Key& key, uint64_t more) {
    places_.at(key)->cost += more;
    cost_ += more;
  }

  std::optional<Value> take(const Key& key) {
    const auto known = places_.find(key);
    if (known == places_.end()) return {};
    return take(known->second);
  }

  // The least recently used value of those for which may_go(value).
  template <class Test>
  std::optional<Value> take_oldest(const Test& may_go) {
    for (auto one = entries_.end(); one != entries_.begin();)
      if (may_go((--one)->value)) return take(one);
    return {};
  }
  std::optional<Value> take_oldest() {
    return take_oldest([](const Value&) { return true; });
  }

  // Takes out the least recently used values until all cost at most `most_cost`, or `least_left` are left. They are
  // returned so that the caller can destroy them when it holds no lock.
  std::vector<Value> trim(uint64_t most_cost, size_t least_left = 0) {
    std::vector<Value> gone;
    while (cost_ > most_cost && entries_.size() > least_left) gone.push_back(*take_oldest());
    return gone;
  }

  // Takes out all values of keys in [first, end).
  std::vector<Value> take_range(const Key& first, const Key& end) {
    std::vector<Value> gone;
    for (auto one = places_.lower_bound(first); one != places_.end() && one->first < end;)
      gone.push_back(take((one++)->second));
    return gone;
  }

  uint64_t cost() const { return cost_; }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  // what(value) of each, the most recently used first.
  template <class What>
  void for_each(const What& what) const {
    for (const Entry& one : entries_) what(one.value);
  }

 private:
  struct Entry {
    Key key;
    Value value;
    uint64_t cost;
  };
  using Place = typename std::list<Entry>::iterator;

  Value take(Place place) {
    Value value = std::move(place->value);
    cost_ -= place->cost;
    places_.erase(place->key);
    entries_.erase(place);
    return value;
  }

  std::list<Entry> entries_;  // most recently used first
  std::map<Key, Place> places_;
  uint64_t cost_ = 0;
};

}  // namespace forebay

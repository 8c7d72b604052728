#include "launch/run/node_table.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::launch {
namespace {

uint32_t slots_of_host(const Nodes& nodes, size_t host) {
  uint32_t slots = 0;
  for (const Nodes::Block& block : nodes.blocks)
    if (block.host == host) slots += block.slots;
  return slots;
}

}  // namespace

Result<NodeTable> NodeTable::create(const Nodes& all, size_t spares) {
  if (spares >= all.hosts.size())
    return fail(ErrorKind::invalid_argument, fmt::format("of {} nodes {} cannot be spare", all.hosts.size(), spares),
                {}, {}, "the application needs one");
  NodeTable table;
  const size_t used = all.hosts.size() - spares;
  for (size_t i = used; i < all.hosts.size(); ++i)
    table.spares_.push_back({all.hosts[i], slots_of_host(all, i), all.style_of(i)});
  table.in_use_ = all;
  table.in_use_.hosts.resize(used);
  table.in_use_.styles.resize(std::min(used, all.styles.size()));
  std::erase_if(table.in_use_.blocks, [&](const Nodes::Block& block) { return block.host >= used; });
  return table;
}

uint32_t NodeTable::slots_of(const std::string& host) const {
  const auto found = std::ranges::find(in_use_.hosts, host);
  return slots_of_host(in_use_, static_cast<size_t>(found - in_use_.hosts.begin()));
}

std::vector<NodeTable::Spare>::const_iterator NodeTable::find_spare(const std::string& host) const {
  const uint32_t slots = slots_of(host);
  return std::ranges::find_if(spares_, [&](const Spare& spare) { return spare.slots >= slots; });
}

bool NodeTable::can_replace(const std::string& host) const { return find_spare(host) != spares_.end(); }

size_t NodeTable::replaceable(const std::vector<std::string>& hosts) const {
  NodeTable left = *this;
  return static_cast<size_t>(
      std::ranges::count_if(hosts, [&](const std::string& host) { return left.replace(host).has_value(); }));
}

std::optional<std::string> NodeTable::replace(const std::string& host) {
  const auto place = std::ranges::find(in_use_.hosts, host);
  const auto spare = find_spare(host);
  lost_.push_back(host);
  if (place == in_use_.hosts.end() || spare == spares_.end()) return std::nullopt;
  const auto index = static_cast<size_t>(place - in_use_.hosts.begin());
  *place = spare->host;
  if (index < in_use_.styles.size()) in_use_.styles[index] = spare->style;
  spares_.erase(spare);
  return *place;
}

}  // namespace forebay::launch

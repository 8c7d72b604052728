#include "io/hdf5/plan.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace forebay::hdf5 {
namespace {

void put(std::string& to, uint64_t value) { to.append(reinterpret_cast<const char*>(&value), sizeof value); }

void put(std::string& to, std::string_view text) {
  put(to, text.size());
  to += text;
}

void put(std::string& to, const uint64_t* values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) put(to, values[i]);
}

// Reads what put() wrote; `ok` tells whether all of it was there.
struct Taker {
  std::string_view rest;
  bool ok = true;

  uint64_t number() {
    uint64_t value = 0;
    if (rest.size() < sizeof value) return ok = false, 0;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const uint64_t length = number();
    if (length > rest.size()) return ok = false, std::string();
    std::string result(rest.substr(0, length));
    rest.remove_prefix(length);
    return result;
  }
  std::vector<uint64_t> numbers(uint64_t count) {
    std::vector<uint64_t> result;
    for (uint64_t i = 0; i < count && ok; ++i) result.push_back(number());
    return result;
  }
};

// The bytes that an array of this shape takes, or nothing if there are too many.
std::optional<uint64_t> array_bytes(int32_t type, std::span<const uint64_t> shape) {
  uint64_t bytes = element_bytes(type);
  for (const uint64_t extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  if (bytes > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return bytes;
}

std::string list(std::span<const uint64_t> numbers) {
  std::string text;
  for (const uint64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "{" + text + "}";
}

std::string global_fault(const Told& block) {
  const size_t count = block.shape.size();
  if (block.global_shape.size() != count || block.offsets.size() != count)
    return "its shape and its place have different numbers of dimensions";
  for (size_t i = 0; i < count; ++i)
    if (block.offsets[i] > block.global_shape[i] || block.shape[i] > block.global_shape[i] - block.offsets[i])
      return "its block " + list(block.shape) + " at " + list(block.offsets) + " reaches beyond the array " +
             list(block.global_shape);
  return {};
}

class Planner {
 public:
  explicit Planner(const std::vector<std::vector<Told>>& by_rank) {
    plan_.of_blocks.resize(by_rank.size());
    plan_.refusals.resize(by_rank.size());
    for (rank_ = 0; rank_ < by_rank.size(); ++rank_)
      for (const Told& block : by_rank[rank_]) {
        plan_.steps = std::max(plan_.steps, block.step + 1);
        plan_.of_blocks[rank_].push_back(place(block));
      }
    for (auto& [path, dataset] : plan_.datasets) settle(dataset);
  }

  Plan result() { return std::move(plan_); }

 private:
  const Dataset* refuse(const Told& block, const std::string& why) {
    std::string& refusal = plan_.refusals[rank_];
    if (refusal.empty()) refusal = "variable \"" + block.name + "\": " + why;
    return nullptr;
  }

  const Dataset* place(const Told& block) {
    const std::string path = object_path(block.step, block.name);
    if (path.empty()) return refuse(block, "its name cannot be that of an object of HDF5");
    if (element_bytes(block.type) == 0) return refuse(block, "it has a type that HDF5 is not given");
    if (!block.is_array) return place_value(block, path);
    if (!array_bytes(block.type, block.is_global ? block.global_shape : block.shape))
      return refuse(block, "it has too many elements");
    if (!block.is_global) return place_local(block, path);
    if (std::string fault = global_fault(block); !fault.empty()) return refuse(block, fault);
    auto [it, is_new] = plan_.datasets.try_emplace(path);
    Dataset& dataset = it->second;
    if (is_new) {
      dataset.type = block.type;
      dataset.shape = block.global_shape;
    } else if (dataset.type != block.type || dataset.shape != block.global_shape || !dataset.values.empty()) {
      return refuse(block,
                    "other writes of this step say that it has another type or the shape " + list(dataset.shape));
    }
    return &dataset;
  }

  const Dataset* place_local(const Told& block, const std::string& path) {
    std::string own = path + "/rank_" + std::to_string(rank_);
    for (int more = 1; plan_.datasets.contains(own); ++more)
      own = path + "/rank_" + std::to_string(rank_) + "_" + std::to_string(more);
    Dataset& dataset = plan_.datasets[own];
    dataset.type = block.type;
    dataset.shape = block.shape;
    return &dataset;
  }

  const Dataset* place_value(const Told& block, const std::string& path) {
    auto [it, is_new] = plan_.datasets.try_emplace(path);
    Dataset& dataset = it->second;
    if (is_new) dataset.type = block.type;
    if (dataset.type != block.type || (!is_new && dataset.values.empty()))
      return refuse(block, "other writes of this step say that it has another type");
    dataset.values.push_back(block.bytes);
    return nullptr;
  }

  static void settle(Dataset& dataset) {
    if (dataset.values.empty()) return;
    const bool all_same = std::ranges::all_of(dataset.values, [&](const auto& v) { return v == dataset.values[0]; });
    if (all_same) {
      dataset.values.resize(1);
    } else {
      dataset.is_list = true;
      dataset.shape = {dataset.values.size()};
    }
  }

  Plan plan_;
  size_t rank_ = 0;
};

}  // namespace

uint64_t element_bytes(int32_t type) {
  switch (type) {
    case FOREBAY_METHOD_INT8:
    case FOREBAY_METHOD_UINT8:
    case FOREBAY_METHOD_STRING:
      return 1;
    case FOREBAY_METHOD_INT16:
    case FOREBAY_METHOD_UINT16:
      return 2;
    case FOREBAY_METHOD_INT32:
    case FOREBAY_METHOD_UINT32:
    case FOREBAY_METHOD_FLOAT32:
      return 4;
    case FOREBAY_METHOD_INT64:
    case FOREBAY_METHOD_UINT64:
    case FOREBAY_METHOD_FLOAT64:
    case FOREBAY_METHOD_COMPLEX64:
      return 8;
    case FOREBAY_METHOD_LONG_DOUBLE:
    case FOREBAY_METHOD_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

std::string object_path(uint64_t step, std::string_view name) {
  std::string path = step == 0 ? "" : "step_" + std::to_string(step);
  const size_t prefix = path.size();
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty()) continue;
    if (part == ".") return {};
    path += (path.empty() ? "" : "/") + std::string(part);
  }
  return path.size() == prefix ? std::string() : path;
}

std::string to_message(std::span<const forebay_method_step> steps) {
  std::string message;
  for (const forebay_method_step& step : steps)
    for (const forebay_method_block& block : std::span(step.blocks, step.block_count)) {
      const bool is_array = block.dimensions > 0;
      put(message, step.step);
      put(message, std::string_view(block.name));
      put(message, static_cast<uint64_t>(block.type));
      put(message, is_array ? (block.global_shape ? 2 : 1) : 0);
      put(message, block.dimensions);
      put(message, block.shape, block.dimensions);
      if (block.global_shape) {
        put(message, block.global_shape, block.dimensions);
        put(message, block.offsets, block.dimensions);
      }
      put(message, is_array ? std::string_view() : std::string_view(static_cast<const char*>(block.bytes), block.size));
    }
  return message;
}

bool from_message(std::string_view message, std::vector<Told>& told) {
  Taker taker{message};
  while (taker.ok && !taker.rest.empty()) {
    Told block;
    block.step = taker.number();
    block.name = taker.text();
    block.type = static_cast<int32_t>(taker.number());
    const uint64_t kind = taker.number(), dimensions = taker.number();
    block.is_array = kind > 0;
    block.is_global = kind == 2;
    block.shape = taker.numbers(dimensions);
    if (block.is_global) {
      block.global_shape = taker.numbers(dimensions);
      block.offsets = taker.numbers(dimensions);
    }
    block.bytes = taker.text();
    told.push_back(std::move(block));
  }
  return taker.ok;
}

Plan plan(const std::vector<std::vector<Told>>& by_rank) { return Planner(by_rank).result(); }

}  // namespace forebay::hdf5

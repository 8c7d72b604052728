#include "format/safetensors_header.h"

#include <nlohmann/json.hpp>

#include "base/layout.h"

namespace forebay::format {
namespace {

// Receives the parser's events instead of letting it build a document, which can take many times the text's memory.
// Every event returns whether to go on.
class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Tensor> tensors;

  bool null() override { return inside_metadata(); }
  bool boolean(bool) override { return inside_metadata(); }
  bool number_float(number_float_t, const string_t&) override { return inside_metadata(); }
  bool number_integer(number_integer_t) override { return inside_metadata(); }
  bool binary(binary_t&) override { return false; }

  bool number_unsigned(number_unsigned_t value) override {
    if (inside_metadata()) return true;
    if (depth_ != kInList || !list_ || list_->size() >= kMaxDims) return false;
    list_->push_back(value);
    return true;
  }

  bool string(string_t& value) override {
    if (inside_metadata()) return true;
    if (depth_ != kInTensor || field_ != "dtype") return false;
    tensors.back().dtype = std::move(value);
    return true;
  }

  bool key(string_t& value) override {
    if (depth_ == kInTensor) field_ = value;
    if (depth_ != kInHeader) return true;
    metadata_ = value == "__metadata__";
    if (metadata_) return true;
    if (tensors.size() >= kMaxVariablesPerFile) return false;
    tensors.emplace_back().name = std::move(value);
    return true;
  }

  bool start_object(size_t) override {
    ++depth_;
    return depth_ <= kInTensor && !list_;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(size_t) override {
    ++depth_;
    if (depth_ != kInList || metadata_) return false;
    list_ = field_ == "shape" ? &tensors.back().shape : field_ == "data_offsets" ? &tensors.back().range : nullptr;
    return list_ != nullptr && list_->empty();
  }
  bool end_array() override {
    --depth_;
    list_ = nullptr;
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  enum : int { kInHeader = 1, kInTensor = 2, kInList = 3 };

  bool inside_metadata() const { return metadata_ && depth_ == kInTensor; }

  int depth_ = 0;
  bool metadata_ = false;
  std::string field_;
  std::vector<uint64_t>* list_ = nullptr;
};

}  // namespace

std::optional<std::vector<Tensor>> parse_safetensors(std::string_view json) {
  Handler handler;
  if (!json.starts_with('{') || !nlohmann::json::sax_parse(json, &handler)) return {};
  return std::move(handler.tensors);
}

}  // namespace forebay::format

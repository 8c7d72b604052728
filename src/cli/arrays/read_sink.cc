#include "cli/arrays/read_sink.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "cli/arrays/new_file.h"
#include "engine/inspect/extract.h"
#include "format/npy.h"

namespace forebay::cli {
namespace {

// A new file, or standard output.
class ReadOutput {
 public:
  static Result<ReadOutput> open(const std::string& to, bool overwrite) {
    ReadOutput output;
    if (to == "-") return output;
    FOREBAY_TRY(NewFile file, NewFile::create(to, overwrite));
    output.file_.emplace(std::move(file));
    return output;
  }

  Result<void> write(std::span<const std::byte> bytes) {
    if (file_) return file_->write(bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
    return fail_errno(errno, "write", "standard output");
  }

  Result<void> finish() { return file_ ? file_->commit() : Result<void>(); }

 private:
  std::optional<NewFile> file_;
};

// What stands before the values is written with the first of them: of what cannot be read nothing is printed.
class HeadedSink : public ValueSink {
 public:
  HeadedSink(ReadOutput output, std::string head) : output_(std::move(output)), head_(std::move(head)) {}

  Result<void> finish() override {
    FOREBAY_CHECK(write_head());
    return output_.finish();
  }

 protected:
  Result<void> put(std::span<const std::byte> bytes) {
    FOREBAY_CHECK(write_head());
    return output_.write(bytes);
  }

 private:
  Result<void> write_head() {
    const std::string head = std::exchange(head_, {});
    return head.empty() ? Result<void>() : output_.write(as_bytes(head));
  }

  ReadOutput output_;
  std::string head_;
};

class NpySink final : public HeadedSink {
 public:
  using HeadedSink::HeadedSink;
  Result<void> write(std::span<const std::byte> values) override { return put(values); }
};

template <class T>
void append_as(const std::byte* value, std::string& line) {
  T number;
  std::memcpy(&number, value, sizeof number);
  fmt::format_to(std::back_inserter(line), "{}", +number);  // a byte is a number, no character
}

void append_number(const DataType& type, const std::byte* value, std::string& line) {
  if (type.kind == Kind::floating && type.size == 8) return append_as<double>(value, line);
  if (type.kind == Kind::floating && type.size == 4) return append_as<float>(value, line);
  const bool is_signed = type.kind == Kind::signed_int;
  if (type.is_number() && type.kind != Kind::floating) switch (type.size) {
      case 1:
        return is_signed ? append_as<int8_t>(value, line) : append_as<uint8_t>(value, line);
      case 2:
        return is_signed ? append_as<int16_t>(value, line) : append_as<uint16_t>(value, line);
      case 4:
        return is_signed ? append_as<int32_t>(value, line) : append_as<uint32_t>(value, line);
      default:
        return is_signed ? append_as<int64_t>(value, line) : append_as<uint64_t>(value, line);
    }
  for (size_t i = 0; i < type.size; ++i)  // float16, and what is no number: its bytes
    fmt::format_to(std::back_inserter(line), "{:02x}", static_cast<unsigned>(value[i]));
}

void append_value(const view::ElementType& type, const std::byte* value, std::string& line) {
  const bool is_small = type.value == io::ValueType::complex64;
  if (!is_small && type.value != io::ValueType::complex128) return append_number(type.data, value, line);
  for (int part = 0; part < 2; ++part) {  // "1.5-2j", as Python reads it
    std::string number;
    is_small ? append_as<float>(value + 4 * part, number) : append_as<double>(value + 8 * part, number);
    if (part == 1 && number[0] != '-') line += '+';
    line += number;
  }
  line += 'j';
}

class CsvSink final : public HeadedSink {
 public:
  CsvSink(ReadOutput output, view::ElementType type, std::string titles, AppendPlace place)
      : HeadedSink(std::move(output), std::move(titles) + "\n"), type_(type), place_(std::move(place)) {}

  Result<void> write(std::span<const std::byte> values) override {
    constexpr size_t kMostText = size_t{1} << 20;
    std::string text;
    for (size_t at = 0; at < values.size(); at += type_.bytes()) {
      place_(element_++, text);
      append_value(type_, values.data() + at, text);
      text += '\n';
      if (text.size() < kMostText) continue;
      FOREBAY_CHECK(put(as_bytes(text)));
      text.clear();
    }
    return put(as_bytes(text));
  }

 private:
  view::ElementType type_;
  AppendPlace place_;
  uint64_t element_ = 0;
};

}  // namespace

Result<std::unique_ptr<ValueSink>> npy_sink(const std::string& to, bool overwrite, const view::ElementType& type,
                                            const Shape& shape) {
  FOREBAY_TRY(auto output, ReadOutput::open(to, overwrite));
  return std::make_unique<NpySink>(std::move(output), format::npy_header(view::npy_descr(type), shape));
}

Result<std::unique_ptr<ValueSink>> csv_sink(const std::string& to, bool overwrite, const view::ElementType& type,
                                            std::string titles, AppendPlace place) {
  FOREBAY_TRY(auto output, ReadOutput::open(to, overwrite));
  return std::make_unique<CsvSink>(std::move(output), type, std::move(titles), std::move(place));
}

}  // namespace forebay::cli

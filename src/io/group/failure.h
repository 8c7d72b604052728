// What went wrong, as programs are told: an error and its number in ADIOS 1.x.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/error.h"

namespace forebay::io {

// The numbers that programs written for ADIOS 1.x know, as far as writing has them.
enum class Code : int16_t {
  none = 0,
  no_memory = -1,
  file_open = -2,
  file_not_found = -3,
  invalid_handle = -4,
  invalid_group = -5,
  invalid_variable_id = -7,
  invalid_name = -8,
  invalid_attribute_reference = -13,
  disconnected = -18,
  unsupported = -20,
  file_read = -25,
  invalid_host_language = -50,
  global_dimension_required = -51,
  global_offset_required = -52,
  invalid_method_choice = -53,
  invalid_buffer_size = -54,
  missing_config = -55,
  read_size_mismatch = -56,
  invalid_xml = -58,
  no_group = -59,
  no_method = -60,
  group_method_mismatch = -63,
  invalid_dimension = -66,
  invalid_global_dimension = -67,
  invalid_offset = -68,
  invalid_variable_as_dimension = -69,
  invalid_attribute_type = -70,
  invalid_attribute_value = -71,
  histogram = -72,
  invalid_mode = -100,
  invalid_file_version = -101,
  invalid_data = -102,
  buffer_overflow = -103,
  unknown_method = -105,
  write = -106,
  invalid_argument = -140,
  unknown_transform = -300,
  transform_failed = -301,
  unspecified = -1000,
};

// The number that fits an error best if nothing more is known.
constexpr Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return Code::invalid_argument;
    case ErrorKind::not_found:
    case ErrorKind::permission:
      return Code::file_open;
    case ErrorKind::corrupt:
      return Code::invalid_file_version;
    case ErrorKind::unsupported:
      return Code::unsupported;
    case ErrorKind::limit:
      return Code::no_memory;
    case ErrorKind::disconnected:
    case ErrorKind::timeout:
      return Code::disconnected;
    case ErrorKind::internal:
      return Code::unspecified;
    default:
      return Code::write;
  }
}

struct Failure {
  Code code = Code::unspecified;
  Error error;
  uint32_t told_ranks = 0;  // so many ranks got it from one of them; 0: it is this rank's own
  bool is_heard = false;    // it is another rank's, which says it for all

  Failure(Error of)
      : code(code_of(of.kind)), error(std::move(of)) {}  // so that FOREBAY_TRY passes on what rooms below say
  Failure(Code number, Error of) : code(number), error(std::move(of)) {}
};

template <class T>
using Outcome = std::expected<T, Failure>;

// The kind is for what looks at kinds; programs see the number and the words.
inline std::unexpected<Failure> refuse(Code code, std::string what, std::string hint = {}, std::string path = {},
                                       ErrorKind kind = ErrorKind::invalid_argument) {
  return std::unexpected(Failure(code, Error{kind, std::move(what), std::move(path), {}, std::move(hint)}));
}

}  // namespace forebay::io

// NumPy's .npy header, which .npz members have, too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/datatype.h"
#include "base/layout.h"
#include "base/shape.h"

namespace forebay::format {

// The type of an element, as NumPy writes it: "<f8", "|i1", "|V24".
std::string npy_descr(const DataType& type);

// What stands before the elements in a .npy file, a multiple of 64 bytes (format version 1.0).
std::string npy_header(std::string_view descr, const Shape& shape, bool fortran_order = false);

// Whether `head` starts like a .npy file.
bool is_npy(std::span<const std::byte> head);

// The array of the .npy file that lies at [offset, offset + size) of `source`. A variable without extents if its
// elements are Python objects. corrupt or unsupported if the header cannot be understood.
// Its shape is that of its bytes in C order: reversed if the file has them in Fortran order.
Result<Variable> read_npy(const ByteSource& source, uint64_t offset, uint64_t size);

// Whether the array whose bytes follow right after `before` is in Fortran order, so that NumPy sees the shape of
// read_npy() reversed; nothing if `before` does not end with a whole header.
std::optional<bool> is_fortran_npy(std::span<const std::byte> before);

}  // namespace forebay::format

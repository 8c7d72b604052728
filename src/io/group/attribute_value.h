// Attributes made of what programs and configurations give: text, values in memory, a reference to a variable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/group/definition.h"
#include "io/group/failure.h"

namespace forebay::io {

// One value of `type` written as text, in native byte order; blanks around numbers do not count, complex numbers are
// "re,im", possibly in brackets. invalid_attribute_type if such a type has no text (string_array);
// invalid_attribute_value if the text is no such number or out of its range.
Outcome<Bytes> parse_value(ValueType type, std::string_view text);

// With `value` as text, or with an empty `value` and the full name of a variable of the group. invalid_attribute_value
// if both or neither are given to a number, and invalid_attribute_reference if there is no such variable.
Outcome<AttributeDefinition> make_attribute(const GroupDefinition& group, std::string name, std::string path,
                                            ValueType type, std::string_view value, std::string_view variable);

// Of `count` values in memory, which are copied. A string is a char*, an array of strings a char**, each with its final
// NUL. invalid_attribute_value if `values` is null or there are none of them.
Outcome<AttributeDefinition> make_attribute(std::string name, std::string path, ValueType type, uint64_t count,
                                            const void* values);

// Of an attribute that is one integer, not a reference.
std::optional<int64_t> integer_value(const AttributeDefinition& attribute);

// The same of any scalar of an integer type, of element_bytes(type) bytes; numbers beyond 63 bits give nothing.
std::optional<int64_t> integer_value(ValueType type, const void* value);

}  // namespace forebay::io

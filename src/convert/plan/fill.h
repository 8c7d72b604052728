// What the elements of a target are that no rank wrote. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "convert/plan/plan.h"

namespace forebay::convert {

// `text`, a number as C writes it, "nan" or "inf", as an element of the type, in the machine's byte order. Nothing: it
// is no number, or the type does not have it: it is out of range, has a fraction or is NaN and the type is an integer,
// or elements are no numbers; of binary16 there is NaN alone.
std::optional<Bytes> element_of(const view::ElementType& type, const std::string& text);

// Decides Dataset::fill of global arrays of numbers: the value of their attribute _FillValue, if it is one element of
// their type; else `text`, and they get that attribute. A remark names how many have no such element. `text` may be
// empty: 0.
void add_fill(Plan& plan, const std::string& text);

}  // namespace forebay::convert

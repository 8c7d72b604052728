// Which prediction suits a column of a run: judged by the entropy of what is left on a sample of its rows.
#pragma once

#include "codec/text/run_column.h"

namespace forebay::codec::text {

// `column` knows its keys. Deterministic.
Choice choose(RunColumn& column);

// The distance at which rows resemble the row at hand, and the ones before both each other, as in planes that are
// stored row by row; 0 if there is none that predicts better than the row before.
size_t find_lag(std::span<const int64_t> keys);

}  // namespace forebay::codec::text

#include "io/method/methods.h"

namespace forebay::io {

std::vector<MethodEntry> own_methods() { return {null_method()}; }

}  // namespace forebay::io

#include "api/last_failure.h"

#include <array>
#include <cstring>

static thread_local std::array<char, 1024> text;

int forebay_private_failed(int code, const char* what) {
  std::strncpy(text.data(), what, text.size() - 1);
  return code;
}

const char* forebay_message(void) { return text.data(); }

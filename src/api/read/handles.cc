#include "api/read/handles.h"

#include "api/last_failure.h"

namespace forebay::api {

static thread_local LastFailure last_failure;

static int code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return FOREBAY_READ_ARGUMENT;
    case ErrorKind::not_found:
      return FOREBAY_READ_NOT_FOUND;
    case ErrorKind::corrupt:
      return FOREBAY_READ_DAMAGED;
    case ErrorKind::changed:
      return FOREBAY_READ_GONE;
    case ErrorKind::limit:
      return FOREBAY_READ_LIMIT;
    case ErrorKind::unsupported:
      return FOREBAY_READ_UNSUPPORTED;
    case ErrorKind::timeout:
      return FOREBAY_READ_TIMEOUT;
    default:
      return FOREBAY_READ_FAILED;
  }
}

int read_failed(int code, const char* what) { return last_failure.set(code, what); }
int read_failed(const Error& error) { return read_failed(code_of(error.kind), error.message().c_str()); }

int guard_read(int (*body)(void*), void* context) {
  return last_failure.guarded(FOREBAY_READ_FAILED, [&] { return body(context); });
}

}  // namespace forebay::api

const std::vector<std::string>& forebay_read_step::attribute_types() const {
  std::call_once(attributes_read_, [this] {
    for (const forebay::view::Attribute& one : step->attributes())
      attribute_types_.push_back(forebay::view::to_string(one.type));
  });
  return attribute_types_;
}

forebay::Result<const std::vector<forebay::view::Block>*> forebay_read_step::blocks(size_t array) const {
  const std::lock_guard lock(mutex_);
  const auto known = blocks_.find(array);
  if (known != blocks_.end()) return &known->second;
  FOREBAY_TRY(auto found, step->blocks(array));
  return &blocks_.emplace(array, std::move(found)).first->second;
}

extern "C" const char* forebay_read_message(void) { return forebay::api::last_failure.text(); }

// What is behind the handles of forebay_read.h, and how its functions fail.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "forebay/forebay_read.h"
#include "view/read/selection.h"
#include "view/source/run.h"

struct forebay_read_run {
  std::unique_ptr<forebay::view::Run> run;
};

struct forebay_read_step {
  std::shared_ptr<const forebay::view::Step> step;
  std::vector<std::string> array_types;  // names of types, whose texts are given away

  // Those of attributes, which are read when somebody first asks for them. Thread-safe.
  const std::vector<std::string>& attribute_types() const;

  // The blocks of an array, kept from the first time that they are asked for. Thread-safe.
  forebay::Result<const std::vector<forebay::view::Block>*> blocks(size_t array) const;

 private:
  mutable std::once_flag attributes_read_;
  mutable std::vector<std::string> attribute_types_;
  mutable std::mutex mutex_;
  mutable std::map<size_t, std::vector<forebay::view::Block>> blocks_;
};

struct forebay_read_plan {
  std::vector<forebay::view::Request> requests;  // yet to be read
  forebay::view::ReadResult result;              // of those that were read last
};

namespace forebay::api {

// Keeps the text for forebay_read_message(); returns the code.
int read_failed(int code, const char* what);
int read_failed(const Error& error);

// What body() returns, or FOREBAY_READ_FAILED if it throws.
int guard_read(int (*body)(void* context), void* context);

template <class Body>
int guarded_read(Body body) {
  return guard_read([](void* context) { return (*static_cast<Body*>(context))(); }, &body);
}

}  // namespace forebay::api

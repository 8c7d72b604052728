#include "io/method/methods.h"

namespace forebay::io {
namespace {

class NullFile final : public OpenFile {
 public:
  const Standing& standing() const override { return standing_; }
  Outcome<void> close(std::span<ProcessGroup>) override { return {}; }

 private:
  Standing standing_;
};

class NullMethod final : public Method {
 public:
  Traits traits() const override { return {.discards = true}; }
  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest&) override { return std::make_unique<NullFile>(); }
};

}  // namespace

MethodEntry null_method() {
  return {.name = "NULL", .aliases = {"NONE"}, .parameters = {}, .make = [](const Parameters&) {
            return Outcome<std::unique_ptr<Method>>(std::make_unique<NullMethod>());
          }};
}

}  // namespace forebay::io

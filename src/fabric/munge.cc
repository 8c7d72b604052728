#include "fabric/munge.h"

#ifdef FOREBAY_WITH_MUNGE

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include <dlfcn.h>
#include <munge.h>
#include <unistd.h>

namespace forebay::fabric {
namespace {

struct Library {
  decltype(&munge_encode) encode = nullptr;
  decltype(&munge_decode) decode = nullptr;
  decltype(&munge_strerror) strerror = nullptr;
  decltype(&munge_ctx_create) create = nullptr;
  decltype(&munge_ctx_destroy) destroy = nullptr;
  decltype(&munge_ctx_set) set = nullptr;
  bool complete() const { return encode && decode && strerror && create && destroy && set; }
};

template <class Function>
void look_up(void* handle, const char* name, Function& to) {
  to = reinterpret_cast<Function>(::dlsym(handle, name));
}

Library load() {
  Library library;
  void* handle = ::dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return library;
  look_up(handle, "munge_encode", library.encode);
  look_up(handle, "munge_decode", library.decode);
  look_up(handle, "munge_strerror", library.strerror);
  look_up(handle, "munge_ctx_create", library.create);
  look_up(handle, "munge_ctx_destroy", library.destroy);
  look_up(handle, "munge_ctx_set", library.set);
  return library;
}

Result<const Library*> munge() {
  static const Library library = load();  // stays loaded
  if (!library.complete()) return fail(ErrorKind::unsupported, "MUNGE cannot be used: libmunge.so.2 is not installed");
  return &library;
}

using Context = std::unique_ptr<munge_ctx, void (*)(munge_ctx_t)>;

Context new_context(const Library& library) {
  Context context(library.create(), library.destroy);
  if (const char* socket = std::getenv("FOREBAY_MUNGE_SOCKET"); context && socket != nullptr)
    library.set(context.get(), MUNGE_OPT_SOCKET, socket);
  return context;
}

std::unexpected<Error> fail_munge(const Library& library, munge_err_t code) {
  const auto kind = code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT ? ErrorKind::disconnected : ErrorKind::permission;
  return fail(kind, std::string("MUNGE: ") + library.strerror(code));
}

Result<Bytes> make(const Statement& over) {
  FOREBAY_TRY(const Library* library, munge());
  const Context context = new_context(*library);
  char* credential = nullptr;
  const munge_err_t code = library->encode(&credential, context.get(), over.data(), static_cast<int>(over.size()));
  const std::unique_ptr<char, void (*)(void*)> owner(credential, std::free);
  if (code != EMUNGE_SUCCESS) return fail_munge(*library, code);
  const auto bytes = as_bytes(credential);
  return Bytes(bytes.begin(), bytes.end());
}

Result<void> check(const Statement& over, std::span<const std::byte> credential) {
  FOREBAY_TRY(const Library* library, munge());
  const Context context = new_context(*library);
  const std::string text(as_text(credential));
  void* payload = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const munge_err_t code = library->decode(text.c_str(), context.get(), &payload, &size, &uid, &gid);
  const std::unique_ptr<void, void (*)(void*)> owner(payload, std::free);
  if (code != EMUNGE_SUCCESS) return fail_munge(*library, code);
  const std::span got(static_cast<const std::byte*>(payload), static_cast<size_t>(size));
  if (!std::ranges::equal(got, over)) return fail(ErrorKind::permission, "a MUNGE credential for something else");
  if (uid != ::geteuid() && uid != 0)
    return fail(ErrorKind::permission, "a MUNGE credential of user " + std::to_string(uid));
  return {};
}

}  // namespace

Voucher munge_voucher() { return {make, check}; }

}  // namespace forebay::fabric

#else

namespace forebay::fabric {

static std::unexpected<Error> left_out() {
  return fail(ErrorKind::unsupported, "MUNGE cannot be used: this build leaves it out");
}

Voucher munge_voucher() {
  return {[](const Statement&) -> Result<Bytes> { return left_out(); },
          [](const Statement&, std::span<const std::byte>) -> Result<void> { return left_out(); }};
}

}  // namespace forebay::fabric

#endif

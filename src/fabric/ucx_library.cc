#ifdef FOREBAY_WITH_UCX

#include "fabric/ucx_library.h"

#include <array>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <ucm/api/ucm.h>

#include "base/posix/own_code.h"
#include "fabric/libraries.h"
#include "fabric/no_signals.h"

namespace forebay::fabric {
namespace {

// Not over shared memory: within a node there is a better transport, and UCX notices no dead peer there.
constexpr const char* kTransports = "ib,tcp,self";

// What libucs does to signals when it is loaded is undone, and its threads get none.
class SignalsUntouched {
 public:
  SignalsUntouched() {
    for (size_t i = 1; i < actions_.size(); ++i)
      known_[i] = ::sigaction(static_cast<int>(i), nullptr, &actions_[i]) == 0;
  }
  ~SignalsUntouched() {
    for (size_t i = 1; i < actions_.size(); ++i)
      if (known_[i]) ::sigaction(static_cast<int>(i), &actions_[i], nullptr);
  }
  SignalsUntouched(const SignalsUntouched&) = delete;
  SignalsUntouched& operator=(const SignalsUntouched&) = delete;

 private:
  NoSignals blocked_;
  std::array<struct sigaction, 65> actions_{};
  std::array<bool, 65> known_{};
};

template <class Function>
bool look_up(void* handle, const char* name, Function& to) {
  to = reinterpret_cast<Function>(::dlsym(handle, name));
  return to != nullptr;
}

bool look_up_all(void* ucp, void* ucs, UcxLibrary& to) {
  return look_up(ucp, "ucp_get_version", to.get_version) && look_up(ucp, "ucp_init_version", to.init_version) &&
         look_up(ucp, "ucp_config_read", to.config_read) && look_up(ucp, "ucp_config_modify", to.config_modify) &&
         look_up(ucp, "ucp_config_release", to.config_release) && look_up(ucp, "ucp_worker_create", to.worker_create) &&
         look_up(ucp, "ucp_worker_destroy", to.worker_destroy) && look_up(ucp, "ucp_worker_query", to.worker_query) &&
         look_up(ucp, "ucp_worker_release_address", to.worker_release_address) &&
         look_up(ucp, "ucp_worker_get_efd", to.worker_get_efd) && look_up(ucp, "ucp_worker_arm", to.worker_arm) &&
         look_up(ucp, "ucp_worker_progress", to.worker_progress) &&
         look_up(ucp, "ucp_worker_set_am_recv_handler", to.worker_set_am_recv_handler) &&
         look_up(ucp, "ucp_ep_create", to.ep_create) && look_up(ucp, "ucp_ep_close_nbx", to.ep_close_nbx) &&
         look_up(ucp, "ucp_am_send_nbx", to.am_send_nbx) && look_up(ucp, "ucp_am_recv_data_nbx", to.am_recv_data_nbx) &&
         look_up(ucp, "ucp_request_free", to.request_free) && look_up(ucs, "ucs_status_string", to.status_string);
}

// libucm would patch libc's functions for memory, to know when registered memory goes, in code that other threads run.
// Without, UCX registers memory anew for each message. To be called before libucs is loaded, which would let it patch,
// and afterwards, because that sets the options again.
bool keep_from_patching(void* ucm) {
  void (*set_options)(const ucm_global_config_t*) = nullptr;
  ucm_global_config_t* now = nullptr;
  if (!look_up(ucm, "ucm_set_global_opts", set_options) || !look_up(ucm, "ucm_global_opts", now)) return false;
  ucm_global_config_t options = *now;
  options.log_level = UCS_LOG_LEVEL_FATAL;
  options.enable_events = options.enable_malloc_hooks = options.enable_malloc_reloc = 0;
  options.mmap_hook_mode = UCM_MMAP_HOOK_NONE;
  set_options(&options);
  return true;
}

// It must neither print nor handle the process's signals.
bool silence(void* ucs) {
  ucs_status_t (*set_option)(const char*, const char*) = nullptr;
  if (!look_up(ucs, "ucs_global_opts_set_value", set_option)) return false;
  set_option("LOG_LEVEL", "fatal");
  set_option("HANDLE_ERRORS", "none");
  return true;
}

Result<ucp_context_h> new_context(const Ucx& ucx) {
  ucp_config_t* config = nullptr;
  // FOREBAY_UCX_*: variables UCX_* are often meant for the MPI of the same job.
  if (const auto status = ucx.call.config_read("FOREBAY", nullptr, &config); status != UCS_OK)
    return fail_ucx(ucx, status, "ucp_config_read");
  if (std::getenv("FOREBAY_UCX_TLS") == nullptr) ucx.call.config_modify(config, "TLS", kTransports);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.mt_workers_shared = 1;
  ucp_context_h context = nullptr;
  const auto status = ucx.call.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context);
  ucx.call.config_release(config);
  if (status != UCS_OK) return fail_ucx(ucx, status, "ucp_init");
  return context;
}

// UCX takes settings from a file in the directory that the process is in, and some of them name files that it writes:
// they must not be another user's.
Result<void> check_settings_here() {
  constexpr const char* kSettings = "ucx.conf";
  const auto file = trusted_file(kSettings);
  if (file || file.error().kind == ErrorKind::not_found) return {};
  return fail(ErrorKind::unsupported, "UCX cannot be used, since it reads this file: " + file.error().what, kSettings,
              {}, "start it in another directory");
}

Result<Ucx> load() {
  FOREBAY_CHECK(check_settings_here());
  const SignalsUntouched guard;
  Ucx ucx;
  // Lazy: it needs functions of libucs, which needs it.
  void* ucm = ::dlopen("libucm.so.0", RTLD_LAZY | RTLD_LOCAL);
  const bool tame = ucm != nullptr && keep_from_patching(ucm);
  void* ucs = tame ? ::dlopen("libucs.so.0", RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* ucp = ucs != nullptr ? ::dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (ucp == nullptr || !keep_from_patching(ucm) || !silence(ucs) || !look_up_all(ucp, ucs, ucx.call))
    return fail(ErrorKind::unsupported, "UCX cannot be used: libucp.so.0 is not installed");
  unsigned major = 0, minor = 0, release = 0;
  ucx.call.get_version(&major, &minor, &release);
  ucx.version = major * 10'000 + minor * 100 + release;
  if (major != UCP_API_MAJOR || minor != UCP_API_MINOR)
    return fail(ErrorKind::unsupported, fmt::format("UCX {}.{} is installed, but this is built for {}.{}", major, minor,
                                                    UCP_API_MAJOR, UCP_API_MINOR));
  FOREBAY_TRY(ucx.context, new_context(ucx));
  return ucx;
}

}  // namespace

Result<const Ucx*> ucx() {
  static const Result<Ucx> loaded = load();  // stays for as long as the process lives
  if (!loaded) return std::unexpected(loaded.error());
  return &*loaded;
}

Result<std::string> ucx_version() {
  FOREBAY_TRY(const Ucx* loaded, ucx());
  return fmt::format("{}.{}.{}", loaded->version / 10'000, loaded->version / 100 % 100, loaded->version % 100);
}

std::unexpected<Error> fail_ucx(const Ucx& ucx, ucs_status_t status, const char* call) {
  return fail(ErrorKind::unsupported, std::string(call) + ": " + ucx.call.status_string(status));
}

}  // namespace forebay::fabric

#endif

// UCX, loaded when it is first used: programs that do not use it are not touched by it (libucs reads the environment,
// and installs signal handlers as soon as it is there).
#pragma once

#include <ucp/api/ucp.h>

#include "base/error.h"

namespace forebay::fabric {

struct UcxLibrary {
  decltype(&ucp_get_version) get_version = nullptr;
  decltype(&ucp_init_version) init_version = nullptr;
  decltype(&ucp_config_read) config_read = nullptr;
  decltype(&ucp_config_modify) config_modify = nullptr;
  decltype(&ucp_config_release) config_release = nullptr;
  decltype(&ucp_worker_create) worker_create = nullptr;
  decltype(&ucp_worker_destroy) worker_destroy = nullptr;
  decltype(&ucp_worker_query) worker_query = nullptr;
  decltype(&ucp_worker_release_address) worker_release_address = nullptr;
  decltype(&ucp_worker_get_efd) worker_get_efd = nullptr;
  decltype(&ucp_worker_arm) worker_arm = nullptr;
  decltype(&ucp_worker_progress) worker_progress = nullptr;
  decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler = nullptr;
  decltype(&ucp_ep_create) ep_create = nullptr;
  decltype(&ucp_ep_close_nbx) ep_close_nbx = nullptr;
  decltype(&ucp_am_send_nbx) am_send_nbx = nullptr;
  decltype(&ucp_am_recv_data_nbx) am_recv_data_nbx = nullptr;
  decltype(&ucp_request_free) request_free = nullptr;
  decltype(&ucs_status_string) status_string = nullptr;
};

// The library, and the process's one context. unsupported if it is not installed, has another version than this was
// built for, or finds no way to other nodes.
// Thread-safe.
struct Ucx {
  UcxLibrary call;
  ucp_context_h context = nullptr;
  uint64_t version = 0;  // 11301 is 1.13.1
};
Result<const Ucx*> ucx();

std::unexpected<Error> fail_ucx(const Ucx& ucx, ucs_status_t status, const char* call);

}  // namespace forebay::fabric

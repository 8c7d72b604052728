#ifdef FOREBAY_WITH_UCX

#include "fabric/ucx_worker.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "fabric/no_signals.h"

namespace forebay::fabric {

// UCX keeps a thread for all workers of a process: it comes with the first and goes with the last of them.
static std::mutex creation;

Result<std::unique_ptr<UcxWorker>> UcxWorker::create() {
  const NoSignals for_new_threads;
  const std::lock_guard lock(creation);
  FOREBAY_TRY(const Ucx* library, fabric::ucx());
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  ucp_worker_h worker = nullptr;
  if (const auto status = library->call.worker_create(library->context, &params, &worker); status != UCS_OK)
    return fail_ucx(*library, status, "ucp_worker_create");
  std::unique_ptr<UcxWorker> made(new UcxWorker(*library, worker));
  if (const auto status = library->call.worker_get_efd(worker, &made->efd_); status != UCS_OK)
    return fail_ucx(*library, status, "ucp_worker_get_efd");
  return made;
}

UcxWorker::~UcxWorker() {
  const std::lock_guard lock(creation);
  ucx_.call.worker_destroy(worker_);
}

Result<data_wire::UcxAddress> UcxWorker::address() const {
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  if (const auto status = ucx_.call.worker_query(worker_, &attributes); status != UCS_OK)
    return fail_ucx(ucx_, status, "ucp_worker_query");
  const auto* begin = reinterpret_cast<const std::byte*>(attributes.address);
  data_wire::UcxAddress address{ucx_.version, Bytes(begin, begin + attributes.address_length)};
  ucx_.call.worker_release_address(worker_, attributes.address);
  if (address.bytes.size() > data_wire::kMaxUcxAddress)
    return fail(ErrorKind::unsupported, "UCX has an address that is too long");
  return address;
}

Result<void> UcxWorker::on(ActiveMessage message, Handler handler, void* arg) {
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = static_cast<unsigned>(message);
  params.cb = handler;
  params.arg = arg;
  if (const auto status = ucx_.call.worker_set_am_recv_handler(worker_, &params); status != UCS_OK)
    return fail_ucx(ucx_, status, "ucp_worker_set_am_recv_handler");
  return {};
}

Result<std::unique_ptr<UcxEndpoint>> UcxEndpoint::create(UcxWorker& worker, const data_wire::UcxAddress& address) {
  if (address.version != worker.ucx().version)
    return fail(ErrorKind::unsupported,
                fmt::format("UCX {} here, {} on the other side", worker.ucx().version, address.version));
  std::unique_ptr<UcxEndpoint> endpoint(new UcxEndpoint(worker));
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.bytes.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t) { static_cast<UcxEndpoint*>(self)->failed_ = true; };
  params.err_handler.arg = endpoint.get();
  if (const auto status = worker.ucx().call.ep_create(worker.get(), &params, &endpoint->ep_); status != UCS_OK) {
    endpoint->ep_ = nullptr;
    return fail_ucx(worker.ucx(), status, "ucp_ep_create");
  }
  return endpoint;
}

UcxEndpoint::~UcxEndpoint() {
  if (ep_ == nullptr) return;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.user_data = const_cast<Ucx*>(&worker_.ucx());
  param.cb.send = [](void* request, ucs_status_t, void* ucx) {
    static_cast<const Ucx*>(ucx)->call.request_free(request);
  };
  (void)worker_.ucx().call.ep_close_nbx(ep_, &param);
}

namespace {

struct Sending {
  const Ucx& ucx;
  std::function<void(bool)> done;
};

}  // namespace

void UcxEndpoint::send(ActiveMessage message, std::span<const std::byte> header, std::span<const std::byte> bytes,
                       std::function<void(bool)> done) {
  auto sending = std::make_unique<Sending>(worker_.ucx(), std::move(done));
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = bytes.empty() ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV;
  param.user_data = sending.get();
  param.cb.send = [](void* request, ucs_status_t status, void* arg) {
    const std::unique_ptr<Sending> finished(static_cast<Sending*>(arg));
    finished->ucx.call.request_free(request);
    finished->done(status == UCS_OK);
  };
  const auto request = worker_.ucx().call.am_send_nbx(ep_, static_cast<unsigned>(message), header.data(), header.size(),
                                                      bytes.data(), bytes.size(), &param);
  if (UCS_PTR_IS_PTR(request))
    (void)sending.release();  // the callback's
  else
    sending->done(request == nullptr);
}

}  // namespace forebay::fabric

#endif

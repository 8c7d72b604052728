// A UCX worker: where active messages arrive. Used by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "fabric/data_wire.h"
#include "fabric/ucx_library.h"

namespace forebay::fabric {

// Active messages (docs/wire.md, "UCX"). All have a token as the begin of their header.
enum class ActiveMessage : unsigned {
  greeting = 1,  // agent: what the worker's endpoint is to answer
  answer = 2,    // worker: the same token
  data = 3,      // agent: the token of the request and an offset, 8 bytes little-endian; the bytes, by rendezvous
};

class UcxWorker {
 public:
  using Handler = ucs_status_t (*)(void* arg, const void* header, size_t header_length, void* data, size_t length,
                                   const ucp_am_recv_param_t* param);

  static Result<std::unique_ptr<UcxWorker>> create();
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  Result<data_wire::UcxAddress> address() const;
  Result<void> on(ActiveMessage message, Handler handler, void* arg);
  const Ucx& ucx() const { return ucx_; }
  ucp_worker_h get() const { return worker_; }

  unsigned progress() { return ucx_.call.worker_progress(worker_); }

  // Becomes readable when there may be something to do, after arm() has said that there is nothing now.
  int efd() const { return efd_; }
  bool arm() { return ucx_.call.worker_arm(worker_) == UCS_OK; }

 private:
  UcxWorker(const Ucx& ucx, ucp_worker_h worker) : ucx_(ucx), worker_(worker) {}
  const Ucx& ucx_;
  ucp_worker_h worker_;
  int efd_ = -1;
};

// A connection with one other worker.
class UcxEndpoint {
 public:
  // unsupported if the other side has another version of UCX.
  static Result<std::unique_ptr<UcxEndpoint>> create(UcxWorker& worker, const data_wire::UcxAddress& address);

  // Ends it by force; what is being sent ends with an error, in later calls of the worker's progress(). An endpoint
  // that neither is_wired() nor has_failed() must not be closed: UCX would end the process.
  ~UcxEndpoint();
  UcxEndpoint(const UcxEndpoint&) = delete;
  UcxEndpoint& operator=(const UcxEndpoint&) = delete;

  // Calls `done` when the other side has got the bytes, or never will; maybe before this returns. header and bytes must
  // live until then.
  void send(ActiveMessage message, std::span<const std::byte> header, std::span<const std::byte> bytes,
            std::function<void(bool)> done);

  // Whether a message has gone there and one come back.
  bool is_wired() const { return wired_; }
  void set_wired() { wired_ = true; }
  bool has_failed() const { return failed_; }
  bool may_be_closed() const { return wired_ || failed_; }

 private:
  explicit UcxEndpoint(UcxWorker& worker) : worker_(worker) {}
  UcxWorker& worker_;
  ucp_ep_h ep_ = nullptr;
  bool wired_ = false, failed_ = false;
};

}  // namespace forebay::fabric

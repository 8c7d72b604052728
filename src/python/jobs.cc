// One rank's part in a running job, as include/forebay/forebay.h has it.
#include <chrono>
#include <memory>
#include <string>

#include <nanobind/stl/string.h>

#include "job/client/client.h"
#include "python/errors.h"
#include "python/module.h"

namespace nb = nanobind;

namespace forebay::python {
namespace {

// Negative: no timeout.
job::Client::Timeout timeout_of(double seconds) {
  if (seconds < 0) return job::Client::Timeout(-1);
  return std::chrono::duration_cast<job::Client::Timeout>(std::chrono::duration<double>(seconds));
}

class JobClient {
 public:
  explicit JobClient(std::unique_ptr<job::Client> client) : client_(std::move(client)) {}

  void begin(const std::string& set, int64_t step, double seconds) {
    value_or_raise(unlocked([&] { return client_->begin(set, step, timeout_of(seconds)); }));
  }
  std::string path(const std::string& file) { return value_or_raise(client_->path(file)); }
  void complete() {
    value_or_raise(unlocked([&] { return client_->complete(); }));
  }
  void discard() {
    value_or_raise(unlocked([&] { return client_->discard(); }));
  }
  // (state, message)
  nb::tuple wait(const std::string& set, double seconds) {
    const auto news = value_or_raise(unlocked([&] { return client_->wait(set, timeout_of(seconds)); }));
    return nb::make_tuple(job::wire::EnumNameSetState(news.state), news.message);
  }
  // (set or None, step or None, directory, message)
  nb::tuple restart(double seconds) {
    const auto answer = value_or_raise(unlocked([&] { return client_->restart(timeout_of(seconds)); }));
    if (!answer.found) return nb::make_tuple(nb::none(), nb::none(), "", answer.message);
    return nb::make_tuple(answer.found->set,
                          answer.found->step ? nb::object(nb::int_(*answer.found->step)) : nb::none(),
                          client_->restart_directory(), answer.message);
  }

 private:
  std::unique_ptr<job::Client> client_;
};

}  // namespace

void declare_jobs(nb::module_& module) {
  nb::class_<JobClient>(module, "JobClient")
      .def("begin", &JobClient::begin)
      .def("path", &JobClient::path)
      .def("complete", &JobClient::complete)
      .def("discard", &JobClient::discard)
      .def("wait", &JobClient::wait)
      .def("restart", &JobClient::restart);
  module.def(
      "connect",
      [](const std::string& stage, uint32_t rank, uint32_t ranks) {
        return new JobClient(value_or_raise(unlocked([&] { return job::Client::connect(stage, rank, ranks); })));
      },
      nb::rv_policy::take_ownership);
}

}  // namespace forebay::python

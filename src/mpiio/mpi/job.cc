#include "mpiio/mpi/job.h"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "lock/server.h"
#include "mpiio/mpi/broadcast.h"
#include "mpiio/mpi/meeting.h"

namespace forebay::lock::mpiio {
namespace {

// Never destroyed: the program may use files until it ends, and it may end without MPI_Finalize.
struct Job {
  std::mutex mutex;
  std::optional<MpiResult<Meeting>> meeting;
  std::unique_ptr<Server> server;
  std::map<Meeting, std::shared_ptr<Client>> clients;
};

Job& job() {
  static Job& the_job = *new Job;
  return the_job;
}

std::optional<std::string> variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value) return std::nullopt;
  return value;
}

Result<std::optional<Meeting>> configured_servers() {
  const auto servers = variable("FOREBAY_LOCK_SERVERS");
  if (!servers || servers->empty()) return std::nullopt;
  fabric::Credentials credentials;
  if (const auto path = variable("FOREBAY_LOCK_SECRET")) {
    FOREBAY_TRY(credentials.secret, fabric::read_secret(*path));
  } else {
    credentials.munge = true;
  }
  return encode_meeting(*servers, credentials);
}

std::string random_name() {
  std::string name;
  for (const std::byte byte : fabric::new_secret()) name += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return name.substr(0, 16);
}

Result<Meeting> start_server(Job& the_job, bool one_node) {
  ServerOptions options;
  options.credentials.secret = fabric::new_secret();
  options.listen.push_back(
      {.kind = fabric::Address::Kind::unix_socket, .path = fmt::format("@forebay-{}-{}", getpid(), random_name())});
  if (!one_node) options.listen.push_back({.kind = fabric::Address::Kind::tcp, .host = "*"});
  FOREBAY_TRY(options.ports, fabric::parse_ports(variable("FOREBAY_PORTS").value_or("")));
  const fabric::Credentials credentials = options.credentials;
  FOREBAY_TRY(the_job.server, Server::start(std::move(options)));
  std::string addresses;
  for (const fabric::Address& address : the_job.server->addresses())
    addresses += (addresses.empty() ? "" : ",") + fabric::to_string(address);
  return encode_meeting(addresses, credentials);
}

Result<Meeting> choose_meeting(Job& the_job, bool one_node) {
  FOREBAY_TRY(std::optional<Meeting> configured, configured_servers());
  if (configured) return *std::move(configured);
  return start_server(the_job, one_node);
}

bool all_on_one_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  int here = 0, all = 1;
  if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return false;
  PMPI_Comm_size(node, &here);
  PMPI_Comm_size(comm, &all);
  PMPI_Comm_free(&node);
  return here == all;
}

// Runs at the start of MPI_Finalize. All processes come here, and after the barrier none of them needs the server.
int end_job(MPI_Comm, int, void*, void*) {
  PMPI_Barrier(MPI_COMM_WORLD);
  Job& the_job = job();
  const std::lock_guard guard(the_job.mutex);
  the_job.clients.clear();
  the_job.server.reset();
  the_job.meeting.reset();
  return MPI_SUCCESS;
}

void end_job_with_mpi() {
  int key = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_job, &key, nullptr) != MPI_SUCCESS) return;
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  PMPI_Comm_free_keyval(&key);
}

std::string label() {
  int rank = 0;
  char host[256] = "?";
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  gethostname(host, sizeof host - 1);
  return fmt::format("rank {} of {} on {}", rank, program_invocation_short_name, host);
}

}  // namespace

const Result<Settings>& environment_settings() {
  static const Result<Settings>& settings = *new Result<Settings>(settings_from(variable));
  return settings;
}

void begin_job() {
  const Result<Settings>& settings = environment_settings();
  if (settings && !settings->may_act()) return;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool one_node = all_on_one_node(MPI_COMM_WORLD);
  Job& the_job = job();
  const std::lock_guard guard(the_job.mutex);
  MpiResult<Meeting> meeting;
  if (rank == 0) {
    if (auto chosen = choose_meeting(the_job, one_node))
      meeting = *std::move(chosen);
    else
      meeting = std::unexpected(Fault(chosen.error()));
  }
  the_job.meeting = broadcast(std::move(meeting), MPI_COMM_WORLD);
  end_job_with_mpi();
}

MpiResult<Meeting> meeting_point() {
  Job& the_job = job();
  const std::lock_guard guard(the_job.mutex);
  if (the_job.meeting) return *the_job.meeting;
  FOREBAY_TRY(Meeting meeting, choose_meeting(the_job, false));
  the_job.meeting = meeting;
  return meeting;
}

MpiResult<std::shared_ptr<Client>> client_for(const Meeting& meeting) {
  Job& the_job = job();
  const std::lock_guard guard(the_job.mutex);
  std::shared_ptr<Client>& client = the_job.clients[meeting];
  if (client) return client;
  FOREBAY_TRY(ClientOptions options, decode_meeting(meeting));
  options.label = label();
  const Result<Settings>& settings = environment_settings();
  options.borrow = settings && settings->keep == Keeping::automatic;
  FOREBAY_TRY(client, Client::create(std::move(options)));
  return client;
}

}  // namespace forebay::lock::mpiio

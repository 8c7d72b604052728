#include "mpiio/mpi/meeting.h"

#include <algorithm>
#include <cstring>

namespace forebay::lock::mpiio {
namespace {

// The first byte tells what follows: the secret if it is there, then the servers.
constexpr char kPlain = 'p', kMunge = 'm', kSecret = 's';

}  // namespace

Meeting encode_meeting(const std::string& servers, const fabric::Credentials& credentials) {
  Meeting meeting(1, credentials.secret ? kSecret : credentials.munge ? kMunge : kPlain);
  if (credentials.secret)
    meeting.append(reinterpret_cast<const char*>(credentials.secret->data()), fabric::kSecretBytes);
  return meeting + servers;
}

Result<ClientOptions> decode_meeting(const Meeting& meeting) {
  ClientOptions options;
  size_t at = 1;
  const char kind = meeting.empty() ? kPlain : meeting[0];
  options.credentials.munge = kind == kMunge;
  if (kind == kSecret) {
    if (meeting.size() < at + fabric::kSecretBytes)
      return fail(ErrorKind::internal, "the secret of the job came in part only");
    std::memcpy(options.credentials.secret.emplace().data(), meeting.data() + at, fabric::kSecretBytes);
    at += fabric::kSecretBytes;
  }
  FOREBAY_TRY(options.servers, parse_servers(std::string_view(meeting).substr(std::min(at, meeting.size()))));
  return options;
}

}  // namespace forebay::lock::mpiio

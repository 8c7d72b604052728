#include <utility>
#include <vector>

#include "fabric/data_wire.h"
#include "fabric/hub.h"
#include "fabric/remote.h"
#include "fabric/request_files.h"
#include "fabric/ucx_server.h"

namespace forebay::fabric {

using data_wire::Type;

// Shorter pieces are copied and sent together: a system call for each would take longer.
static constexpr uint64_t kWorthASystemCall = 4096;

struct TransportServer::Impl {
  struct FilePart {
    size_t at = 0;  // in `copied`
    std::shared_ptr<const FileSource> file;
    uint64_t offset = 0, length = 0;
  };

  void refuse(uint64_t connection, uint64_t number, Error error) {
    Bytes frame;
    data_wire::encode(frame, data_wire::Failed{number, std::move(error)});
    hub.send(connection, frame);
  }

  Result<void> read(uint64_t connection, const Frame& frame) {
    FOREBAY_TRY(const data_wire::Read request, data_wire::decode_read(frame.body));
    if (auto sent = answer(connection, request); !sent) refuse(connection, request.number, std::move(sent).error());
    return {};
  }

  Result<void> answer(uint64_t connection, const data_wire::Read& request) {
    FOREBAY_TRY(const auto parts, prepare(request));
    size_t sent = 0;
    for (const FilePart& part : parts) {
      const auto before = std::span(copied).subspan(sent, part.at - sent);
      hub.send_file(connection, before, part.file, part.offset, part.length);
      sent = part.at;
    }
    hub.send(connection, std::span(copied).subspan(sent));
    return {};
  }

  // All that can fail, before the first byte of the answer is sent. The answer is `copied`, with the parts where they
  // belong.
  Result<std::vector<FilePart>> prepare(const data_wire::Read& request) {
    RequestFiles files([&](uint32_t file) { return exposures.open(request.exposure, file); });
    const Bytes header = data_wire::data_header(request.number, data_wire::total(request.pieces));
    copied.assign(header.begin(), header.end());
    std::vector<FilePart> parts;
    for (const Piece& piece : request.pieces) {
      FOREBAY_TRY(auto file, files.of(piece));
      const size_t at = copied.size();
      if (piece.length >= kWorthASystemCall) {
        parts.push_back({at, std::move(file), piece.offset, piece.length});
      } else {
        copied.resize(at + piece.length);
        FOREBAY_CHECK(file->read_at(piece.offset, std::span(copied).subspan(at)));
      }
    }
    return parts;
  }

  Result<void> check(uint64_t connection, const Frame& frame) {
    FOREBAY_TRY(const data_wire::Check request, data_wire::decode_check(frame.body));
    if (auto same = exposures.check_unchanged(request.exposure); !same) {
      refuse(connection, request.number, std::move(same).error());
      return {};
    }
    Bytes answer;
    data_wire::encode_number(answer, Type::unchanged, request.number);
    hub.send(connection, answer);
    return {};
  }

  // UCX is not looked for before somebody wants it.
  Result<void> open_ucx(uint64_t connection, const Frame& frame) {
    FOREBAY_TRY(const auto address, data_wire::decode_address(frame.body));
    if (auto opened = try_open_ucx(connection, address); !opened) refuse(connection, 0, std::move(opened).error());
    return {};
  }

  Result<void> try_open_ucx(uint64_t connection, const data_wire::UcxAddress& address) {
    if (!allow_ucx) return fail(ErrorKind::unsupported, "the agent does not offer UCX");
    if (!ucx) {
      FOREBAY_TRY(ucx, UcxServer::create(exposures, hub));
    }
    return ucx->open(connection, address);
  }

  Result<void> read_by_ucx(uint64_t connection, const Frame& frame) {
    FOREBAY_TRY(data_wire::UcxRead request, data_wire::decode_ucx_read(frame.body));
    if (!ucx) return fail(ErrorKind::corrupt, "a request by UCX before there is a transport");
    const uint64_t number = request.read.number;
    if (auto begun = ucx->read(connection, std::move(request)); !begun)
      refuse(connection, number, std::move(begun).error());
    return {};
  }

  Exposures& exposures;
  Hub& hub;
  const bool allow_ucx;
  Bytes copied;  // kept: at most the header and the short pieces of one request
  std::shared_ptr<UcxServer> ucx;
};

TransportServer::TransportServer(Exposures& exposures, Hub& hub, bool ucx)
    : impl_(new Impl{exposures, hub, ucx, {}, {}}) {}
TransportServer::~TransportServer() = default;

bool TransportServer::handles(uint8_t type) { return type >= data_wire::kFirstType && type <= data_wire::kLastType; }

Result<void> TransportServer::received(uint64_t connection, const Frame& frame) {
  switch (static_cast<Type>(frame.type)) {
    case Type::read:
      return impl_->read(connection, frame);
    case Type::check:
      return impl_->check(connection, frame);
    case Type::ucx_open:
      return impl_->open_ucx(connection, frame);
    case Type::ucx_read:
      return impl_->read_by_ucx(connection, frame);
    default:
      return fail(ErrorKind::corrupt, "a message that an agent does not understand");
  }
}

void TransportServer::disconnected(uint64_t connection) {
  if (impl_->ucx) impl_->ucx->disconnected(connection);
}

}  // namespace forebay::fabric

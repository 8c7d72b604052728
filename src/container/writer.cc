#include <algorithm>
#include <cerrno>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/checksum.h"
#include "container/container.h"
#include "container/format.h"
#include "container/index_codec.h"

namespace forebay::container {

namespace {

// A file that is written front to back.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  Result<void> create() {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd_ < 0 ? fail_errno(errno, "create", path_) : Result<void>();
  }

  template <size_t N>
  Result<void> write(std::array<std::span<const std::byte>, N> parts) {
    std::array<iovec, N> vectors;
    for (size_t i = 0; i < N; ++i) vectors[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
    std::span<iovec> rest(vectors);
    while (true) {
      while (!rest.empty() && rest.front().iov_len == 0) rest = rest.subspan(1);
      if (rest.empty()) return {};
      const ssize_t written = ::writev(fd_, rest.data(), static_cast<int>(rest.size()));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno(errno, "write", path_);
      advance(rest, static_cast<size_t>(written));
      start_writeback();
    }
  }

  Result<void> sync_and_close() {
    if (::fsync(fd_) != 0) return fail_errno(errno, "fsync", path_);
    const int status = ::close(std::exchange(fd_, -1));
    return status != 0 ? fail_errno(errno, "close", path_) : Result<void>();
  }

  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  // Sends what was written on its way to the disk, so that fsync() at the end has little left to wait for. It is only a
  // hint: a failure shows at fsync().
  void start_writeback() {
    constexpr uint64_t kBatch = 8 << 20;
    if (size_ - sent_ < kBatch) return;
    (void)::sync_file_range(fd_, static_cast<off_t>(sent_), static_cast<off_t>(size_ - sent_), SYNC_FILE_RANGE_WRITE);
    sent_ = size_;
  }

  void advance(std::span<iovec> rest, size_t written) {
    size_ += written;
    for (iovec& vector : rest) {
      const size_t part = std::min(written, vector.iov_len);
      vector.iov_base = static_cast<std::byte*>(vector.iov_base) + part;
      vector.iov_len -= part;
      written -= part;
    }
  }

  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0, sent_ = 0;
};

std::unexpected<Error> misuse(std::string what) { return fail(ErrorKind::invalid_argument, std::move(what)); }

constexpr uint32_t kMaxFrames = 1u << 26;

}  // namespace

struct Writer::State {
  using Part = std::span<const std::byte>;

  explicit State(std::string path) : file(std::move(path)) {}

  auto record_header(RecordType type, std::span<const std::byte> meta, uint64_t payload_bytes,
                     uint64_t payload_hash) const {
    return encode(RecordHeader{.container_id = container_id,
                               .type = type,
                               .flags = kRequired,
                               .meta_bytes = static_cast<uint32_t>(meta.size()),
                               .payload_bytes = payload_bytes,
                               .meta_hash = hash64(meta),
                               .payload_hash = payload_hash});
  }

  Result<void> write_head(const Catalogue& catalogue, const PlanSpec& plan) {
    FOREBAY_TRY(catalogue_bytes, encode_catalogue(catalogue, plan));
    facts = facts_of(catalogue);
    file_count = catalogue.files.size();
    container_id = hash64(catalogue_bytes);
    FOREBAY_CHECK(file.create());
    const auto file_header = encode_file_header();
    const auto header = record_header(RecordType::head, {}, catalogue_bytes.size(), container_id);
    return file.write(std::array<Part, 3>{Part(file_header), Part(header), Part(catalogue_bytes)});
  }

  // Whether `number` is new; makes room for it.
  Result<void> claim(uint32_t number) {
    if (number >= kMaxFrames) return misuse(fmt::format("frame number {} is too large", number));
    if (number >= given.size()) {
      given.resize(number + 1);
      index.frames.resize(number + 1);
    }
    if (given[number]) return misuse(fmt::format("frame {} is given twice", number));
    given[number] = true;
    return {};
  }

  uint32_t intern_chain(const std::string& chain) {
    const auto [it, is_new] = chain_numbers.try_emplace(chain, static_cast<uint32_t>(index.chains.size()));
    if (is_new) index.chains.push_back(chain);
    return it->second;
  }

  Result<void> append(const FrameRecord& frame) {
    if (frame.recipe.size() > kMaxRecipeBytes || frame.chain.size() > kMaxChainBytes ||
        frame.references.size() > kMaxReferences)
      return misuse(fmt::format("frame {} has too long a description", frame.number));
    if (frame.lossy && !frame.lossy->is_valid())
      return misuse(fmt::format("frame {} has an impossible error bound", frame.number));
    FOREBAY_CHECK(claim(frame.number));
    const Bytes meta = encode(FrameMeta{.number = frame.number,
                                        .raw_bytes = frame.raw_bytes,
                                        .raw_hash = frame.raw_hash,
                                        .references = frame.references,
                                        .recipe = frame.recipe,
                                        .chain = frame.chain});
    FrameEntry& entry = index.frames[frame.number];
    entry = {.record_offset = file.size(),
             .raw_bytes = frame.raw_bytes,
             .encoded_bytes = frame.payload.size(),
             .raw_hash = frame.raw_hash,
             .encoded_hash = hash64(frame.payload),
             .chain = intern_chain(frame.chain),
             .references = frame.references,
             .lossy = frame.lossy};
    const auto header = record_header(RecordType::frame, meta, frame.payload.size(), entry.encoded_hash);
    return file.write(std::array<Part, 3>{Part(header), Part(meta), Part(frame.payload)});
  }

  Result<void> skip(uint32_t number, uint64_t raw_bytes) {
    FOREBAY_CHECK(claim(number));
    index.frames[number] = {.raw_bytes = raw_bytes, .chain = intern_chain(""), .references = {}, .lossy = {}};
    return {};
  }

  Result<void> check_complete() const {
    if (const auto missing = std::ranges::find(given, false); missing != given.end())
      return misuse(fmt::format("frame {} is missing", missing - given.begin()));
    if (!index.file_crcs.empty() && index.file_crcs.size() != file_count)
      return misuse("the file checksums are not one per file");
    if (!index.characteristics.empty() && index.characteristics.size() != facts.size())
      return misuse("the characteristics are not one per variable");
    for (const FrameEntry& frame : index.frames)
      for (const uint32_t reference : frame.references)
        if (reference >= index.frames.size() || &index.frames[reference] == &frame)
          return misuse(fmt::format("a frame refers to frame {}, which it cannot", reference));
    return {};
  }

  Result<void> finish() {
    FOREBAY_CHECK(check_complete());
    FOREBAY_TRY(const Bytes contents, encode_contents(index, facts));
    std::array<std::byte, kIndexMetaBytes> meta;
    store_le<uint64_t>(meta.data(), catalogue_bytes.size());
    store_le<uint64_t>(meta.data() + 8, contents.size());
    Bytes payload = std::move(catalogue_bytes);
    payload.insert(payload.end(), contents.begin(), contents.end());
    const auto header = record_header(RecordType::index, meta, payload.size(), hash64(payload));
    const uint64_t index_bytes = header.size() + meta.size() + payload.size();
    const auto trailer = encode(Trailer{.container_id = container_id,
                                        .index_offset = file.size(),
                                        .index_bytes = index_bytes,
                                        .index_hash = header_hash(header),
                                        .file_bytes = file.size() + index_bytes + kTrailerBytes});
    FOREBAY_CHECK(file.write(std::array<Part, 4>{Part(header), Part(meta), Part(payload), Part(trailer)}));
    return file.sync_and_close();
  }

  // Runs `step` unless an earlier one failed; remembers its error, with the path.
  template <class Step>
  Result<void> run(Step step) {
    if (error) return std::unexpected(*error);
    Result<void> result = step();
    if (!result) {
      if (result.error().path.empty()) result.error().path = file.path();
      error = result.error();
    }
    return result;
  }

  OutputFile file;
  uint64_t container_id = 0;
  Bytes catalogue_bytes;
  std::vector<VariableFacts> facts;
  size_t file_count = 0;
  Index index;  // but the catalogue and the plan
  std::vector<bool> given;
  std::unordered_map<std::string, uint32_t> chain_numbers;
  std::optional<Error> error;
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::create(std::string path, const Catalogue& catalogue, const PlanSpec& plan) {
  if (const auto valid = catalogue.validate(); !valid)
    return fail(ErrorKind::invalid_argument, valid.error().what, std::move(path));
  auto state = std::make_unique<State>(std::move(path));
  FOREBAY_CHECK(state->run([&] { return state->write_head(catalogue, plan); }));
  return std::unique_ptr<Writer>(new Writer(std::move(state)));
}

Result<void> Writer::append(const FrameRecord& frame) {
  return state_->run([&] { return state_->append(frame); });
}

Result<void> Writer::skip(uint32_t number, uint64_t raw_bytes) {
  return state_->run([&] { return state_->skip(number, raw_bytes); });
}

Result<void> Writer::finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) {
  state_->index.file_crcs = std::move(file_crcs);
  state_->index.characteristics = std::move(characteristics);
  return state_->run([&] { return state_->finish(); });
}

uint64_t Writer::bytes_written() const { return state_->file.size(); }

}  // namespace forebay::container

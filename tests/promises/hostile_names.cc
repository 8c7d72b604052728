// hostile_names SET OLD NEW [OLD NEW]...: gives files in the containers of a set other names, allowed or not, and makes
// every checksum of the containers and of the manifest right again. hostile_names SET --variables COUNT: their indices
// claim so many variables, in a column that takes no bytes. For confinement.py.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>

#include "base/checksum.h"
#include "container/column.h"
#include "container/container.h"
#include "container/format.h"
#include "container/index_codec.h"
#include "store/store.h"

namespace {

using namespace forebay;
using Names = std::map<std::string, std::string>;

template <class T>
T value(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message());
  return std::move(*result);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Rewriter {
 public:
  explicit Rewriter(const std::string& path) : path_(path) {
    reader_ = value(container::Reader::open(value(FileSource::open(path)), uint64_t{1} << 30));
  }

  void run(const Names& names) {
    Catalogue catalogue = reader_->index().catalogue;
    for (FileRow& file : catalogue.files)
      if (const auto found = names.find(file.name); found != names.end()) file.name = found->second;
    const auto claimed = names.find("--variables");
    write(claimed == names.end() ? value(container::encode_catalogue(catalogue, reader_->index().plan))
                                 : claim(std::stoull(claimed->second)));
  }

 private:
  static Bytes claim(uint64_t variables) {
    container::ColumnWriter out;
    const auto paths = container::fb::CreateColumn(out.builder(), variables);
    container::fb::CatalogueBuilder table(out.builder());
    table.add_variable_paths(paths);
    return value(out.finish(table.Finish()));
  }

  void write(const Bytes& head) {
    id_ = hash64(head);
    put(container::encode_file_header());
    put_record(container::RecordType::head, {}, head);
    container::Index index = reader_->index();
    for (uint32_t number = 0; number < index.frames.size(); ++number)
      index.frames[number].record_offset = put_frame(number);
    put_index(index, head);
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << out_;
  }

  void put(std::span<const std::byte> bytes) { out_ += as_text(bytes); }

  uint64_t put_record(container::RecordType type, std::span<const std::byte> meta, std::span<const std::byte> payload) {
    const auto front = container::encode_front(type, id_, meta, payload.size(), hash64(payload));
    put(front.bytes);
    put(payload);
    return front.hash;
  }

  uint64_t put_frame(uint32_t number) {
    const container::FrameEntry& entry = reader_->index().frames[number];
    const auto frame = value(reader_->read(number));
    const Bytes meta = container::encode(container::FrameMeta{.number = number,
                                                              .raw_bytes = entry.raw_bytes,
                                                              .raw_hash = entry.raw_hash,
                                                              .references = entry.references,
                                                              .recipe = frame.recipe,
                                                              .chain = reader_->index().chains[entry.chain]});
    const uint64_t offset = out_.size();
    put_record(container::RecordType::frame, meta, frame.payload);
    return offset;
  }

  void put_index(const container::Index& index, Bytes payload) {
    const Bytes contents = value(container::encode_contents(index, container::facts_of(index.catalogue)));
    Bytes meta(container::kIndexMetaBytes);
    store_le<uint64_t>(meta.data(), payload.size());
    store_le<uint64_t>(meta.data() + 8, contents.size());
    payload.resize((payload.size() + 7) / 8 * 8);
    payload.insert(payload.end(), contents.begin(), contents.end());
    payload.resize((payload.size() + 7) / 8 * 8);
    const uint64_t offset = out_.size();
    const uint64_t hash = put_record(container::RecordType::index, meta, payload);
    put(container::encode(container::Trailer{.container_id = id_,
                                             .last = {offset, out_.size() - offset, hash},
                                             .file_bytes = out_.size() + container::kTrailerBytes}));
  }

  const std::string path_;
  std::unique_ptr<container::Reader> reader_;
  std::string out_;
  uint64_t id_ = 0;
};

void rename_in_set(const std::string& set, const Names& names) {
  const std::string manifest_path = set + "/manifest";
  store::Manifest manifest = value(store::parse_manifest(read_file(manifest_path), manifest_path));
  for (store::ContainerEntry& entry : manifest.containers) {
    const std::string path = set + "/" + entry.name;
    Rewriter(path).run(names);
    const auto written = value(FileSource::open(path));
    entry.bytes = written->size();
    entry.tail_hash = value(store::tail_hash(*written));
  }
  std::ofstream(manifest_path, std::ios::binary | std::ios::trunc) << store::serialise(manifest);
}

}  // namespace

int main(int count, char** words) {
  if (count < 4 || count % 2 != 0) return 2;
  try {
    Names names;
    for (int i = 2; i + 1 < count; i += 2) names[words[i]] = words[i + 1];
    rename_in_set(words[1], names);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostile_names: %s\n", error.what());
    return 1;
  }
  return 0;
}

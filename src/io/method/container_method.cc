#include "io/method/container_method.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "io/file/file_reader.h"
#include "io/method/agreement.h"
#include "io/method/joined.h"
#include "io/method/own_part.h"
#include "io/method/subfiles.h"

namespace forebay::io {
namespace {

std::string last_component(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Of a path that others refer to: below the directory of the file NAME. A file that is replaced and the one that
// replaces it have subfiles of different names, of two generations in turn: until NAME itself is replaced, it lists
// what is there.
std::string subfile_name(const std::string& path, uint32_t number, uint32_t generation) {
  const std::string name = last_component(path) + ".dir/" + last_component(path) + "." + std::to_string(number);
  return generation == 0 ? name : name + ".1";
}

std::string directory_of(const std::string& path) { return path.substr(0, path.size() - last_component(path).size()); }

struct Generation {
  uint32_t number = 0;
  bool has_other = false;  // a writer that died left subfiles of the other one
};

// Of the subfiles that the file at `path` lists. Fails if that cannot be read, and there are some of both generations
// or of none.
Outcome<Generation> find_generation(const std::string& path) {
  const auto is_there = [&](uint32_t generation) {
    return access((directory_of(path) + subfile_name(path, 0, generation)).c_str(), F_OK) == 0;
  };
  const bool first = is_there(0), second = is_there(1);
  if (first != second || access(path.c_str(), F_OK) != 0) return Generation{second && !first ? 1u : 0u, false};
  constexpr uint64_t kMostBytes = uint64_t{4} << 30;
  FOREBAY_TRY(const auto reader, FileReader::open(path, kMostBytes));
  const bool is_second = std::ranges::any_of(reader->listing().files, [&](const ListedFile& file) {
    const size_t stem = subfile_name(path, 0, 0).size() - 1;  // without its number
    return file.name.size() > stem && file.name.find('.', stem) != std::string::npos;
  });
  return Generation{is_second ? 1u : 0u, first && second};
}

// Whether it was not there.
Result<bool> make_directory(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  return fail_errno(errno, "mkdir", path);
}

class ContainerFile final : public OpenFile {
 public:
  ContainerFile(const OpenRequest& request, const ContainerLayout& layout)
      : ranks_(request.communicator), group_(*request.group), layout_(layout), path_(request.path) {}

  // Without a close, a directory that was made for them goes with the files that nobody has written into.
  ~ContainerFile() override {
    if (is_closed_ || !has_made_directory_) return;
    sub_.reset();
    rmdir((path_ + ".dir").c_str());
  }

  const Standing& standing() const override { return standing_; }

  Outcome<void> open(OpenMode mode, bool is_alone) {
    mode_ = mode;
    files_ = is_alone ? 0 : std::min(layout_.subfiles(ranks_->size()), ranks_->size());
    if (files_ == 0) {
      FOREBAY_TRY(sub_, SharedFile::open(path_, mode, ranks_, layout_.fill));
      standing_ = sub_->standing();
      if (mode == OpenMode::write && is_first()) replaced_ = find_subfiles(path_);
      return {};
    }
    FOREBAY_CHECK(open_top(mode));
    FOREBAY_CHECK(share_out(files_));
    if (is_first() && generation_.has_other) remove_other(number_);
    // A file that is not there yet has no last step that could get more; one that no other lists has nothing to keep.
    OpenMode sub_mode = mode == OpenMode::update ? OpenMode::append : mode;
    if (layout_.has_top_file && standing_.steps == 0) sub_mode = OpenMode::write;
    FillSettings fill = layout_.fill;
    fill.is_subfile = true;
    Outcome<std::unique_ptr<SharedFile>> opened = SharedFile::open(
        directory_of(path_) + subfile_name(path_, number_, generation_.number), sub_mode, sharing_, fill);
    if (opened) sub_ = std::move(*opened);
    if (opened && !layout_.has_top_file) standing_ = sub_->standing();
    return agree(*ranks_, opened ? Outcome<void>{} : std::unexpected(opened.error()));
  }

  void announce(uint64_t bytes) override { sub_->announce(bytes); }
  uint64_t room() override { return has_joined(group_) ? 0 : sub_->room(); }

  Outcome<void> spill(const ProcessGroup& group) override {
    if (has_joined(group_))
      return refuse(Code::buffer_overflow, "a group with joined arrays must fit into the buffer", "raise its limit");
    Outcome<void> spilled = sub_->spill(as_this_rank_says_it(group));
    if (spilled) has_said_attributes_ = true;
    if (spilled_ && !spilled) spilled_ = spilled;
    return spilled;
  }

  Outcome<void> close(std::span<ProcessGroup> groups) override {
    is_closed_ = true;
    FOREBAY_CHECK(join_blocks(*ranks_, group_, groups));
    for (ProcessGroup& group : groups)
      if (!says_attributes()) group.attributes.clear();
    Listing listing;
    Outcome<void> own = sub_->fill(groups, listing);
    if (own) own = spilled_;
    Verdict verdict = Verdict::incomplete;
    while (true) {
      FOREBAY_TRY(verdict, bring_together(own, std::move(listing)));
      if (verdict != Verdict::incomplete) break;
      listing = {};
      Outcome<void> behind = sub_->fill_behind_slots(listing);
      if (own) own = std::move(behind);
    }
    if (verdict == Verdict::well && !commits_late()) {
      remove_replaced();
      return {};
    }
    const Outcome<void> filled = agree(*ranks_, own);
    if (commits_late() && is_first()) committed_ = sub_->commit(std::move(of_file_), filled.has_value());
    const Outcome<void> committed = agree(*ranks_, committed_);
    if (filled && committed) remove_replaced();
    return filled ? committed : with_place(filled.error(), committed.has_value());
  }

 private:
  // Who has which subfile. Where each rank has its own, there is nothing to talk about.
  Outcome<void> share_out(uint32_t files) {
    number_ = layout_.colour.value_or(static_cast<uint32_t>(uint64_t{ranks_->rank()} * files / ranks_->size()));
    if (files == ranks_->size() && !layout_.colour) {
      sharing_ = single_process();
      leaders_ = ranks_;
      return {};
    }
    FOREBAY_TRY(sharing_, ranks_->split(number_, ranks_->rank()));
    FOREBAY_TRY(leaders_, ranks_->split(sharing_->rank() == 0 ? 0 : 1, ranks_->rank()));
    return {};
  }

  // Rank 0 alone makes the directory and has the file that lists what is in it; all know where that stands.
  Outcome<void> open_top(OpenMode mode) {
    Outcome<Bytes> begun;
    if (ranks_->rank() == 0) begun = begin_top(mode);
    FOREBAY_TRY(const Bytes message, tell(*ranks_, begun, 0));
    Top top;
    std::memcpy(&top, message.data(), std::min(message.size(), sizeof top));
    standing_ = top.standing;
    generation_ = top.generation;
    has_made_directory_ = top.has_made_directory;
    if (top.targets > 0) files_ = std::min(top.targets, ranks_->size());
    return {};
  }

  struct Top {
    Standing standing;
    Generation generation;
    bool has_made_directory = false;
    uint32_t targets = 0;  // 0: unknown
  };

  Outcome<Bytes> begin_top(OpenMode mode) {
    Top top;
    if (layout_.has_top_file) FOREBAY_CHECK(begin_top_file(mode, top));
    FOREBAY_TRY(top.has_made_directory, make_directory(path_ + ".dir"));
    if (layout_.targets) top.targets = layout_.targets(path_ + ".dir").value_or(0);
    const auto bytes = std::as_bytes(std::span(&top, 1));
    return Bytes(bytes.begin(), bytes.end());
  }

  Outcome<void> begin_top_file(OpenMode mode, Top& top) {
    FOREBAY_TRY(top_, SharedFile::open(path_, mode, single_process(), layout_.fill));
    top.standing = top_->standing();
    const Outcome<Generation> generation = find_generation(path_);
    // What is replaced need not be one of these files, nor whole.
    if (!generation && mode != OpenMode::write) return std::unexpected(generation.error());
    const bool replaces = mode == OpenMode::write && access(path_.c_str(), F_OK) == 0;
    if (generation) top.generation = replaces ? Generation{1 - generation->number, false} : *generation;
    return {};
  }

  // What becomes of a close once the first rank knows of all.
  enum class Verdict : uint8_t { well, failed, incomplete };  // incomplete: something did not fit into its slot

  // What was written goes up a tree to the ranks that make it visible, with what failed and what is left, and the
  // verdict comes back: two rounds of messages. An error only where a rank is gone, since the others could wait for
  // each other for ever; what else fails at this rank becomes `own`, or committed_.
  Outcome<Verdict> bring_together(Outcome<void>& own, Listing listing) {
    Reports reports{.has_failed = !own, .has_left = sub_->has_left()};
    FOREBAY_CHECK(bring(sharing_ ? *sharing_ : *ranks_, listing, reports, own));
    Bytes verdict(1);
    if (is_first()) {
      FOREBAY_TRY(const Verdict known, lead(std::move(listing), reports, own));
      verdict[0] = static_cast<std::byte>(known);
    }
    FOREBAY_CHECK(ranks_->broadcast(verdict, 0));
    return verdict.size() == 1 ? static_cast<Verdict>(verdict[0]) : Verdict::failed;
  }

  static Outcome<void> bring(Communicator& ranks, Listing& listing, Reports& reports, Outcome<void>& own) {
    Outcome<void> brought = collect(ranks, listing, reports);
    if (!brought && brought.error().error.kind == ErrorKind::disconnected) return brought;
    if (own && !brought) own = std::move(brought);
    return {};
  }

  // Of those that lead the ranks of a file, which they make visible when nothing of it is left. What rank 0 returns
  // counts.
  Outcome<Verdict> lead(Listing listing, const Reports& of_ranks, Outcome<void>& own) {
    of_file_.merge(std::move(listing));
    has_failed_ = has_failed_ || of_ranks.has_failed;
    if (!of_ranks.has_left && !is_committed_ && !commits_late()) {
      is_committed_ = true;
      committed_ = sub_->commit(has_top() ? of_file_ : std::move(of_file_), has_top() || !has_failed_);
    }
    Reports reports{.has_failed = has_failed_ || !committed_, .has_left = of_ranks.has_left};
    if (files_ > 0) {
      Listing for_top;
      if (has_top() && is_committed_ && committed_) for_top = of_file_;
      for_top.rename(subfile_name(path_, number_, generation_.number));
      FOREBAY_CHECK(bring(*leaders_, for_top, reports, own));
      if (top_ && !reports.has_left) {
        const Outcome<void> listed = top_->commit(std::move(for_top), !reports.has_failed);
        if (committed_) committed_ = listed;
      }
    }
    if (reports.has_left) return Verdict::incomplete;
    return reports.has_failed || !committed_ ? Verdict::failed : Verdict::well;
  }

  // Files that no other one lists: each gets its name only if all are whole.
  bool commits_late() const { return files_ > 0 && !layout_.has_top_file; }

  // The failure of a step of a new file, with the place where the rest is if it was made visible.
  std::unexpected<Failure> with_place(Failure failure, bool is_committed) const {
    if (is_committed && (mode_ == OpenMode::write || standing_.steps == 0)) {
      std::string& hint = failure.error.hint;
      hint += hint.empty() ? "what the other ranks wrote is in " : "; what the other ranks wrote is in ";
      hint += sharing_ && !has_top() ? path_ + ".dir" : path_ + ".part";
    }
    return std::unexpected(std::move(failure));
  }

  bool has_top() const { return sharing_ && layout_.has_top_file; }

  bool remove(uint32_t number, uint32_t generation) const {
    const std::string path = directory_of(path_) + subfile_name(path_, number, generation);
    return check_own_file(path) && unlink(path.c_str()) == 0;
  }

  // Removes a subfile of the generation that is not in use.
  void remove_other(uint32_t number) const { remove(number, 1 - generation_.number); }

  // The subfiles of the file that was replaced; those that have no successor are found by number.
  void remove_replaced() const {
    if (mode_ != OpenMode::write || !is_first()) return;
    if (files_ == 0) remove_subfiles(path_, replaced_);
    if (!has_top()) return;
    remove_other(number_);
    if (ranks_->rank() != 0 || layout_.colour) return;
    for (uint32_t number = files_; remove(number, 0) || remove(number, 1); ++number) remove(number, 1);
  }

  // Of those that share the file: it makes steps visible, and says what the attributes are, which are the same at all.
  bool is_first() const { return sharing_ ? sharing_->rank() == 0 : ranks_->rank() == 0; }

  bool says_attributes() const { return is_first() && !has_said_attributes_; }

  ProcessGroup as_this_rank_says_it(ProcessGroup group) const {
    if (!says_attributes()) group.attributes.clear();
    return group;
  }

  std::shared_ptr<Communicator> ranks_, sharing_, leaders_;
  const GroupDefinition& group_;
  const ContainerLayout& layout_;
  std::string path_;
  OpenMode mode_ = OpenMode::write;
  uint32_t files_ = 0;                 // subfiles
  uint32_t number_ = 0;                // of the subfile
  Generation generation_;              // of all subfiles
  std::unique_ptr<SharedFile> top_;    // at rank 0, with subfiles
  std::unique_ptr<SharedFile> sub_;    // that this rank writes into
  std::vector<std::string> replaced_;  // at rank 0, without subfiles: those of what a new file is to replace
  Standing standing_;
  bool has_made_directory_ = false;  // the first rank has
  bool is_closed_ = false;
  bool has_said_attributes_ = false;  // of this step, in a process group that is written
  Outcome<void> spilled_;             // the first failure, which the close tells to all
  // Of the first rank of a file, while it is closed:
  Listing of_file_;
  bool has_failed_ = false, is_committed_ = false;
  Outcome<void> committed_;
};

// A file that is read by the ranks that wrote it.
class ReadFile final : public OpenFile {
 public:
  ReadFile(std::shared_ptr<Communicator> ranks, OwnPart part) : ranks_(std::move(ranks)), part_(std::move(part)) {}

  const Standing& standing() const override { return part_.standing(); }
  Outcome<void> read(std::string_view variable, std::span<std::byte> into) override {
    return part_.read(variable, into);
  }
  Outcome<void> close(std::span<ProcessGroup>) override { return {}; }

 private:
  std::shared_ptr<Communicator> ranks_;
  OwnPart part_;
};

class ContainerMethod final : public Method {
 public:
  explicit ContainerMethod(ContainerLayout layout) : layout_(std::move(layout)) {}

  // Where a rank has a file of its own, encoded values are written one after another.
  Traits traits() const override {
    return {.overflow = layout_.overflow,
            .can_read = layout_.can_read,
            .encodes_at_close = layout_.overflow != Overflow::spills};
  }

  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::read) {
      Outcome<OwnPart> part = OwnPart::open(request.path, request.communicator->rank());
      FOREBAY_CHECK(agree(*request.communicator, part ? Outcome<void>{} : std::unexpected(part.error())));
      return std::make_unique<ReadFile>(request.communicator, std::move(*part));
    }
    auto file = std::make_unique<ContainerFile>(request, layout_);
    FOREBAY_CHECK(file->open(request.mode, request.is_alone));
    return file;
  }

 private:
  ContainerLayout layout_;
};

}  // namespace

std::unique_ptr<Method> container_method(ContainerLayout layout) {
  return std::make_unique<ContainerMethod>(std::move(layout));
}

std::vector<std::string> container_parameters() {
  return {"num_aggregators",  "num_ost",     "have_metadata_file", "color",
          "aggregation_type", "threading",   "striping",           "stripe_count",
          "stripe_size",      "block_size",  "random_offset",      "osts_to_skip",
          "local-fs",         "merging_pgs", "chunk_size",         "max_storage_targets",
          "openers",          "sync"};
}

Outcome<FillSettings> fill_settings(const Parameters& parameters) {
  FillSettings settings;
  FOREBAY_TRY(const uint64_t stripe, parameters.number("stripe_size", settings.alignment));
  FOREBAY_TRY(settings.alignment, parameters.number("block_size", stripe));
  FOREBAY_TRY(const uint64_t openers, parameters.number("openers", settings.openers));
  FOREBAY_TRY(settings.is_durable, parameters.flag("sync", false));
  constexpr uint64_t kMostAlignment = uint64_t{1} << 40;
  if (settings.alignment == 0 || settings.alignment > kMostAlignment || openers == 0)
    return refuse(Code::invalid_argument, "parameters stripe_size, block_size and openers must be at least 1",
                  "leave them out for what is usual");
  settings.openers = static_cast<uint32_t>(std::min<uint64_t>(openers, UINT32_MAX));
  return settings;
}

}  // namespace forebay::io

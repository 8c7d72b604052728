// The files of one request, each opened (and compared with what was offered) once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "fabric/remote.h"

namespace forebay::fabric {

class RequestFiles {
 public:
  using Open = std::function<Result<std::shared_ptr<FileSource>>(uint32_t file)>;
  explicit RequestFiles(Open open) : open_(std::move(open)) {}

  // The piece's file. Errors of `open`; invalid_argument if the piece is not inside of it.
  Result<std::shared_ptr<FileSource>> of(const Piece& piece) {
    auto& file = files_[piece.file];
    if (!file) {
      FOREBAY_TRY(file, open_(piece.file));
    }
    if (piece.offset > file->size() || piece.length > file->size() - piece.offset)
      return fail(ErrorKind::invalid_argument, "a piece past the end", file->name(), piece.offset);
    return file;
  }

 private:
  Open open_;
  std::map<uint32_t, std::shared_ptr<FileSource>> files_;
};

}  // namespace forebay::fabric

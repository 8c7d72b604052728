// How a file becomes the layer's, and the MPI library's again.
#pragma once

#include "mpiio/mpi/file.h"

namespace forebay::lock::mpiio {

// Whether the layer has the file even while it is not atomic: because safe is asked for, or because the file is
// sequential, so that the library's pointer could neither be found out nor set.
inline bool keeps(const File& file, const Settings& settings) {
  return settings.nonatomic == Nonatomic::safe || file.sequential();
}

// Collective. Takes over position, view and shared pointer from the MPI library, if the layer does not have them
// already. On an error on any process all have one, and the library keeps the file.
MpiResult<void> take_over(File& file);

// Collective. Gives the pointers back; the view is the library's, too, all the time.
MpiResult<void> hand_back(File& file);

// The view that the layer makes of the arguments of MPI_File_set_view. `displacement` is not MPI_DISPLACEMENT_CURRENT.
MpiResult<FileView> make_view(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                              const std::string& representation);

}  // namespace forebay::lock::mpiio

// Datatypes of every combiner as filetypes and as types in memory, against what MPI_Pack and MPI_Unpack make of them;
// all kinds of access; holes stay as they were.
#include "access.h"
#include "types.h"

enum { kInstances = 3, kMemory = 1 << 15, kCollective = access_kinds - access_independent_kinds };

static char memory[kMemory], packed[kMemory], wanted[kMemory], image[kMemory];

static long span_of(MPI_Datatype type, int count, MPI_Aint* lowest) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  *lowest = true_lower;
  return (long)(extent * (count - 1) + true_lower + true_extent);
}

// `count` instances of a type through a contiguous view, or `count` instances of a filetype with contiguous memory.
static void one(int which, int in_file, int kind) {
  MPI_Datatype type = types_make(which);
  int size = 0;
  MPI_Aint lowest = 0;
  MPI_Type_size(type, &size);
  const int bytes = size * kInstances;
  const long span = span_of(type, kInstances, &lowest);
  const long base = 64;  // room for what lies below the beginning
  MPI_File file = check_open_new();
  MPI_Status status;
  for (int i = 0; i < kMemory; ++i) memory[i] = (char)(17 * i + which + kind + 1);
  if (in_file) {
    memset(wanted, '.', sizeof wanted);
    if (check_rank == 0) OK(MPI_File_write_at(file, 0, wanted, (int)(base + span + 8), MPI_BYTE, MPI_STATUS_IGNORE));
    access_unpack(memory, bytes, wanted + base, kInstances, type);
    check_publish(file, MPI_COMM_WORLD);
    OK(MPI_File_set_view(file, base, MPI_BYTE, type, "native", MPI_INFO_NULL));
    OK(access_write(file, kind, 0, memory, check_rank == 0 ? bytes : 0, MPI_BYTE, &status));
    EXPECT_EQ(check_count(&status, MPI_BYTE), check_rank == 0 ? bytes : 0);
    check_publish(file, MPI_COMM_WORLD);
    // From the middle of an instance, as much as there is.
    const int skipped = size / 2;
    memset(packed, 0, sizeof packed);
    OK(access_read(file, kind, skipped, packed, bytes - skipped, MPI_BYTE, &status));
    EXPECT_EQ(check_count(&status, MPI_BYTE), bytes - skipped);
    if (!EXPECT_SAME("what is read", packed, memory + skipped, bytes - skipped))
      fprintf(stderr, "  type %d, %s\n", which, access_names[kind]);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(check_load(check_path, image, sizeof image), base + span + 8);
    if (!EXPECT_SAME("the file", image, wanted, base + span + 8))
      fprintf(stderr, "  type %d, %s\n", which, access_names[kind]);
  } else {
    access_pack(memory + base, kInstances, type, packed, bytes);
    OK(access_write(file, kind, 5 + check_rank * bytes, memory + base, kInstances, type, &status));
    EXPECT_EQ(check_count(&status, type), kInstances);
    check_publish(file, MPI_COMM_WORLD);
    memset(image, 0, sizeof image);
    OK(access_read(file, kind, 5 + check_rank * bytes, image, bytes, MPI_BYTE, &status));
    if (!EXPECT_SAME("what memory gave", image, packed, bytes))
      fprintf(stderr, "  type %d, %s\n", which, access_names[kind]);
    memset(image, '.', sizeof image);
    memset(wanted, '.', sizeof wanted);
    access_unpack(packed, bytes, wanted + base, kInstances, type);
    OK(access_read(file, kind, 5 + check_rank * bytes, image + base, kInstances, type, &status));
    EXPECT_EQ(check_count(&status, type), kInstances);
    if (!EXPECT_SAME("what memory got", image, wanted, sizeof image))
      fprintf(stderr, "  type %d, %s\n", which, access_names[kind]);
    OK(MPI_File_close(&file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  if (argc < 3) {
    fprintf(stderr, "%s FILE file|memory [hard]\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int in_file = strcmp(argv[2], "file") == 0;
  const int hard = argc > 3 && strcmp(argv[3], "hard") == 0;
  for (int which = hard ? types_easy : 0; which < (hard ? types_count : types_easy); ++which)
    for (int kind = 0; kind < access_kinds; ++kind) {
      // Of the collective kinds one for each type, another for the next.
      if (kind >= access_independent_kinds && kind != access_independent_kinds + which % kCollective) continue;
      one(which, in_file, kind);
    }
  return check_end();
}

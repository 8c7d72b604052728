// Every function that takes a count, called once for writing and once for reading. Included with FORM(name) and count_t
// defined, for the forms with and without the suffix _c.

enum { FORM(kInts) = 8, FORM(kKinds) = 7 };

static void FORM(expect_count)(const MPI_Status* status, int count) {
  MPI_Count elements = -1;
  EXPECT_EQ(check_count(status, MPI_INT), count);
  OK(MPI_Get_elements_x(status, MPI_BYTE, &elements));
  EXPECT_EQ(elements, 4 * count);
}

static void FORM(expect_pointer)(MPI_File file, MPI_Offset wanted) {
  MPI_Offset position = -1;
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, wanted);
}

static int FORM(value)(int kind, int i) { return check_rank * 10000 + kind * 100 + i; }

// Each kind writes at an offset of its own, `kind` blocks from the start.
static void FORM(write_kind)(MPI_File file, int kind) {
  const count_t count = FORM(kInts);
  const MPI_Offset at = kind * FORM(kInts);
  int data[FORM(kInts)];
  MPI_Status status;
  MPI_Request request;
  for (int i = 0; i < FORM(kInts); ++i) data[i] = FORM(value)(kind, i);
  OK(MPI_File_seek(file, at, MPI_SEEK_SET));
  switch (kind) {
    case 0:
      OK(CALL(write_at)(file, at, data, count, MPI_INT, &status));
      break;
    case 1:
      OK(CALL(write_at_all)(file, at, data, count, MPI_INT, &status));
      break;
    case 2:
      OK(CALL(iwrite_at)(file, at, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    case 3:
      OK(CALL(iwrite_at_all)(file, at, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    case 4:
      OK(CALL(write_at_all_begin)(file, at, data, count, MPI_INT));
      OK(MPI_File_write_at_all_end(file, data, &status));
      break;
    case 5:
      OK(CALL(write)(file, data, count, MPI_INT, &status));
      break;
    case 6:
      OK(CALL(iwrite)(file, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
  }
  FORM(expect_count)(&status, FORM(kInts));
  FORM(expect_pointer)(file, kind < 5 ? at : at + FORM(kInts));
}

static void FORM(write_collective)(MPI_File file) {
  int data[FORM(kInts)];
  MPI_Status status;
  MPI_Request request;
  for (int i = 0; i < FORM(kInts); ++i) data[i] = FORM(value)(7, i);
  OK(MPI_File_seek(file, 7 * FORM(kInts), MPI_SEEK_SET));
  OK(CALL(write_all)(file, data, FORM(kInts), MPI_INT, &status));
  FORM(expect_count)(&status, FORM(kInts));
  for (int i = 0; i < FORM(kInts); ++i) data[i] = FORM(value)(8, i);
  OK(CALL(iwrite_all)(file, data, FORM(kInts), MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  FORM(expect_count)(&status, FORM(kInts));
  for (int i = 0; i < FORM(kInts); ++i) data[i] = FORM(value)(9, i);
  OK(CALL(write_all_begin)(file, data, FORM(kInts), MPI_INT));
  OK(MPI_File_write_all_end(file, data, &status));
  FORM(expect_count)(&status, FORM(kInts));
  FORM(expect_pointer)(file, 10 * FORM(kInts));
}

static void FORM(expect_values)(const int* data, const MPI_Status* status, int kind) {
  FORM(expect_count)(status, FORM(kInts));
  for (int i = 0; i < FORM(kInts); ++i) EXPECT_EQ(data[i], FORM(value)(kind, i));
}

// Way `way` of reading, of what kind `kind` wrote.
static void FORM(read_kind)(MPI_File file, int way, int kind) {
  const count_t count = FORM(kInts);
  const MPI_Offset at = kind * FORM(kInts);
  int data[FORM(kInts)];
  MPI_Status status;
  MPI_Request request;
  for (int i = 0; i < FORM(kInts); ++i) data[i] = -1;
  OK(MPI_File_seek(file, at, MPI_SEEK_SET));
  switch (way) {
    case 0:
      OK(CALL(read_at)(file, at, data, count, MPI_INT, &status));
      break;
    case 1:
      OK(CALL(read_at_all)(file, at, data, count, MPI_INT, &status));
      break;
    case 2:
      OK(CALL(iread_at)(file, at, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    case 3:
      OK(CALL(iread_at_all)(file, at, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    case 4:
      OK(CALL(read_at_all_begin)(file, at, data, count, MPI_INT));
      OK(MPI_File_read_at_all_end(file, data, &status));
      break;
    case 5:
      OK(CALL(read)(file, data, count, MPI_INT, &status));
      break;
    case 6:
      OK(CALL(iread)(file, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    case 7:
      OK(CALL(read_all)(file, data, count, MPI_INT, &status));
      break;
    case 8:
      OK(CALL(iread_all)(file, data, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    case 9:
      OK(CALL(read_all_begin)(file, data, count, MPI_INT));
      OK(MPI_File_read_all_end(file, data, &status));
      break;
  }
  FORM(expect_values)(data, &status, kind);
  FORM(expect_pointer)(file, way < 5 ? at : at + FORM(kInts));
}

// A contiguous view that all share. One after another, so that it is known what is where.
static void FORM(shared_calls)(MPI_File file) {
  int data[4], found[4];
  MPI_Status status;
  MPI_Request request;
  MPI_Offset position = -1;
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int i = 0; i < 4; ++i) data[i] = FORM(value)(20, i);
  OK(CALL(write_ordered)(file, data, 4, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 4);
  for (int i = 0; i < 4; ++i) data[i] = FORM(value)(21, i);
  OK(CALL(write_ordered_begin)(file, data, 4, MPI_INT));
  OK(MPI_File_write_ordered_end(file, data, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 4);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < check_ranks; ++turn) {
    for (int i = 0; i < 4; ++i) data[i] = FORM(value)(22, i);
    if (turn == check_rank) {
      OK(MPI_File_get_position_shared(file, &position));
      EXPECT_EQ(position, 8 * check_ranks + 8 * turn);
      OK(CALL(write_shared)(file, data, 4, MPI_INT, &status));
      EXPECT_EQ(check_count(&status, MPI_INT), 4);
      for (int i = 0; i < 4; ++i) data[i] = FORM(value)(23, i);
      OK(CALL(iwrite_shared)(file, data, 4, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      EXPECT_EQ(check_count(&status, MPI_INT), 4);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OK(MPI_File_sync(file));
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(CALL(read_ordered)(file, found, 4, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found[i], FORM(value)(20, i));
  OK(CALL(read_ordered_begin)(file, found, 4, MPI_INT));
  OK(MPI_File_read_ordered_end(file, found, &status));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(found[i], FORM(value)(21, i));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < check_ranks; ++turn) {
    if (turn == check_rank) {
      OK(CALL(read_shared)(file, found, 4, MPI_INT, &status));
      EXPECT_EQ(check_count(&status, MPI_INT), 4);
      for (int i = 0; i < 4; ++i) EXPECT_EQ(found[i], FORM(value)(22, i));
      OK(CALL(iread_shared)(file, found, 4, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      for (int i = 0; i < 4; ++i) EXPECT_EQ(found[i], FORM(value)(23, i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void FORM(data_calls)(MPI_File file) {
  MPI_Datatype blocks;
  OK(MPI_Type_vector(2, 4, 4 * check_ranks, MPI_INT, &blocks));
  MPI_Datatype tiled;
  OK(MPI_Type_create_resized(blocks, 0, 8 * 4 * check_ranks, &tiled));
  OK(MPI_Type_commit(&tiled));
  OK(MPI_File_set_view(file, 16 * check_rank, MPI_INT, tiled, "native", MPI_INFO_NULL));
  for (int kind = 0; kind < FORM(kKinds); ++kind) FORM(write_kind)(file, kind);
  FORM(write_collective)(file);
  for (int way = 0; way < 10; ++way) FORM(read_kind)(file, way, 9 - way);
  MPI_Type_free(&tiled);
  MPI_Type_free(&blocks);
  FORM(shared_calls)(file);
}

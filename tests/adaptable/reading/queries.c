/* Writes a file through adios.h and queries it through adios_query.h. Two steps, two variables of 6 x 8 in blocks of 2
 * x 4. */
#include <adios.h>
#include <adios_query.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
#define CHECK(condition)                                                                               \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      printf("line %d: %s (adios_errno %d: %s)\n", __LINE__, #condition, adios_errno, adios_errmsg()); \
      ++failures;                                                                                      \
    }                                                                                                  \
  } while (0)

enum { ROWS = 6, COLUMNS = 8 };
static double hot(int step, int i, int j) { return 100 * step + 10 * i + j; }
static int thin(int step, int i, int j) { return (i * COLUMNS + j + step) % 5; }

static void write_step(const char* path, int step) {
  int64_t fd;
  int i, j, row, column;
  CHECK(adios_open(&fd, "g", path, step ? "a" : "w", 0) == 0);
  for (row = 0; row < ROWS; row += 2)
    for (column = 0; column < COLUMNS; column += 4) {
      double t[8];
      int d[8];
      for (i = 0; i < 2; ++i)
        for (j = 0; j < 4; ++j) {
          t[4 * i + j] = hot(step, row + i, column + j);
          d[4 * i + j] = thin(step, row + i, column + j);
        }
      CHECK(adios_write(fd, "row", &row) == 0 && adios_write(fd, "column", &column) == 0);
      CHECK(adios_write(fd, "t", t) == 0 && adios_write(fd, "d", d) == 0);
    }
  CHECK(adios_close(fd) == 0);
}

static void declare(void) {
  int64_t group;
  CHECK(adios_init_noxml(0) == 0);
  CHECK(adios_declare_group(&group, "g", "", adios_stat_default) == 0);
  CHECK(adios_select_method(group, "POSIX", "", "") == 0);
  adios_define_var(group, "row", "", adios_integer, "", "", "");
  adios_define_var(group, "column", "", adios_integer, "", "", "");
  adios_define_var(group, "t", "", adios_double, "2,4", "6,8", "row,column");
  adios_define_var(group, "d", "", adios_integer, "2,4", "6,8", "row,column");
}

/* All hits of a query, `batch` at a time: how many there are; -1 on an error. Marks them. */
static int hits_of(ADIOS_QUERY* q, ADIOS_SELECTION* box, int step, uint64_t batch, char* marks) {
  int count = 0, status;
  memset(marks, 0, ROWS * COLUMNS);
  do {
    ADIOS_QUERY_RESULT* found = adios_query_evaluate(q, box, step, batch);
    uint64_t i;
    CHECK(found != NULL);
    if (!found) return -1;
    status = found->status;
    CHECK(found->npoints <= batch || batch == 0);
    if (found->nselections > 0) {
      ADIOS_SELECTION_POINTS_STRUCT* points = &found->selections->u.points;
      CHECK(found->nselections == 1 && found->selections->type == ADIOS_SELECTION_POINTS && points->ndim == 2);
      for (i = 0; i < points->npoints; ++i) ++marks[points->points[2 * i] * COLUMNS + points->points[2 * i + 1]];
      count += (int)points->npoints;
      adios_selection_delete(found->selections);
    }
    free(found);
  } while (status == ADIOS_QUERY_HAS_MORE_RESULTS);
  return status < 0 ? -1 : count;
}

static void test_points(ADIOS_FILE* f) {
  uint64_t start[] = {1, 0}, count[] = {4, 8};
  ADIOS_SELECTION* box = adios_selection_boundingbox(2, start, count);
  ADIOS_QUERY* a = adios_query_create(f, box, "t", ADIOS_GT, "22.5");
  ADIOS_QUERY* b = adios_query_create(f, box, "d", ADIOS_LTEQ, "1");
  ADIOS_QUERY* both = adios_query_combine(a, ADIOS_QUERY_OP_AND, b);
  ADIOS_QUERY* one = adios_query_combine(a, ADIOS_QUERY_OP_OR, b);
  char marks[ROWS * COLUMNS];
  int i, j, step, batch;
  CHECK(a && b && both && one && !strcmp(both->condition, "((t > 22.5) and (d <= 1))"));
  for (step = 0; step < 2; ++step)
    for (batch = 0; batch < 8; batch += 3) {
      int all = 0, any = 0;
      CHECK(hits_of(both, box, step, batch, marks) >= 0);
      for (i = 0; i < ROWS; ++i)
        for (j = 0; j < COLUMNS; ++j) {
          const int in = i >= 1 && i < 5, x = hot(step, i, j) > 22.5, y = thin(step, i, j) <= 1;
          CHECK(marks[i * COLUMNS + j] == (in && x && y));
          all += in && x && y;
          any += in && (x || y);
        }
      CHECK(adios_query_estimate(both, step) >= all);
      CHECK(hits_of(one, box, step, batch, marks) == any);
    }
  CHECK(both->rawDataSize == 32);
  adios_query_free(a);
  adios_query_free(b);
  adios_query_free(both);
  adios_query_free(one);
  adios_selection_delete(box);
}

/* Columns at different places, joined row by row, as in a table. */
static void test_columns(ADIOS_FILE* f) {
  uint64_t first[] = {0, 1}, second[] = {0, 6}, output[] = {0, 3}, count[] = {6, 1};
  ADIOS_SELECTION* c1 = adios_selection_boundingbox(2, first, count);
  ADIOS_SELECTION* c2 = adios_selection_boundingbox(2, second, count);
  ADIOS_SELECTION* c3 = adios_selection_boundingbox(2, output, count);
  ADIOS_QUERY* a = adios_query_create(f, c1, "t", ADIOS_GTEQ, "21");
  ADIOS_QUERY* b = adios_query_create(f, c2, "t", ADIOS_NE, "46");
  ADIOS_QUERY* q = adios_query_combine(a, ADIOS_QUERY_OP_AND, b);
  ADIOS_QUERY_RESULT* found = adios_query_evaluate(q, c3, 0, 0);
  double values[ROWS];
  int i;
  CHECK(found && found->status == ADIOS_QUERY_NO_MORE_RESULTS && found->npoints == 3);
  for (i = 0; i < ROWS; ++i) values[i] = -1;
  CHECK(adios_query_read_boundingbox(f, q, "t", 0, 1, found->selections, c3, values) == 0);
  for (i = 0; i < ROWS; ++i) CHECK(values[i] == (i >= 2 && i != 4 ? hot(0, i, 3) : -1));
  free(found->selections[0].u.points.points);
  free(found->selections);
  free(found);
  adios_query_free(a);
  adios_query_free(b);
  adios_query_free(q);
  adios_selection_delete(c1);
  adios_selection_delete(c2);
  adios_selection_delete(c3);
}

static void test_blocks(ADIOS_FILE* f) {
  ADIOS_QUERY* q = adios_query_create(f, NULL, "t", ADIOS_GT, "50");
  ADIOS_QUERY_RESULT* found;
  uint64_t start[] = {4, 0}, count[] = {2, 8};
  ADIOS_SELECTION* box = adios_selection_boundingbox(2, start, count);
  double values[2 * COLUMNS];
  int i;
  adios_query_set_method(q, ADIOS_QUERY_METHOD_MINMAX);
  found = adios_query_evaluate(q, NULL, 0, 1);
  CHECK(found && found->status == ADIOS_QUERY_HAS_MORE_RESULTS && found->nselections == 1);
  CHECK(found->selections[0].type == ADIOS_SELECTION_WRITEBLOCK && found->selections[0].u.block.index == 4);
  free(found->selections);
  free(found);
  found = adios_query_evaluate(q, NULL, 0, 10);
  CHECK(found && found->status == ADIOS_QUERY_NO_MORE_RESULTS && found->nselections == 1 &&
        found->selections[0].u.block.index == 5 && found->method_used == ADIOS_QUERY_METHOD_MINMAX);
  for (i = 0; i < 2 * COLUMNS; ++i) values[i] = -1;
  CHECK(adios_query_read_boundingbox(f, q, "t", 0, 1, found->selections, box, values) == 0);
  for (i = 0; i < 2 * COLUMNS; ++i) CHECK(values[i] == (i % COLUMNS < 4 ? -1 : hot(0, 4 + i / COLUMNS, i % COLUMNS)));
  free(found->selections);
  free(found);
  adios_selection_delete(box);
  adios_query_free(q);
}

static void test_one_block(ADIOS_FILE* f) {
  ADIOS_SELECTION* block = adios_selection_writeblock(3);
  ADIOS_QUERY* q = adios_query_create(f, block, "t", ADIOS_EQ, "36");
  char marks[ROWS * COLUMNS];
  CHECK(hits_of(q, NULL, 0, 0, marks) == 1 && marks[3 * COLUMNS + 6] == 1);
  CHECK(hits_of(q, block, 1, 0, marks) == 0);
  adios_query_free(q);
  adios_selection_delete(block);
}

static void test_errors(ADIOS_FILE* f) {
  uint64_t start[] = {0, 0}, small[] = {2, 2}, large[] = {7, 2}, origin[] = {0, 0};
  ADIOS_SELECTION* two = adios_selection_boundingbox(2, start, small);
  ADIOS_SELECTION* out = adios_selection_boundingbox(2, start, large);
  ADIOS_SELECTION* points = adios_selection_points(2, 1, origin);
  ADIOS_QUERY *q, *other, *both;
  ADIOS_QUERY_RESULT* found;
  ADIOS_AVAILABLE_QUERY_METHODS* methods = adios_available_query_methods();
  CHECK(methods && methods->nmethods == 3 && !strcmp(methods->name[0], "MINMAX"));
  adios_available_query_methods_free(methods);
  CHECK(adios_query_is_method_available(ADIOS_QUERY_METHOD_MINMAX) &&
        !adios_query_is_method_available(ADIOS_QUERY_METHOD_UNKNOWN));
  CHECK(adios_query_getOp("<=") == ADIOS_LTEQ && adios_query_getOp("!=") == ADIOS_NE);
  CHECK(!adios_query_create(f, NULL, "nothing", ADIOS_LT, "1") && adios_errno == err_invalid_varname);
  CHECK(!adios_query_create(f, NULL, "t", ADIOS_LT, "much") && adios_errno == err_invalid_query_value);
  CHECK(!adios_query_create(f, NULL, "t", ADIOS_LT, NULL) && adios_errno == err_invalid_query_value);
  CHECK(!adios_query_create(f, points, "t", ADIOS_LT, "1") && adios_errno == err_unsupported_selection);
  CHECK(!adios_query_create(NULL, NULL, "t", ADIOS_LT, "1") && adios_errno == err_invalid_file_pointer);
  q = adios_query_create(f, two, "t", ADIOS_LT, "1e300");
  CHECK(!adios_query_combine(q, ADIOS_QUERY_OP_AND, NULL) && adios_errno == err_incompatible_queries);
  found = adios_query_evaluate(q, two, 2, 0);
  CHECK(found && found->status == ADIOS_QUERY_RESULT_ERROR && adios_errno == err_invalid_timestep);
  free(found);
  CHECK(adios_query_estimate(q, -1) == -1 && adios_query_estimate(q, 0) == 4);
  found = adios_query_evaluate(q, out, 0, 0);
  CHECK(found && found->status == ADIOS_QUERY_RESULT_ERROR && adios_errno == err_out_of_bound);
  free(found);
  other = adios_query_create(f, NULL, "t", ADIOS_LT, "1");
  both = adios_query_combine(q, ADIOS_QUERY_OP_AND, other);
  found = adios_query_evaluate(both, two, 0, 0);
  CHECK(found && found->status == ADIOS_QUERY_RESULT_ERROR && adios_errno == err_incompatible_queries);
  free(found);
  adios_query_free(q);
  adios_query_free(other);
  adios_query_free(both);
  adios_query_free(NULL);
  adios_selection_delete(two);
  adios_selection_delete(out);
  adios_selection_delete(points);
}

int main(int argc, char** argv) {
  char path[4096];
  ADIOS_FILE* f;
  if (argc != 2) return 2;
  snprintf(path, sizeof path, "%s/queries.bp", argv[1]);
  adios_set_max_buffer_size(10);
  declare();
  write_step(path, 0);
  write_step(path, 1);
  adios_finalize(0);
  adios_read_init_method(ADIOS_READ_METHOD_BP, 0, "verbose=0");
  f = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  CHECK(f != NULL);
  if (f) {
    test_points(f);
    test_columns(f);
    test_blocks(f);
    test_one_block(f);
    test_errors(f);
    adios_read_close(f);
  }
  adios_read_finalize_method(ADIOS_READ_METHOD_BP);
  if (failures) printf("%d failures\n", failures);
  return failures != 0;
}

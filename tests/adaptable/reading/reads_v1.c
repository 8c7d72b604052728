/* Writes a file through adios.h and reads it through the first version of adios_read.h. Three steps of 4 x 6 in two
 * blocks. */
#define ADIOS_USE_READ_API_1
#include <adios.h>
#include <adios_read.h>
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

enum { ROWS = 4, COLUMNS = 6, STEPS = 3 };
static double value(int step, int row, int column) { return 1000 * step + 10 * row + column; }

static void write_steps(const char* path) {
  int64_t group, fd;
  int step, row, i;
  adios_init_noxml(0);
  adios_declare_group(&group, "g", "", adios_stat_default);
  adios_select_method(group, "POSIX", "", "");
  adios_define_var(group, "row", "", adios_integer, "", "", "");
  adios_define_var(group, "t", "", adios_double, "2,6", "4,6", "row,0");
  adios_define_var(group, "n", "", adios_integer, "", "", "");
  adios_define_attribute(group, "note", "t", adios_string, "hello", "");
  for (step = 0; step < STEPS; ++step) {
    CHECK(adios_open(&fd, "g", path, step ? "a" : "w", 0) == 0);
    for (row = 0; row < ROWS; row += 2) {
      double t[2 * COLUMNS];
      for (i = 0; i < 2 * COLUMNS; ++i) t[i] = value(step, row + i / COLUMNS, i % COLUMNS);
      CHECK(adios_write(fd, "row", &row) == 0 && adios_write(fd, "t", t) == 0);
    }
    if (step == 0) CHECK(adios_write(fd, "n", &(int){7}) == 0);
    CHECK(adios_close(fd) == 0);
  }
  adios_finalize(0);
}

static void test_inquiries(ADIOS_FILE* f, ADIOS_GROUP* g) {
  ADIOS_VARINFO* v = adios_inq_var(g, "t");
  enum ADIOS_DATATYPES type;
  int size;
  void* data;
  CHECK(f->groups_count == 1 && !strcmp(f->group_namelist[0], "g") && f->vars_count == 3 && f->ntimesteps == STEPS &&
        f->tidx_start == 1);
  CHECK(g->vars_count == 3 && !strcmp(g->var_namelist[1], "t") && g->attrs_count == 1 && g->fp == f);
  CHECK(v && v->varid == 1 && v->type == adios_double && v->ndim == 3 && v->timedim == 0 && v->dims[0] == STEPS &&
        v->dims[1] == ROWS && v->dims[2] == COLUMNS);
  CHECK(*(double*)v->gmin == 0 && *(double*)v->gmax == value(2, 3, 5) && *(double*)v->mins[1] == 1000);
  adios_free_varinfo(v);
  v = adios_inq_var_byid(g, 2);
  CHECK(v && v->ndim == 0 && v->timedim == -1 && *(int*)v->value == 7);
  adios_free_varinfo(v);
  CHECK(adios_get_attr(g, "t/note", &type, &size, &data) == 0 && type == adios_string && size == 6 &&
        !strcmp(data, "hello"));
  free(data);
  CHECK(adios_get_attr_byid(g, 0, &type, &size, &data) == 0);
  free(data);
  CHECK(!strcmp(adios_type_to_string(adios_double), "double") && adios_type_size(adios_integer, NULL) == 4);
}

static void test_values(ADIOS_GROUP* g) {
  uint64_t start[] = {1, 1, 2}, count[] = {2, 2, 3}, none[] = {0};
  double t[12];
  int n = 0, i;
  CHECK(adios_read_var(g, "t", start, count, t) == 12 * 8);
  for (i = 0; i < 12; ++i) CHECK(t[i] == value(1 + i / 6, 1 + i / 3 % 2, 2 + i % 3));
  CHECK(adios_read_var_byid(g, 2, none, none, &n) == 4 && n == 7);
  /* Block 3 is the second one of the second step. */
  CHECK(adios_read_local_var(g, "t", 3, start + 1, (uint64_t[]){1, 4}, t) == 4 * 8);
  for (i = 0; i < 4; ++i) CHECK(t[i] == value(1, 3, 2 + i));
}

static void test_errors(ADIOS_FILE* f, ADIOS_GROUP* g) {
  uint64_t start[] = {1, 1, 2}, much[] = {3, 1, 1}, wide[] = {1, 1, 5};
  double t[100];
  CHECK(!adios_fopen("/nowhere/x.bp", 0) && adios_errno == err_file_open_error);
  CHECK(!adios_gopen(f, "h") && adios_errno == err_invalid_group);
  CHECK(!adios_gopen_byid(f, 1) && !adios_inq_var(g, "x") && adios_errno == err_invalid_varname);
  CHECK(!adios_inq_var_byid(g, 3) && adios_errno == err_invalid_varid);
  CHECK(adios_read_var(g, "t", start, much, t) == err_out_of_bound);
  CHECK(adios_read_var(g, "t", start, wide, t) == err_out_of_bound);
  CHECK(adios_read_var(g, "x", start, much, t) == err_invalid_varname);
  CHECK(adios_read_var(g, "t", NULL, much, t) == err_invalid_argument);
  CHECK(adios_read_local_var(g, "t", 6, start, wide, t) == err_out_of_bound);
  CHECK(adios_get_attr_byid(g, 1, NULL, NULL, NULL) == err_invalid_attrid);
  CHECK(adios_read_var(NULL, "t", start, much, t) == err_invalid_group_struct);
  CHECK(adios_set_read_method(ADIOS_READ_METHOD_BP) == 0 && adios_set_read_method(ADIOS_READ_METHOD_DART) != 0);
}

int main(int argc, char** argv) {
  char path[4096];
  ADIOS_FILE* f;
  if (argc != 2) return 2;
  snprintf(path, sizeof path, "%s/first.bp", argv[1]);
  write_steps(path);
  adios_read_init(0);
  f = adios_fopen(path, 0);
  CHECK(f != NULL);
  if (f) {
    ADIOS_GROUP* g = adios_gopen(f, "g");
    CHECK(g != NULL);
    if (g) {
      test_inquiries(f, g);
      test_values(g);
      test_errors(f, g);
      CHECK(adios_gclose(g) == 0);
    }
    CHECK(adios_fclose(f) == 0);
  }
  adios_read_finalize();
  if (failures) printf("%d failures\n", failures);
  return failures != 0;
}

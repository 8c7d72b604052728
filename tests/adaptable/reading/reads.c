/* Writes files through adios.h and reads them through adios_read.h: what programs get, and the numbers of errors. */
#include <adios.h>
#include <adios_read.h>
#include <math.h>
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

enum { ROWS = 4, COLUMNS = 6 };
static double value(int step, int row, int column) { return 1000 * step + 10 * row + column; }

/* One step: "t" in two blocks of rows with a gap between them if `gap`, the scalar "n" in even steps only, "own" local.
 */
static void write_step(const char* path, int step, int gap) {
  int64_t fd;
  CHECK(adios_open(&fd, "g", path, step ? "a" : "w", 0) == 0);
  double rows[COLUMNS];
  int row;
  for (row = 0; row < ROWS; ++row) {
    int column, offset = row;
    if (gap && row == 2) continue;
    for (column = 0; column < COLUMNS; ++column) rows[column] = value(step, row, column);
    CHECK(adios_write(fd, "offset", &offset) == 0);
    CHECK(adios_write(fd, "dir/t", rows) == 0);
  }
  int n = 7 + step, own[3] = {step, step + 1, step + 2};
  if (step % 2 == 0) CHECK(adios_write(fd, "n", &n) == 0);
  CHECK(adios_write(fd, "own", own) == 0);
  CHECK(adios_write(fd, "title", "a title") == 0);
  CHECK(adios_close(fd) == 0);
}

static void declare(void) {
  int64_t group;
  CHECK(adios_init_noxml(0) == 0);
  CHECK(adios_declare_group(&group, "g", "", adios_stat_default) == 0);
  CHECK(adios_select_method(group, "POSIX", "", "") == 0);
  adios_define_var(group, "offset", "", adios_integer, "", "", "");
  adios_define_var(group, "t", "dir", adios_double, "1,6", "4,6", "offset,0");
  adios_define_var(group, "n", "", adios_integer, "", "", "");
  adios_define_var(group, "own", "", adios_integer, "3", "", "");
  adios_define_var(group, "title", "", adios_string, "", "", "");
  adios_define_attribute(group, "note", "/dir/t", adios_string, "hello", "");
  adios_define_attribute(group, "size", "", adios_integer, "", "n");
}

static void test_inquiries(const char* path) {
  ADIOS_FILE* f = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  CHECK(f != NULL);
  if (!f) return;
  CHECK(f->nvars == 5 && f->nattrs == 2 && f->last_step == 2 && f->current_step == 0 && !f->is_streaming);
  CHECK(!strcmp(f->var_namelist[0], "offset") && !strcmp(f->var_namelist[1], "dir/t"));
  ADIOS_VARINFO* v = adios_inq_var(f, "dir/t");
  CHECK(v && v->type == adios_double && v->ndim == 2 && v->dims[0] == 4 && v->dims[1] == 6 && v->nsteps == 3 &&
        v->global);
  CHECK(v->nblocks[0] == 4 && v->nblocks[1] == 3 && v->sum_nblocks == 11 && v->nattrs == 1);
  CHECK(adios_inq_var_stat(f, v, 1, 1) == 0);
  CHECK(*(double*)v->statistics->min == 0 && *(double*)v->statistics->max == value(2, 3, 5));
  CHECK(*(double*)v->statistics->steps->mins[1] == 1000 && *(double*)v->statistics->blocks->maxs[1] == value(0, 1, 5));
  CHECK(fabs(*v->statistics->steps->avgs[0] - 17.5) < 1e-9);
  CHECK(adios_inq_var_blockinfo(f, v) == 0);
  CHECK(v->blockinfo[6].start[0] == 3 && v->blockinfo[6].count[1] == 6 && v->blockinfo[6].time_index == 2);
  adios_free_varinfo(v);
  CHECK(f->nmeshes == 0 && !adios_inq_mesh_byid(f, 0) && adios_errno == err_mesh_missing);
  v = adios_inq_var(f, "n");
  CHECK(adios_inq_var_meshinfo(f, v) == 1);
  CHECK(v && v->nsteps == 2 && *(int*)v->value == 7);
  adios_free_varinfo(v);
  v = adios_inq_var(f, "title");
  CHECK(v && v->type == adios_string && !strcmp(v->value, "a title"));
  adios_free_varinfo(v);
  v = adios_inq_var(f, "own");
  CHECK(v && !v->global && v->dims[0] == 3);
  adios_free_varinfo(v);
  CHECK(adios_inq_var(f, "t") == NULL && adios_errno == err_invalid_varname);
  CHECK(adios_inq_var(f, "/dir/t") == NULL && adios_errno == err_invalid_varname);
  CHECK(adios_inq_var(f, NULL) == NULL && adios_errno == err_invalid_varname);
  CHECK(adios_inq_var_byid(f, 5) == NULL && adios_errno == err_invalid_varid);
  CHECK(adios_inq_var_byid(NULL, 0) == NULL && adios_errno == err_invalid_file_pointer);
  CHECK(adios_inq_var_stat(f, NULL, 0, 0) == err_invalid_argument);
  enum ADIOS_DATATYPES type;
  int size;
  void* data;
  CHECK(adios_get_attr(f, "dir/t/note", &type, &size, &data) == 0 && type == adios_string && size == 6);
  CHECK(!strcmp(data, "hello"));
  free(data);
  CHECK(adios_get_attr(f, "/dir/t/note", &type, &size, &data) == 0);
  free(data);
  CHECK(adios_get_attr(f, "size", &type, &size, &data) == 0 && type == adios_integer && size == 4 && *(int*)data == 7);
  free(data);
  CHECK(adios_get_attr(f, "none", &type, &size, &data) == err_invalid_attrname);
  CHECK(adios_get_attr_byid(f, 9, &type, &size, &data) == err_invalid_attrid);
  char** groups;
  CHECK(adios_get_grouplist(f, &groups) == 1 && !strcmp(groups[0], "g"));
  CHECK(adios_group_view(f, 0) == 0 && f->nvars == 5);
  CHECK(adios_group_view(f, 1) == err_invalid_group);
  CHECK(adios_advance_step(f, 0, 0) == err_end_of_stream);
  CHECK(adios_read_close(f) == 0);
  CHECK(adios_read_close(NULL) == err_invalid_file_pointer);
}

static void test_values(const char* path) {
  ADIOS_FILE* f = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  if (!f) return;
  uint64_t start[2] = {1, 2}, count[2] = {2, 3}, points[4] = {3, 5, 0, 1};
  double out[24], two[2], plane[12];
  int i, n[2];
  ADIOS_SELECTION* box = adios_selection_boundingbox(2, start, count);
  start[0] = 99; /* was copied */
  for (i = 0; i < 12; ++i) plane[i] = -1;
  CHECK(adios_schedule_read(f, box, "dir/t", 0, 2, plane) == 0);
  adios_selection_delete(box); /* was copied, too */
  CHECK(adios_perform_reads(f, 1) == 0);
  CHECK(plane[0] == value(0, 1, 2) && plane[5] == value(0, 2, 4) && plane[6] == value(1, 1, 2));
  CHECK(plane[9] == -1); /* nobody wrote row 2 in step 1 */
  box = adios_selection_points(2, 2, points);
  CHECK(adios_schedule_read(f, box, "dir/t", 2, 1, two) == 0 && adios_perform_reads(f, 1) == 0);
  CHECK(two[0] == value(2, 3, 5) && two[1] == value(2, 0, 1));
  adios_selection_delete(box);
  CHECK(adios_schedule_read(f, NULL, "dir/t", 0, 1, out) == 0 && adios_perform_reads(f, 1) == 0);
  CHECK(out[23] == value(0, 3, 5));
  CHECK(adios_schedule_read(f, NULL, "n", 0, 2, n) == 0 && adios_perform_reads(f, 1) == 0);
  CHECK(n[0] == 7 && n[1] == 9); /* steps without it do not count */
  box = adios_selection_writeblock(2);
  CHECK(adios_schedule_read(f, box, "dir/t", 1, 1, out) == 0 && adios_perform_reads(f, 1) == 0);
  CHECK(out[0] == value(1, 3, 0) && out[5] == value(1, 3, 5));
  box->u.block.index = 3; /* not there */
  out[0] = -5;
  CHECK(adios_schedule_read(f, box, "dir/t", 1, 1, out) == 0 && adios_perform_reads(f, 1) == 0 && out[0] == -5);
  adios_selection_delete(box);
  start[0] = 3, start[1] = 0, count[0] = 2, count[1] = 6;
  box = adios_selection_boundingbox(2, start, count);
  CHECK(adios_schedule_read(f, box, "dir/t", 0, 1, out) == 0);
  CHECK(adios_perform_reads(f, 1) == 0 && adios_errno == err_out_of_bound && out[0] == -5);
  adios_selection_delete(box);
  CHECK(adios_schedule_read(f, NULL, "none", 0, 1, out) == err_invalid_varname);
  CHECK(adios_schedule_read(f, NULL, "dir/t", 2, 2, out) == err_invalid_timestep);
  CHECK(adios_schedule_read(f, NULL, "dir/t", -1, 1, out) == err_invalid_timestep);
  CHECK(adios_schedule_read_byid(f, NULL, 77, 0, 1, out) == err_invalid_varid);
  CHECK(adios_schedule_read(f, NULL, "dir/t", 0, 1, NULL) == 0 &&
        adios_perform_reads(f, 1) == err_operation_not_supported);
  /* chunks */
  start[0] = 0, start[1] = 1, count[0] = 3, count[1] = 2;
  box = adios_selection_boundingbox(2, start, count);
  ADIOS_VARCHUNK* chunk;
  CHECK(adios_schedule_read(f, box, "dir/t", 1, 1, NULL) == 0 && adios_perform_reads(f, 0) == 0);
  int chunks = 0;
  while (adios_check_reads(f, &chunk) == 1) {
    CHECK(chunk->sel->u.bb.start[0] == (uint64_t)chunks && chunk->sel->u.bb.count[1] == 2);
    CHECK(((double*)chunk->data)[1] == value(1, chunks, 2));
    adios_free_chunk(chunk);
    ++chunks;
  }
  CHECK(chunks == 2 && chunk == NULL);
  CHECK(adios_schedule_read(f, box, "dir/t", 0, 1, out) == 0 && adios_perform_reads(f, 0) == 0);
  CHECK(adios_check_reads(f, &chunk) == 1 && chunk->data == out && out[5] == value(0, 2, 2));
  adios_free_chunk(chunk);
  CHECK(adios_check_reads(f, &chunk) == 0);
  adios_selection_delete(box);
  CHECK(adios_perform_reads(NULL, 1) == err_invalid_file_pointer);
  CHECK(adios_check_reads(f, NULL) == err_invalid_argument);
  CHECK(adios_selection_boundingbox(2, NULL, count) == NULL && adios_errno == err_invalid_argument);
  box = adios_selection_auto("");
  CHECK(adios_schedule_read(f, box, "dir/t", 0, 1, out) == err_operation_not_supported);
  adios_selection_delete(box);
  adios_read_close(f);
}

static void test_stream(const char* path) {
  ADIOS_FILE* f = adios_read_open(path, ADIOS_READ_METHOD_BP, 0, ADIOS_LOCKMODE_NONE, 0);
  CHECK(f && f->is_streaming && f->current_step == 0 && f->last_step == 2 && f->nvars == 5);
  if (!f) return;
  CHECK(adios_advance_step(f, 0, 0) == 0 && f->current_step == 1 && f->nvars == 4);
  double out[24];
  CHECK(adios_schedule_read(f, NULL, "dir/t", 0, 1, out) == 0 && adios_perform_reads(f, 1) == 0 && out[0] == 1000);
  CHECK(adios_inq_var(f, "n") == NULL);
  CHECK(adios_advance_step(f, 1, 0) == err_step_notready || f->current_step == 2);
  CHECK(adios_advance_step(f, 0, 0) == err_step_notready);
  write_step(path, 3, 0); /* a writer goes on */
  CHECK(adios_advance_step(f, 0, 5) == 0 && f->current_step == 3 && f->last_step == 3);
  CHECK(adios_schedule_read(f, NULL, "dir/t", 0, 1, out) == 0 && adios_perform_reads(f, 1) == 0 && out[0] == 3000);
  adios_read_close(f);
}

/* One mesh that says what is needed, and three that lie. */
static void test_meshes(const char* path) {
  int64_t group, fd;
  int huge = 2000000000, two = 2, i, ny = 5;
  const int codes[] = {err_mesh_unifrom_invalid_dim, err_mesh_unifrom_invalid_dim, err_mesh_missing};
  CHECK(adios_declare_group(&group, "m", "", adios_stat_default) == 0);
  CHECK(adios_select_method(group, "POSIX", "", "") == 0);
  adios_define_var(group, "ny", "", adios_integer, "", "", "");
  adios_define_mesh_uniform("4,ny", "1,2", NULL, "7,6", "2", group, "amesh");
  adios_define_var_mesh(group, "ny", "amesh");
  adios_define_attribute(group, "type", "/adios_schema/huge", adios_string, "uniform", "");
  adios_define_attribute_byvalue(group, "dimensions-num", "/adios_schema/huge", adios_integer, 1, &huge);
  adios_define_attribute(group, "type", "/adios_schema/lacks", adios_string, "uniform", "");
  adios_define_attribute_byvalue(group, "dimensions-num", "/adios_schema/lacks", adios_integer, 1, &two);
  adios_define_attribute(group, "dimensions0", "/adios_schema/lacks", adios_string, "nothing", "");
  adios_define_attribute(group, "type", "/adios_schema/odd", adios_string, "round", "");
  CHECK(adios_open(&fd, "m", path, "w", 0) == 0 && adios_write(fd, "ny", &ny) == 0 && adios_close(fd) == 0);
  ADIOS_FILE* f = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  CHECK(f && f->nmeshes == 4 && !strcmp(f->mesh_namelist[0], "amesh"));
  if (!f) return;
  ADIOS_MESH* mesh = adios_inq_mesh_byid(f, 0);
  CHECK(mesh && mesh->type == ADIOS_MESH_UNIFORM && mesh->uniform->dimensions[1] == 5);
  CHECK(mesh->uniform->origins[0] == 1 && mesh->uniform->spacings[0] == 2 && mesh->uniform->spacings[1] == 1);
  CHECK(adios_complete_meshinfo(f, f, mesh) == 0);
  adios_free_meshinfo(mesh);
  for (i = 0; i < 3; ++i) CHECK(!adios_inq_mesh_byid(f, i + 1) && adios_errno == codes[i]);
  CHECK(!adios_inq_mesh_byid(f, 4) && adios_errno == err_mesh_missing && !adios_inq_mesh_byid(f, -1));
  ADIOS_VARINFO* v = adios_inq_var(f, "ny");
  CHECK(adios_inq_var_meshinfo(f, v) == 0 && v->meshinfo->meshid == 0 && v->meshinfo->centering == point);
  adios_free_varinfo(v);
  adios_read_close(f);
}

/* A variable whose only dimension is the time index has one value in each step, as in BP files. */
static void test_time_alone(const char* path) {
  int64_t group, fd;
  double v, both[2] = {0, 0};
  CHECK(adios_declare_group(&group, "series", "iter", adios_stat_default) == 0);
  CHECK(adios_select_method(group, "POSIX", "", "") == 0);
  adios_define_var(group, "energy", "", adios_double, "iter", "", "");
  for (v = 1; v <= 2; ++v)
    CHECK(adios_open(&fd, "series", path, v == 1 ? "w" : "a", 0) == 0 && adios_write(fd, "energy", &v) == 0 &&
          adios_close(fd) == 0);
  ADIOS_FILE* f = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  CHECK(f != NULL);
  if (!f) return;
  ADIOS_VARINFO* info = adios_inq_var(f, "energy");
  CHECK(info && info->ndim == 0 && info->nsteps == 2 && info->value && *(double*)info->value == 1);
  if (info) adios_free_varinfo(info);
  CHECK(adios_schedule_read(f, NULL, "energy", 0, 2, both) == 0 && adios_perform_reads(f, 1) == 0);
  CHECK(both[0] == 1 && both[1] == 2);
  adios_read_close(f);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  char path[4096], text[4200];
  snprintf(path, sizeof path, "%s/run.bp", argv[1]);
  declare();
  int step;
  for (step = 0; step < 3; ++step) write_step(path, step, step == 1);
  CHECK(adios_read_init_method(ADIOS_READ_METHOD_BP, 0, "verbose=0") == 0);
  CHECK(adios_read_init_method(ADIOS_READ_METHOD_FLEXPATH, 0, "") == err_invalid_read_method);
  test_inquiries(path);
  test_values(path);
  test_stream(path);
  snprintf(text, sizeof text, "%s/meshes.bp", argv[1]);
  test_meshes(text);
  snprintf(text, sizeof text, "%s/series.bp", argv[1]);
  test_time_alone(text);
  CHECK(adios_read_open_file("/nowhere/x", ADIOS_READ_METHOD_BP, 0) == NULL && adios_errno == err_file_open_error);
  CHECK(adios_read_open_file(NULL, ADIOS_READ_METHOD_BP, 0) == NULL && adios_errno == err_file_open_error);
  CHECK(adios_read_open("/nowhere/x", ADIOS_READ_METHOD_BP, 0, ADIOS_LOCKMODE_ALL, 0.1f) == NULL);
  snprintf(text, sizeof text, "%s/text", argv[1]);
  FILE* other = fopen(text, "w");
  fputs("no run", other);
  fclose(other);
  CHECK(adios_read_open_file(text, ADIOS_READ_METHOD_BP, 0) == NULL && adios_errno == err_invalid_file_version);
  CHECK(!strcmp(adios_type_to_string(adios_double), "double") && adios_type_size(adios_string, "abc") == 4);
  CHECK(adios_read_finalize_method(ADIOS_READ_METHOD_BP) == 0);
  CHECK(adios_finalize(0) == 0);
  if (failures) printf("%d failures\n", failures);
  return failures != 0;
}

/* A method of adaptable I/O, as a plug-in: TEXT, which writes what each rank has into a text file of its own,
 * NAME.RANK, for people to read. An example of forebay/forebay_method.h.
 *
 *     cc -shared -fPIC -o text.so text.c $(pkg-config --cflags forebay)
 *     FOREBAY_METHOD_PATH=$PWD mpiexec -n 4 ./simulation
 *
 * with <method group="..." method="TEXT">values=4</method> in the program's XML: so many values of each array. */
#include <errno.h>
#include <forebay/forebay_method.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct method {
  unsigned long values;
};

struct file {
  FILE* out;
  unsigned long values;
  forebay_method_standing standing;
};

static int failed(char* message, int code, const char* what, const char* path) {
  snprintf(message, FOREBAY_METHOD_MESSAGE, "%s: %s: %s", path, what, strerror(errno));
  return code;
}

static int make(const forebay_method_parameter* parameters, size_t count, void** made, char* message) {
  struct method* method = malloc(sizeof *method);
  if (!method) return failed(message, FOREBAY_METHOD_NO_MEMORY, "malloc", "TEXT");
  method->values = 8;
  for (size_t i = 0; i < count; ++i) {
    char* end = NULL;
    if (strcmp(parameters[i].name, "values") != 0) continue;
    method->values = strtoul(parameters[i].value, &end, 10);
    if (end == parameters[i].value || *end != '\0') {
      snprintf(message, FOREBAY_METHOD_MESSAGE, "values=%s is not a number", parameters[i].value);
      free(method);
      return FOREBAY_METHOD_ARGUMENT;
    }
  }
  *made = method;
  return FOREBAY_METHOD_OK;
}

/* All ranks say whether they could open their files: if one could not, none may go on. */
static int open_file(void* made, const forebay_method_open_request* request, void** opened,
                     forebay_method_standing* standing, char* message) {
  const struct method* method = made;
  uint64_t failures = 0;
  char path[4096];
  struct file* file = calloc(1, sizeof *file);
  snprintf(path, sizeof path, "%s.%" PRIu32, request->path, request->ranks->rank);
  if (file) {
    file->values = method->values;
    file->out = fopen(path, request->mode == FOREBAY_METHOD_MODE_WRITE ? "w" : "a");
  }
  const int mine = file && file->out ? 0 : failed(message, FOREBAY_METHOD_FILE_OPEN, "fopen", path);
  if (request->ranks->max(request->ranks->self, mine != 0, &failures) != 0 || failures != 0) {
    if (mine == 0) snprintf(message, FOREBAY_METHOD_MESSAGE, "%s: another rank could not open its file", request->path);
    if (file && file->out) fclose(file->out);
    free(file);
    return FOREBAY_METHOD_FILE_OPEN;
  }
  *standing = file->standing; /* a text file does not tell: steps are numbered from 0 at each open */
  *opened = file;
  return FOREBAY_METHOD_OK;
}

static void print_numbers(FILE* out, const uint64_t* numbers, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) fprintf(out, "%s%" PRIu64, i ? "," : "", numbers[i]);
}

static void print_values(FILE* out, const forebay_method_block* block, unsigned long most) {
  unsigned long i;
  if (block->type == FOREBAY_METHOD_STRING) {
    fprintf(out, " = \"%.*s\"", (int)block->size, (const char*)block->bytes);
  } else if (block->type == FOREBAY_METHOD_INT32) {
    fputs(" =", out);
    for (i = 0; i < most && i < block->size / 4; ++i) fprintf(out, " %" PRId32, ((const int32_t*)block->bytes)[i]);
  } else if (block->type == FOREBAY_METHOD_FLOAT64) {
    fputs(" =", out);
    for (i = 0; i < most && i < block->size / 8; ++i) fprintf(out, " %.17g", ((const double*)block->bytes)[i]);
  } else {
    fprintf(out, ": %" PRIu64 " bytes of type %" PRId32, block->size, block->type);
  }
}

static void print_step(FILE* out, const forebay_method_step* step, unsigned long most) {
  fprintf(out, "group %s, step %" PRIu64 ", time index %" PRIu32 "\n", step->group, step->step, step->time_index);
  for (uint64_t i = 0; i < step->block_count; ++i) {
    const forebay_method_block* block = &step->blocks[i];
    fprintf(out, "  %s", block->name);
    if (block->dimensions > 0) {
      fputs(" [", out);
      print_numbers(out, block->shape, block->dimensions);
      fputs("]", out);
    }
    if (block->global_shape) {
      fputs(" of [", out);
      print_numbers(out, block->global_shape, block->dimensions);
      fputs("] at [", out);
      print_numbers(out, block->offsets, block->dimensions);
      fputs("]", out);
    }
    print_values(out, block, most);
    fputs("\n", out);
  }
  for (uint64_t i = 0; i < step->attribute_count; ++i)
    fprintf(out, "  attribute %s%s%s\n", step->attributes[i].name, step->attributes[i].variable ? " is " : "",
            step->attributes[i].variable ? step->attributes[i].variable : "");
}

static int close_file(void* opened, const forebay_method_ranks* ranks, const forebay_method_step* steps, size_t count,
                      char* message) {
  struct file* file = opened;
  (void)ranks; /* the caller tells all ranks if one fails */
  for (size_t i = 0; i < count; ++i) print_step(file->out, &steps[i], file->values);
  const int is_bad = ferror(file->out);
  const int result = fclose(file->out) != 0 || is_bad ? failed(message, FOREBAY_METHOD_WRITE, "fclose", "TEXT") : 0;
  free(file);
  return result;
}

static void abandon(void* opened) {
  struct file* file = opened;
  fclose(file->out);
  free(file);
}

static const char* const kParameters[] = {"values", NULL};

static const forebay_method kText = {
    .version = FOREBAY_METHOD_VERSION,
    .size = sizeof(forebay_method),
    .name = "TEXT",
    .parameters = kParameters,
    .make = make,
    .unmake = free,
    .open = open_file,
    .close = close_file,
    .abandon = abandon,
};

const forebay_method* forebay_method_entry(const char* name, uint32_t version) {
  return version == FOREBAY_METHOD_VERSION && strcmp(name, "text") == 0 ? &kText : NULL;
}

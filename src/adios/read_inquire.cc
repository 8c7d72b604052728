// What is known of variables without reading their values.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <adios_read.h>

#include "adios/read_file.h"

namespace forebay::adios {
namespace {

using container::Characteristics;
using io::Outcome;

Outcome<const ReadVariable*> shown_variable(const ReadFile& file, int varid) {
  if (varid < 0 || varid >= static_cast<int>(file.shown_variables.size()))
    return refuse_reading(err_invalid_varid, file.path + " has no variable of the number " + std::to_string(varid));
  return &file.variables[file.shown_variables[static_cast<size_t>(varid)]];
}

// Attributes that lie directly or further below the variable's name.
std::vector<int> attributes_of(const ReadFile& file, const std::string& name) {
  const std::string prefix = (name.starts_with('/') ? name.substr(1) : name) + "/";
  std::vector<int> ids;
  for (size_t i = 0; i < file.shown_attributes.size(); ++i) {
    std::string_view full = file.attributes[file.shown_attributes[i]].name;
    if (full.starts_with('/')) full.remove_prefix(1);
    if (full.starts_with(prefix)) ids.push_back(static_cast<int>(i));
  }
  return ids;
}

Outcome<ADIOS_VARINFO*> inquire(ADIOS_FILE* fp, int varid) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  FOREBAY_TRY(const ReadVariable* const variable, shown_variable(*file, varid));
  Bytes value;
  if (variable->form == view::Form::scalar) {
    FOREBAY_TRY(value, scalar_value(*file, variable->places.front()));
  }
  ADIOS_VARINFO* const info = allocate<ADIOS_VARINFO>(1);
  info->varid = varid;
  info->type = static_cast<ADIOS_DATATYPES>(variable->type);
  info->global = variable->form == view::Form::global;
  if (variable->form == view::Form::scalar) {
    info->value = malloc_copy(value);
  } else {
    info->ndim = static_cast<int>(variable->shape.size());
    info->dims = malloc_copy(variable->shape);
  }
  info->nsteps = static_cast<int>(variable->places.size());
  info->nblocks = allocate<int>(variable->places.size());
  for (size_t i = 0; i < variable->places.size(); ++i) {
    info->nblocks[i] = static_cast<int>(variable->places[i].blocks);
    info->sum_nblocks += info->nblocks[i];
  }
  const std::vector<int> ids = attributes_of(*file, variable->name);
  info->nattrs = static_cast<int>(ids.size());
  info->attr_ids = allocate<int>(ids.size());
  std::ranges::copy(ids, info->attr_ids);
  return info;
}

template <class T>
void* typed(double value) {
  T* const made = allocate<T>(1);
  if constexpr (std::is_floating_point_v<T>) {
    *made = static_cast<T>(value);
  } else {
    // The limits of 64 bits are no doubles: the next one is beyond.
    constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<T>::max());
    *made = value <= kLow    ? std::numeric_limits<T>::min()
            : value >= kHigh ? std::numeric_limits<T>::max()
                             : static_cast<T>(value);
  }
  return made;
}

void* as_value(io::ValueType type, double value) {
  using io::ValueType;
  switch (type) {
    case ValueType::int8:
      return typed<int8_t>(value);
    case ValueType::int16:
      return typed<int16_t>(value);
    case ValueType::int32:
      return typed<int32_t>(value);
    case ValueType::int64:
      return typed<int64_t>(value);
    case ValueType::uint8:
      return typed<uint8_t>(value);
    case ValueType::uint16:
      return typed<uint16_t>(value);
    case ValueType::uint32:
      return typed<uint32_t>(value);
    case ValueType::uint64:
      return typed<uint64_t>(value);
    case ValueType::float32:
      return typed<float>(value);
    case ValueType::float64:
      return typed<double>(value);
    default:
      return nullptr;
  }
}

struct Statistic {
  void *min = nullptr, *max = nullptr;
  double *avg = nullptr, *std_dev = nullptr;
};

Statistic statistic_of(io::ValueType type, const std::optional<Characteristics>& of) {
  Statistic made;
  if (!of || of->count == 0) return made;
  made.min = as_value(type, of->min);
  made.max = as_value(type, of->max);
  const auto count = static_cast<double>(of->count);
  made.avg = allocate<double>(1);
  *made.avg = of->sum / count;
  made.std_dev = allocate<double>(1);
  *made.std_dev = std::sqrt(std::max(0.0, of->sum_of_squares / count - *made.avg * *made.avg));
  return made;
}

template <class Lists>
Lists* new_lists(size_t count) {
  Lists* const lists = allocate<Lists>(1);
  lists->mins = allocate<void*>(count);
  lists->maxs = allocate<void*>(count);
  lists->avgs = allocate<double*>(count);
  lists->std_devs = allocate<double*>(count);
  return lists;
}

template <class Lists>
void set_entry(Lists& lists, size_t i, const Statistic& of) {
  lists.mins[i] = of.min;
  lists.maxs[i] = of.max;
  lists.avgs[i] = of.avg;
  lists.std_devs[i] = of.std_dev;
}

template <class Lists>
void free_lists(Lists* lists, int count) {
  if (lists == nullptr) return;
  for (int i = 0; i < count; ++i) {
    std::free(lists->mins[i]);
    std::free(lists->maxs[i]);
    std::free(lists->avgs[i]);
    std::free(lists->std_devs[i]);
  }
  std::free(lists->mins);
  std::free(lists->maxs);
  std::free(lists->avgs);
  std::free(lists->std_devs);
  std::free(lists);
}

void free_statistics(ADIOS_VARINFO& info) {
  ADIOS_VARSTAT*& statistics = info.statistics;
  if (statistics == nullptr) return;
  std::free(statistics->min);
  std::free(statistics->max);
  std::free(statistics->avg);
  std::free(statistics->std_dev);
  free_lists(statistics->steps, info.nsteps);
  free_lists(statistics->blocks, info.sum_nblocks);
  std::free(statistics);
  statistics = nullptr;
}

void free_blockinfo(ADIOS_VARINFO& info) {
  if (info.blockinfo == nullptr) return;
  for (int i = 0; i < info.sum_nblocks; ++i) {
    std::free(info.blockinfo[i].start);
    std::free(info.blockinfo[i].count);
  }
  std::free(info.blockinfo);
  info.blockinfo = nullptr;
}

// The variable that `info` is of, if it still is.
Outcome<const ReadVariable*> variable_of(const ReadFile& file, const ADIOS_VARINFO* info) {
  if (info == nullptr) return refuse_reading(err_invalid_argument, "the variable's information is NULL");
  FOREBAY_TRY(const ReadVariable* const variable, shown_variable(file, info->varid));
  uint64_t blocks = 0;
  for (const ReadPlace& place : variable->places) blocks += place.blocks;
  if (static_cast<size_t>(info->nsteps) != variable->places.size() ||
      static_cast<uint64_t>(info->sum_nblocks) != blocks)
    return refuse_reading(err_invalid_varid, "the information is of a variable of another step",
                          "call adios_inq_var() again after adios_advance_step()");
  return variable;
}

Outcome<std::vector<view::Block>> blocks_at(const ReadFile& file, const ReadPlace& place, bool characterised) {
  const auto step = file.run().step(place.step);
  if (!step) return std::unexpected(of_reading(step.error()));
  auto blocks = characterised ? (*step)->characterised_blocks(place.array) : (*step)->blocks(place.array);
  if (!blocks) return std::unexpected(of_reading(blocks.error()));
  if (blocks->size() != place.blocks) return refuse_reading(err_corrupted_variable, "the blocks of a variable changed");
  return *std::move(blocks);
}

struct KnownStatistics {
  std::optional<Characteristics> all;
  std::vector<std::optional<Characteristics>> steps, blocks;
};

Outcome<KnownStatistics> statistics_of(const ReadFile& file, const ReadVariable& variable, bool per_block) {
  KnownStatistics known;
  bool is_complete = true;
  Characteristics all;
  for (const ReadPlace& place : variable.places) {
    const auto step = file.run().step(place.step);
    if (!step) return std::unexpected(of_reading(step.error()));
    const auto& of_step = (*step)->arrays()[place.array].characteristics;
    known.steps.push_back(of_step);
    is_complete = is_complete && of_step;
    if (of_step) all.merge(*of_step);
    if (!per_block) continue;
    FOREBAY_TRY(const auto blocks, blocks_at(file, place, true));
    for (const view::Block& block : blocks) known.blocks.push_back(block.characteristics);
  }
  if (is_complete) known.all = all;
  return known;
}

Outcome<void> inquire_statistics(ADIOS_FILE* fp, ADIOS_VARINFO* info, bool per_step, bool per_block) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  FOREBAY_TRY(const ReadVariable* const variable, variable_of(*file, info));
  FOREBAY_TRY(const KnownStatistics known, statistics_of(*file, *variable, per_block));
  free_statistics(*info);
  info->statistics = allocate<ADIOS_VARSTAT>(1);
  const Statistic all = statistic_of(variable->type, known.all);
  info->statistics->min = all.min;
  info->statistics->max = all.max;
  info->statistics->avg = all.avg;
  info->statistics->std_dev = all.std_dev;
  if (per_step) {
    info->statistics->steps = new_lists<ADIOS_VARSTAT::ADIOS_STAT_STEP>(known.steps.size());
    for (size_t i = 0; i < known.steps.size(); ++i)
      set_entry(*info->statistics->steps, i, statistic_of(variable->type, known.steps[i]));
  }
  if (per_block) {
    info->statistics->blocks = new_lists<ADIOS_VARSTAT::ADIOS_STAT_BLOCK>(known.blocks.size());
    for (size_t i = 0; i < known.blocks.size(); ++i)
      set_entry(*info->statistics->blocks, i, statistic_of(variable->type, known.blocks[i]));
  }
  return {};
}

Outcome<void> inquire_blocks(ADIOS_FILE* fp, ADIOS_VARINFO* info) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  FOREBAY_TRY(const ReadVariable* const variable, variable_of(*file, info));
  std::vector<std::vector<view::Block>> all;
  for (const ReadPlace& place : variable->places) {
    FOREBAY_TRY(auto blocks, blocks_at(*file, place, false));
    all.push_back(std::move(blocks));
  }
  free_blockinfo(*info);
  info->blockinfo = allocate<ADIOS_VARBLOCK>(static_cast<size_t>(info->sum_nblocks));
  const auto steps = file->run().steps();
  ADIOS_VARBLOCK* out = info->blockinfo;
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t number = variable->places[i].step;
    const uint32_t time_index = number < steps.size() && steps[number].time_index != 0
                                    ? steps[number].time_index
                                    : static_cast<uint32_t>(number + 1);
    for (const view::Block& block : all[i]) {
      const bool is_scalar = variable->form == view::Form::scalar;
      *out++ = {malloc_copy(is_scalar ? Shape{} : block.place.begin),
                malloc_copy(is_scalar ? Shape{} : block.place.count), block.rank, time_index};
    }
  }
  return {};
}

// What adios_stat_cor() and adios_stat_cov() compare, of steps [begin, end].
Outcome<std::vector<double>> series_of(const ADIOS_VARINFO* info, std::string_view what, uint64_t begin, uint64_t end) {
  const auto* lists = info && info->statistics ? info->statistics->steps : nullptr;
  if (lists == nullptr || begin > end || end >= static_cast<uint64_t>(info->nsteps))
    return refuse_reading(err_invalid_argument, "there are no statistics of these steps",
                          "ask for them with adios_inq_var_stat(fp, varinfo, 1, 0)");
  std::vector<double> series;
  for (uint64_t i = begin; i <= end; ++i) {
    const double* value = nullptr;
    double number = 0;
    if (what == "average" || what == "avg") value = lists->avgs[i];
    if (what == "standard deviation" || what == "std_dev") value = lists->std_devs[i];
    if (what == "minimum" || what == "min" || what == "maximum" || what == "max") {
      const void* const extreme = what.starts_with("min") ? lists->mins[i] : lists->maxs[i];
      if (extreme != nullptr && info->type == adios_double)
        number = *static_cast<const double*>(extreme), value = &number;
      if (extreme != nullptr && info->type == adios_real)
        number = static_cast<double>(*static_cast<const float*>(extreme)), value = &number;
      if (extreme != nullptr && info->type == adios_integer)
        number = *static_cast<const int32_t*>(extreme), value = &number;
    }
    if (value == nullptr)
      return refuse_reading(err_invalid_argument, "'" + std::string(what) + "' is not known of these steps");
    series.push_back(*value);
  }
  return series;
}

double related(const ADIOS_VARINFO* x, const ADIOS_VARINFO* y, const char* what, uint64_t begin, uint64_t end,
               uint64_t lag, bool is_correlation) {
  double result = std::nan("");
  guarded([&]() -> Outcome<void> {
    if (what == nullptr) return refuse_reading(err_invalid_argument, "the name of the statistic is NULL");
    if (begin + lag > end) return refuse_reading(err_invalid_argument, "there are fewer steps than the lag");
    FOREBAY_TRY(const auto a, series_of(x, what, begin, end - lag));
    FOREBAY_TRY(const auto b, series_of(y ? y : x, what, begin + lag, end));
    const auto n = static_cast<double>(a.size());
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < a.size(); ++i) mean_a += a[i] / n, mean_b += b[i] / n;
    for (size_t i = 0; i < a.size(); ++i) {
      aa += (a[i] - mean_a) * (a[i] - mean_a);
      bb += (b[i] - mean_b) * (b[i] - mean_b);
      ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    result = is_correlation ? ab / std::sqrt(aa * bb) : ab / n;
    return {};
  });
  return result;
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

ADIOS_VARINFO* adios_inq_var(ADIOS_FILE* fp, const char* varname) {
  return guarded_pointer([&]() -> Outcome<ADIOS_VARINFO*> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    const auto found = varname ? file->variable(varname) : std::nullopt;
    if (!found)
      return refuse_reading(err_invalid_varname, file->path + " has no variable '" + (varname ? varname : "") + "'",
                            "fp->var_namelist has the names, which count exactly");
    const auto shown = std::ranges::find(file->shown_variables, *found);
    return inquire(fp, static_cast<int>(shown - file->shown_variables.begin()));
  });
}

ADIOS_VARINFO* adios_inq_var_byid(ADIOS_FILE* fp, int varid) {
  return guarded_pointer([&] { return inquire(fp, varid); });
}

void adios_free_varinfo(ADIOS_VARINFO* info) {
  if (info == nullptr) return;
  free_statistics(*info);
  free_blockinfo(*info);
  std::free(info->meshinfo);
  std::free(info->dims);
  std::free(info->value);
  std::free(info->nblocks);
  std::free(info->attr_ids);
  std::free(info);
}

int adios_inq_var_stat(ADIOS_FILE* fp, ADIOS_VARINFO* varinfo, int per_step_stat, int per_block_stat) {
  return guarded([&] { return inquire_statistics(fp, varinfo, per_step_stat != 0, per_block_stat != 0); });
}

int adios_inq_var_blockinfo(ADIOS_FILE* fp, ADIOS_VARINFO* varinfo) {
  return guarded([&] { return inquire_blocks(fp, varinfo); });
}

double adios_stat_cor(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag) {
  return related(vix, viy, characteristic, time_start, time_end, lag, true);
}

double adios_stat_cov(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag) {
  return related(vix, viy, characteristic, time_start, time_end, lag, false);
}

const char* adios_type_to_string(ADIOS_DATATYPES type) {
  const auto known = forebay::io::value_type(static_cast<int>(type));
  if (known == forebay::io::ValueType::string_array) return "char*[]";  // to readers; in XML it has the other name
  return known ? forebay::io::to_string(*known).data() : "(unknown)";
}

int adios_type_size(ADIOS_DATATYPES type, const void* data) {
  const auto known = forebay::io::value_type(static_cast<int>(type));
  if (!known) return -1;
  if (*known == forebay::io::ValueType::string)
    return data ? static_cast<int>(std::strlen(static_cast<const char*>(data))) + 1 : 1;
  if (*known == forebay::io::ValueType::string_array) return sizeof(char*);
  return static_cast<int>(forebay::io::element_bytes(*known));
}
}

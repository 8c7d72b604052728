/* The types of values, and what can be chosen about them. All numbers are those of ADIOS 1.13. */
#ifndef ADIOS_TYPES_H
#define ADIOS_TYPES_H

#ifdef __cplusplus
extern "C" {
#endif

/* In brackets: the bytes of one element. */
enum ADIOS_DATATYPES {
  adios_unknown = -1,
  adios_byte = 0,              /* [1] */
  adios_short = 1,             /* [2] */
  adios_integer = 2,           /* [4] */
  adios_long = 4,              /* [8] */
  adios_real = 5,              /* [4] */
  adios_double = 6,            /* [8] */
  adios_long_double = 7,       /* [16] */
  adios_string = 9,            /* a char*, up to its NUL */
  adios_complex = 10,          /* [8], two of adios_real */
  adios_double_complex = 11,   /* [16], two of adios_double */
  adios_string_array = 12,     /* a char**; of attributes only, whose number of strings is given apart */
  adios_unsigned_byte = 50,    /* [1] */
  adios_unsigned_short = 51,   /* [2] */
  adios_unsigned_integer = 52, /* [4] */
  adios_unsigned_long = 54     /* [8] */
};

enum ADIOS_FLAG { adios_flag_unknown = 0, adios_flag_yes = 1, adios_flag_no = 2 };

/* Statistics of the values that are written. */
enum ADIOS_STATISTICS_FLAG {
  adios_stat_no = -1,    /* nothing */
  adios_stat_minmax = 0, /* smallest and largest */
  adios_stat_full = 1,   /* sums as well, and histograms where they are asked for */
  adios_stat_default = adios_stat_minmax,
  adios_stat_no_do_not_use_this = 2 /* what adios_flag_no is, for old programs: nothing */
};

enum ADIOS_BUFFER_ALLOC_WHEN { ADIOS_BUFFER_ALLOC_UNKNOWN, ADIOS_BUFFER_ALLOC_NOW, ADIOS_BUFFER_ALLOC_LATER };

#ifdef __cplusplus
}
#endif

#endif

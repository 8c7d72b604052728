#include "io/config/includes.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/config/config.h"

namespace forebay::io {
namespace {

GroupDefinition group_of(std::string_view language, std::string_view inside) {
  auto config = parse_config(fmt::format("<adios-config host-language='{}'><adios-group name='my group/1' "
                                         "time-index='it'>{}</adios-group><method group='my group/1' method='MPI'/>"
                                         "</adios-config>",
                                         language, inside),
                             "run.xml", 0);
  EXPECT_TRUE(config) << config.error().error.message();
  return config ? config->groups.front() : GroupDefinition{};
}

constexpr std::string_view kVariables =
    "<var name='nx' path='/aux' gwrite='p%nx' type='integer'/><var name='s' gwrite='text' type='string'/>"
    "<gwrite src='if (rank == 0)'/><var name='c' gread='z' type='double complex' dimensions='it,2,/aux/nx'/>"
    "<var name='old' type='byte' read='no'/>";

TEST(Includes, WriteAllVariablesInC) {
  EXPECT_EQ(writing_include(group_of("C", kVariables)),
            "adios_groupsize = 4 \\\n                + strlen(text) \\\n                + 16 * (2) * (p%nx) \\\n"
            "                + 1;\n"
            "adios_group_size (adios_handle, adios_groupsize, &adios_totalsize);\n"
            "adios_write (adios_handle, \"/aux/nx\", &p%nx);\n"
            "adios_write (adios_handle, \"s\", text);\n"
            "if (rank == 0)\n"
            "adios_write (adios_handle, \"c\", c);\n"
            "adios_write (adios_handle, \"old\", &old);\n");
}

TEST(Includes, WriteAllVariablesInFortran) {
  EXPECT_EQ(writing_include(group_of("Fortran", kVariables)),
            "adios_groupsize = 4_8 &\n                + len_trim(text) &\n                + 16_8 * (2) * (p%nx) &\n"
            "                + 1_8\n"
            "call adios_group_size (adios_handle, adios_groupsize, adios_totalsize, adios_err)\n"
            "call adios_write (adios_handle, \"/aux/nx\", p%nx, adios_err)\n"
            "call adios_write (adios_handle, \"s\", text, adios_err)\n"
            "if (rank == 0)\n"
            "call adios_write (adios_handle, \"c\", c, adios_err)\n"
            "call adios_write (adios_handle, \"old\", old, adios_err)\n");
}

TEST(Includes, ReadArraysOrAllVariables) {
  EXPECT_EQ(reading_include(group_of("C", kVariables), ReadStyle::selections),
            "s = adios_selection_writeblock (rank);\n"
            "adios_schedule_read (fp, s, \"c\", 0, 1, z);\n"
            "adios_perform_reads (fp, 1);\nadios_selection_delete (s);\n");
  EXPECT_EQ(reading_include(group_of("Fortran", kVariables), ReadStyle::calls),
            "adios_groupsize = 0\nadios_totalsize = 0\n"
            "call adios_group_size (adios_handle, adios_groupsize, adios_totalsize, adios_err)\n"
            "adios_buf_size = 4_8\ncall adios_read (adios_handle, \"/aux/nx\", nx, adios_buf_size, adios_err)\n"
            "adios_buf_size = len(s)\ncall adios_read (adios_handle, \"s\", s, adios_buf_size, adios_err)\n"
            "adios_buf_size = 16_8 * (2) * (p%nx)\n"
            "call adios_read (adios_handle, \"c\", z, adios_buf_size, adios_err)\n");
}

TEST(Includes, LongOnesAreWhatCompilersTake) {
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += fmt::format("<var name='v{}' type='byte' gwrite='{}'/>", i, std::string(100, 'x'));
  const std::string text = writing_include(group_of("Fortran", many));
  EXPECT_THAT(text, testing::HasSubstr("\nadios_groupsize = adios_groupsize &\n"));
  size_t start = 0;
  for (size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 132u);
}

TEST(Includes, NamesOfFilesAreHarmless) {
  EXPECT_EQ(include_name(group_of("C", ""), true), "gwrite_my_group_1.ch");
  EXPECT_EQ(include_name(group_of("Fortran", ""), false), "gread_my_group_1.fh");
  EXPECT_EQ(writing_include(group_of("C", "")), "// group my group/1 has no variables\n");
  EXPECT_THAT(writing_include(group_of("C", "<var name='a&#10;b\"' gwrite='x' type='byte'/>")),
              testing::HasSubstr("\"a b\\\"\""));
}

}  // namespace
}  // namespace forebay::io

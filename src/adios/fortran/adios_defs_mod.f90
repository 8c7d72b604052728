! The numbers of ADIOS 1.13: types, statistics, errors, and of reading, methods and selections.
module adios_defs_mod
  implicit none
  public

  integer, parameter :: adios_unknown = -1
  integer, parameter :: adios_byte = 0, adios_short = 1, adios_integer = 2, adios_long = 4
  integer, parameter :: adios_real = 5, adios_double = 6, adios_long_double = 7
  integer, parameter :: adios_string = 9, adios_complex = 10, adios_double_complex = 11
  integer, parameter :: adios_string_array = 9
  integer, parameter :: adios_unsigned_byte = 50, adios_unsigned_short = 51
  integer, parameter :: adios_unsigned_integer = 52, adios_unsigned_long = 54

  integer, parameter :: adios_stat_no = -1, adios_stat_default = 0, adios_stat_minmax = 0, adios_stat_full = 1

  integer, parameter :: adios_read_method_bp = 0, adios_read_method_bp_staged = 1
  integer, parameter :: adios_read_method_bp_aggregate = 1, adios_read_method_dataspaces = 3
  integer, parameter :: adios_read_method_dimes = 4, adios_read_method_flexpath = 5, adios_read_method_icee = 6
  integer, parameter :: adios_lockmode_none = 0, adios_lockmode_current = 0, adios_lockmode_all = 0
  integer, parameter :: adios_selection_type_boundingbox = 0, adios_selection_type_points = 1
  integer, parameter :: adios_selection_type_writeblock = 2, adios_selection_type_auto = 3

  integer, parameter :: err_no_error = 0, err_no_memory = -1, err_file_open_error = -2, err_file_not_found = -3
  integer, parameter :: err_invalid_file_pointer = -4, err_invalid_group = -5, err_invalid_group_struct = -6
  integer, parameter :: err_invalid_varid = -7, err_invalid_varname = -8, err_corrupted_variable = -9
  integer, parameter :: err_invalid_attrid = -10, err_invalid_attrname = -11, err_corrupted_attribute = -12
  integer, parameter :: err_invalid_attribute_reference = -13, err_invalid_timestep = -14
  integer, parameter :: err_no_data_at_timestep = -15, err_time_at_wrong_dimension = -16
  integer, parameter :: err_invalid_read_method = -17, err_connection_failed = -18, err_out_of_bound = -19
  integer, parameter :: err_operation_not_supported = -20, err_end_of_stream = -21, err_step_notready = -22
  integer, parameter :: err_step_disappeared = -23, err_too_many_files = -24
  integer, parameter :: err_invalid_file_mode = -100, err_invalid_file_version = -101, err_invalid_data = -102
  integer, parameter :: err_buffer_overflow = -103, err_too_many_variables = -104, err_invalid_write_method = -105
  integer, parameter :: err_write_error = -106, err_invalid_argument = -140, err_unspecified = -1000
end module adios_defs_mod

! Writes values of many kinds and ranks, as programs have them, by the module and by plain calls.
program values
  use adios_write_mod
  implicit none
  integer, parameter :: self = 2
  integer :: err, i
  integer*8 :: group, file, id, twice
  character(len=20) :: text = "padded"
  character(len=4) :: four = "ab"
  character(len=200) :: name
  integer :: row(6) = (/1, 2, 3, 4, 5, 6/)
  real*8 :: field(4, 6)
  complex :: z = (1.5, -2.0)
  logical*1 :: yes(2) = (/.true., .false./)
  real, dimension(2, 1, 1, 1, 1, 3) :: deep

  field = reshape((/(0.5d0 * i, i = 1, 24)/), (/4, 6/))
  deep = reshape((/(real(i), i = 1, 6)/), shape(deep))
  call get_command_argument(1, name)
  call adios_init_noxml(self, err)
  call adios_declare_group(group, "values", "", adios_stat_default, err)
  call adios_select_method(group, "POSIX  ", "", "", err)
  call define("text", adios_string, "")
  call define("literal", adios_string, "")
  call define("trimmed", adios_string, "")
  call define("bytes", adios_byte, "4")
  call define("number", adios_integer, "")
  call define("every other", adios_integer, "3")
  call define("section", adios_double, "2,3")
  call define("complex", adios_complex, "")
  call define("logical", adios_byte, "2")
  call define("deep", adios_real, "2,1,1,1,1,3")
  call adios_define_var(group, "twice", "", adios_integer, "2", "", "", id)
  call adios_define_var(group, "twice", "", adios_integer, "3", "", "", twice)
  call adios_define_attribute_byvalue(group, "texts", "", 2, (/"one  ", "three"/), err)
  call adios_define_attribute_byvalue(group, "text", "", 1, "some text  ", err)
  call adios_define_attribute_byvalue(group, "numbers", "", 3, row(1:6:2), err)
  call adios_define_attribute_byvalue(group, "real", "", 1, 2.5, err)

  call adios_open(file, "values", name, "w", self, err)
  call adios_write(file, "text  ", text, err)
  call adios_write(file, "literal", "a literal  ", err)
  call adios_write(file, "trimmed", trim(text)//" too", err)
  call adios_write(file, "bytes", four, err)
  call adios_write(file, "number", 5, err)
  call adios_write(file, "every other", row(1:6:2), err)
  call adios_write(file, "section", field(1:4:2, 1:3), err)
  call adios_write(file, "complex", z, err)
  call adios_write(file, "logical", yes, err)
  call adios_write(file, "deep", deep, err)
  call adios_write_byid(file, twice, row(4:6), err)
  if (err /= 0) stop 1
  call adios_write(file, "nothing", 1, err)
  if (err /= err_invalid_varname) stop 2
  call adios_close(file, err)
  if (err /= 0) stop 3
  call plain(name)
  call adios_finalize(0, err)
  if (err /= 0) stop 4

contains
  subroutine define(what, type, dimensions)
    character(*), intent(in) :: what, dimensions
    integer, intent(in) :: type
    call adios_define_var(group, what, "", type, dimensions, "", "", id)
    if (id == 0) stop 5
  end subroutine
end program values

! As programs without the module call.
subroutine plain(name)
  use iso_c_binding, only: c_ptr, c_f_pointer
  character(*) :: name
  integer :: err, numbers(2) = (/7, 8/)
  integer, pointer :: handed_out(:)
  integer*8 :: group, file, id, bytes = 0
  type(c_ptr) :: memory
  character(len=9) :: word = "plain"
  external :: adios_declare_group, adios_select_method, adios_define_var, adios_open, adios_write, adios_close
  call adios_declare_group(group, "plain", "", 0, err)
  call adios_select_method(group, "POSIX", "", "", err)
  call adios_define_var(group, "word", "", 9, "", "", "", id)
  call adios_define_var(group, "numbers", "", 2, "2", "", "", id)
  call adios_define_var(group, "handed out", "", 2, "3", "", "", id)
  call adios_define_attribute_byvalue(group, "numbers/limits", "", 2, 2, numbers, err)
  if (err /= 0) stop 7
  call adios_define_attribute_byvalue(group, "note", "", 9, 1, word, err)
  if (err /= 0) stop 8
  call adios_set_application_id(5, err)
  if (err /= 0) stop 9
  call adios_open(file, "plain", trim(name)//".plain", "w", 2, err)
  call adios_write(file, "word", word, err)
  call adios_write(file, "numbers", numbers, err)
  call adios_get_write_buffer(file, "handed out", bytes, memory, err)
  if (err /= 0 .or. bytes /= 12) stop 10
  call c_f_pointer(memory, handed_out, (/3/))
  handed_out = (/1, 2, 3/)
  call adios_close(file, err)
  if (err /= 0) stop 6
end subroutine plain

! ADIOS's writing interface for Fortran. Every subroutine is the C function of that name (adios.h has what they mean);
! the last argument `err` is what that returns. Texts may have blanks behind them, which do not count. Handles are
! integer*8; values may be of any type, kind and rank, and need not be contiguous but for adios_read.
module adios_write_mod
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char
  use adios_defs_mod
  implicit none
  private :: c_char, c_int, c_int64_t, c_null_char

  interface
    subroutine adios_init(config, comm, err)
      character(*), intent(in) :: config
      integer, intent(in) :: comm
      integer, intent(out) :: err
    end subroutine
    subroutine adios_init_noxml(comm, err)
      integer, intent(in) :: comm
      integer, intent(out) :: err
    end subroutine
    subroutine adios_is_initialized(result)
      integer, intent(out) :: result
    end subroutine
    subroutine adios_finalize(mype, err)
      integer, intent(in) :: mype
      integer, intent(out) :: err
    end subroutine

    subroutine adios_open(fd, group_name, filename, mode, comm, err)
      integer*8, intent(out) :: fd
      character(*), intent(in) :: group_name, filename, mode
      integer, intent(in) :: comm
      integer, intent(out) :: err
    end subroutine
    subroutine adios_group_size(fd, data_size, total_size, err)
      integer*8, intent(in) :: fd, data_size
      integer*8, intent(out) :: total_size
      integer, intent(out) :: err
    end subroutine
    subroutine adios_set_path(fd, path, err)
      integer*8, intent(in) :: fd
      character(*), intent(in) :: path
      integer, intent(out) :: err
    end subroutine
    subroutine adios_set_path_var(fd, path, varname, err)
      integer*8, intent(in) :: fd
      character(*), intent(in) :: path, varname
      integer, intent(out) :: err
    end subroutine
    subroutine adios_close(fd, err)
      integer*8, intent(in) :: fd
      integer, intent(out) :: err
    end subroutine
    subroutine adios_start_calculation(err)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_stop_calculation(err)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_end_iteration(err)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_timing_write_xml(fd, filename)
      integer*8, intent(in) :: fd
      character(*), intent(in) :: filename
    end subroutine

    subroutine adios_allocate_buffer(sizeMB, err)
      integer, intent(in) :: sizeMB
      integer, intent(out) :: err
    end subroutine
    subroutine adios_set_max_buffer_size(sizeMB)
      integer, intent(in) :: sizeMB
    end subroutine
    subroutine adios_declare_group(id, groupname, time_index, stats_flag, err)
      integer*8, intent(out) :: id
      character(*), intent(in) :: groupname, time_index
      integer, intent(in) :: stats_flag
      integer, intent(out) :: err
    end subroutine
    subroutine adios_free_group(id, err)
      integer*8, intent(in) :: id
      integer, intent(out) :: err
    end subroutine
    subroutine adios_set_time_aggregation(group_id, buffersize, sync_group_id, err)
      integer*8, intent(in) :: group_id, buffersize, sync_group_id
      integer, intent(out) :: err
    end subroutine
    subroutine adios_select_method(group_id, method, parameters, base_path, err)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: method, parameters, base_path
      integer, intent(out) :: err
    end subroutine

    ! id is 0 on error.
    subroutine adios_define_var(group_id, varname, path, vartype, dimensions, global_dimensions, local_offsets, id)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: varname, path
      integer, intent(in) :: vartype
      character(*), intent(in) :: dimensions, global_dimensions, local_offsets
      integer*8, intent(out) :: id
    end subroutine
    subroutine adios_delete_vardefs(group_id, err)
      integer*8, intent(in) :: group_id
      integer, intent(out) :: err
    end subroutine
    subroutine adios_expected_var_size(var_id, size)
      integer*8, intent(in) :: var_id
      integer*8, intent(out) :: size
    end subroutine
    subroutine adios_set_transform(var_id, transform_type_str, err)
      integer*8, intent(in) :: var_id
      character(*), intent(in) :: transform_type_str
      integer, intent(out) :: err
    end subroutine
    subroutine adios_define_attribute(group_id, attrname, path, attrtype, value, varname, err)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: attrname, path
      integer, intent(in) :: attrtype
      character(*), intent(in) :: value, varname
      integer, intent(out) :: err
    end subroutine
    subroutine adios_delete_attrdefs(group_id, err)
      integer*8, intent(in) :: group_id
      integer, intent(out) :: err
    end subroutine

    ! Meshes.
    subroutine adios_define_schema_version(group_id, schema_version)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: schema_version
    end subroutine
    subroutine adios_define_var_mesh(group_id, varname, meshname)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: varname, meshname
    end subroutine
    subroutine adios_define_var_centering(group_id, varname, centering)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: varname, centering
    end subroutine
    subroutine adios_define_mesh_file(group_id, name, file)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: name, file
    end subroutine
    subroutine adios_define_var_timesteps(timesteps, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timesteps, name
    end subroutine
    subroutine adios_define_var_timescale(timescale, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timescale, name
    end subroutine
    subroutine adios_define_var_timeseriesformat(timeseries, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timeseries, name
    end subroutine
    subroutine adios_define_var_hyperslab(hyperslab, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: hyperslab, name
    end subroutine
    subroutine adios_define_mesh_timevarying(timevarying, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timevarying, name
    end subroutine
    subroutine adios_define_mesh_timesteps(timesteps, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timesteps, name
    end subroutine
    subroutine adios_define_mesh_timescale(timescale, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timescale, name
    end subroutine
    subroutine adios_define_mesh_timeseriesformat(timeseries, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: timeseries, name
    end subroutine
    subroutine adios_define_mesh_group(group, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: group, name
    end subroutine
    subroutine adios_define_mesh_uniform(dimensions, origin, spacing, maximum, nspace, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: dimensions, origin, spacing, maximum, nspace, name
    end subroutine
    subroutine adios_define_mesh_rectilinear(dimensions, coordinates, nspace, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: dimensions, coordinates, nspace, name
    end subroutine
    subroutine adios_define_mesh_structured(dimensions, points, nspace, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: dimensions, points, nspace, name
    end subroutine
    subroutine adios_define_mesh_unstructured(points, data, count, cell_type, npoints, nspace, group_id, name)
      integer*8, intent(in) :: group_id
      character(*), intent(in) :: points, data, count, cell_type, npoints, nspace, name
    end subroutine
  end interface

  ! Of values whose type, kind and rank are told by what the compiler passes (any.cc).
  interface
    function write_any(fd, name, var) result(err) bind(c, name="adios_fortran_write_any")
      import :: c_int64_t, c_char, c_int
      integer(c_int64_t), value :: fd
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(in) :: var(..)
      integer(c_int) :: err
    end function
    function write_any_byid(fd, id, var) result(err) bind(c, name="adios_fortran_write_any_byid")
      import :: c_int64_t, c_int
      integer(c_int64_t), value :: fd, id
      type(*), intent(in) :: var(..)
      integer(c_int) :: err
    end function
    function read_any(fd, name, var, buffer_size) result(err) bind(c, name="adios_fortran_read_any")
      import :: c_int64_t, c_char, c_int
      integer(c_int64_t), value :: fd, buffer_size
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(inout) :: var(..)
      integer(c_int) :: err
    end function
    function attribute_any(group, name, path, nelems, values) result(err) bind(c, name="adios_fortran_attribute_any")
      import :: c_int64_t, c_char, c_int
      integer(c_int64_t), value :: group
      character(kind=c_char), intent(in) :: name(*), path(*)
      integer(c_int), value :: nelems
      type(*), intent(in) :: values(..)
      integer(c_int) :: err
    end function
  end interface
  private :: write_any, write_any_byid, read_any, attribute_any

contains

  subroutine adios_write(fd, name, var, err)
    integer*8, intent(in) :: fd
    character(*), intent(in) :: name
    type(*), intent(in) :: var(..)
    integer, intent(out) :: err
    err = write_any(fd, trim(name)//c_null_char, var)
  end subroutine

  subroutine adios_write_byid(fd, id, var, err)
    integer*8, intent(in) :: fd, id
    type(*), intent(in) :: var(..)
    integer, intent(out) :: err
    err = write_any_byid(fd, id, var)
  end subroutine

  ! var is filled by adios_close, and must be there until then.
  subroutine adios_read(fd, name, var, buffer_size, err)
    integer*8, intent(in) :: fd
    character(*), intent(in) :: name
    type(*), intent(inout) :: var(..)
    integer*8, intent(in) :: buffer_size
    integer, intent(out) :: err
    err = read_any(fd, trim(name)//c_null_char, var, buffer_size)
  end subroutine

  ! The type is that of the values.
  subroutine adios_define_attribute_byvalue(group_id, attrname, path, nelems, values, err)
    integer*8, intent(in) :: group_id
    character(*), intent(in) :: attrname, path
    integer, intent(in) :: nelems
    type(*), intent(in) :: values(..)
    integer, intent(out) :: err
    err = attribute_any(group_id, trim(attrname)//c_null_char, trim(path)//c_null_char, nelems, values)
  end subroutine
end module adios_write_mod

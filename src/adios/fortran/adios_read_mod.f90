! ADIOS's reading interface for Fortran. Every subroutine is the C function of that name (adios_read.h has what they
! mean); the last argument `err` is what that returns, or adios_errno. Files and selections are integer*8; offsets, steps
! and blocks count from 0. Dimensions, starts, counts and points are in Fortran's order: the first one is the fastest,
! whatever the language of the program that wrote them. Values may be of any type and rank; what they are read into must
! be contiguous, and must be there until adios_perform_reads, which waits.
module adios_read_mod
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_char
  use adios_defs_mod
  implicit none
  private :: c_char, c_double, c_int, c_int64_t, c_null_char

  interface
    subroutine adios_errmsg(msg)
      character(*), intent(out) :: msg
    end subroutine
    subroutine adios_read_init_method(method, comm, parameters, err)
      integer, intent(in) :: method, comm
      character(*), intent(in) :: parameters
      integer, intent(out) :: err
    end subroutine
    subroutine adios_read_finalize_method(method, err)
      integer, intent(in) :: method
      integer, intent(out) :: err
    end subroutine
    subroutine adios_read_open(fp, fname, method, comm, lockmode, timeout_sec, err)
      integer*8, intent(out) :: fp
      character(*), intent(in) :: fname
      integer, intent(in) :: method, comm, lockmode
      real, intent(in) :: timeout_sec
      integer, intent(out) :: err
    end subroutine
    subroutine adios_read_open_stream(fp, fname, method, comm, lockmode, timeout_sec, err)
      integer*8, intent(out) :: fp
      character(*), intent(in) :: fname
      integer, intent(in) :: method, comm, lockmode
      real, intent(in) :: timeout_sec
      integer, intent(out) :: err
    end subroutine
    subroutine adios_read_open_file(fp, fname, method, comm, err)
      integer*8, intent(out) :: fp
      character(*), intent(in) :: fname
      integer, intent(in) :: method, comm
      integer, intent(out) :: err
    end subroutine
    subroutine adios_read_close(fp, err)
      integer*8, intent(in) :: fp
      integer, intent(out) :: err
    end subroutine
    subroutine adios_advance_step(fp, last, timeout_sec, err)
      integer*8, intent(in) :: fp
      integer, intent(in) :: last
      real, intent(in) :: timeout_sec
      integer, intent(out) :: err
    end subroutine
    subroutine adios_release_step(fp, err)
      integer*8, intent(in) :: fp
      integer, intent(out) :: err
    end subroutine
    subroutine adios_reset_dimension_order(fp, flag)
      integer*8, intent(in) :: fp
      integer, intent(in) :: flag
    end subroutine
    subroutine adios_inq_file(fp, vars_count, attrs_count, current_step, last_step, err)
      integer*8, intent(in) :: fp
      integer, intent(out) :: vars_count, attrs_count, current_step, last_step
      integer, intent(out) :: err
    end subroutine
    subroutine adios_inq_varnames(fp, vnamelist, err)
      integer*8, intent(in) :: fp
      character(*), intent(inout) :: vnamelist(*)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_inq_attrnames(fp, anamelist, err)
      integer*8, intent(in) :: fp
      character(*), intent(inout) :: anamelist(*)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_inq_ngroups(fp, groups_count, err)
      integer*8, intent(in) :: fp
      integer, intent(out) :: groups_count
      integer, intent(out) :: err
    end subroutine
    subroutine adios_inq_groupnames(fp, gnamelist, err)
      integer*8, intent(in) :: fp
      character(*), intent(inout) :: gnamelist(*)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_group_view(fp, groupid, err)
      integer*8, intent(in) :: fp
      integer, intent(in) :: groupid
      integer, intent(out) :: err
    end subroutine
    subroutine adios_inq_var(fp, varname, vartype, nsteps, ndim, dims, err)
      integer*8, intent(in) :: fp
      character(*), intent(in) :: varname
      integer, intent(out) :: vartype, nsteps, ndim
      integer*8, intent(out) :: dims(*)
      integer, intent(out) :: err
    end subroutine
    subroutine adios_inq_attr(fp, attrname, attrtype, attrsize, err)
      integer*8, intent(in) :: fp
      character(*), intent(in) :: attrname
      integer, intent(out) :: attrtype, attrsize
      integer, intent(out) :: err
    end subroutine
    subroutine adios_perform_reads(fp, err)
      integer*8, intent(in) :: fp
      integer, intent(out) :: err
    end subroutine
    subroutine adios_selection_boundingbox(sel, ndim, start, count)
      integer*8, intent(out) :: sel
      integer, intent(in) :: ndim
      integer*8, intent(in) :: start(*), count(*)
    end subroutine
    subroutine adios_selection_points(sel, ndim, npoints, points)
      integer*8, intent(out) :: sel
      integer, intent(in) :: ndim
      integer*8, intent(in) :: npoints
      integer*8, intent(in) :: points(*)
    end subroutine
    subroutine adios_selection_writeblock(sel, index)
      integer*8, intent(out) :: sel
      integer, intent(in) :: index
    end subroutine
    subroutine adios_selection_auto(sel, hints)
      integer*8, intent(out) :: sel
      character(*), intent(in) :: hints
    end subroutine
    subroutine adios_selection_delete(sel)
      integer*8, intent(in) :: sel
    end subroutine
    subroutine adios_selection_get_type(sel, seltype)
      integer*8, intent(in) :: sel
      integer, intent(out) :: seltype
    end subroutine
    subroutine adios_selection_get_ndim(sel, ndim)
      integer*8, intent(in) :: sel
      integer, intent(out) :: ndim
    end subroutine
    subroutine adios_selection_get_boundingbox(sel, start, count)
      integer*8, intent(in) :: sel
      integer*8, intent(inout) :: start(*), count(*)
    end subroutine
    subroutine adios_selection_get_npoints(sel, npoints)
      integer*8, intent(in) :: sel
      integer*8, intent(out) :: npoints
    end subroutine
    subroutine adios_selection_get_points(sel, points, from_index, npoints)
      integer*8, intent(in) :: sel
      integer*8, intent(inout) :: points(*)
      integer*8, intent(in) :: from_index, npoints
    end subroutine
    subroutine adios_selection_get_index(sel, index)
      integer*8, intent(in) :: sel
      integer, intent(out) :: index
    end subroutine
    subroutine adios_selection_get_hints(sel, hints)
      integer*8, intent(in) :: sel
      character(*), intent(inout) :: hints
    end subroutine
  end interface

  interface
    function schedule_any(fp, sel, name, from_step, nsteps, values) result(err) bind(c, name="adios_fortran_schedule_any")
      import :: c_int64_t, c_char, c_int
      integer(c_int64_t), value :: fp, sel
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: from_step, nsteps
      type(*), intent(inout) :: values(..)
      integer(c_int) :: err
    end function
    function scalar_any(fp, name, values) result(err) bind(c, name="adios_fortran_scalar_any")
      import :: c_int64_t, c_char, c_int
      integer(c_int64_t), value :: fp
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(inout) :: values(..)
      integer(c_int) :: err
    end function
    function attr_any(fp, name, values) result(err) bind(c, name="adios_fortran_attr_any")
      import :: c_int64_t, c_char, c_int
      integer(c_int64_t), value :: fp
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(inout) :: values(..)
      integer(c_int) :: err
    end function
    function statistics_any(fp, name, value, gmin, gmax, gavg, gstd_dev, mins, maxs, avgs, std_devs) result(err) &
        bind(c, name="adios_fortran_statistics_any")
      import :: c_int64_t, c_char, c_int, c_double
      integer(c_int64_t), value :: fp
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(inout) :: value(..), gmin(..), gmax(..), mins(..), maxs(..)
      real(c_double), intent(inout) :: gavg, gstd_dev, avgs(*), std_devs(*)
      integer(c_int) :: err
    end function
  end interface
  private :: schedule_any, scalar_any, attr_any, statistics_any

contains

  ! sel may be 0: all of the variable.
  subroutine adios_schedule_read(fp, sel, varname, from_step, nsteps, data, err)
    integer*8, intent(in) :: fp, sel
    character(*), intent(in) :: varname
    integer, intent(in) :: from_step, nsteps
    type(*), intent(inout), target :: data(..)
    integer, intent(out) :: err
    err = schedule_any(fp, sel, trim(varname)//c_null_char, from_step, nsteps, data)
  end subroutine

  ! Of the first block of the first step.
  subroutine adios_get_scalar(fp, varname, data, err)
    integer*8, intent(in) :: fp
    character(*), intent(in) :: varname
    type(*), intent(inout) :: data(..)
    integer, intent(out) :: err
    err = scalar_any(fp, trim(varname)//c_null_char, data)
  end subroutine

  subroutine adios_get_attr(fp, attrname, attr, err)
    integer*8, intent(in) :: fp
    character(*), intent(in) :: attrname
    type(*), intent(inout) :: attr(..)
    integer, intent(out) :: err
    err = attr_any(fp, trim(attrname)//c_null_char, attr)
  end subroutine

  ! value, gmin, gmax, mins and maxs are of the variable's type; lists have an element for each step of the variable.
  subroutine adios_get_statistics(fp, varname, value, gmin, gmax, gavg, gstd_dev, mins, maxs, avgs, std_devs, err)
    integer*8, intent(in) :: fp
    character(*), intent(in) :: varname
    type(*), intent(inout) :: value(..), gmin(..), gmax(..), mins(..), maxs(..)
    real*8, intent(inout) :: gavg, gstd_dev, avgs(*), std_devs(*)
    integer, intent(out) :: err
    err = statistics_any(fp, trim(varname)//c_null_char, value, gmin, gmax, gavg, gstd_dev, mins, maxs, avgs, std_devs)
  end subroutine
end module adios_read_mod

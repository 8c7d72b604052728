! ADIOS's queries for Fortran. Every subroutine is the C function of that name (adios_query.h has what they mean). A query
! that could not be made is refused by what it is given to. Files and selections are integer*8, as in adios_read_mod.
module adios_query_mod
  use adios_read_mod
  implicit none

  integer, parameter :: ADIOS_QUERY_METHOD_MINMAX = 0, ADIOS_QUERY_METHOD_FASTBIT = 1, ADIOS_QUERY_METHOD_ALACRITY = 2
  integer, parameter :: ADIOS_LT = 0, ADIOS_LTEQ = 1, ADIOS_GT = 2, ADIOS_GTEQ = 3, ADIOS_EQ = 4, ADIOS_NE = 5
  integer, parameter :: ADIOS_QUERY_OP_AND = 0, ADIOS_QUERY_OP_OR = 1

  type ADIOS_QUERY
    private
    integer*8 :: q = 0
  end type

  interface
    subroutine adios_query_create(f, sel, varname, pred, value, q)
      import :: ADIOS_QUERY
      integer*8, intent(in) :: f, sel
      character(*), intent(in) :: varname, value
      integer, intent(in) :: pred
      type(ADIOS_QUERY), intent(out) :: q
    end subroutine
    subroutine adios_query_combine(q1, op, q2, q)
      import :: ADIOS_QUERY
      type(ADIOS_QUERY), intent(in) :: q1, q2
      integer, intent(in) :: op
      type(ADIOS_QUERY), intent(out) :: q
    end subroutine
    subroutine adios_query_set_method(q, method)
      import :: ADIOS_QUERY
      type(ADIOS_QUERY), intent(in) :: q
      integer, intent(in) :: method
    end subroutine
    integer*8 function adios_query_estimate(q, timestep)
      import :: ADIOS_QUERY
      type(ADIOS_QUERY), intent(in) :: q
      integer, intent(in) :: timestep
    end function
    ! err is 1 if there are more hits than those of sel_result, 0 if not, -1 on errors. sel_result, which the caller
    ! deletes with adios_selection_delete, has points; with ADIOS_QUERY_METHOD_MINMAX one block, whatever the batch size;
    ! it is 0 if there are no hits.
    subroutine adios_query_evaluate(q, sel_outboundary, timestep, batchsize, sel_result, err)
      import :: ADIOS_QUERY
      type(ADIOS_QUERY), intent(in) :: q
      integer*8, intent(in) :: sel_outboundary, batchsize
      integer, intent(in) :: timestep
      integer*8, intent(out) :: sel_result
      integer, intent(out) :: err
    end subroutine
    subroutine adios_query_free(q)
      import :: ADIOS_QUERY
      type(ADIOS_QUERY), intent(in) :: q
    end subroutine
  end interface

contains

  logical function adios_query_is_method_available(method)
    integer, intent(in) :: method
    interface
      integer function adios_query_is_method_available_f2c(method)
        integer, intent(in) :: method
      end function
    end interface
    adios_query_is_method_available = adios_query_is_method_available_f2c(method) == 1
  end function
end module

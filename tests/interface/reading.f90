! What the module forebay_reading does, on the two steps that enzo_tree.py makes: SHAPE (12, 10, 8) in C's order, cut
! into 3 x 2 x 1 ranks. Ends with 0 if all is as it should be. Usage: reading STORE
program reading
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  use forebay
  use forebay_reading
  implicit none
  type(forebay_run) :: run, none
  type(forebay_step) :: step
  type(forebay_step_info) :: info
  type(forebay_array) :: facts
  type(forebay_block) :: block
  type(forebay_attribute) :: attribute
  type(forebay_plan) :: plan
  type(forebay_query_summary) :: summary
  character(len=4096) :: store
  real(real64), target :: whole(8, 10, 12), corner(2, 3, 4), thinned(4, 5, 6), wide(8, 10, 24), linear(960)
  real(real32), target :: level(8, 10, 12), bytes(8, 10, 12)
  integer(int32), target :: mass(3)
  integer :: array, attributes, i, matches, status
  integer(int64) :: holes, steps

  call get_command_argument(1, store)
  call forebay_read_open(none, "/nonexistent", status)
  call expect(FOREBAY_NOT_FOUND, "open what is not there")
  if (len_trim(forebay_message()) == 0) error stop "no message"
  call forebay_read_open(none, store, status, set="none")
  call expect(FOREBAY_NOT_FOUND, "open a set that is not there")
  call forebay_read_open(run, store, status, memory_bytes=100000000_int64, threads=2, stored=.true.)
  call expect(FOREBAY_OK, "open")
  if (forebay_read_steps(run) /= 2) error stop "not two steps"
  call forebay_read_follow(run, 2_int64, steps, status, timeout_ms=0_int64)
  call expect(FOREBAY_TIMEOUT, "follow")
  if (steps /= 2) error stop "not two steps to follow"
  call forebay_read_open_step(run, 7_int64, step, status)
  call expect(FOREBAY_NOT_FOUND, "open a step that is not there")

  call forebay_read_open_step(run, 1_int64, step, status)
  call expect(FOREBAY_OK, "open a step")
  call forebay_read_inquire_step(step, info, status)
  call expect(FOREBAY_OK, "inquire a step")
  if (info%number /= 1 .or. info%set /= "DD0001" .or. .not. info%has_time .or. info%arrays < 3) error stop "another step"
  if (abs(info%time - 0.5_real64) > 1e-12_real64) error stop "another time"
  call forebay_read_find(step, "Dansity", array, status)
  call expect(FOREBAY_NOT_FOUND, "find")
  if (array /= 0 .or. index(forebay_message(), "Density") == 0) error stop "no near name"
  call forebay_read_find(step, "Density", array, status)
  call expect(FOREBAY_OK, "find")
  call forebay_read_inquire_array(step, array, facts, status)
  call expect(FOREBAY_OK, "inquire an array")
  if (facts%type /= FOREBAY_READ_FLOAT64 .or. facts%form /= FOREBAY_READ_GLOBAL .or. facts%blocks /= 6) error stop "another array"
  if (any(facts%shape /= [8, 10, 12]) .or. .not. facts%values%is_known .or. facts%values%count /= 960) error stop "another shape"
  call forebay_read_inquire_array(step, 0, facts, status)
  call expect(FOREBAY_ARGUMENT, "inquire array 0")
  call forebay_read_inquire_block(step, array, 2_int64, block, status)
  call expect(FOREBAY_OK, "inquire a block")
  if (block%rank /= 1 .or. any(block%begin /= [1, 6, 1]) .or. any(block%count /= [8, 5, 4])) error stop "another block"

  call forebay_read_box(step, array, whole, status, holes=holes)
  call expect(FOREBAY_OK, "read the whole")
  if (holes /= 0) error stop "holes"
  linear = reshape(whole, [960])
  do i = 1, 960
    if (abs(linear(i) - sin((i - 1) * 0.01_real64 + 1)) > 1e-12_real64) error stop "values"
  end do
  call forebay_read_box(step, array, corner, status, begin=[3_int64, 4_int64, 5_int64], count=[2_int64, 3_int64, 4_int64])
  call expect(FOREBAY_OK, "read a box")
  if (any(corner /= whole(3:4, 4:6, 5:8))) error stop "values of a box"
  call forebay_read_box(step, array, thinned, status, begin=[2_int64, 1_int64, 1_int64], count=[4_int64, 5_int64, 6_int64], &
                        stride=[2_int64, 2_int64, 2_int64])
  call expect(FOREBAY_OK, "read with a stride")
  if (any(thinned /= whole(2::2, ::2, ::2))) error stop "values with a stride"
  call forebay_read_box(step, array, wide(:, :, ::2), status)  ! the compiler copies
  call expect(FOREBAY_OK, "read into every second plane")
  if (any(wide(:, :, ::2) /= whole)) error stop "values of every second plane"
  call forebay_read_box(step, array, level, status)
  call expect(FOREBAY_ARGUMENT, "read into another type")
  call forebay_read_box(step, array, corner, status)
  call expect(FOREBAY_ARGUMENT, "read into too few")
  call forebay_read_box(step, array, corner, status, begin=[3_int64, 4_int64, 5_int64])
  call expect(FOREBAY_ARGUMENT, "a begin without a count")

  corner = 0
  call forebay_read_plan_new(plan, status)
  call expect(FOREBAY_OK, "plan")
  call forebay_read_plan_box(plan, step, array, corner, status, begin=[1_int64, 1_int64, 1_int64], &
                             count=[2_int64, 3_int64, 4_int64])
  call expect(FOREBAY_OK, "plan a box")
  call forebay_read_plan_box(plan, step, array, wide(:, :, ::2), status)
  call expect(FOREBAY_ARGUMENT, "plan elements that lie apart")
  call forebay_read_find(step, "/Level", array, status)
  call forebay_read_plan_box(plan, step, array, level, status)
  call expect(FOREBAY_OK, "plan real32")
  call forebay_read_plan_box(plan, step, array, c_loc(bytes), 3840_int64, status)
  call expect(FOREBAY_OK, "plan bytes")
  call forebay_read_find(step, "mass", array, status)
  call expect(FOREBAY_OK, "find mass")
  call forebay_read_plan_block(plan, step, array, 3_int64, c_loc(mass), 12_int64, status)
  call expect(FOREBAY_OK, "plan a block")
  call forebay_read_perform(plan, status)
  call expect(FOREBAY_OK, "perform")
  call forebay_read_outcome(plan, 4, holes, status)
  call expect(FOREBAY_OK, "outcome")
  call forebay_read_outcome(plan, 5, holes, status)
  call expect(FOREBAY_ARGUMENT, "outcome of nothing")
  call forebay_read_plan_free(plan)
  if (any(corner /= whole(1:2, 1:3, 1:4)) .or. any(level /= real(whole * 2, real32))) error stop "planned values"
  if (any(mass /= 2) .or. any(bytes /= level)) error stop "planned bytes"

  call forebay_read_attributes(step, attributes, status)
  call expect(FOREBAY_OK, "attributes")
  do i = 1, attributes
    call forebay_read_inquire_attribute(step, i, attribute, status)
    call expect(FOREBAY_OK, "inquire an attribute")
    if (len(attribute%name) == 0) error stop "an attribute without a name"
  end do
  call forebay_read_inquire_attribute(step, attributes + 1, attribute, status)
  call expect(FOREBAY_ARGUMENT, "inquire an attribute that is not there")
  call forebay_read_close_step(step)

  matches = 0
  call forebay_read_query(run, "Density > 0.999", count_match, status, values=.true., summary=summary)
  call expect(FOREBAY_OK, "query")
  if (matches == 0 .or. summary%elements /= matches .or. summary%steps /= 2) error stop "other matches"
  call forebay_read_query(run, "Density >", count_match, status)
  call expect(FOREBAY_ARGUMENT, "query without sense")
  call forebay_read_close(run)

contains

  subroutine count_match(match)
    type(forebay_match), intent(in) :: match
    integer :: element

    element = int((match%begin(1) - 1) + 8 * (match%begin(2) - 1) + 80 * (match%begin(3) - 1))
    if (size(match%values) /= 1 .or. size(match%ranks) /= 1 .or. any(match%count /= 1)) error stop "another match"
    if (abs(match%values(1) - sin(element * 0.01_real64 + match%number)) > 1e-12_real64) error stop "another value of a match"
    matches = matches + 1
  end subroutine count_match

  subroutine expect(wanted, what)
    integer, intent(in) :: wanted
    character(len=*), intent(in) :: what

    if (status == wanted) return
    write (error_unit, *) what, ": ", status, " ", forebay_message()
    error stop 1
  end subroutine expect

end program reading

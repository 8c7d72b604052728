! Asks for an agent where there is none.
program main
  use forebay
  implicit none
  type(forebay_client) :: client
  integer :: status

  call forebay_connect(client, 0, 1, status, stage="/nonexistent")
  if (status == FOREBAY_NO_AGENT .and. len(forebay_message()) > 0) print *, "no agent"
  call forebay_disconnect(client)
end program main

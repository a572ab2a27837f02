# Read by every shell cell: a notebook asks programs for colours, which a page cannot show.
unset FORCE_COLOR CLICOLOR CLICOLOR_FORCE
export TERM=dumb

"""`python -m clawctl` is `clawctl`."""

from clawctl.cli import main

main()

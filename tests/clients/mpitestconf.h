/* Of what the harness finds out about the machine, the programs ask nothing. */

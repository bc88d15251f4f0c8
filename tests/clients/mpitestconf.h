/* The programs use nothing that the harness's configuration detects. */

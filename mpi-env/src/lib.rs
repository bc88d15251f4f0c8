//! Environmental management: start-up and shutdown, version, processor name, timers.

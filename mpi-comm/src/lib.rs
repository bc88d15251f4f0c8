//! Groups, communicators and context ids.

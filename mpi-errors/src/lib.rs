//! Error classes, error codes that remember their instance, error handlers.

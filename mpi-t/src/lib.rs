//! The tool information interface: control and performance variables, enumerations, categories, sessions.

//! Datatypes: layouts, sizes and extents, pack and unpack.

//! Does nothing: what the start and end of a program cost, for the figures of `comity-hook`.

fn main() {}

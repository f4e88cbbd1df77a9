//! The git driver against real repositories in temporary directories.

mod finding;
mod folding;
mod hostile;
mod one_name;
mod refusals;
mod sandbox;
mod spellings;
mod uncommitted;

//! The walk-through of the docs, word for word.

//! What copies of a study have in common.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that copies share until one of them changes it: a study of a million trials is looked at, thinned and computed from in copies.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

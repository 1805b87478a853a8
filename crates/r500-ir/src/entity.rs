//! Dense maps keyed by IR entities.
//!
//! The entities of a function are numbered from 0 without gaps, so a map from them is a vector. A key that is not in the map is a bug of
//! the caller: indexing with it panics.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An entity with an index, from 0.
pub trait EntityKey: Copy {
    /// Returns the entity with an index.
    fn from_index(index: usize) -> Self;
    /// Returns the index of the entity.
    fn index(self) -> usize;
}

/// A vector indexed by entities.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityMap<K, V> {
    items: Vec<V>,
    keys: PhantomData<K>,
}

impl<K, V> Default for EntityMap<K, V> {
    fn default() -> Self {
        Self { items: Vec::new(), keys: PhantomData }
    }
}

impl<K: EntityKey, V> EntityMap<K, V> {
    /// Returns a map with `item` for each of the first `len` entities.
    #[must_use]
    pub fn filled(len: usize, item: V) -> Self
    where
        V: Clone,
    {
        Self { items: vec![item; len], keys: PhantomData }
    }

    /// Adds the item of the next entity. Returns the entity.
    pub fn push(&mut self, item: V) -> K {
        self.items.push(item);
        K::from_index(self.items.len() - 1)
    }

    /// Returns the number of entities.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether there are no entities.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns whether the map contains an entity.
    #[must_use]
    pub fn contains(&self, key: K) -> bool {
        key.index() < self.items.len()
    }

    /// Drops all entities except the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Iterates over the entities and their items, in order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.items.iter().enumerate().map(|(index, item)| (K::from_index(index), item))
    }

    /// Returns the items, in the order of their entities.
    #[must_use]
    pub fn items(&self) -> &[V] {
        &self.items
    }
}

impl<K, V> FromIterator<V> for EntityMap<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(items: I) -> Self {
        Self { items: items.into_iter().collect(), keys: PhantomData }
    }
}

impl<K: EntityKey, V> Index<K> for EntityMap<K, V> {
    type Output = V;

    fn index(&self, key: K) -> &V {
        &self.items[key.index()]
    }
}

impl<K: EntityKey, V> IndexMut<K> for EntityMap<K, V> {
    fn index_mut(&mut self, key: K) -> &mut V {
        &mut self.items[key.index()]
    }
}

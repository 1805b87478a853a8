//! A bounded queue between two threads, whose waiting items can be cancelled.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a queue holds at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    /// Items.
    pub(super) items: usize,
    /// Bytes of all items together. An item that is larger alone waits until the queue is empty.
    pub(super) bytes: usize,
}

/// A queue of items in order of arrival. An item with a key can be cancelled while it waits, in constant time.
#[derive(Debug)]
pub(super) struct Queue<K, T> {
    capacity: Capacity,
    state: Mutex<State<K, T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<K, T> {
    items: VecDeque<Item<K, T>>,
    bytes: usize,
    /// How many items were taken: the number of the first one that waits.
    taken: u64,
    /// The numbers of the items that wait and are not cancelled.
    waiting: HashMap<K, u64>,
    /// The thread that adds items or the one that takes them is done.
    closed: bool,
}

#[derive(Debug)]
struct Item<K, T> {
    key: Option<K>,
    bytes: usize,
    cancelled: bool,
    value: T,
}

/// An item that was taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken<T> {
    pub(super) value: T,
    pub(super) cancelled: bool,
}

impl<K: Hash + Eq + Clone, T> Queue<K, T> {
    /// Returns an empty queue.
    pub(super) fn new(capacity: Capacity) -> Self {
        let state = State {
            items: VecDeque::new(),
            bytes: 0,
            taken: 0,
            waiting: HashMap::new(),
            closed: false,
        };
        Self { capacity, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Appends an item of a size; waits until there is room for it. Returns whether the queue was still open.
    pub(super) fn push(&self, key: Option<K>, bytes: usize, value: T) -> bool {
        let mut state = self.locked();
        while !state.closed && !state.has_room(self.capacity, bytes) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        let number = state.taken + state.items.len() as u64;
        if let Some(key) = &key {
            // Of two waiting items with one key, which no protocol allows, only the second can be cancelled.
            state.waiting.insert(key.clone(), number);
        }
        state.bytes += bytes;
        state.items.push_back(Item { key, bytes, cancelled: false, value });
        self.changed.notify_all();
        true
    }

    /// Cancels an item. Returns whether it was waiting.
    pub(super) fn cancel(&self, key: &K) -> bool {
        let state = &mut *self.locked();
        let number = state.waiting.remove(key);
        let place = number.and_then(|number| usize::try_from(number - state.taken).ok());
        match place.and_then(|place| state.items.get_mut(place)) {
            Some(item) => {
                item.cancelled = true;
                true
            }
            None => false,
        }
    }

    /// Takes the first item, and waits for it; `None` at the end.
    pub(super) fn take(&self) -> Option<Taken<T>> {
        let mut state = self.locked();
        loop {
            if let Some(item) = state.take() {
                self.changed.notify_all();
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether no item waits, and more may arrive.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.locked();
        state.items.is_empty() && !state.closed
    }

    /// Ends the queue: items that wait can still be taken, further ones are refused.
    pub(super) fn close(&self) {
        self.locked().closed = true;
        self.changed.notify_all();
    }

    /// Locks the state, ignoring poison: it is consistent between any two statements.
    fn locked(&self) -> MutexGuard<'_, State<K, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq, T> State<K, T> {
    fn has_room(&self, capacity: Capacity, bytes: usize) -> bool {
        let fits = self.bytes.checked_add(bytes).is_some_and(|bytes| bytes <= capacity.bytes);
        self.items.is_empty() || self.items.len() < capacity.items && fits
    }

    fn take(&mut self) -> Option<Taken<T>> {
        let Item { key, bytes, cancelled, value } = self.items.pop_front()?;
        if let Some(key) = key
            && self.waiting.get(&key) == Some(&self.taken)
        {
            self.waiting.remove(&key);
        }
        self.taken += 1;
        self.bytes -= bytes;
        Some(Taken { value, cancelled })
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;

    use super::*;

    const ROOMY: Capacity = Capacity { items: usize::MAX, bytes: usize::MAX };

    #[test]
    fn items_keep_their_order_and_are_cancelled_once() {
        let queue = Queue::new(ROOMY);
        for n in 0..20_000 {
            assert!(queue.push(Some(n), 1, n));
        }
        for n in (0..20_000).step_by(3) {
            assert!(queue.cancel(&n));
            assert!(!queue.cancel(&n), "{n} was cancelled already");
        }
        assert!(!queue.cancel(&20_000));
        for n in 0..20_000 {
            assert_eq!(queue.take(), Some(Taken { value: n, cancelled: n % 3 == 0 }));
            assert!(!queue.cancel(&n), "{n} was taken");
        }
        queue.close();
        assert_eq!(queue.take(), None);
        assert!(!queue.push(None, 1, 0));
        assert!(queue.locked().waiting.is_empty());
        assert_eq!(queue.locked().bytes, 0);
    }

    /// A key may return when its item was taken; then it is that of the new item.
    #[test]
    fn a_key_can_be_used_again() {
        let queue = Queue::new(ROOMY);
        queue.push(Some(1), 1, "first");
        queue.push(Some(1), 1, "second");
        assert!(queue.cancel(&1));
        assert_eq!(queue.take(), Some(Taken { value: "first", cancelled: false }));
        queue.push(Some(1), 1, "third");
        assert_eq!(queue.take(), Some(Taken { value: "second", cancelled: true }));
        assert!(queue.cancel(&1));
        assert_eq!(queue.take(), Some(Taken { value: "third", cancelled: true }));
    }

    /// A key that counts what is done with it.
    #[derive(Clone, Debug)]
    struct Counted(u32, Arc<AtomicUsize>);

    impl Hash for Counted {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.1.fetch_add(1, Relaxed);
            self.0.hash(state);
        }
    }

    impl PartialEq for Counted {
        fn eq(&self, other: &Self) -> bool {
            self.1.fetch_add(1, Relaxed);
            self.0 == other.0
        }
    }

    impl Eq for Counted {}

    #[test]
    fn cancelling_costs_the_same_in_a_long_queue() {
        for len in [10, 1000, 100_000] {
            let count = Arc::new(AtomicUsize::new(0));
            let queue = Queue::new(ROOMY);
            for n in 0..len {
                queue.push(Some(Counted(n, count.clone())), 1, n);
            }
            for n in [0, len / 2, len - 1] {
                let key = Counted(n, count.clone());
                count.store(0, Relaxed);
                assert!(queue.cancel(&key));
                // One hash, one comparison; few more of keys with similar hashes.
                let operations = count.load(Relaxed);
                assert!((2..8).contains(&operations), "{operations} of {len}");
            }
        }
    }

    /// Pushes `count` items of `bytes` from another thread while this one takes them; returns the most that waited.
    fn most(capacity: Capacity, bytes: usize, count: usize) -> (usize, usize) {
        let queue = &Queue::<u8, usize>::new(capacity);
        let mut most = (0, 0);
        thread::scope(|scope| {
            scope.spawn(move || {
                for n in 0..count {
                    assert!(queue.push(None, bytes, n));
                }
                queue.close();
            });
            for n in 0..count {
                let (items, bytes) = {
                    let state = queue.locked();
                    (state.items.len(), state.bytes)
                };
                most = (most.0.max(items), most.1.max(bytes));
                assert_eq!(queue.take(), Some(Taken { value: n, cancelled: false }));
            }
            assert_eq!(queue.take(), None);
        });
        most
    }

    #[test]
    fn items_and_bytes_are_bounded() {
        let capacity = Capacity { items: 16, bytes: 100 };
        assert!(most(capacity, 1, 5000).0 <= 16);
        assert!(most(capacity, 40, 5000).1 <= 100);
        // An item that no queue would hold passes alone.
        let (items, bytes) = most(capacity, 1000, 500);
        assert!(items <= 1 && bytes <= 1000, "{items} items, {bytes} bytes");
    }

    /// A thread that waits for room continues when no thread takes items any more.
    #[test]
    fn closing_ends_a_push_that_waits() {
        let queue = &Queue::<u8, u8>::new(Capacity { items: 1, bytes: 1 });
        assert!(queue.push(None, 1, 0));
        thread::scope(|scope| {
            let waits = scope.spawn(|| queue.push(None, 1, 1));
            queue.close();
            assert_eq!(waits.join().ok(), Some(false));
        });
    }
}

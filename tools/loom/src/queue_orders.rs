//! The queue of the editor servers.

use loom::sync::Arc;
use loom::thread;

use crate::queue::{Capacity, Queue, Taken};

/// Two items through a queue of one: in order, and all.
pub(crate) fn items_arrive_in_order() {
    loom::model(|| {
        let queue = Arc::new(Queue::<u8, u8>::new(Capacity { items: 1, bytes: 8 }));
        let reader = queue.clone();
        let reader = thread::spawn(move || {
            for n in 0..2 {
                assert!(reader.push(None, 1, n));
            }
            reader.close();
        });
        for n in 0..2 {
            assert_eq!(queue.take(), Some(Taken { value: n, cancelled: false }));
        }
        assert_eq!(queue.take(), None);
        reader.join().unwrap();
    });
}

/// An item is cancelled if and only if the cancelling thread found it waiting.
pub(crate) fn an_item_is_cancelled_or_taken() {
    loom::model(|| {
        let queue = Arc::new(Queue::<u8, u8>::new(Capacity { items: 2, bytes: 8 }));
        let reader = queue.clone();
        let reader = thread::spawn(move || {
            reader.push(Some(7), 1, 1);
            let waited = reader.cancel(&7);
            assert!(!reader.cancel(&7));
            reader.push(None, 1, 2);
            reader.close();
            waited
        });
        let first = queue.take().unwrap();
        assert_eq!(queue.take(), Some(Taken { value: 2, cancelled: false }));
        assert_eq!(queue.take(), None);
        assert_eq!(first, Taken { value: 1, cancelled: reader.join().unwrap() });
    });
}

/// A server that ends frees a reader that waits for room.
pub(crate) fn closing_ends_a_push() {
    loom::model(|| {
        let queue = Arc::new(Queue::<u8, u8>::new(Capacity { items: 1, bytes: 1 }));
        let reader = queue.clone();
        let reader = thread::spawn(move || (0..3).filter(|n| reader.push(None, 1, *n)).count());
        let taken = queue.take();
        queue.close();
        let pushed = reader.join().unwrap();
        assert!(taken.is_some() && (1..=2).contains(&pushed));
        assert_eq!(std::iter::from_fn(|| queue.take()).count(), pushed - 1);
    });
}

// A value that tells who asked when it changes.

export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set value(value: T) {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const listener of this.listeners) listener(value);
  }

  /** Calls at once, and after every change. Returns what ends that. */
  watch(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    listener(this.current);
    return () => this.listeners.delete(listener);
  }
}

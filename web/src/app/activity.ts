// Tracking of pending work: requests without an answer, and debounced calls.

let count = 0;

/** Counts work that begins. Returns the function that ends it. */
export function begin(): () => void {
  count++;
  let open = true;
  return () => {
    if (open) count--;
    open = false;
  };
}

/** Returns whether any work is pending. */
export const isBusy = (): boolean => count > 0;

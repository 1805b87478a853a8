// Work under way: requests without an answer, and calls that wait until others have stopped.

let count = 0;

/** Counts work that begins. Returns what ends it. */
export function begin(): () => void {
  count++;
  let open = true;
  return () => {
    if (open) count--;
    open = false;
  };
}

/** Whether any work is under way. */
export const isBusy = (): boolean => count > 0;

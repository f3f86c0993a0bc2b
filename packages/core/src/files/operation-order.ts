/** Runs operations as if each began when the one before it had ended, without making readers wait for each other. */
export interface OperationOrder {
  /** Runs after every write asked for before it, beside other reads. */
  read<T>(operation: () => Promise<T>): Promise<T>;
  /** Runs alone: after everything asked for before it, before everything asked for after it. */
  write<T>(operation: () => Promise<T>): Promise<T>;
  /** When the writes asked for so far have ended. */
  written(): Promise<void>;
}

/**
 * Keeps operations in the order in which they were asked for, also where nobody awaited them. Without it two writes of
 * one file interleave, and a capture can see half of another write.
 */
export function createOperationOrder(): OperationOrder {
  let lastWrite: Promise<void> = Promise.resolve();
  /** Ends with the last write and every read since. */
  let everything: Promise<void> = lastWrite;
  return {
    read(operation) {
      const result = lastWrite.then(operation);
      const earlier = everything;
      everything = ended(result).then(() => earlier);
      return result;
    },
    write(operation) {
      const result = everything.then(operation);
      lastWrite = ended(result);
      everything = lastWrite;
      return result;
    },
    written: () => lastWrite,
  };
}

async function ended(operation: Promise<unknown>): Promise<void> {
  await operation.catch(() => {});
}

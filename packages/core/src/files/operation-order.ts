/** Runs operations as if each began when the previous one had ended, without making readers wait for each other. */
export interface OperationOrder {
  /** Runs after every write requested before it, in parallel with other reads. */
  read<T>(operation: () => Promise<T>): Promise<T>;
  /** Runs alone: after everything requested before it, before everything requested after it. */
  write<T>(operation: () => Promise<T>): Promise<T>;
  /** Resolves when the writes requested so far have ended. */
  written(): Promise<void>;
}

/**
 * Keeps operations in the order in which they were requested, even if they are not awaited. Without it two writes of
 * one file interleave, and a capture can see half of another write.
 */
export function createOperationOrder(): OperationOrder {
  let lastWrite: Promise<void> = Promise.resolve();
  /** Resolves with the last write and every read since. */
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

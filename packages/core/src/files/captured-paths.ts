/** Which paths need not be captured again, because an earlier capture still puts them back. */
export interface CapturedPaths {
  has(path: string): boolean;
  add(path: string): void;
  /** What is captured at or below a deleted path is so no longer: whatever is made there next has its own undo. */
  forgetBelow(path: string): void;
  forgetAll(): void;
}

/**
 * One capture a path is enough while files are made and overwritten. It is not once something above was deleted: in
 * "delete d/f, delete d, write d/f" the undo of the first step alone would leave the d that the last step made.
 */
export function createCapturedPaths(): CapturedPaths {
  const capturedAt = new Map<string, number>();
  const deletedAt = new Map<string, number>();
  let steps = 0;
  return {
    has(path) {
      const step = capturedAt.get(path);
      return step !== undefined && withThoseAbove(path).every((each) => (deletedAt.get(each) ?? 0) < step);
    },
    add(path) {
      steps += 1;
      capturedAt.set(path, steps);
    },
    forgetBelow(path) {
      steps += 1;
      deletedAt.set(path, steps);
    },
    forgetAll() {
      capturedAt.clear();
      deletedAt.clear();
    },
  };
}

function withThoseAbove(path: string): string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

import type { NewId } from '../new-id.ts';

/** Ids that are the same in every run: `call-1`, `call-2`, … */
export function sequentialIds(prefix: string = 'call'): NewId {
  let last = 0;
  return () => `${prefix}-${++last}`;
}

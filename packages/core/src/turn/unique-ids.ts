import { OptionsError } from '../errors.ts';
import type { NewId } from '../new-id.ts';
import type { Transcript } from '../transcript/transcript.ts';

/**
 * Ids that no call of the transcript has. The host's generator may start again at 1 when a turn is resumed; a call with
 * the id of another would count as settled, and never run.
 */
export function uniqueIds(newId: NewId, transcript: Transcript): NewId {
  // Ids that were assigned and may not be in the transcript yet: a reply is recorded when it is complete.
  const given = new Set<string>();
  const isTaken = (id: string): boolean => given.has(id) || transcript.hasCall(id);
  return () => {
    const id: unknown = newId();
    if (typeof id !== 'string' || id === '') throw new OptionsError('newId', 'must give a text that is not empty.');
    let unique = id;
    for (let count = 2; isTaken(unique); count++) unique = `${id}-${count}`;
    given.add(unique);
    return unique;
  };
}

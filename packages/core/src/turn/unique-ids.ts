import { OptionsError } from '../errors.ts';
import type { NewId } from '../new-id.ts';
import type { Transcript } from './transcript.ts';

/**
 * Ids that no call of the transcript has. Whoever makes them may begin again at 1 when a turn is resumed; a call under the
 * id of another would pass for settled, and never run.
 */
export function uniqueIds(newId: NewId, transcript: Transcript): NewId {
  const taken = takenIn(transcript);
  return () => {
    const id: unknown = newId();
    if (typeof id !== 'string' || id === '') throw new OptionsError('newId', 'must give a text that is not empty.');
    let unique = id;
    for (let count = 2; taken.has(unique); count++) unique = `${id}-${count}`;
    taken.add(unique);
    return unique;
  };
}

function takenIn({ entries }: Transcript): Set<string> {
  return new Set(entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [])));
}

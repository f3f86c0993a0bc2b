import { closestNames } from '../closest-names.ts';
import { SessionError } from '../errors.ts';
import type { Root } from './root.ts';
import { builtInNamed } from './slice.ts';
import { isUnclaimed } from './unclaimed.ts';

/** Refuses an event that would change nothing: a misspelt type, or one of a slice that this session does not have. */
export function assertKnownEvent(root: Root, type: string): void {
  if (root.some(({ slice }) => slice.on[type] !== undefined)) return;
  const [meant] = closestNames(type, eventsOf(root));
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  throw new SessionError(`No slice of this session knows the event "${type}".${hint} ${describeSlices(root)}`);
}

function eventsOf(root: Root): string[] {
  return [...new Set(root.flatMap(({ slice }) => Object.keys(slice.on)))].filter((type) => !OURS.has(type));
}

/** Only the runtime dispatches these. */
const OURS: ReadonlySet<string> = new Set(['ToolInvoked', 'RunStarted']);

function describeSlices(root: Root): string {
  const own = root.filter(({ slice }) => builtInNamed(slice.name) !== slice);
  const [known, stored] = [false, true].map((wanted) =>
    own.filter(({ slice }) => isUnclaimed(slice) === wanted).map(({ slice }) => `"${slice.name}"`),
  ) as [string[], string[]];
  const has = known.length === 0 ? 'It has no slices.' : `Its slices: ${known.join(', ')}.`;
  const waits = stored.length === 0 ? '' : ` Stored, and not used by any tool yet: ${stored.join(', ')}.`;
  return `${has}${waits} Give the slice to createSession({ slices }) or to the tool({ slices }) that dispatches the event.`;
}

import type { LiveEvent, SpaceEvent, Write } from './run-write.ts';

/** Merges adjacent deltas of the same stream into one event. */
export function mergeDeltas(writes: readonly Write[]): readonly Write[] {
  const merged: Write[] = [];
  for (const write of writes) {
    const last = merged.at(-1);
    if (last !== undefined && isEvent(last) && isEvent(write) && isSameStream(last, write)) {
      const delta = `${String(last.payload.delta)}${String(write.payload.delta)}`;
      merged[merged.length - 1] = { ...last, payload: { ...last.payload, delta } };
    } else merged.push(write);
  }
  return merged;
}

type Told = SpaceEvent | LiveEvent;

function isEvent(write: Write): write is Told {
  return write.kind === 'space-event' || write.kind === 'live-event';
}

function isSameStream(one: Told, next: Told): boolean {
  if (!('delta' in one.payload) || one.type !== next.type || spaceOf(one) !== spaceOf(next)) return false;
  return (['streamId', 'callId', 'step'] as const).every((name) => one.payload[name] === next.payload[name]);
}

/** Undefined for an event on the run's stream. */
function spaceOf(event: Told): string | undefined {
  return event.kind === 'space-event' ? event.spaceId : undefined;
}

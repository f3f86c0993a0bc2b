import type { SpaceEvent, Write } from './cycle-write.ts';

/** Merges adjacent deltas of the same stream into one event. */
export function mergeDeltas(writes: readonly Write[]): readonly Write[] {
  const merged: Write[] = [];
  for (const write of writes) {
    const last = merged.at(-1);
    if (last?.kind === 'space-event' && write.kind === 'space-event' && isSameStream(last, write)) {
      const delta = `${String(last.payload.delta)}${String(write.payload.delta)}`;
      merged[merged.length - 1] = { ...last, payload: { ...last.payload, delta } };
    } else merged.push(write);
  }
  return merged;
}

function isSameStream(one: SpaceEvent, next: SpaceEvent): boolean {
  if (!('delta' in one.payload) || one.type !== next.type || one.spaceId !== next.spaceId) return false;
  return one.payload.streamId === next.payload.streamId && one.payload.callId === next.payload.callId;
}

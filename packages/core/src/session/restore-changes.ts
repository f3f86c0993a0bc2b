import { SessionError } from '../errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { SliceChange, SliceChanges } from './recording.ts';
import { type Root, type Slot, slotNamed, withSlot } from './root.ts';
import { type AnySlice, builtInNamed } from './slice.ts';
import { patchState } from './state-patch.ts';
import { unclaimedSlice } from './unclaimed.ts';

/** The root after applying what a journal stored for the end of a call. */
export function withChanges(root: Root, changes: SliceChanges): Root {
  let next = root;
  for (const [name, change] of Object.entries(changes))
    next = withSlot(next, changed(slotNamed(root, name), name, change));
  return next;
}

function changed(known: Slot | undefined, name: string, change: SliceChange): Slot {
  const { version, patch } = change;
  if (!('is' in patch) && known?.slice.version !== version)
    throw new SessionError(
      `The journal changes slice "${name}" in version ${version}, and the state before that change is not there.`,
    );
  const state = deepFreeze(patchState(known?.state, patch), known?.state);
  return { slice: sliceOf(known, name, change), state };
}

/** Its definition, or a placeholder until the definition is given. */
function sliceOf(known: Slot | undefined, name: string, change: SliceChange): AnySlice {
  const definition = known?.slice ?? builtInNamed(name);
  return definition?.version === change.version ? definition : unclaimedSlice(name, change);
}

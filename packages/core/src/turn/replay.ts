import { OptionsError } from '../errors.ts';
import { logEnd, reduceEnd, startRun } from '../session/call-ends.ts';
import { Recording } from '../session/recording.ts';
import { withChanges } from '../session/restore-changes.ts';
import type { Session } from '../session/session.ts';
import { SessionLayer } from '../session/session-layer.ts';
import type { Snapshot } from '../session/snapshots.ts';
import type { Entry } from '../transcript/entry.ts';
import { recordsProblem, type Staged } from '../transcript/journal.ts';
import { follow, readProgress } from '../transcript/progress.ts';
import { Checkpoint } from './checkpoint.ts';

/** A record of a journal: an entry and, at the end of a call, the call's changes. */
export interface JournalRecord {
  readonly entry: Entry;
  readonly staged?: Staged;
}

/**
 * Brings a session from its state before the first record to its state after the last. Rewinds are applied too, and a
 * resumed turn may still be rewound. A slice that the session does not have is kept as it was stored, until a tool or
 * the host uses it. Files and resources are not in a journal: they must be durable by themselves.
 */
export function replay(session: Session, records: Iterable<JournalRecord>): void {
  const layer = SessionLayer.of(session);
  const registered = layer.state.root.map(({ slice }) => slice);
  const progress = readProgress([]);
  let checkpoint: Snapshot | undefined;
  const problem = recordsProblem(records);
  if (problem !== undefined) throw new OptionsError('records', problem);
  for (const { entry, staged } of records) {
    if (entry === undefined)
      throw new OptionsError('records', 'must be { entry, staged } each, as a journal stored them.');
    follow(progress, entry);
    if (entry.kind === 'turn') startRun(layer);
    else if (entry.kind === 'checkpoint') checkpoint = layer.snapshot();
    else if (entry.kind === 'rewind' && checkpoint !== undefined) layer.restore(checkpoint);
    else if (entry.kind === 'settled' || entry.kind === 'pending') applyEnd(layer, entry, staged);
  }
  // Taken before the adoption: the journal does not have the states that a migration makes.
  layer.recorded = new Recording(layer.state.root);
  // Adopts the slices for which changes of an older version were restored.
  layer.adopt(registered);
  if (checkpoint !== undefined && progress.lastCall !== undefined)
    Checkpoint.replayed(layer, checkpoint).keep(progress.lastCall);
}

function applyEnd(layer: SessionLayer, entry: Extract<Entry, { kind: 'settled' | 'pending' }>, staged?: Staged): void {
  if (staged?.slices !== undefined) {
    layer.state.root = withChanges(layer.state.root, staged.slices);
    return;
  }
  for (const event of staged?.events ?? []) layer.state.reduce(event);
  if (entry.kind === 'pending') return;
  if (entry.settlement.outcome.status === 'ok') reduceEnd(layer, entry.settlement);
  else logEnd(layer, entry.settlement);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { ArtifactFiles } from '../../ports/artifacts/artifact-files.ts';
import type { Services } from '../../ports/services.ts';
import { toJson } from '../../ports/store/schema/json.ts';
import type { ErasurePhase, ErasureRow } from '../../ports/store/schema/tables.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Copies } from './copies.ts';

export interface ErasureServices extends Pick<Services, 'store' | 'limits' | 'logger'> {
  /** Where artifacts are stored. Undefined: nowhere. */
  readonly files?: ArtifactFiles | undefined;
}

/** The work on one erasure by one gateway. */
export interface ErasureJob extends ErasureServices {
  readonly erasure: ErasureRow;
  readonly owner: string;
}

/** What `collect` found: see collect-texts.ts. */
export interface Collected {
  readonly copies: Copies;
  /** The runs that took texts that are erased. */
  readonly runIds: ReadonlySet<string>;
  readonly threadIds: readonly string[];
}

/** Another gateway has taken the erasure over. */
export class ErasureTaken extends Error {
  override readonly name: string = 'ErasureTaken';
}

export interface Progress {
  readonly phase?: ErasurePhase;
  readonly replaced?: number;
  readonly cursor?: string | null;
}

/** Notes progress, and keeps the erasure. Throws if another gateway has taken it. */
export async function noteProgress(tx: Tx, job: ErasureJob, progress: Progress = {}): Promise<void> {
  const { phase, replaced = 0, cursor } = progress;
  const kept = await tx.db
    .updateTable('erasures')
    .set((eb) => ({
      ...(phase === undefined ? {} : { phase, cursor: null }),
      ...(cursor === undefined ? {} : { cursor: cursor === null ? null : toJson(cursor) }),
      replaced: eb('replaced', '+', replaced),
      owned_until: tx.now() + ownedMs(job),
    }))
    .where('id', '=', job.erasure.id)
    .where('owner', '=', job.owner)
    .returning('id')
    .executeTakeFirst();
  if (kept === undefined) throw new ErasureTaken();
}

/** An erasure is left to another gateway if its own one has noted no progress for this long. */
export function ownedMs({ limits }: Pick<ErasureServices, 'limits'>): number {
  return Math.max(limits.leaseMs, 5_000);
}

/** Changes a small number of rows. */
export async function inPiece(job: ErasureJob, work: (tx: Tx) => Promise<number>): Promise<void> {
  const startedAt = performance.now();
  await job.store.transaction(async (tx) => {
    await noteProgress(tx, job, { replaced: await work(tx) });
  });
  await letOthers(startedAt);
}

/** Waits for half as long as the piece took, so that an erasure leaves a third of the time to others, however slow the machine is. */
export async function letOthers(startedAt: number): Promise<void> {
  await sleep(Math.min((performance.now() - startedAt) / 2, MOST_PAUSE_MS));
}

const MOST_PAUSE_MS = 20;

/**
 * Holds a thread, so that no run of it writes, and none begins with the old transcript. A run that has the texts in memory may finish for one and
 * a half times the lease, 15 s by default. Then it loses its lease, as if its gateway had died: all its later writes are refused, and its takeover reads what is left.
 */
export async function holdThread(job: ErasureJob, threadId: string): Promise<boolean> {
  const { store, erasure } = job;
  const holder = holderOf(job);
  for (;;) {
    const found = await store.transaction(async (tx) => {
      const isForced = tx.now() > erasure.created_at + 1.5 * job.limits.leaseMs;
      await noteProgress(tx, job);
      const thread = tx.db.selectFrom('threads').select(['lease_owner', 'lease_until']).where('id', '=', threadId);
      const row = await thread.forNoKeyUpdate().executeTakeFirst();
      if (row === undefined) return 'gone';
      const isFree = row.lease_owner === null || row.lease_owner === holder || row.lease_until <= tx.now();
      if (!isFree && !isForced) return 'held';
      const set = { lease_owner: holder, lease_until: tx.now() + HOLD_MS };
      await tx.db
        .updateTable('threads')
        .set((eb) => ({ ...set, epoch: eb('epoch', '+', 1) }))
        .where('id', '=', threadId)
        .execute();
      return 'ours';
    });
    if (found !== 'held') return found === 'ours';
    await sleep(RETRY_MS);
  }
}

/** Keeps the thread while its rows are changed. */
export async function keepThread(tx: Tx, job: ErasureJob, threadId: string): Promise<void> {
  const kept = await tx.db
    .updateTable('threads')
    .set({ lease_until: tx.now() + HOLD_MS })
    .where('id', '=', threadId)
    .where('lease_owner', '=', holderOf(job))
    .returning('id')
    .executeTakeFirst();
  if (kept === undefined) throw new ErasureTaken();
}

export async function releaseThread({ store, ...job }: ErasureJob, threadId: string): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.db
      .updateTable('threads')
      .set({ lease_owner: null, lease_until: 0 })
      .where('id', '=', threadId)
      .where('lease_owner', '=', holderOf(job))
      .execute();
    tx.wake(threadId);
  });
}

function holderOf({ erasure }: Pick<ErasureJob, 'erasure'>): string {
  return `erasure:${erasure.id}`;
}

const HOLD_MS = 30_000;
const RETRY_MS = 250;

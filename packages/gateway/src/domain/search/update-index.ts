import { setTimeout as sleep } from 'node:timers/promises';
import { type SqlBool, sql } from 'kysely';
import type { Services } from '../../ports/services.ts';
import type { Store, Tx } from '../../ports/store/store.ts';
import { type Indexed, indexMessagesAgain, indexNewMessages, lastMessageId } from './index-messages.ts';
import {
  type EndedRun,
  endedRunsAfter,
  indexCallsAgain,
  indexRuns,
  indexRunsAgain,
  RUNS_AT_ONCE,
} from './index-runs.ts';
import { lockState, type RunPlace, type SearchState, writeState } from './search-state.ts';

/** A transaction that stores the end of a run is committed within this time. */
const CHECK_AFTER_MS = 60_000;
/** A pass that found nothing takes at most one part in so many of the time, unless passes are very slow. */
const IDLE_SHARE = 20;
const MOST_REST_MS = 2_000;
const MOST_PAUSE_MS = 50;

/** What the last pass over each store has found, if there was nothing more to add. */
const rests = new WeakMap<Store, Rest>();

interface Rest {
  /** When the store may be looked at again. */
  readonly until: number;
  /** The newest message when all spaces were looked at. */
  readonly lastMessage: string;
}

/**
 * Adds what was stored since the last time to the index of full-text search. Nothing that a message or a run waits for writes to the index: it is
 * read from what is stored. How far it is, is stored in the same transactions, so a crash loses nothing. While the database is busy, only a little
 * is added at each sweep, and the index falls behind.
 */
export async function updateIndex(
  { store }: Pick<Services, 'store'>,
  { now }: { readonly now?: number } = {},
): Promise<void> {
  if (now === undefined && performance.now() < (rests.get(store)?.until ?? 0)) return;
  for (;;) {
    const startedAt = performance.now();
    const { lastMessage: seen } = rests.get(store) ?? {};
    const { hasMore, lastMessage } = await store.transaction((tx) =>
      indexSome(tx, { most: store.rowsAtOnce, now: now ?? tx.now(), seen }),
    );
    const spent = performance.now() - startedAt;
    if (!hasMore)
      rests.set(store, { until: performance.now() + Math.min(spent * IDLE_SHARE, MOST_REST_MS), lastMessage });
    if (!hasMore || store.isBusy) return;
    await sleep(Math.min(spent, MOST_PAUSE_MS));
  }
}

interface Pass {
  readonly most: number;
  readonly now: number;
  /** The newest message when all spaces were looked at the last time. */
  readonly seen: string | undefined;
}

async function indexSome(
  tx: Tx,
  { most, now, seen }: Pass,
): Promise<{ readonly hasMore: boolean; readonly lastMessage: string }> {
  const state = await lockState(tx, { wait: false });
  if (state === undefined) return { hasMore: false, lastMessage: '' };
  const changes = await applyChanges(tx);
  // A gateway without work writes this rarely.
  const isOld = now - (state.completeTo ?? 0) >= IDLE_WRITE_MS;
  const { runsTo, checkedTo, ...runs } = await indexEndedRuns(tx, { ...state, now });
  const lastMessage = await lastMessageId(tx);
  // To look at all spaces takes long if there are many of them.
  const isQuiet = lastMessage === seen && !isOld && !changes.hasNews && !runs.hasNews;
  const messages = isQuiet ? NOTHING : await indexNewMessages(tx, most);
  const all: readonly Indexed[] = [changes, messages, runs];
  const hasMore = all.some((one) => one.hasMore);
  const isComplete = !hasMore && !isQuiet;
  if (isOld || all.some((one) => one.hasNews))
    await writeState(tx, { ...state, runsTo, checkedTo, ...(isComplete ? { completeTo: now } : {}) });
  return { hasMore, lastMessage };
}

const NOTHING: Indexed = { hasNews: false, hasMore: false };

/** `indexedTo` of an answer is at most so much older than it could be. */
const IDLE_WRITE_MS = 5_000;

const START: RunPlace = { endedAt: 0, id: '' };

async function indexEndedRuns(
  tx: Tx,
  { runsTo = START, checkedTo = START, now }: SearchState & { readonly now: number },
): Promise<Required<Pick<SearchState, 'runsTo' | 'checkedTo'>> & Indexed> {
  const runs = await endedRunsAfter(tx, runsTo);
  await indexRuns(tx, runs);
  const reached = placeOf(runs) ?? runsTo;
  if (runs.length === RUNS_AT_ONCE) return { runsTo: reached, checkedTo, hasNews: true, hasMore: true };
  const until = now - CHECK_AFTER_MS;
  const isMissing = sql<SqlBool>`r.ended_at <= ${until}
    and not exists (select 1 from search_entries e where e.source_id = r.id)`;
  const missed = await endedRunsAfter(tx, checkedTo, isMissing);
  await indexRuns(tx, missed);
  const hasMore = missed.length === RUNS_AT_ONCE;
  const checked = hasMore ? placeOf(missed) : { endedAt: Math.max(until, checkedTo.endedAt), id: LAST_ID };
  const hasNews = runs.length + missed.length > 0;
  return { runsTo: reached, checkedTo: checked ?? checkedTo, hasNews, hasMore };
}

/** No id comes after it. */
const LAST_ID = '~';

function placeOf(runs: readonly EndedRun[]): RunPlace | undefined {
  const last = runs.at(-1);
  return last === undefined ? undefined : { endedAt: last.ended_at, id: last.id };
}

/** Changes that one transaction applies. */
const CHANGES_AT_ONCE = 100;

/** Adds texts again that were changed. A trigger has removed what they were: see 0056-search.ts. */
async function applyChanges(tx: Tx): Promise<Indexed> {
  const changes = await tx.db.selectFrom('search_changes').selectAll().limit(CHANGES_AT_ONCE).execute();
  if (changes.length === 0) return NOTHING;
  const idsOf = (kind: string): readonly string[] =>
    changes.flatMap((change) => (change.kind === kind ? [change.source_id] : []));
  const all = changes.map(({ source_id }) => source_id);
  // Another transaction may have added the old text meanwhile.
  await tx.db.deleteFrom('search_entries').where('source_id', 'in', all).execute();
  for (const [kind, again] of Object.entries(AGAIN)) {
    const ids = idsOf(kind);
    if (ids.length > 0) await again(tx, ids);
  }
  for (const kind of Object.keys(AGAIN)) {
    const ids = idsOf(kind);
    if (ids.length === 0) continue;
    const applied = tx.db.deleteFrom('search_changes').where('kind', '=', kind as 'message');
    await applied.where('source_id', 'in', ids).execute();
  }
  return { hasNews: true, hasMore: changes.length === CHANGES_AT_ONCE };
}

const AGAIN: Readonly<Record<string, (tx: Tx, ids: readonly string[]) => Promise<void>>> = {
  message: indexMessagesAgain,
  run: indexRunsAgain,
  call: indexCallsAgain,
};

/** Waits until no text is in the index that was changed before. For erasures, which then clean the files of the database. */
export async function applyAllChanges(store: Store): Promise<void> {
  for (;;) {
    const hasMore = await store.transaction(async (tx) => {
      await lockState(tx, { wait: true });
      return (await applyChanges(tx)).hasMore;
    });
    if (!hasMore) return;
  }
}

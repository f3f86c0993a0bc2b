import { readArguments } from '@lastcall/core/internal';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { IS_PENDING } from '../../domain/calls/is-waiting.ts';
import { type TranscriptRow, toRecord } from '../../domain/transcript/load-transcript.ts';
import type { Services } from '../../ports/services.ts';
import type { CallRow, Tables } from '../../ports/store/schema/tables.ts';
import { type Params, statement } from '../../ports/store/statement.ts';
import type { ActiveRun } from '../run/active-run.ts';
import { rawInput } from '../run/raw-input.ts';
import type { CallsRecovered } from '../run/run-event.ts';
import type { RunTool } from '../run/run-tool.ts';
import type { RunJournal } from './run-journal.ts';
import { unendedCalls } from './unended-calls.ts';

type Recovered = Omit<CallsRecovered, 'type'>;

/**
 * Finds the calls of this run that another worker had begun to show. Calls of a complete reply end when they are
 * settled. Calls of an incomplete reply are lost, because the model is called again and gives new ids.
 */
export async function findShownCalls(services: Services, run: ActiveRun): Promise<Recovered> {
  const asked = new Set(
    run.transcript.entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [])),
  );
  const cards = (await cardsOf(services, run)).flatMap(({ callId }) => callId ?? []);
  const { shown = [], lost = [] } = Object.groupBy(await unendedCalls(services.store.db, run), ({ callId }) =>
    asked.has(callId) ? 'shown' : 'lost',
  );
  return { cards, shown, lost };
}

/**
 * Finds the cards of approved calls. They are in the space where the approval was requested, even if the agent is now
 * elsewhere, and have shown the call as running since it was approved.
 */
export async function findApprovedCalls({ store }: Services, { answers, transcript }: ActiveRun): Promise<Recovered> {
  const callIds = Object.keys(answers);
  if (callIds.length === 0) return { cards: [], shown: [], lost: [] };
  const rows = await store.db
    .selectFrom('messages')
    .select(['call_id', 'space_id'])
    .where('call_id', 'in', callIds)
    .where('status', '=', 'running')
    .execute();
  const shown = rows.flatMap(({ call_id: callId, space_id: spaceId }) =>
    // The input was shown when the approval was requested.
    callId === null ? [] : [{ callId, kind: 'tool' as const, spaceId, shownText: rawInput(transcript, callId) }],
  );
  return { cards: shown.map(({ callId }) => callId), shown, lost: [] };
}

/**
 * Adds a card to every visible call that was started and has neither a card nor an end. Earlier versions could leave
 * such calls behind. The end of the call is then shown on the card.
 */
export async function showStartedCalls(
  { transcript: { entries, progress } }: ActiveRun,
  { journal, named }: { journal: RunJournal; named: (name: string) => RunTool | undefined },
): Promise<void> {
  const ended = new Set(progress.settled.map(({ callId }) => callId));
  const calls = entries.flatMap((entry) => (entry.kind === 'reply' ? entry.calls : []));
  for (const { callId, toolName, input: written } of calls) {
    if (!progress.started.has(callId) || ended.has(callId) || named(toolName)?.isVisible !== true) continue;
    const spaceId = journal.spaceOf(callId);
    const read = readArguments(written);
    const input = 'value' in read ? read.value : written;
    if (spaceId !== null) await journal.showCall({ spaceId, callId, toolName, input });
  }
}

/** Finds the cards through the calls, which are indexed by run. Messages are not, and there are many more of them. */
async function cardsOf({ store }: Services, { runId }: ActiveRun): Promise<{ callId: string | null }[]> {
  return await store.db
    .selectFrom('calls')
    .innerJoin('messages', 'messages.call_id', 'calls.id')
    .select('messages.call_id as callId')
    .where('calls.run_id', '=', runId)
    .where('messages.kind', '=', 'tool')
    .execute();
}

/**
 * Finds the cards of a machine's calls that have not ended: of this run, those that wait, and those that this run begins with the answers
 * of. Their ends are shown on them. Also finds what another worker had begun to show of a reply that it did not complete.
 */
export async function findOpenCards({ store: { db } }: Services, run: ActiveRun): Promise<Recovered> {
  const { runId, lease, answers } = run;
  const answered = Object.keys(answers);
  const found = [
    ...(await openCards(db, { runId, threadId: lease.threadId })),
    ...(answered.length === 0 ? [] : await cardsOfCalls(db).where('calls.id', 'in', answered).execute()),
  ];
  const rows = [...new Map(found.map((row) => [row.id, row])).values()];
  // A card that asks for an answer goes on asking, whatever else the run does. Once it is answered, the run that begins with the answer ends it.
  const shown = rows.flatMap(({ id: callId, wait_status, space_id: spaceId }) =>
    wait_status === null || run.answers[callId] !== undefined
      ? [{ callId, kind: 'tool' as const, spaceId, shownText: '' }]
      : [],
  );
  const cards = new Set(rows.map(({ id }) => id));
  if (!run.isTakenOver) return { cards: [...cards], shown, lost: [] };
  const asked = new Set(run.rows.flatMap((row) => (row.kind === 'reply' ? callsOf(row) : [])));
  const begun = (await unendedCalls(db, run)).filter(({ callId }) => !cards.has(callId));
  const { ofReply = [], lost = [] } = Object.groupBy(begun, ({ callId }) => (asked.has(callId) ? 'ofReply' : 'lost'));
  return { cards: [...cards], shown: [...shown, ...ofReply], lost };
}

/** Each machine run looks for them. Both conditions have an index: a thread may have made very many calls. */
const openCards = statement((db, { runId, threadId }: Params<{ runId: string; threadId: string }>) =>
  cardsOfCalls(db).where((eb) =>
    eb.or([eb('calls.run_id', '=', runId), eb.and([eb('calls.thread_id', '=', threadId), IS_PENDING])]),
  ),
);

interface OpenCard {
  readonly id: string;
  readonly wait_status: CallRow['wait_status'];
  readonly space_id: string;
}

function cardsOfCalls(db: Kysely<Tables>): SelectQueryBuilder<Tables, 'calls' | 'messages', OpenCard> {
  return db
    .selectFrom('calls')
    .innerJoin('messages', 'messages.call_id', 'calls.id')
    .select(['calls.id', 'calls.wait_status', 'messages.space_id'])
    .where('messages.kind', '=', 'tool')
    .where('calls.status', '!=', 'settled');
}

function callsOf(row: TranscriptRow): readonly string[] {
  const { entry } = toRecord(row);
  return entry.kind === 'reply' ? entry.calls.map(({ callId }) => callId) : [];
}

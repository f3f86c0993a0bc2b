import type { Kysely } from 'kysely';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { answerText } from '../processes/answering.ts';
import { problemsOfCards, problemsOfEffects } from '../processes/check-effects.ts';
import { problemsOfSessions } from '../processes/check-sessions.ts';
import { problemsOfCalls, problemsOfInbox, problemsOfMessages, problemsOfRuns } from '../processes/check-store.ts';
import { problemsOfStreams } from '../processes/check-streams.ts';
import type { Ledger } from './ledger.ts';

export interface Checked {
  readonly db: Kysely<Tables>;
  readonly ledger: Ledger;
}

type Check = (world: Checked) => Promise<readonly string[]>;

/** The promises, each with the check that looks for it from outside: in the rows of the database, and in what people and clients saw. */
export const CHECKS = {
  'every call settles once': ({ db }) => problemsOfCalls(db),
  'effects happen as often as their calls say': ({ db, ledger }) => problemsOfEffects(db, ledger.effects),
  'a call that is said not to have run did nothing': deniedEffects,
  'every visible call that was started has a card': ({ db }) => problemsOfCards(db),
  'every event is handled once': eventsHandled,
  'every request of a person is stored once': requestsStoredOnce,
  'everything that was asked for is answered once': answeredOnce,
  'every prompt is valid: each call is followed by its result': async ({ ledger }) => ledger.invalidPrompts,
  'transcripts have no gaps': transcriptsWithoutGaps,
  'no request is refused': async ({ ledger }) => ledger.refused,
  'streams have no gaps, and what begins ends once': ({ db }) => problemsOfStreams(db),
  'followers read every event once': followersReadAll,
  'only what is stored is told': onlyStoredIsTold,
  'messages are numbered, and no card stays open': ({ db }) => problemsOfMessages(db),
  'one answer to a waiting call counts': oneAnswerCounts,
  'a plan fires once': plansFireOnce,
  'a conversation gets one answer to each request': conversationsAnswered,
  'sessions hold what successful calls wrote': ({ db }) => problemsOfSessions(db),
  'nothing is left leased or running': ({ db }) => problemsOfRuns(db),
} satisfies Record<string, Check>;

export type CheckName = keyof typeof CHECKS;

export interface Problem {
  readonly check: CheckName;
  readonly text: string;
}

export async function check(world: Checked): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const [name, find] of Object.entries(CHECKS) as [CheckName, Check][])
    for (const text of await find(world)) problems.push({ check: name, text });
  return problems;
}

/** A run of a conversation is not repeated when it fails: its caller is told. */
async function eventsHandled({ db }: Checked): Promise<readonly string[]> {
  return (await problemsOfInbox(db)).filter((text) => !/^Event chat:\S+ of \S+ is dead /.test(text));
}

/** Outcomes after which a model may safely ask again. */
async function deniedEffects({ db, ledger }: Checked): Promise<readonly string[]> {
  const calls = await db.selectFrom('calls').select(['id', 'tool_name', 'idempotency_key', 'outcome']).execute();
  const acted = new Set(ledger.effects.map(({ idempotencyKey }) => idempotencyKey));
  return calls.flatMap(({ id, tool_name, idempotency_key, outcome }) => {
    const { status, code = '' } = fromJson<{ status: string; code?: string } | null>(outcome ?? 'null') ?? {
      status: '',
    };
    const isDenied = status === 'cancelled' || status === 'skipped' || ['denied', 'invalid_input'].includes(code);
    return isDenied && acted.has(idempotency_key)
      ? [`${tool_name} ${id} ended ${status} ${code}, and took effect.`]
      : [];
  });
}

async function requestsStoredOnce({ db, ledger }: Checked): Promise<readonly string[]> {
  const messages = await db.selectFrom('messages').select(['id', 'client_message_id']).execute();
  const events = await db.selectFrom('inbox_events').select(['thread_id', 'event_id']).execute();
  const delivered = new Set(events.map(({ thread_id, event_id }) => `${thread_id} ${event_id}`));
  return ledger.asked.flatMap(({ ref, by, agentId, told }) => {
    if (by !== 'message') return [];
    const stored = messages.filter(({ client_message_id }) => client_message_id === ref).map(({ id }) => id);
    if (stored.length !== 1 || told.some((id) => id !== stored[0]))
      return [`The sender of ${ref} was told [${told}], and [${stored}] is stored.`];
    return delivered.has(`${agentId} message:${stored[0]}`) ? [] : [`No event tells the agent of ${ref}.`];
  });
}

async function answeredOnce({ db, ledger }: Checked): Promise<readonly string[]> {
  const messages = await db.selectFrom('messages').select('content').where('kind', '=', 'text').execute();
  const said = messages.map(({ content }) => fromJson<unknown>(content));
  return ledger.asked.flatMap(({ ref, what, by }) => {
    const times = said.filter((text) => text === answerText(ref)).length;
    return times === 1 ? [] : [`${what} ${ref}, which a ${by} asked for, was answered ${times} times.`];
  });
}

async function transcriptsWithoutGaps({ db }: Checked): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['thread_id', 'seq'])
    .orderBy('thread_id')
    .orderBy('seq')
    .execute();
  return [...Map.groupBy(rows, ({ thread_id }) => thread_id)].flatMap(([id, own]) => {
    const first = own[0]?.seq ?? 0;
    return own.every(({ seq }, index) => seq === first + index)
      ? []
      : [`Entries of ${id} are ${own.map(({ seq }) => seq)}.`];
  });
}

async function followersReadAll({ db, ledger }: Checked): Promise<readonly string[]> {
  const streams = await db.selectFrom('streams').select(['id', 'next_seq']).execute();
  return ledger.followed.flatMap(({ stream, seqs, resets }) => {
    const end = (streams.find(({ id }) => id === stream)?.next_seq ?? 1) - 1;
    const isWhole = resets === 0 && seqs.length === end && seqs.every((seq, index) => seq === index + 1);
    return isWhole ? [] : [`A follower of ${stream}, which has ${end} events, had ${resets} resets and read ${seqs}.`];
  });
}

async function onlyStoredIsTold({ db, ledger }: Checked): Promise<readonly string[]> {
  const rows = await db.selectFrom('stream_events').select(['stream', 'seq', 'type', 'payload']).execute();
  const stored = new Map(rows.map(({ stream, seq, type, payload }) => [`${stream} ${seq}`, `${type} ${payload}`]));
  return ledger.published.flatMap(({ stream, seq, type, json }) => {
    const row = stored.get(`${stream} ${seq}`);
    return row === `${type} ${json}`
      ? []
      : [`Event ${seq} of ${stream} was told as ${type}, and is ${row ?? 'not stored'}.`];
  });
}

async function oneAnswerCounts({ db, ledger }: Checked): Promise<readonly string[]> {
  const calls = await db.selectFrom('calls').select(['id', 'answer']).execute();
  const answers = new Map(calls.map(({ id, answer }) => [id, answer]));
  return [...Map.groupBy(ledger.answered, ({ callId }) => callId)].flatMap(([id, given]) => {
    const counted = given.filter(({ told }) => told === 'resolved' || told === 'duplicate').map(({ answer }) => answer);
    const stored = answers.get(id);
    const isOne = counted.length > 0 && new Set(counted).size === 1;
    const isStored = stored !== undefined && stored !== null && sameAnswer(stored, counted[0] ?? '');
    return isOne && isStored ? [] : [`Of the answers to ${id}, [${counted}] counted, and ${stored} is stored.`];
  });
}

/** An approval is stored with the input that was approved. */
function sameAnswer(stored: string, told: string): boolean {
  const [one, other] = [JSON.parse(stored) as object, JSON.parse(told) as Record<string, unknown>];
  return Object.entries(other).every(
    ([key, value]) => JSON.stringify((one as Record<string, unknown>)[key]) === JSON.stringify(value),
  );
}

async function plansFireOnce({ db, ledger }: Checked): Promise<readonly string[]> {
  const plans = await db.selectFrom('plans').select(['id', 'key', 'at']).execute();
  const events = await db.selectFrom('inbox_events').select('event_id').where('type', '=', 'plan').execute();
  return ledger.asked.flatMap(({ ref, by }) => {
    if (by !== 'plan') return [];
    const plan = plans.find(({ key }) => key === ref);
    const fired = events.filter(({ event_id }) => event_id.startsWith(`plan:${plan?.id}:`));
    const isOne = fired.length === 1 && fired[0]?.event_id === `plan:${plan?.id}:${plan?.at}`;
    return isOne ? [] : [`Plan ${ref}, due at ${plan?.at}, fired as [${fired.map(({ event_id }) => event_id)}].`];
  });
}

async function conversationsAnswered({ db, ledger }: Checked): Promise<readonly string[]> {
  const runs = await db.selectFrom('runs').select(['id', 'status']).execute();
  return ledger.turns.flatMap(({ ref, runs: told, responses }) => {
    const status = runs.find(({ id }) => id === told[0])?.status;
    const isOne = new Set(told).size === 1 && responses.every((text) => text === answerText(ref));
    // A run in a conversation is not repeated: its caller is told that it failed.
    const isAnswered = responses.length === 1 || status === 'failed';
    const isFine = isOne && isAnswered && status !== undefined;
    return isFine || status === 'failed'
      ? []
      : [`Request ${ref} started [${told}], which is ${status}, and got [${responses}].`];
  });
}

import type { Kysely } from 'kysely';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import { answerText } from '../processes/answering.ts';
import { problemsOfCards, problemsOfEffects } from '../processes/check-effects.ts';
import { problemsOfSessions, toRef } from '../processes/check-sessions.ts';
import { problemsOfCalls, problemsOfInbox, problemsOfMessages, problemsOfRuns } from '../processes/check-store.ts';
import { problemsOfStreams } from '../processes/check-streams.ts';
import type { Ledger } from './ledger.ts';
import { TOKENS_OF_A_REQUEST } from './sim-model.ts';

export interface Checked {
  readonly db: Kysely<Tables>;
  readonly ledger: Ledger;
}

type Check = (world: Checked) => Promise<readonly string[]>;

/** The invariants, each with a check from outside: in the rows of the database, and in what people and clients saw. */
export const CHECKS = {
  'every call settles once': callsSettled,
  'effects happen as often as their calls say': effectsOfCalls,
  'a sub-agent acts for a call of its agent, once': effectsOfSubAgents,
  'a call that is said not to have run did nothing': deniedEffects,
  'every visible call that was started has a card': cardsShown,
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
  'sessions hold what successful calls wrote': sessionsWritten,
  'files hold what successful calls wrote': filesWritten,
  'a deleted agent says nothing more': deletedAreSilent,
  'what a project spends stays within its limit': spendWithinLimits,
  'a call runs without being asked for only if a grant covers it': grantsKept,
  'a grant that was revoked is not used': revokedUnused,
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

/** The calls of a deleted agent that waited are settled, and its transcript is not continued. */
async function callsSettled({ db }: Checked): Promise<readonly string[]> {
  return (await problemsOfCalls(db)).filter(
    (text) => !/is settled as .*The agent was deleted\..*and ended \.$/.test(text),
  );
}

/**
 * A run of a conversation is not repeated when it fails: its caller gets the error. Events of a deleted agent are dead, and those of a project
 * that has spent its money wait for the next day.
 */
async function eventsHandled({ db }: Checked): Promise<readonly string[]> {
  const isMeant = /^Event chat:\S+ of \S+ is dead |is dead and .*"agent_deleted"|is pending and .*"reason":"budget"/;
  return (await problemsOfInbox(db)).filter((text) => !isMeant.test(text));
}

/** Calls of a sub-agent are no rows: their keys are that of its turn, and a number. */
const NESTED = /^([0-9a-f]{32})-\d+$/;
const isNested = ({ idempotencyKey }: Ledger['effects'][number]): boolean => NESTED.test(idempotencyKey);

function effectsOfCalls({ db, ledger }: Checked): Promise<readonly string[]> {
  return problemsOfEffects(
    db,
    ledger.effects.filter((effect) => !isNested(effect)),
  );
}

/** A sub-agent is not started again if its gateway dies: its agent reads that the outcome is unknown. */
async function effectsOfSubAgents({ db, ledger }: Checked): Promise<readonly string[]> {
  const calls = await db.selectFrom('calls').select('id').where('tool_name', '=', 'helper').execute();
  const nested = ledger.effects.filter(isNested);
  const turns = new Set(nested.map(({ idempotencyKey }) => NESTED.exec(idempotencyKey)?.[1]));
  const twice = [...Map.groupBy(nested, ({ idempotencyKey }) => idempotencyKey)].filter(([, own]) => own.length > 1);
  return [
    ...twice.map(([key, own]) => `${key} of a sub-agent took effect ${own.length} times.`),
    ...(turns.size > calls.length ? [`${turns.size} sub-agents acted for ${calls.length} calls.`] : []),
  ];
}

/**
 * The tools of a machine's nodes are not shown in spaces. A deleted agent is in no space: a call that it starts before its run has noticed
 * has no card, and does not run.
 */
async function cardsShown({ db }: Checked): Promise<readonly string[]> {
  const defined = await db
    .selectFrom('calls')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .select('calls.id')
    .where('agents.config', 'like', '%"definition"%')
    .execute();
  const ofDeleted = await db
    .selectFrom('calls')
    .innerJoin('runs', 'runs.id', 'calls.run_id')
    .innerJoin('agents', 'agents.id', 'calls.agent_id')
    .select(['calls.id', 'outcome'])
    .where('agents.status', '=', 'deleted')
    .whereRef('calls.created_at', '>=', 'runs.cancel_requested_at')
    .execute();
  const late = ofDeleted.filter(({ outcome }) => fromJson<{ effect?: string }>(outcome ?? '{}').effect === 'none');
  const isMeant = (text: string): boolean => {
    const [, id = ''] = /^Call (\S+)/.exec(text) ?? [];
    const has = (all: readonly { id: string }[]): boolean => all.some((one) => one.id === id);
    return has(defined) || (has(late) && text.includes('and 0 cards'));
  };
  return (await problemsOfCards(db)).filter((text) => !isMeant(text));
}

/** Of a sub-agent no outcome of a single call is a row. Its agent's session holds nothing that it was not called for. */
async function sessionsWritten({ db }: Checked): Promise<readonly string[]> {
  const calls = await db.selectFrom('calls').select(['thread_id', 'input']).where('tool_name', '=', 'helper').execute();
  const tasks = Map.groupBy(calls, ({ thread_id }) => thread_id);
  return (await problemsOfSessions(db)).filter((text) => {
    const [, threadId = '', held = ''] = /^The session of (\S+) holds \[(.*?)\]/.exec(text) ?? [];
    const given = (tasks.get(threadId) ?? []).map(({ input }) => input).join();
    return !(tasks.has(threadId) && held.split(',').every((ref) => given.includes(ref)));
  });
}

async function filesWritten({ db }: Checked): Promise<readonly string[]> {
  const calls = await db
    .selectFrom('calls')
    .select(['thread_id', 'input'])
    .where('tool_name', '=', 'file')
    .where('outcome_status', '=', 'ok')
    .execute();
  const files = await db.selectFrom('files').select(['thread_id', 'content']).execute();
  const written = new Map(
    files.map(({ thread_id, content }) => [thread_id, fromJson<string>(content).trim().split('\n')]),
  );
  const threads = new Set([...calls, ...files].map(({ thread_id }) => thread_id));
  return [...threads].flatMap((id) => {
    const own = calls.filter(({ thread_id }) => thread_id === id);
    const called = own.map(({ input }) => toRef(fromJson(input))).toSorted();
    const held = (written.get(id) ?? []).toSorted();
    return held.join() === called.join() ? [] : [`The file of ${id} holds [${held}], and its calls wrote [${called}].`];
  });
}

async function deletedAreSilent({ db, ledger }: Checked): Promise<readonly string[]> {
  const messages = await db.selectFrom('messages').select(['space_id', 'entity_id', 'seq', 'id']).execute();
  return ledger.deleted.flatMap(({ agentId, spaceId, lastSeq }) =>
    messages
      .filter((one) => one.space_id === spaceId && one.entity_id === agentId && one.seq > lastSeq)
      .map(({ id }) => `${agentId} was deleted, and said ${id} after that.`),
  );
}

/**
 * A request is sent if less than the limit is spent: the last one may go beyond it. A request whose gateway died is counted by an estimate,
 * which is larger than what the simulated model uses: it is left out here.
 */
async function spendWithinLimits({ db }: Checked): Promise<readonly string[]> {
  const projects = await db.selectFrom('projects').select(['id', 'spend']).where('spend', 'is not', null).execute();
  const problems: string[] = [];
  for (const { id, spend } of projects) {
    const { perDayTokens = 0 } = fromJson<{ perDayTokens?: number }>(spend ?? '{}');
    const requests = await db
      .selectFrom('usage_requests')
      .innerJoin('agents', 'agents.id', 'usage_requests.agent_id')
      .select(['input_tokens', 'output_tokens'])
      .where('project_id', '=', id)
      .where('estimated', '=', 0)
      .where('reserved', '=', 0)
      .execute();
    const spent = requests.reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0);
    if (spent >= perDayTokens + TOKENS_OF_A_REQUEST)
      problems.push(`${id} may spend ${perDayTokens}, and spent ${spent}.`);
  }
  return problems;
}

/** `transfer` needs an approval: of the call itself, or by a grant that names its request. A grant for a run belongs to one run. */
async function grantsKept({ db, ledger }: Checked): Promise<readonly string[]> {
  const calls = await db.selectFrom('calls').selectAll().where('tool_name', '=', 'transfer').execute();
  const grants = new Map((await db.selectFrom('grants').selectAll().execute()).map((grant) => [grant.id, grant]));
  const decisions = await db.selectFrom('inbox_events').select(['event_id', 'run_id']).execute();
  const acted = new Set(ledger.effects.map(({ idempotencyKey }) => idempotencyKey));
  return calls.flatMap((call) => {
    const { id, run_id, agent_id, grant_id, answer, input } = call;
    if (!acted.has(call.idempotency_key) || isApproval(answer)) return [];
    const grant = grants.get(grant_id ?? '');
    if (grant === undefined) return [`transfer ${id} took effect, and was neither approved nor granted.`];
    const runs = decisions.filter(({ event_id }) => event_id === `tool_result:${grant.call_id}:decision`);
    const isOfRun = [grant.run_id, ...runs.map((one) => one.run_id)].includes(run_id);
    const isCovered = grant.agent_id === agent_id && grant.conditions.includes(`"${toRef(fromJson(input))}"`);
    return isCovered && (grant.lasts !== 'run' || isOfRun) ? [] : [`Grant ${grant.id} does not cover transfer ${id}.`];
  });
}

function isApproval(answer: string | null): boolean {
  return answer !== null && 'approve' in fromJson<object>(answer);
}

/** A revocation is in effect with its commit: no later call may use the grant. */
async function revokedUnused({ db, ledger }: Checked): Promise<readonly string[]> {
  const grants = await db.selectFrom('grants').select(['id', 'uses']).execute();
  const calls = await db.selectFrom('calls').select('grant_id').where('grant_id', 'is not', null).execute();
  return ledger.revoked.flatMap(({ grantId, uses }) => {
    const counted = grants.find(({ id }) => id === grantId)?.uses;
    const granted = calls.filter(({ grant_id }) => grant_id === grantId).length;
    return counted === uses && granted <= uses
      ? []
      : [`Grant ${grantId} was revoked after ${uses} uses, and has ${counted}, for ${granted} calls.`];
  });
}

/** Outcomes after which a model may safely ask again. */
async function deniedEffects({ db, ledger }: Checked): Promise<readonly string[]> {
  const calls = await db.selectFrom('calls').select(['id', 'tool_name', 'idempotency_key', 'outcome']).execute();
  const acted = new Set(ledger.effects.map(({ idempotencyKey }) => idempotencyKey));
  return calls.flatMap(({ id, tool_name, idempotency_key, outcome }) => {
    const ended = fromJson<{ status: string; code?: string; effect?: string } | null>(outcome ?? 'null');
    const { status = '', code = '', effect } = ended ?? {};
    const isDenied =
      effect === 'none' || status === 'cancelled' || status === 'skipped' || ['denied', 'invalid_input'].includes(code);
    return isDenied && acted.has(idempotency_key)
      ? [`${tool_name} ${id} ended ${status} ${code}, and took effect.`]
      : [];
  });
}

async function requestsStoredOnce({ db, ledger }: Checked): Promise<readonly string[]> {
  const messages = await db.selectFrom('messages').select(['id', 'client_message_id']).execute();
  const events = await db.selectFrom('inbox_events').select(['thread_id', 'event_id']).execute();
  const delivered = new Set(events.map(({ thread_id, event_id }) => `${thread_id} ${event_id}`));
  return ledger.asked.flatMap(({ ref, by, agentId, told, isAnswered }) => {
    if (by !== 'message') return [];
    const stored = messages.filter(({ client_message_id }) => client_message_id === ref).map(({ id }) => id);
    if (stored.length !== 1 || told.some((id) => id !== stored[0]))
      return [`The sender of ${ref} was told [${told}], and [${stored}] is stored.`];
    return !isAnswered || delivered.has(`${agentId} message:${stored[0]}`)
      ? []
      : [`No event tells the agent of ${ref}.`];
  });
}

async function answeredOnce({ db, ledger }: Checked): Promise<readonly string[]> {
  const messages = await db.selectFrom('messages').select('content').where('kind', '=', 'text').execute();
  const said = messages.map(({ content }) => fromJson<unknown>(content));
  return ledger.asked.flatMap(({ ref, what, by, isAnswered }) => {
    const times = said.filter((text) => text === answerText(ref)).length;
    return times === 1 || (times === 0 && !isAnswered)
      ? []
      : [`${what} ${ref}, which a ${by} asked for, was answered ${times} times.`];
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
  const calls = await db.selectFrom('calls').select(['id', 'answer', 'outcome_status']).execute();
  const answers = new Map(calls.map(({ id, answer }) => [id, answer]));
  const cancelled = new Set(calls.flatMap(({ id, outcome_status }) => (outcome_status === 'cancelled' ? [id] : [])));
  return [...Map.groupBy(ledger.answered, ({ callId }) => callId)].flatMap(([id, given]) => {
    const counted = given.filter(({ told }) => told === 'resolved' || told === 'duplicate').map(({ answer }) => answer);
    const stored = answers.get(id);
    const isOne = counted.length > 0 && new Set(counted).size === 1;
    const isStored = stored !== undefined && stored !== null && sameAnswer(stored, counted[0] ?? '');
    // A person may answer after the call was cancelled because its agent was deleted. They get an error that says so.
    const isTooLate = cancelled.has(id) && counted.length === 0 && stored === null;
    return isTooLate || (isOne && isStored)
      ? []
      : [`Of the answers to ${id}, [${counted}] counted, and ${stored} is stored.`];
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
    // A run in a conversation is not repeated: its caller gets the failure.
    const isAnswered = responses.length === 1 || status === 'failed';
    const isFine = isOne && isAnswered && status !== undefined;
    return isFine || status === 'failed'
      ? []
      : [`Request ${ref} started [${told}], which is ${status}, and got [${responses}].`];
  });
}

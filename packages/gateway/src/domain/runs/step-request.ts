import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { type Entry, Transcript } from '@lastcall/core';
import { toPrompt } from '@lastcall/core/internal';
import type { Kysely } from 'kysely';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { notFound } from '../api-error.ts';
import { HIDDEN } from '../frame-tag.ts';
import { showFrame } from '../frame-words.ts';
import { tagMessage } from '../tag-message.ts';
import { loadRowsBefore, type TranscriptRow, toStoredTranscript } from '../transcript/load-transcript.ts';
import { conversationOf, originOf } from '../transcript/machine-rows.ts';
import { recordsIn, storedMachine } from '../transcript/stored-machine.ts';
import type { EntryRecord } from '../transcript/transcript-row.ts';
import { getRun, type Run } from './run.ts';
import type { RequestSettings, StoredRequest } from './stored-request.ts';

/**
 * The exact request to the model in one step. Only the agent's frame tag, which is not stored, reads `hidden`, and marks for a provider's
 * cache are left out.
 */
export interface StepRequest {
  readonly model?: string;
  readonly instructions: string;
  readonly messages: readonly LanguageModelV4Message[];
  readonly tools: readonly unknown[];
  readonly settings: RequestSettings;
}

/** Rebuilds the request that led to the reply of a step: the conversation from the transcript, the rest from stored texts. */
export async function getStepRequest(db: Kysely<Tables>, runId: string, step: number | string): Promise<StepRequest> {
  const run = await getRun(db, runId);
  const reply = await findReply(db, run, Number(step));
  const texts = reply && (await readTexts(db, reply.request));
  if (reply === undefined || texts === undefined) throw notFound('request of step', String(step));
  const rows = await loadRowsBefore(db, { threadId: run.threadId, seq: reply.seq });
  const prompt = promptOf(new Transcript(conversationBefore(rows, reply)), reply, texts);
  if (prompt === undefined) throw notFound('request of step', String(step));
  const { instructions = '', tools = [], settings = {} } = texts;
  const { model } = reply.asked;
  return {
    ...(model === undefined ? {} : { model }),
    instructions,
    messages: prompt.map((message) => (message.role === 'system' ? message : tagMessage(message, HIDDEN))),
    tools,
    settings,
  };
}

/** The request of a step as it is stored. */
export interface AskedReply {
  /** The first row that was written after the request was sent. */
  readonly seq: number;
  readonly asked: Pick<Extract<Entry, { kind: 'reply' }>, 'model' | 'provider' | 'systemAsUser'>;
  readonly request: StoredRequest;
  /** Of a machine: the conversation of the instance that asked. */
  readonly thread: string | undefined;
}

function conversationBefore(rows: readonly TranscriptRow[], { thread }: AskedReply): readonly Entry[] {
  if (thread === undefined) return toStoredTranscript(rows).entries;
  return conversationOf(thread, { ...storedMachine({ rows, state: undefined }), records: recordsIn(rows) });
}

/**
 * Returns undefined for a step that has no reply yet and has not failed, and for replies of earlier versions. Steps of a machine are
 * numbered by the replies of its run, because each turn of an instance counts its own steps from 1.
 */
export async function findReply(
  db: Kysely<Tables>,
  { id }: Pick<Run, 'id'>,
  step: number,
): Promise<AskedReply | undefined> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select(['seq', 'payload'])
    .where('run_id', '=', id)
    .where('kind', 'in', ['reply', 'stop'])
    .orderBy('seq')
    .execute();
  let found: AskedReply | undefined;
  let replies = 0;
  for (const { seq, payload } of rows) {
    const { entry, request } = fromJson<EntryRecord>(payload);
    const { thread } = originOf(entry);
    if (entry.kind === 'reply') replies++;
    if (request === undefined) continue;
    if ('step' in request) {
      const number = request.thread === undefined ? request.step : replies + 1;
      if (number === step) found = { seq: request.beforeSeq, asked: request, request, thread: request.thread };
    } else if (entry.kind === 'reply' && (thread === undefined ? entry.step : replies) === step)
      found = { seq, asked: entry, request, thread };
  }
  return found;
}

export interface RequestTexts {
  readonly instructions?: string;
  readonly observed?: string;
  readonly tools?: readonly unknown[];
  readonly settings?: RequestSettings;
}

/** Undefined if one of the texts was deleted since. */
export async function readTexts(
  db: Kysely<Tables>,
  { instructions, observed, tools, settings }: StoredRequest,
): Promise<RequestTexts | undefined> {
  const hashes = Object.entries({ instructions, observed, tools, settings }).flatMap(([name, hash]) =>
    hash === undefined ? [] : [[name, hash] as const],
  );
  const wanted = hashes.map(([, hash]) => hash);
  if (wanted.length === 0) return {};
  const rows = await db.selectFrom('request_texts').select(['hash', 'text']).where('hash', 'in', wanted).execute();
  const texts = new Map(rows.map(({ hash, text }) => [hash, text]));
  const named = hashes.map(([name, hash]) => [name, texts.get(hash)] as const);
  if (named.some(([, text]) => text === undefined)) return undefined;
  return Object.fromEntries(named.map(([name, text]) => [name, fromJson(text ?? '')]));
}

/** The messages without the instructions. Undefined if they are not the ones that were sent, because some were removed since. */
function promptOf(
  transcript: Transcript,
  { asked: { provider = '', systemAsUser }, request }: AskedReply,
  { instructions = '', observed = '' }: RequestTexts,
): readonly LanguageModelV4Message[] | undefined {
  const view = transcript.shownTo(provider);
  const around = request.messages - view.length - (observed === '' ? 0 : 1);
  // A system message of the conversation is not one of our instructions.
  const hasInstructions = around === 1 && instructions !== '';
  if (around !== 0 && !hasInstructions) return undefined;
  const prompt = toPrompt(view, {
    system: hasInstructions ? instructions : '',
    observed: showSituation(observed),
    systemAsUser: systemAsUser === true,
  });
  return hasInstructions ? prompt.slice(1) : prompt;
}

/** What was observed may begin with the situation, which the model read in words. */
function showSituation(observed: string): string {
  const [frame] = SITUATION.exec(observed) ?? [];
  return frame === undefined ? observed : `${showFrame(frame, HIDDEN) ?? frame}${observed.slice(frame.length)}`;
}

const SITUATION = new RegExp(`^<situation-${HIDDEN}>\\n[^<]*</situation-${HIDDEN}>`);

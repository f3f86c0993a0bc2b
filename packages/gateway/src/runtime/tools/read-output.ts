import { fail, type Outcome, type Tool, tool } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { callNumber, parseCallName, shortCall } from '../../domain/calls/call-number.ts';
import { nameInWords } from '../../domain/plain-words.ts';
import { fullText } from '../../domain/transcript/full-output.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { orAbsent } from './or-absent.ts';
import { reference } from './reference.ts';
import { wholeNumber } from './whole-number.ts';

const DEFAULT_LIMIT = 8_000;
const MAX_LIMIT = 32_000;

export interface ReadOutputInput {
  readonly ref: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const inputSchema = z.strictObject({
  ref: reference,
  offset: orAbsent(wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })),
  limit: orAbsent(wholeNumber({ min: 1, max: MAX_LIMIT })),
});

/** The thread whose outputs may be read. */
export interface ReadableThread {
  readonly threadId: string;
  /** In a fork: the thread of the original, which has the outputs of the calls before the fork. */
  readonly forked?: { readonly originThreadId: string };
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
}

/**
 * Reads the part of an output that was cut off, or that compaction replaced by a reference. It finds only outputs of
 * its own thread, never those of another agent.
 */
export function readOutputTool(currentThread: () => ReadableThread): Tool<ReadOutputInput> {
  return tool({
    description: 'Reads a shortened output by its call.',
    inputSchema,
    effects: 'none',
    async execute({ ref, offset = 0, limit = DEFAULT_LIMIT }) {
      const { read, threadId, forked } = currentThread();
      const found = await read((db) => outputOf(db, threadId, ref));
      const text = found ?? (forked && (await read((db) => outputOf(db, forked.originThreadId, ref))));
      if (text === undefined)
        return fail(`There is no output "${ref}". ${await read((db) => listOutputs(db, threadId))}`);
      if (offset > 0 && offset >= text.length)
        return fail(`offset must be below ${text.length}, the length of the output; it was ${offset}.`);
      return pageOf(text, offset, limit);
    },
  }) as Tool<ReadOutputInput>;
}

async function outputOf(db: Kysely<Tables>, threadId: string, ref: string): Promise<string | undefined> {
  const callId = await findCallId(db, threadId, ref);
  const call = await callsOf(db, threadId).select('calls.outcome').where('calls.id', '=', callId).executeTakeFirst();
  return call === undefined || call.outcome === null ? undefined : fullText(fromJson<Outcome>(call.outcome));
}

/** The id of a call by what a model writes: `call 7`, or the id. */
async function findCallId(db: Kysely<Tables>, threadId: string, ref: string): Promise<string> {
  const wanted = parseCallName(ref);
  if (wanted === undefined) return ref;
  const calls = await callsOf(db, threadId).select('calls.id').where('runs.number', '=', wanted.run).execute();
  return calls.find(({ id }) => callNumber(id)?.call === wanted.call)?.id ?? ref;
}

/** A sentence that lists the newest outputs. */
async function listOutputs(db: Kysely<Tables>, threadId: string): Promise<string> {
  const calls = await callsOf(db, threadId)
    .select(['calls.id', 'calls.tool_name'])
    .where('calls.outcome', 'is not', null)
    .orderBy('runs.number', 'desc')
    .orderBy('calls.id', 'desc')
    .limit(20)
    .execute();
  if (calls.length === 0) return 'There are no outputs yet.';
  return `The newest are: ${calls.map(({ id, tool_name }) => `${shortCall(id)} (${nameInWords(tool_name)})`).join(', ')}.`;
}

function callsOf(db: Kysely<Tables>, threadId: string) {
  return db.selectFrom('calls').innerJoin('runs', 'runs.id', 'calls.run_id').where('runs.thread_id', '=', threadId);
}

function pageOf(text: string, offset: number, limit: number): string {
  const end = afterWholeCharacter(text, Math.min(offset + limit, text.length));
  const page = text.slice(offset, end);
  return end < text.length ? `${page}\n[${text.length - end} more characters: read on with offset ${end}]` : page;
}

/** Moves the end behind a surrogate pair: half of a pair is not valid text. */
function afterWholeCharacter(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff && end < text.length ? end + 1 : end;
}

import { fail, type Outcome, type Tool, tool } from '@lastcall/core';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { fullText } from '../../domain/transcript/full-output.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { Tables } from '../../ports/store/schema/tables.ts';

const DEFAULT_LIMIT = 8_000;
const MAX_LIMIT = 32_000;

export interface ReadOutputInput {
  readonly ref: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const inputSchema = z.strictObject({
  ref: z.string().min(1).max(200),
  offset: z.int().min(0).optional(),
  limit: z.int().min(1).max(MAX_LIMIT).optional(),
});

/** The thread whose outputs may be read. */
export interface ReadableThread {
  readonly threadId: string;
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
}

/**
 * Reads the part of an output that was cut off, or that compaction replaced by a reference. It finds only outputs of
 * its own thread, never those of another agent.
 */
export function readOutputTool(currentThread: () => ReadableThread): Tool<ReadOutputInput> {
  return tool({
    description: 'Read an earlier output that is kept as a reference. offset and limit count characters.',
    inputSchema,
    effects: 'none',
    async execute({ ref, offset = 0, limit = DEFAULT_LIMIT }) {
      const { read, threadId } = currentThread();
      const text = await read((db) => outputOf(db, threadId, ref));
      if (text === undefined)
        return fail(`There is no output "${ref}". Use the reference that a shortened output names.`);
      if (offset > 0 && offset >= text.length)
        return fail(`offset must be below ${text.length}, the length of the output; it was ${offset}.`);
      return pageOf(text, offset, limit);
    },
  }) as Tool<ReadOutputInput>;
}

async function outputOf(db: Kysely<Tables>, threadId: string, callId: string): Promise<string | undefined> {
  const call = await db
    .selectFrom('calls')
    .innerJoin('runs', 'runs.id', 'calls.run_id')
    .select('calls.outcome')
    .where('calls.id', '=', callId)
    .where('runs.thread_id', '=', threadId)
    .executeTakeFirst();
  return call === undefined || call.outcome === null ? undefined : fullText(fromJson<Outcome>(call.outcome));
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

import type { Kysely } from 'kysely';
import { fromEntryPayload } from '../../src/domain/transcript/transcript-row.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { Tables } from '../../src/ports/store/schema/tables.ts';
import type { Effect } from './site.ts';

/** Tools with external effects that record them in the session. */
export const ACTING: readonly string[] = ['charge', 'record', 'transfer'];

/** The differences between the outcomes of calls and the real effects. */
export async function problemsOfEffects(db: Kysely<Tables>, effects: readonly Effect[]): Promise<string[]> {
  const calls = await db.selectFrom('calls').selectAll().where('tool_name', 'in', ACTING).execute();
  const times = new Map<string, number>();
  for (const { idempotencyKey } of effects) times.set(idempotencyKey, (times.get(idempotencyKey) ?? 0) + 1);
  const known = new Set(calls.map(({ idempotency_key }) => idempotency_key));
  return [
    ...calls.flatMap(({ idempotency_key, tool_name, outcome }) => {
      const count = times.get(idempotency_key) ?? 0;
      const { status, code } = fromJson<{ status: string; code?: string }>(outcome ?? '{}');
      const isFine =
        status === 'ok' ? count === 1 || (tool_name === 'record' && count > 1) : count <= 1 || tool_name === 'record';
      return isFine
        ? []
        : [`${tool_name} ${idempotency_key} ended ${status} ${code ?? ''}, and took effect ${count} times.`];
    }),
    ...[...times.keys()].filter((key) => !known.has(key)).map((key) => `${key} took effect and is no call.`),
  ];
}

/** These tools are visible, and their agents are in a space when they call them. Tools of MCP servers are not shown. */
export async function problemsOfCards(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('transcript_entries').select('payload').where('kind', '=', 'started').execute();
  const messages = await db.selectFrom('messages').select('call_id').where('kind', '=', 'tool').execute();
  const cards = Map.groupBy(messages, ({ call_id }) => call_id);
  // Calls of conversations have no space in which they could be shown.
  const calls = await db
    .selectFrom('calls')
    .innerJoin('threads', 'threads.id', 'calls.thread_id')
    .select('calls.id')
    .where('threads.kind', '=', 'agent')
    .where('tool_name', 'in', ACTING)
    .execute();
  const entries = rows.map(({ payload }) => fromEntryPayload(payload).entry);
  const started = new Set(entries.flatMap((entry) => (entry.kind === 'started' ? [entry.callId] : [])));
  return calls.flatMap(({ id }) => {
    if (!started.has(id)) return [];
    const count = cards.get(id)?.length ?? 0;
    return count === 1 ? [] : [`Call ${id} was started, and ${count} cards show it.`];
  });
}

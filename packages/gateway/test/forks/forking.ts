import { tool } from '@lastcall/core';
import { z } from 'zod';
import { callNumber } from '../../src/domain/calls/call-number.ts';
import type { ForkChanges } from '../../src/domain/forks/fork.ts';
import { getRunDetails } from '../../src/domain/runs/run-details.ts';
import { getStepRequest } from '../../src/domain/runs/step-request.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import { type DraftRequest, startDraft } from '../../src/runtime/forks/start-draft.ts';
import { type StartedFork, startFork } from '../../src/runtime/forks/start-fork.ts';
import type { World } from '../support/world.ts';

/** Tools that count how often they ran. */
export function countingTools() {
  const ran = { pay: 0, look: 0 };
  const inputSchema = z.object({ n: z.number().optional() });
  const tools = {
    pay: tool({ description: 'Pays.', inputSchema, execute: ({ n = 0 }) => `Paid ${n}, as number ${++ran.pay}.` }),
    look: tool({
      description: 'Looks.',
      inputSchema,
      effects: 'none',
      execute: ({ n = 0 }) => `Saw ${n}, as number ${++ran.look}.`,
    }),
  };
  return { ran, tools };
}

export async function fork(
  world: World,
  runId: string,
  { atStep = 1, ...changes }: ForkChanges & { atStep?: number } = {},
): Promise<StartedFork> {
  const caller = { kind: 'key', keyId: 'key' } as const;
  const started = await world.in((tx) => startFork(tx, world.registry, { caller, runId, atStep, changes }));
  await world.idle();
  return started;
}

export async function draft(
  world: World,
  agentId: string,
  input: DraftRequest['input'],
  { nodes, ...changes }: DraftRequest['changes'] & { readonly nodes?: DraftRequest['nodes'] } = {},
): Promise<StartedFork> {
  const caller = { kind: 'key', keyId: 'key' } as const;
  const started = await world.in((tx) => startDraft(tx, world.registry, { caller, agentId, input, changes, nodes }));
  await world.idle();
  return started;
}

export async function lastRun({ store }: World, threadId: string): Promise<string> {
  const runs = store.db.selectFrom('runs').select('id').where('thread_id', '=', threadId).orderBy('number', 'desc');
  return (await runs.limit(1).executeTakeFirstOrThrow()).id;
}

/** The requests of a run, with its calls named by their order. */
export async function requestsOf({ store: { db } }: World, runId: string): Promise<readonly string[]> {
  const replies = await entriesOf(db, runId, 'reply');
  const requests = [];
  for (const { entry } of replies) requests.push(JSON.stringify(await getStepRequest(db, runId, entry.step)));
  return withoutIds(requests);
}

/** The ends of the calls of a run, without their ids and times. */
export async function endsOf({ store: { db } }: World, runId: string): Promise<readonly string[]> {
  const ends = [...(await entriesOf(db, runId, 'settled')), ...(await entriesOf(db, runId, 'pending'))];
  return ends.map(({ entry: { kind, settlement } }) => {
    const { callId, startedAt: _startedAt, endedAt: _endedAt, ...told } = settlement;
    return JSON.stringify({ kind, ...told, number: callNumber(callId) });
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is stored.
async function entriesOf(db: World['store']['db'], runId: string, kind: string): Promise<any[]> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', runId)
    .where('kind', '=', kind)
    .orderBy('seq')
    .execute();
  return rows.map(({ payload }) => fromJson(payload));
}

function withoutIds(texts: readonly string[]): readonly string[] {
  const ids = new Map<string, string>();
  const name = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `call-${ids.size}`);
    return ids.get(id) as string;
  };
  return texts.map((text) => text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, name));
}

export async function stopOf({ store }: World, runId: string): Promise<unknown> {
  const run = await getRunDetails(store.db, runId);
  return { status: run.status, ...run.stop, response: run.response };
}

export async function waitingIn({ store }: World, contextId: string) {
  return await store.db
    .selectFrom('calls')
    .selectAll()
    .where('thread_id', '=', contextId)
    .where('wait_status', '=', 'pending')
    .orderBy('id')
    .execute();
}

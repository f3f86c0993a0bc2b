import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkTools } from '../../src/config/registered-tool.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import { requestCancel } from '../../src/domain/runs/request-cancel.ts';
import { spaceStream } from '../../src/domain/streams/stream-names.ts';
import { fromEntryPayload } from '../../src/domain/transcript/transcript-row.ts';
import { RunInterrupted } from '../../src/runtime/loops/run-interrupted.ts';
import { ToolCaches } from '../../src/runtime/toolset/tool-caches.ts';
import { goOn, letGo, work } from '../support/disturbed-run.ts';
import { lobby } from '../support/lobby.ts';
import { resultsOf } from '../support/requests.ts';
import { type Database, databases } from '../support/stores.ts';
import { waitingOf } from '../support/waiting-of.ts';
import { type When, watched } from '../support/watched-store.ts';
import { openWorld, type World } from '../support/world.ts';

function script() {
  const paid: string[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({}),
    execute: (_input, { toolCallId }) => {
      paid.push(toolCallId);
      return 'Paid.';
    },
  });
  const look = tool({ description: 'Looks.', effects: 'none', inputSchema: z.object({}), execute: () => 'Seen.' });
  const given = {
    pay: { tool: pay, visible: true },
    look: { tool: look, visible: true },
    ask: { executionType: 'space' },
  };
  const tools = checkTools(given as never, ['tools']);
  if (!tools.ok) throw new Error('The tools are wrong.');
  const model = scriptedModel((request) => {
    const results = resultsOf(request).length;
    if (results === 0)
      return [{ toolName: 'look' }, { toolName: 'pay' }, { toolName: 'send_message', input: { text: 'one' } }];
    return results === 3 ? [{ toolName: 'ask' }, { toolName: 'send_message', input: { text: 'two' } }] : 'Done.';
  });
  return { paid, registry: { tools: tools.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() } };
}

/** A run that a terminal tool ends. */
function answering() {
  const report = tool({
    description: 'Reports.',
    terminal: true,
    inputSchema: z.object({}),
    execute: () => 'The report.',
  });
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });
  const tools = checkTools({ look, report: { tool: report, visible: false } }, ['tools']);
  if (!tools.ok) throw new Error('The tools are wrong.');
  const model = scriptedModel((request) => [{ toolName: resultsOf(request).length === 0 ? 'look' : 'report' }]);
  const paid: string[] = [];
  return { paid, registry: { tools: tools.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() } };
}

/** A run that text ends. */
function replying() {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });
  const tools = checkTools({ look }, ['tools']);
  if (!tools.ok) throw new Error('The tools are wrong.');
  const model = scriptedModel((request) => (resultsOf(request).length === 0 ? [{ toolName: 'look' }] : 'I saw it.'));
  const paid: string[] = [];
  return { paid, registry: { tools: tools.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() } };
}

/** A run that a final message ends. */
function ending() {
  const look = tool({ description: 'Looks.', inputSchema: z.object({}), execute: () => 'Seen.' });
  const tools = checkTools({ look }, ['tools']);
  if (!tools.ok) throw new Error('The tools are wrong.');
  const calls = [{ toolName: 'look' }, { toolName: 'send_message', input: { text: 'I saw it.', final: true } }];
  // The model is asked again only if the outcome of the first call is unknown.
  const model = scriptedModel((request) => (resultsOf(request).length === 0 ? calls : ''));
  const paid: string[] = [];
  return { paid, registry: { tools: tools.value, model: () => model, agentLimits: {}, toolCaches: new ToolCaches() } };
}

const ENDS = /^(message|tool-call)\.(complete|error|cancelled|expired|requires-action)$/;
const PARTS = /^(message|tool-call)\.(start|delta|progress)|^tool-input-delta/;

interface Shown {
  readonly callId?: string;
  readonly streamId?: string;
  readonly message?: { readonly id: string; readonly entityId: string };
}

/** Calls that were not shown as one start, what was written, and one end. */
async function brokenStreams(world: World, bot: string, space: string): Promise<string[]> {
  const streams = new Map<string, string[]>();
  for (const { type, payload } of await world.events(spaceStream(space))) {
    if (!ENDS.test(type) && !PARTS.test(type)) continue;
    const { callId, streamId, message } = payload as Shown;
    const id = callId ?? streamId ?? message?.id ?? 'nobody';
    // Messages of people have no deltas.
    if (message === undefined || message.entityId === bot || streams.has(id))
      streams.set(id, [...(streams.get(id) ?? []), type]);
  }
  const isWhole = (types: readonly string[]): boolean =>
    /\.start$/.test(types[0] ?? '') &&
    types.filter((one) => ENDS.test(one)).length === 1 &&
    ENDS.test(types.at(-1) ?? '');
  return [...streams.values()].filter((types) => !isWhole(types)).map((types) => types.join(' '));
}

/** Calls that were journaled as started and are not shown by exactly one card. */
async function startsWithoutCard(world: World, bot: string): Promise<string[]> {
  const { db } = world.store;
  const rows = db.selectFrom('transcript_entries').select('payload').where('thread_id', '=', bot);
  const started = (await rows.where('kind', '=', 'started').execute()).flatMap(({ payload }) => {
    const { entry } = fromEntryPayload(payload);
    return entry.kind === 'started' ? [entry.callId] : [];
  });
  const messages = await db.selectFrom('messages').select('call_id').where('entity_id', '=', bot).execute();
  return [...new Set(started)].filter((id) => messages.filter(({ call_id }) => call_id === id).length !== 1);
}

async function stateOf(world: World, bot: string, space: string) {
  const messages = world.store.db.selectFrom('messages').select(['kind', 'status', 'content', 'metadata']);
  const rows = await messages.where('space_id', '=', space).where('entity_id', '=', bot).orderBy('seq').execute();
  const runs = world.store.db.selectFrom('runs').select('status').where('thread_id', '=', bot);
  return {
    said: rows.filter(({ kind }) => kind === 'text').map(({ content }) => content),
    cards: rows
      .filter(({ kind }) => kind === 'tool')
      .map(({ status, metadata }) => `${JSON.parse(metadata).toolName} ${status}`),
    runs: (await runs.execute()).map(({ status }) => status),
    broken: await brokenStreams(world, bot, space),
    unshown: await startsWithoutCard(world, bot),
  };
}

describe.each(databases)('a run on $kind', ({ create }) => {
  let database: Database;
  let world: World;
  beforeAll(async () => {
    database = await create();
    world = await openWorld({ database, models: {} });
  });
  afterAll(async () => {
    await world.stop();
    await database.remove();
  });

  /** A person posts a message, and the agent's run is disturbed at its n-th transaction and then taken over. */
  async function disturbed(
    at: number,
    when: When,
    how: 'interrupt' | 'cancel' | 'both',
    scripted = script(),
    { isIn = true } = {},
  ) {
    const { paid, registry } = scripted;
    const config = { tools: Object.keys(registry.tools), replies: 'text' };
    const { ada, bot, space } = await lobby(world, config, { isIn });
    await world.say(space, ada, 'Go');
    let isAccepted = false;
    const abort = new AbortController();
    const act = async (): Promise<void> => {
      if (how !== 'interrupt') isAccepted = await cancel(bot);
      if (how !== 'cancel') abort.abort(new RunInterrupted());
    };
    const { store, count } = watched(world.store, at, when, act);
    await work({ ...world.services, store }, registry, bot, abort).catch((error: Error) => {
      if (!['RunInterrupted', 'RunCancelled'].includes(error.name)) throw error;
    });
    await letGo(world, bot);
    for (let tries = 0; tries < 3; tries++) await goOn(world, registry, bot);
    return { ...(await stateOf(world, bot, space)), paid: paid.length, transactions: count(), isAccepted };
  }

  /** False: the run had ended. */
  async function cancel(bot: string): Promise<boolean> {
    const runs = world.store.db.selectFrom('runs').select('id').where('thread_id', '=', bot);
    const run = await runs.where('status', '=', 'running').executeTakeFirst();
    if (run !== undefined) await world.store.transaction((tx) => requestCancel(tx, run.id));
    return run !== undefined;
  }

  test('[G42] [G38] [G57] [G64] that is interrupted at any of its transactions sends each message once, pays at most once, and every call that was started has one card with one end', async () => {
    const { transactions } = await disturbed(Number.POSITIVE_INFINITY, 'before', 'interrupt');
    expect(transactions).toBeGreaterThan(5);
    for (let at = 2; at <= transactions; at++)
      for (const when of ['before', 'after'] as const) {
        const { said, cards, runs, broken, unshown, paid } = await disturbed(at, when, 'interrupt');
        const where = `${when} transaction ${at}`;
        expect({ where, said, runs, broken, unshown }).toEqual({
          where,
          said: ['"one"', '"two"'],
          runs: ['completed'],
          broken: [],
          unshown: [],
        });
        expect([where, cards.filter((card) => / running$/.test(card))]).toEqual([where, []]);
        expect([where, paid <= 1]).toEqual([where, true]);
        expect([where, cards.includes('pay complete') ? paid : 1]).toEqual([where, 1]);
      }
  });

  test.each(['interrupt', 'both'] as const)(
    '[A23] that a terminal tool ends posts its response exactly once, whichever transaction is disturbed (%s), and not after a cancel',
    async (how) => {
      const { transactions } = await disturbed(Number.POSITIVE_INFINITY, 'before', how, answering());
      expect(transactions).toBeGreaterThan(3);
      for (let at = 2; at <= transactions; at++)
        for (const when of ['before', 'after'] as const) {
          const { said, runs, isAccepted } = await disturbed(at, when, how, answering());
          const where = `${when} transaction ${at}`;
          const expected = isAccepted
            ? { said: [], runs: ['cancelled'] }
            : { said: ['"The report."'], runs: ['completed'] };
          expect({ where, said, runs }).toEqual({ where, ...expected });
        }
    },
  );

  test.each([
    ['text', 'interrupt', replying],
    ['text', 'both', replying],
    ['a final message', 'interrupt', ending],
  ] as const)(
    '[K1] [K2] [K3] that %s ends begins in the space that woke it and replies there exactly once, whichever transaction is disturbed (%s), and not after a cancel',
    async (_what, how, scripted) => {
      const { transactions } = await disturbed(Number.POSITIVE_INFINITY, 'before', how, scripted(), { isIn: false });
      expect(transactions).toBeGreaterThan(2);
      for (let at = 1; at <= transactions; at++)
        for (const when of ['before', 'after'] as const) {
          const result = await disturbed(at, when, how, scripted(), { isIn: false });
          const { said, runs, isAccepted, cards } = result;
          const broken = result.broken.filter((types) => types !== 'message.complete');
          const where = `${when} transaction ${at}`;
          const expected = isAccepted
            ? { said: [], runs: ['cancelled'] }
            : { said: ['"I saw it."'], runs: ['completed'] };
          expect({ where, said, runs, broken }).toEqual({ where, ...expected, broken: [] });
          // The card is in the space that woke the agent: it was the active one.
          if (!isAccepted) expect([where, cards.length]).toEqual([where, 1]);
        }
    },
  );

  /** Gives an answer; the run that consumes it is interrupted at its n-th transaction and then taken over. */
  async function answered(at: number, when: When) {
    const { registry } = script();
    const { ada, bot, space } = await lobby(world, { tools: Object.keys(registry.tools) }, { isIn: true });
    await world.say(space, ada, 'Go');
    await work(world.services, registry, bot);
    const call = await waitingOf(world, bot);
    const { runId } = await answer(world.services, { ...call, answer: { result: 'yes' }, by: { key: true } });
    const abort = new AbortController();
    const { store, count } = watched(world.store, at, when, () => abort.abort(new RunInterrupted()));
    await work({ ...world.services, store }, registry, bot, abort).catch((error: Error) => {
      if (error.name !== 'RunInterrupted') throw error;
    });
    await letGo(world, bot);
    await work(world.services, registry, bot);
    const runs = world.store.db.selectFrom('runs').select(['id', 'status']).where('thread_id', '=', bot);
    return { asked: call.runId, runId, runs: await runs.orderBy('number').execute(), transactions: count() };
  }

  test('[A25] that consumes an answer has the id that the answer named, whichever transaction is interrupted', async () => {
    const { transactions } = await answered(Number.POSITIVE_INFINITY, 'before');
    expect(transactions).toBeGreaterThan(1);
    for (let at = 1; at <= transactions; at++)
      for (const when of ['before', 'after'] as const) {
        const { asked, runId, runs } = await answered(at, when);
        expect({ at, when, runs }).toEqual({
          ...{ at, when },
          runs: [
            { id: asked, status: 'completed' },
            { id: runId, status: 'completed' },
          ],
        });
      }
  });

  test.each(['cancel', 'both'] as const)(
    '[G16] [G57] [G64] that is cancelled (%s) at any of its transactions ends as cancelled, and every call that was started has one card with one end',
    async (how) => {
      const { transactions } = await disturbed(Number.POSITIVE_INFINITY, 'before', how);
      for (let at = 2; at <= transactions; at++)
        for (const when of ['before', 'after'] as const) {
          const { cards, runs, broken, unshown, paid, isAccepted } = await disturbed(at, when, how);
          const where = `${when} transaction ${at}`;
          const status = isAccepted ? 'cancelled' : 'completed';
          expect({ where, runs, broken, unshown }).toEqual({ where, runs: [status], broken: [], unshown: [] });
          expect([where, cards.filter((card) => / running$/.test(card))]).toEqual([where, []]);
          expect([where, paid <= 1]).toEqual([where, true]);
        }
    },
  );
});

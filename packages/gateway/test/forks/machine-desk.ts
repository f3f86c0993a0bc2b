import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type ToolSet, tool } from '@lastcall/core';
import { type ScriptedModel, scriptedModel } from '@lastcall/core/testing';
import { type Charter, cede, charter, node, spawn, suspend, to } from '@lastcall/machines';
import { z } from 'zod';
import { getStepRequest } from '../../src/domain/runs/step-request.ts';
import { fromJson } from '../../src/ports/store/schema/json.ts';
import type { World } from '../support/world.ts';

const n = z.object({ n: z.number() });

/** A lead with two workers: one has a tool that waits for approval, and the other one looks. */
function crewOf(look: ToolSet[string], count: (name: string) => number): Charter {
  const ask_first = tool({
    description: 'Asks first.',
    inputSchema: z.object({}),
    approval: true,
    execute: () => `Done, as number ${count('audit')}.`,
  });
  const report = {
    description: 'Reports.',
    inputSchema: z.object({ found: z.string() }),
    handler: ({ found }: { found: string }) => cede(found),
  };
  const asker = node({
    worker: true,
    instructions: 'You are the asker.',
    tools: { ask_first },
    transitions: { report },
  });
  const looker = node({ worker: true, instructions: 'You are the looker.', tools: { look }, transitions: { report } });
  const lead = node({
    instructions: 'You are the lead.',
    transitions: {
      hire: { description: 'Hires.', targets: ['asker', 'looker'], handler: () => spawn(['asker', 'looker']) },
    },
  });
  return charter({ nodes: { lead, asker, looker } });
}

/** A desk with a clerk that pays, two workers that count in parallel, and a closer. External effects are counted. */
export function countingDesk({ policies = [] }: { policies?: readonly object[] } = {}) {
  const ran: Record<string, number> = { pay: 0, order: 0, audit: 0, close: 0, look: 0 };
  const count = (name: string): number => {
    ran[name] = (ran[name] ?? 0) + 1;
    return ran[name];
  };
  const look = tool({
    description: 'Looks.',
    inputSchema: n,
    effects: 'none',
    execute: (input) => `Saw ${input.n}, as number ${count('look')}.`,
  });
  const order = tool({
    description: 'Orders.',
    inputSchema: n,
    execute: (input) => `Ordered ${input.n}, as number ${count('order')}.`,
  });
  const worker = node({
    worker: true,
    instructions: 'You are a worker.',
    tools: { look, order },
    transitions: {
      report: {
        description: 'Reports.',
        inputSchema: z.object({ found: z.string() }),
        handler: ({ found }: { found: string }) => cede(found),
      },
    },
  });
  const closer = node({
    instructions: 'You are the closer.',
    state: z.object({ sum: z.number() }),
    tools: { look },
  });
  const clerk = node({
    instructions: 'You are the clerk.',
    state: z.object({ paid: z.number().default(0) }),
    tools: (make) => ({
      look,
      pay: make({
        description: 'Pays.',
        inputSchema: n,
        execute(input, ctx) {
          ctx.updateState({ paid: ctx.state.paid + input.n });
          return `Paid ${input.n}, as number ${count('pay')}.`;
        },
      }),
    }),
    transitions: {
      hire: { description: 'Hires two workers.', targets: ['worker'], handler: () => spawn(['worker', 'worker']) },
      close: {
        description: 'Closes.',
        targets: ['closer'],
        handler: (_input: unknown, { state }: { state: { paid: number } }) => {
          count('close');
          return to('closer', { sum: state.paid });
        },
      },
      audit: {
        description: 'Has the books audited.',
        targets: ['closer'],
        effects: 'external',
        handler: () => {
          count('audit');
          return to('closer', { sum: -1 });
        },
      },
      ask: {
        description: 'Asks a person.',
        inputSchema: z.object({ question: z.string() }),
        handler: ({ question }: { question: string }) => suspend(question),
      },
      sign: {
        description: 'Closes, if a person signs.',
        targets: ['closer'],
        approval: true,
        handler: () => {
          count('close');
          return to('closer', { sum: 99 });
        },
      },
    },
  });
  const desk = { machine: charter({ nodes: { clerk, worker, closer } }), policies };
  const crew = { machine: crewOf(look, count) };
  return { ran, definitions: { desk: desk as never, crew: crew as never } };
}

/** A reply with one call. Its id is the same for the same request. */
export const call = (toolName: string, input: object = {}) => [
  { toolName, input, toolCallId: `${toolName}-${JSON.stringify(input).replace(/\W/g, '')}` },
];

/** A request: the instance that asks, and its conversation. */
export interface Asked {
  readonly who: string;
  readonly said: string;
}

type Reply = string | ReturnType<typeof call>;

/** A model that decides by who asks it, so that it answers workers in any order. */
export function deskModel(decide: (asked: Asked) => Reply): ScriptedModel {
  return scriptedModel((options) => decide(toAsked(options)));
}

function toAsked({ prompt }: LanguageModelV4CallOptions): Asked {
  const [, who = ''] = /You are (?:a|the) (\w+)/.exec(String(prompt[0]?.content)) ?? [];
  return { who, said: JSON.stringify(prompt.slice(1)) };
}

/** Pays, hires two workers that order and look, closes, and answers. */
export function usualDay({ who, said }: Asked): Reply {
  if (who === 'worker') {
    if (!said.includes('Ordered 5')) return [...call('order', { n: 5 }), ...call('look', { n: 5 })];
    return call('transition_report', { found: said.match(/Ordered 5, as number \d/)?.[0] ?? '' });
  }
  if (who === 'closer') return 'Closed.';
  if (!said.includes('Paid 1')) return [...call('look', { n: 1 }), ...call('pay', { n: 1 })];
  return said.includes('Ordered 5') ? call('transition_close') : call('transition_hire');
}

const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{4}/g;

/** The requests of a machine's run, without the ids of calls, in an order that does not depend on which worker was faster. */
export async function requestsOfMachine({ store: { db } }: World, runId: string): Promise<readonly string[]> {
  const replies = await entriesOf(db, runId, ['reply']);
  const requests: string[] = [];
  for (let step = 1; step <= replies.length; step++)
    requests.push(JSON.stringify(await getStepRequest(db, runId, step)).replace(IDS, 'call'));
  return requests.sort();
}

/** How the calls of a machine's run ended, by instance, without their ids and times. */
export async function endsOfMachine({ store: { db } }: World, runId: string): Promise<readonly string[]> {
  const ends = await entriesOf(db, runId, ['settled', 'pending']);
  return ends
    .map(({ entry: { kind, instanceId, settlement }, staged }) => {
      const { toolName, input, outcome, terminal } = settlement;
      const told = { instanceId, kind, toolName, input, outcome, terminal, staged };
      return JSON.stringify(told).replace(IDS, 'call');
    })
    .sort();
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is stored.
export async function entriesOf(db: World['store']['db'], runId: string, kinds: string[]): Promise<any[]> {
  const rows = await db
    .selectFrom('transcript_entries')
    .select('payload')
    .where('run_id', '=', runId)
    .where('kind', 'in', kinds)
    .orderBy('seq')
    .execute();
  return rows.map(({ payload }) => fromJson(payload));
}

/** Everything that is stored of a thread. */
export async function storedOf({ store: { db } }: World, threadId: string): Promise<unknown> {
  const of = { thread: db.selectFrom('threads').selectAll().where('id', '=', threadId) };
  return {
    thread: (await of.thread.execute()).map(({ state }) => state),
    rows: await db
      .selectFrom('transcript_entries')
      .selectAll()
      .where('thread_id', '=', threadId)
      .orderBy('seq')
      .execute(),
    calls: await db.selectFrom('calls').selectAll().where('thread_id', '=', threadId).orderBy('id').execute(),
    runs: await db.selectFrom('runs').selectAll().where('thread_id', '=', threadId).orderBy('id').execute(),
    inbox: await db.selectFrom('inbox_events').selectAll().where('thread_id', '=', threadId).orderBy('id').execute(),
  };
}

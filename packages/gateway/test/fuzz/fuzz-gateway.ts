// A gateway in a separate process for fuzz.ts, so that its memory can be measured and an uncaught error ends it.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { type ScriptedReply, scriptedModel } from '@lastcall/core/testing';
import { createGateway } from '@lastcall/gateway';
import { z } from 'zod';
import { memoryInUse } from '../support/memory.ts';

/** How it is started: its argument, as JSON. */
export interface FuzzedSpec {
  readonly settings: { readonly home: string } | { readonly databaseUrl: string };
  readonly secretKey: string;
}

export type FuzzedMessage =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'memory'; readonly bytes: number }
  /** An uncaught error, or one that the gateway logs. */
  | { readonly kind: 'fault'; readonly text: string };

const { settings, secretKey } = JSON.parse(process.argv[2] ?? '{}') as FuzzedSpec;
const tell = (message: FuzzedMessage): unknown => process.send?.(message);

/** A request may set a limit in money, for which this gateway has no prices: runs then fail, and operators see why. */
const isFault = (line: string): boolean => !line.includes('"code":"spend_limit"');

const inputSchema = z.object({ text: z.string() });
let asked = 0;

/** Every third request calls a tool, and every other one is answered. Some calls wait for a person. */
function reply({ tools = [] }: LanguageModelV4CallOptions): ScriptedReply {
  model.forget();
  const offered = tools.map(({ name }) => name);
  const wanted = TOOLS[++asked % (TOOLS.length * 2)];
  return wanted !== undefined && offered.includes(wanted)
    ? { toolName: wanted, input: { text: `Call ${asked}` } }
    : `Answer ${asked}.`;
}

const TOOLS = ['look', 'pay', 'note'];
const scripted = scriptedModel(reply);
const model = {
  ...scripted,
  /** A scripted model keeps its requests, which here would look like a memory leak. */
  forget: () => ((scripted.requests as LanguageModelV4CallOptions[]).length = 0),
};

const gateway = createGateway({
  ...settings,
  secretKey,
  port: 0,
  env: {},
  logLevel: 'error',
  log: { destination: { write: (text: string) => void (isFault(text) && tell({ kind: 'fault', text })) } },
  synchronous: 'NORMAL',
  model: 'scripted',
  models: { scripted: model },
  limits: { sweepMs: 200 },
  tools: {
    look: { tool: tool({ description: 'Looks.', inputSchema, execute: ({ text }) => text }), visible: true },
    note: {
      tool: tool({ description: 'Notes.', inputSchema, effects: 'none', execute: () => 'Noted.' }),
      visible: false,
    },
    pay: {
      tool: tool({ description: 'Pays.', inputSchema, effects: 'external', approval: true, execute: () => 'Paid.' }),
      visible: true,
    },
  },
});

for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (error: unknown) => tell({ kind: 'fault', text: `${event}: ${(error as Error)?.stack ?? error}` }));
process.once('disconnect', () => process.exit());
process.on('message', async (ask: 'memory' | 'stop') => {
  if (ask === 'memory') return tell({ kind: 'memory', bytes: await memoryInUse() });
  await gateway.stop();
  process.exit(0);
});
await gateway.start();
tell({ kind: 'ready', url: gateway.url });

// One gateway in a process of its own, told what to be by its first argument and spoken to over IPC.
import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { tool } from '@lastcall/core';
import { createGateway, type GatewayLimits, type GatewayOptions } from '@lastcall/gateway';
import { z } from 'zod';
import { task } from '../overhead/contender.ts';
import { addingModel, benchDefinitions, STEPS, usingModel } from './agent-definitions.ts';
import { chatSteps, timedWords } from './chat-models.ts';
import type { BenchSettings } from './databases.ts';
import { everyRun } from './every-run.ts';

/** What a benchmark wants of a gateway. */
export interface GatewaySpec {
  readonly settings: BenchSettings;
  readonly secretKey: string;
  readonly synchronous?: 'FULL' | 'NORMAL';
  readonly tuning?: Partial<GatewayLimits>;
  /** Of its one tool. A terminal one ends a run with its first call. */
  readonly tool: { readonly terminal: boolean; readonly visible: boolean; readonly effects?: 'none' | 'external' };
  /** Tool steps in a run, where the tool is not terminal. */
  readonly steps?: number;
  /** Targets of notifications. */
  readonly notify?: GatewayOptions['notify'];
}

/** Asked over IPC, and answered with a value under the same number. */
export interface ChildRequest {
  readonly id: number;
  readonly ask: 'memory' | 'rss' | 'ran-at' | 'processor-ms' | 'stop';
}

export interface ChildAnswer {
  readonly id: number;
  readonly value: unknown;
}

/** What it says of itself once it listens. */
export interface ChildReady {
  readonly url: string;
}

const spec = JSON.parse(process.argv[2] ?? '{}') as GatewaySpec;
/** When the tool ran. From one run to the next is a step: settled, told, asked again, planned, started. */
let ranAt: number[] = [];

const add = tool({
  description: task.description,
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  terminal: spec.tool.terminal,
  effects: spec.tool.effects ?? 'external',
  execute: ({ a, b }) => (ranAt.push(performance.now()), a + b),
});

const steps = spec.steps ?? Number.POSITIVE_INFINITY;
const gateway = createGateway({
  ...spec.settings,
  secretKey: spec.secretKey,
  port: 0,
  logLevel: 'warn',
  env: { NOTIFY_SECRET: 'what both sides know' },
  secrets: ['NOTIFY_SECRET'],
  synchronous: spec.synchronous,
  tuning: spec.tuning,
  notify: spec.notify,
  // What an agent may use is not what is measured. One event a run, so that events count runs.
  limits: {
    agent: { maxSteps: 1_000_000, tokensPerCycle: 1e9, consciousnessTokens: 1e9, eventsPerCycle: 1 },
  },
  models: {
    instant: everyRun(steps),
    'after-200-ms': delayed(everyRun(steps), 200),
    'chat-steps': chatSteps(steps),
    'timed-words': timedWords(),
    // One for each agent: they count what their agent was told.
    ...Object.fromEntries(['plain', 'turn', 'machine', 'few', 'many'].map((name) => [name, addingModel(STEPS)])),
    used: usingModel(),
  },
  definitions: benchDefinitions(() => ranAt.push(performance.now()), add),
  tools: { [task.toolName]: { tool: add, visible: spec.tool.visible } },
});

await gateway.start();
// Whoever started it is gone: nobody would ever stop it.
process.once('disconnect', () => process.exit());
process.on('message', (request: ChildRequest) => void answer(request));
process.send?.({ url: gateway.url } satisfies ChildReady);

async function answer({ id, ask }: ChildRequest): Promise<void> {
  const reply = (value: unknown): unknown => process.send?.({ id, value } satisfies ChildAnswer);
  if (ask === 'memory') {
    globalThis.gc?.();
    reply(process.memoryUsage.rss());
  } else if (ask === 'rss') {
    reply(process.memoryUsage.rss());
  } else if (ask === 'ran-at') {
    reply(ranAt);
    ranAt = [];
  } else if (ask === 'processor-ms') {
    reply(processorMs());
  } else {
    await gateway.stop();
    reply(processorMs());
    process.disconnect?.();
  }
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function delayed(model: LanguageModelV4, ms: number): LanguageModelV4 {
  return {
    ...model,
    async doStream(options) {
      await sleep(ms);
      return await model.doStream(options);
    },
  };
}

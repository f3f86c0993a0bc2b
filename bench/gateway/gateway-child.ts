// One gateway in a separate process: its first argument configures it, and the parent talks to it over IPC.
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

/** The gateway that a benchmark needs. */
export interface GatewaySpec {
  readonly settings: BenchSettings;
  readonly secretKey: string;
  readonly synchronous?: 'FULL' | 'NORMAL';
  readonly tuning?: Partial<GatewayLimits>;
  /** Its one tool. If it is terminal, its first call ends the run. */
  readonly tool: { readonly terminal: boolean; readonly visible: boolean; readonly effects?: 'none' | 'external' };
  /** Tool steps in a run, where the tool is not terminal. */
  readonly steps?: number;
  /** Targets of notifications. */
  readonly notify?: GatewayOptions['notify'];
}

/** A request over IPC. The answer has a value and the same id. */
export interface ChildRequest {
  readonly id: number;
  readonly ask: 'memory' | 'rss' | 'ran-at' | 'processor-ms' | 'stop';
}

export interface ChildAnswer {
  readonly id: number;
  readonly value: unknown;
}

/** What the gateway sends once it listens. */
export interface ChildReady {
  readonly url: string;
}

const spec = JSON.parse(process.argv[2] ?? '{}') as GatewaySpec;
/** When the tool ran. The time from one call to the next is a step: settle, emit, ask the model, plan, start. */
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
  // High limits, because the benchmark does not measure them. One event a run, so that the number of events is the number of runs.
  limits: {
    agent: { maxSteps: 1_000_000, tokensPerCycle: 1e9, consciousnessTokens: 1e9, eventsPerCycle: 1 },
  },
  models: {
    instant: everyRun(steps),
    'after-200-ms': delayed(everyRun(steps), 200),
    'chat-steps': chatSteps(steps),
    'timed-words': timedWords(),
    // One model for each agent: each counts the requests of its agent.
    ...Object.fromEntries(['plain', 'turn', 'machine', 'few', 'many'].map((name) => [name, addingModel(STEPS)])),
    used: usingModel(),
  },
  definitions: benchDefinitions(() => ranAt.push(performance.now()), add),
  tools: { [task.toolName]: { tool: add, visible: spec.tool.visible } },
});

await gateway.start();
// The parent process is gone, so no process would ever stop this one.
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

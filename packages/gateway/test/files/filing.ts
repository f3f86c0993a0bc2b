import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect } from 'vitest';
import { z } from 'zod';
import { type AgentDefinition, defineAgent } from '../../src/index.ts';
import { type ApiRequest, startTestGateway, type TestGatewayOptions } from '../../src/testing/index.ts';
import { resultsOf } from '../support/requests.ts';
import { type Database, locationOf } from '../support/stores.ts';

const workInput = z.object({
  write: z.record(z.string(), z.string()).default({}),
  append: z.record(z.string(), z.string()).default({}),
  delete: z.array(z.string()).default([]),
  read: z.string().optional(),
  list: z.string().optional(),
  grep: z.string().optional(),
  fail: z.boolean().default(false),
});

type Work = z.input<typeof workInput>;

/** A tool that performs the file operations of its input. */
export const work = tool({
  description: 'Works with files.',
  inputSchema: workInput,
  effects: 'session',
  async execute(input, { filesystem }) {
    for (const [path, text] of Object.entries(input.write)) await filesystem.writeText(path, text);
    for (const [path, text] of Object.entries(input.append)) await filesystem.writeText(path, text, { mode: 'append' });
    for (const path of input.delete) await filesystem.delete(path);
    if (input.fail) throw new Error('changed my mind');
    return {
      ...(input.read === undefined ? {} : { read: await filesystem.readText(input.read) }),
      ...(input.list === undefined
        ? {}
        : { list: (await filesystem.list(input.list)).map(({ path, kind }) => `${kind} ${path}`) }),
      ...(input.grep === undefined
        ? {}
        : { grep: (await filesystem.grep(input.grep)).map(({ path, line }) => `${path}:${line}`) }),
      all: await filesystem.glob('**'),
    };
  },
});

/** One call of `work`. */
export const working = (input: Work) => [{ toolName: 'work', input }];

export const filer = (more: AgentDefinition = {}): AgentDefinition =>
  defineAgent({ files: true, tools: { work }, ...more });

interface FilingOptions extends TestGatewayOptions {
  readonly database?: Database;
  readonly definition?: AgentDefinition;
}

/** A gateway with one agent that has files. */
export async function openFiling(
  replies: Parameters<typeof scriptedModel>[0],
  { database, definition = filer(), ...options }: FilingOptions = {},
) {
  const model = scriptedModel(replies);
  const gateway = await startTestGateway({
    model,
    definitions: { filer: definition },
    agents: [{ name: 'Filer', definition: 'filer' }],
    ...(database === undefined ? {} : locationOf(database)),
    ...options,
  });
  const [{ id }] = (await gateway.api('/api/agents')).items;
  const outcomes = async (runId: string) => (await gateway.api(`/api/runs/${runId}/transcript`)).entries;
  return Object.assign(gateway, {
    model,
    id: id as string,
    outcomes,
    /** Wakes the agent, and waits for the end of its run. */
    async wake(): Promise<void> {
      const { eventId } = await gateway.api(`/api/agents/${id}/events`, { source: 'test', name: 'go' });
      await expect
        .poll(
          async () => {
            const { items } = await gateway.api(`/api/agents/${id}/inbox?limit=200`);
            return items.find((event: { eventId: string }) => event.eventId === eventId)?.status;
          },
          { timeout: 10_000 },
        )
        .toBe('done');
    },
    /** The result of the last call in the last request to the model. */
    lastResult: (): string => resultOf(model.requests.at(-1)),
    files: async (more = ''): Promise<readonly string[]> =>
      (await gateway.api(`/api/agents/${id}/files?limit=200${more}`)).items.map(({ path }: { path: string }) => path),
    file: (path: string, body?: object, request?: ApiRequest) =>
      gateway.request(`/api/agents/${id}/files/${path}`, body, request),
  });
}

export type Filing = Awaited<ReturnType<typeof openFiling>>;

export async function textOf(filing: Pick<Filing, 'file'>, path: string): Promise<string | undefined> {
  const answer = await filing.file(path);
  return answer.status === 404 ? undefined : ((await answer.json()) as { content: string }).content;
}

/** The text of the newest result of a call in a request. */
export function resultOf(request: unknown): string {
  return resultsOf(request as never).at(-1)?.text ?? '';
}

export async function errorOf(
  answer: Response,
): Promise<{ readonly code: string; readonly message: string } | undefined> {
  return ((await answer.json()) as { error?: { code: string; message: string } }).error;
}

import { describe, expect, test } from 'vitest';
import { type Asked, accept, connect, type Era, resume, textOf } from '../mcp-server/mcp-client.ts';
import { SECRET_KEY } from './api.ts';
import { openCrew } from './crew.ts';
import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';
import { until } from './until.ts';

/** SQLite has one gateway at a time: its successor takes over. */
const cases: readonly { kind: 'sqlite' | 'postgres'; era: Era }[] = [
  { kind: 'sqlite', era: '2026' },
  { kind: 'postgres', era: '2025' },
];

const at = ({ url }: { url: string }) => ({ url, secretKey: SECRET_KEY });
const asking = { elicitation: { form: {} } };

/** Charges once, then says so. */
function chargeOnce({ calls }: ModelRequest): ModelReply {
  return calls.length === 0 ? { calls: [{ name: 'charge', input: { ref: 'm1' } }] } : { text: 'Charged m1.' };
}

describe.each(cases)(
  'an MCP client of $era whose gateway is killed, on $kind',
  { concurrent: true },
  ({ kind, era }) => {
    test('[X19] the run continues elsewhere, its effect happens once, and the client gets the answer by its key or by the run', async () => {
      const held = Promise.withResolvers<void>();
      await using crew = await openCrew({
        kind,
        decide: (request) => ({
          ...chargeOnce(request),
          ...(request.calls.length === 0 ? {} : { hold: held.promise }),
        }),
      });
      const client = await connect(at(crew.first), { era });
      const began = Promise.withResolvers<string>();
      const call = {
        name: 'ask_anna',
        arguments: { message: 'Charge m1.' },
        _meta: { 'lastcall/idempotencyKey': 'charge-m1' },
      };
      const lost = client.callTool(call, {
        onprogress: ({ message = '' }) => began.resolve(message.split(' ')[1] ?? ''),
      });
      lost.catch(() => {});
      const runId = await began.promise;
      await until('the model is asked after the charge', () => crew.site.model.requests.length === 2);
      const survivor = await crew.crash('a');
      held.resolve();
      const second = await connect(at(survivor), { era });
      const repeated = await second.callTool(call);
      expect(repeated.structuredContent).toMatchObject({ response: 'Charged m1.', run_id: runId });
      expect(textOf(await second.callTool({ name: 'get_run', arguments: { run_id: runId } }))).toContain('Charged m1.');
      expect(await crew.site.effects()).toHaveLength(1);
      expect(crew.site.model.problems).toEqual([]);
      await second.close();
      await client.close();
    });

    test('[X19] a question that was asked by the killed gateway is answered at another', async () => {
      await using crew = await openCrew({ kind, decide: chargeOnce });
      const inputRequired = { autoFulfill: false };
      const client = await connect(at(crew.first), { era, capabilities: asking, inputRequired });
      const asked = Promise.withResolvers<void>();
      client.setRequestHandler('elicitation/create', () => {
        asked.resolve();
        return new Promise<never>(() => {});
      });
      const began = Promise.withResolvers<string>();
      const call = { name: 'transfer', arguments: { ref: 'm2' } };
      const first = client.callTool(call, {
        onprogress: ({ message = '' }) => began.resolve(message.split(' ')[1] ?? ''),
        allowInputRequired: true,
      });
      first.catch(() => {});
      const runId = await began.promise;
      const state = (era === '2026' ? await first : await asked.promise) as unknown as Asked | undefined;
      const survivor = await crew.crash('a');
      const second = await connect(at(survivor), { era, capabilities: asking });
      second.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }));
      const result =
        state === undefined
          ? await second.callTool({ name: 'get_run', arguments: { run_id: runId } })
          : await resume(second, { ...call, requestState: state.requestState, inputResponses: accept(state) });
      expect(textOf(result)).toContain('m2');
      expect(result).not.toHaveProperty('isError');
      expect(await crew.site.effects()).toMatchObject([{ toolName: 'transfer', ref: 'm2' }]);
      await second.close();
      await client.close();
    });
  },
);

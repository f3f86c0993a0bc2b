import { pending, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { waitFor } from '../../src/testing/wait-for.ts';
import { type Asked, accept, ask, describeMcpServer, type Era, resume, textOf } from './mcp-client.ts';

const ERAS: readonly Era[] = ['2025', '2026'];

function tools(paid: string[]) {
  return {
    pay: tool({
      description: 'Pays somebody.',
      inputSchema: z.object({ to: z.string() }),
      approval: true,
      execute: ({ to }) => {
        paid.push(to);
        return `Paid ${to}.`;
      },
    }),
    weigh: {
      description: 'Asks for a weight.',
      executionType: 'space' as const,
      inputSchema: { type: 'object' as const, properties: { what: { type: 'string' } } },
      resultSchema: {
        type: 'object' as const,
        properties: { grams: { type: 'integer', minimum: 1 } },
        required: ['grams'],
      },
    },
    survey: {
      description: 'Asks for a list.',
      executionType: 'space' as const,
      inputSchema: { type: 'object' as const },
      resultSchema: { type: 'array' as const, items: { type: 'string' } },
    },
  };
}

interface Question {
  readonly params: { readonly message: string; readonly requestedSchema?: unknown };
}
type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string | number | boolean> };

const asking = { elicitation: { form: {} } };

describeMcpServer('calls that wait ask their caller', ({ start, connect }) => {
  test.each(ERAS)('[X19] a client of %s approves a call, and denies another that then never runs', async (era) => {
    const paid: string[] = [];
    const gateway = await start({ tools: tools(paid) });
    const client = await connect(gateway, { era, capabilities: asking });
    const asked: string[] = [];
    const replies: Reply[] = [{ action: 'accept', content: {} }, { action: 'decline' }];
    client.setRequestHandler('elicitation/create', async ({ params }: Question) => {
      asked.push(params.message);
      return replies.shift() ?? { action: 'cancel' };
    });
    const pay = (to: string) => client.callTool({ name: 'pay', arguments: { to } });
    expect(textOf(await pay('Ada'))).toBe('Paid Ada.');
    const denied = await pay('Eve');
    expect(denied.isError).toBe(true);
    expect(textOf(denied)).toContain('The caller declined.');
    const dismissed = await pay('Bob');
    expect(dismissed.isError).toBe(true);
    expect(textOf(dismissed)).toContain('waits for a person');
    expect(asked).toEqual(['Ada', 'Eve', 'Bob'].map((to) => `Approve the call of "pay" with {"to":"${to}"}?`));
    expect(paid).toEqual(['Ada']);
  });

  test.each(ERAS)(
    '[S21] a client of %s is asked to approve with all of the input, hidden characters escaped',
    async (era) => {
      const paid: string[] = [];
      const gateway = await start({ tools: tools(paid) });
      const client = await connect(gateway, { era, capabilities: asking });
      const asked: string[] = [];
      const replies: Reply[] = [{ action: 'accept', content: {} }, { action: 'cancel' }];
      client.setRequestHandler('elicitation/create', async ({ params }: Question) => {
        asked.push(params.message);
        return replies.shift() ?? { action: 'cancel' };
      });
      const to = `${'Ada, '.repeat(7_400)}\u202e\u{e0061}and 9,999 to X${' Eve,'.repeat(400)}`;
      await client.callTool({ name: 'pay', arguments: { to } });
      expect(asked[0]).toContain(
        `${'Ada, '.repeat(7_400)}\\u202e\\udb40\\udc61and 9,999 to X${' Eve,'.repeat(400)}"}?`,
      );
      expect(paid).toEqual([to]);
      // A client that cannot be asked reads where to find all of the input.
      expect(textOf(await client.callTool({ name: 'pay', arguments: { to } }))).toContain(
        'read all of it with GET /api/calls/',
      );
    },
  );

  test.each(ERAS)('[X19] a client of %s gives a result, and is asked again if it does not fit', async (era) => {
    const gateway = await start({ tools: tools([]) });
    const client = await connect(gateway, { era, capabilities: asking });
    const asked: Question['params'][] = [];
    const replies: Reply[] = [
      { action: 'accept', content: { grams: 0 } },
      { action: 'accept', content: { grams: 12 } },
      { action: 'accept', content: { result: '["red","blue"]' } },
      { action: 'decline' },
    ];
    client.setRequestHandler('elicitation/create', async ({ params }: Question) => {
      asked.push(params);
      return replies.shift() ?? { action: 'cancel' };
    });
    expect(textOf(await client.callTool({ name: 'weigh', arguments: { what: 'tea' } }))).toBe('{"grams":12}');
    expect(asked[0]?.requestedSchema).toMatchObject({ properties: { grams: { type: 'integer' } } });
    expect(asked).toHaveLength(2);
    expect(asked[1]?.message).toContain('does not match');
    expect(textOf(await client.callTool({ name: 'survey' }))).toBe('["red","blue"]');
    expect(asked[2]?.requestedSchema).toMatchObject({ properties: { result: { type: 'string' } } });
    const declined = await client.callTool({ name: 'weigh', arguments: {} });
    expect(declined.isError).toBe(true);
  });

  test.each(ERAS)('[X19] an agent that a client of %s asks waits for the approval and then continues', async (era) => {
    const paid: string[] = [];
    const name = `Payer ${era}`;
    const model = scriptedModel([
      [
        { toolName: 'pay', input: { to: 'Ada' } },
        { toolName: 'weigh', input: { what: 'gold' } },
      ],
      'Both done.',
    ]);
    const agents = [{ name, instructions: '', tools: ['pay', 'weigh'] }];
    const gateway = await start({ model, tools: tools(paid), agents });
    const client = await connect(gateway, { era, capabilities: asking });
    client.setRequestHandler('elicitation/create', async ({ params }: Question) =>
      params.message.startsWith('Approve')
        ? { action: 'accept', content: {} }
        : { action: 'accept', content: { grams: 5 } },
    );
    const result = await client.callTool({ name: `ask_payer_${era}`, arguments: { message: 'Pay and weigh.' } });
    expect(result.structuredContent).toMatchObject({ response: 'Both done.' });
    expect(paid).toEqual(['Ada']);
  });

  test('[X19] a client of 2025 is asked as often as the turn waits', async () => {
    const paid: string[] = [];
    const people = Array.from({ length: 12 }, (_, index) => `Person ${index}`);
    const model = scriptedModel([...people.map((to) => [{ toolName: 'pay', input: { to } }]), 'All paid.']);
    const agents = [{ name: 'Payroll', instructions: '', tools: ['pay'] }];
    const client = await connect(await start({ model, tools: tools(paid), agents }), {
      era: '2025',
      capabilities: asking,
    });
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }));
    const result = await client.callTool({ name: 'ask_payroll', arguments: { message: 'Pay them.' } });
    expect(result.structuredContent).toMatchObject({ response: 'All paid.' });
    expect(paid).toEqual(people);
  });

  test.each(ERAS)(
    '[X19] a client of %s that cannot be asked reads how to answer, and gets the result later',
    async (era) => {
      const paid: string[] = [];
      const gateway = await start({ tools: tools(paid) });
      const client = await connect(gateway, { era });
      const waiting = await client.callTool({ name: 'pay', arguments: { to: 'Ada' } });
      expect(waiting.isError).toBe(true);
      const text = textOf(waiting);
      const [, runId = '', callId = ''] =
        /POST \/api\/runs\/(\S+)\/tool-results \{"callId": "([^"]+)"/.exec(text) ?? [];
      expect(text).toContain(`call get_run with run_id "${runId}"`);
      const early = await client.callTool({ name: 'get_run', arguments: { run_id: runId } });
      expect(textOf(early)).toContain('waits for a person');
      await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
      expect(textOf(await client.callTool({ name: 'get_run', arguments: { run_id: runId } }))).toBe('Paid Ada.');
      expect(paid).toEqual(['Ada']);
    },
  );

  test('[X19] an approval that is sent twice does not count as the result that is requested next', async () => {
    const twice = tool({
      description: 'Asks for approval, then for its result.',
      inputSchema: z.object({}),
      approval: true,
      execute: () => pending(),
    });
    const gateway = await start({ tools: { twice } });
    const inputRequired = { autoFulfill: false };
    const client = await connect(gateway, { era: '2026', capabilities: asking, inputRequired });
    const call = { name: 'twice', arguments: {} };
    const approval = await ask(client, call);
    const approve = { ...call, requestState: approval.requestState, inputResponses: accept(approval) };
    const [first, second] = [await resume(client, approve), await resume(client, approve)] as [Asked, Asked];
    for (const one of [first, second]) {
      expect(one.resultType).toBe('input_required');
      expect(JSON.stringify(one.inputRequests)).toContain('waits for its result');
    }
    expect(first.requestState).not.toBe(approval.requestState);
    const inputResponses = Object.fromEntries(
      Object.keys(first.inputRequests).map((key) => [key, { action: 'accept', content: { result: 'blue' } }]),
    );
    expect(textOf(await resume(client, { ...call, requestState: first.requestState, inputResponses }))).toBe('blue');
  });

  test('[X19] a call that only others may answer is not sent to the caller, and waits for them', async () => {
    const paid: string[] = [];
    const gateway = await start({ tools: { guarded: { tool: tools(paid).pay, answerers: { roles: ['boss'] } } } });
    const client = await connect(gateway, { era: '2026', capabilities: asking });
    let questions = 0;
    client.setRequestHandler('elicitation/create', async () => {
      questions += 1;
      return { action: 'decline' };
    });
    const calling = client.callTool({ name: 'guarded', arguments: { to: 'Ada' } });
    const lastPending = async () => (await gateway.api('/api/pending')).items.at(-1);
    await waitFor(async () => (await lastPending())?.toolName === 'guarded');
    expect(paid).toEqual([]);
    const { runId, callId } = await lastPending();
    await gateway.api(`/api/runs/${runId}/tool-results`, { callId, approve: true });
    expect(textOf(await calling)).toBe('Paid Ada.');
    expect(questions).toBe(0);
  });
});

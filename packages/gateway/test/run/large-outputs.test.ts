import { fail, reply, tool } from '@lastcall/core';
import { type ScriptedCall, scriptedModel } from '@lastcall/core/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../../src/config/limits.ts';
import { shortCall } from '../../src/domain/calls/call-number.ts';
import { runStream, spaceStream } from '../../src/domain/streams/stream-names.ts';
import { openApi } from '../http/api.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { lobby } from '../support/lobby.ts';
import { isFirstStep, resultsOf } from '../support/requests.ts';
import { embedded } from '../support/stores.ts';
import { openWorld, type World } from '../support/world.ts';

const outputBytes = 10_000;
const keptOutputBytes = 200_000;

/** More than the limit, of characters that take four bytes each, so that a careless cut would halve one. */
const LARGE = `begin ${'🙂'.repeat(12_000)} end`;
const TOO_LARGE = `begin ${'x'.repeat(300_000)} end`;

const giving = (execute: () => unknown, more: object = {}) =>
  tool({ description: 'Gives.', inputSchema: z.object({}), execute, ...more });

describe.each(embedded)('an output over its limit on $kind', ({ create }) => {
  const database = forAllTests(create);
  let world: World | undefined;
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });

  /** Makes the requested calls in the first step of a run. */
  function caller() {
    const asked: ScriptedCall[][] = [];
    const model = scriptedModel((request) => (isFirstStep(request) ? (asked.shift() ?? 'Done.') : 'Done.'));
    return { asked, model };
  }

  async function open(
    model: ReturnType<typeof caller>['model'],
    tools: Parameters<typeof openWorld>[0]['tools'] = {},
    limits: Partial<GatewayLimits> = {},
  ): Promise<World> {
    world = await openWorld({
      database,
      models: { default: model },
      tools,
      limits: { outputBytes, keptOutputBytes, ...limits },
    });
    await world.start();
    return world;
  }

  /** The newest call in a request with this id of the provider. */
  const idOf = async ({ store }: World, shown: { callId: string } | undefined): Promise<string> =>
    (
      await store.db
        .selectFrom('calls')
        .select('id')
        .where('provider_call_id', '=', shown?.callId ?? '')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow()
    ).id;
  const wholeOf = async ({ store }: World, callId: string) =>
    JSON.parse(
      (await store.db.selectFrom('calls').select('outcome').where('id', '=', callId).executeTakeFirstOrThrow())
        .outcome ?? 'null',
    ) as { value?: unknown; text: string };

  test('[G61] an output over its limit is cut with a marker, after a whole character, and the run goes on', async () => {
    const { asked, model } = caller();
    const one = await open(model, {
      give: { tool: giving(() => LARGE), visible: false },
      say: { tool: giving(() => 'small'), visible: false },
    });
    const { ada, space } = await lobby(one, { tools: ['give', 'say'] });
    asked.push([{ toolName: 'give' }, { toolName: 'say' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const [given, said] = resultsOf(model.requests[1] as never);
    const [, shown = '', marker = ''] = /^([\s\S]*)\n(\[output cut: .*\])$/.exec(given?.text ?? '') ?? [];
    expect(LARGE.startsWith(shown)).toBe(true);
    expect(shown.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(outputBytes);
    expect(Buffer.byteLength(shown)).toBeGreaterThan(outputBytes - 4);
    expect(marker).toContain(`the first ${shown.length} of ${LARGE.length} characters`);
    expect(marker).toContain(
      `stored as ${shortCall(await idOf(one, given))}: use read_output with offset ${shown.length} to read on`,
    );
    expect(said?.text).toBe('small');
  });

  test('[G61] an output over its limit is read back completely by its reference, by the agent itself and after a restart, but by no other agent', async () => {
    const { asked, model } = caller();
    const tools = { give: { tool: giving(() => LARGE), visible: false } };
    const one = await open(model, tools);
    const { ada, space } = await lobby(one, { tools: ['give'] });
    asked.push([{ toolName: 'give' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const callId = await idOf(one, resultsOf(model.requests.at(-1) as never)[0]);
    await one.stop();
    const two = await open(model, tools);
    const pages: string[] = [];
    for (let offset = 0; offset < LARGE.length; ) {
      asked.push([{ toolName: 'read_output', input: { ref: callId, offset, limit: 9_999 } }]);
      await two.say(space, ada, 'Read');
      await two.idle();
      const page = (resultsOf(model.requests.at(-1) as never).at(-1)?.text ?? '').replace(
        /\n\[\d+ more characters.*$/,
        '',
      );
      pages.push(page);
      offset += page.length;
    }
    expect(pages.join('')).toBe(LARGE);
    const other = await two.agent('Other');
    const room = await two.space('Room', [ada, other]);
    asked.push([{ toolName: 'read_output', input: { ref: callId } }]);
    await two.say(room, ada, 'Read');
    await two.idle();
    expect(resultsOf(model.requests.at(-1) as never).at(-1)?.text).toContain('There is no output');
  });

  test('[G61] an output over its limit shows its beginning on the card and the streams, and operators read the whole', async () => {
    const { asked, model } = caller();
    const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const one = await open(model, { give: giving(() => rows) });
    const { ada, bot, space } = await lobby(one, { tools: ['give'] }, { isIn: true });
    asked.push([{ toolName: 'give' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const callId = await idOf(one, resultsOf(model.requests.at(-1) as never)[0]);
    const card = await one.store.db
      .selectFrom('messages')
      .selectAll()
      .where('call_id', '=', callId)
      .executeTakeFirstOrThrow();
    expect(card.status).toBe('complete');
    const { output } = JSON.parse(card.metadata) as { output: string };
    expect(output).toMatch(/^\[\{"id":0,"name":"row 0"\}[\s\S]*\n\[cut: the first \d+ of \d+ characters are shown\]$/);
    expect(output.length).toBeLessThan(outputBytes + 100);
    const { id: runId } = await one.store.db
      .selectFrom('runs')
      .select('id')
      .where('thread_id', '=', bot)
      .executeTakeFirstOrThrow();
    for (const stream of [spaceStream(space), runStream(runId)]) {
      const events = await one.events(stream);
      const ended = events.find(({ type }) => type === 'tool-call.complete');
      expect(JSON.stringify(ended?.payload).length).toBeLessThan(4 * outputBytes);
    }
    const api = await openApi(database, { services: one.services });
    const call = await api.call('GET', `/api/runs/${runId}/calls/${callId}`);
    expect(call.body).toMatchObject({ callId, toolName: 'give', status: 'ok', outcome: { value: rows } });
    const token = await api.tokenOf(ada);
    expect((await api.call('GET', `/api/runs/${runId}/calls/${callId}`, { secret: token })).status).toBe(403);
    expect((await api.call('GET', `/api/runs/${runId}/calls/x`)).status).toBe(404);
    api.app.stop();
  });

  test('[G61] an output over its limit that is a file, a failure, a text for people or a progress report is cut with a marker too', async () => {
    const { asked, model } = caller();
    const image = Buffer.alloc(30_000, 7).toString('base64');
    const picture = {
      description: 'Shows.',
      inputSchema: z.object({}),
      execute: () => 'shown',
      toModelOutput: () => ({
        type: 'content',
        value: [
          { type: 'text', text: 'Here it is.' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: image } },
        ],
      }),
    };
    const reporting = tool({
      description: 'Reports.',
      inputSchema: z.object({}),
      execute(_input, ctx) {
        ctx.progress({ log: 'y'.repeat(20_000) });
        return reply({ user: 'u'.repeat(20_000), model: 'Told.' });
      },
    });
    const one = await open(model, {
      picture: { tool: picture, visible: false },
      refuse: giving(() => fail(`no ${'z'.repeat(20_000)}`, { code: 'nope' })),
      reporting,
    });
    const { ada, space } = await lobby(one, { tools: ['picture', 'refuse', 'reporting'] }, { isIn: true });
    asked.push([{ toolName: 'picture' }, { toolName: 'refuse' }, { toolName: 'reporting' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const [shown, refused, told] = resultsOf(model.requests.at(-1) as never);
    expect(shown?.text).toMatch(
      /^Here it is\.\n\[output cut: the first 11 of \d+ characters are shown\. Files left out: image\/png\./,
    );
    expect(refused?.text).toMatch(/^no z+\n\[output cut: .* use read_output with offset \d+ to read on\]$/);
    expect(told?.text).toBe('Told.');
    const events = await one.events(spaceStream(space));
    const progress = events.find(({ type }) => type === 'tool-call.progress')?.payload as { value: string };
    expect(progress.value).toMatch(/^\{"log":"y+\n\[cut: the first 10000 of \d+ characters are shown\]$/);
    expect(JSON.stringify(events).length).toBeLessThan(100_000);
    asked.push([{ toolName: 'read_output', input: { ref: await idOf(one, shown), limit: 32_000 } }]);
    await one.say(space, ada, 'Read');
    await one.idle();
    const back = resultsOf(model.requests.at(-1) as never).at(-1)?.text ?? '';
    expect(back.startsWith(`Here it is.\n[file: image/png]\n${image.slice(0, 20_000)}`)).toBe(true);
  });

  test('[G61] for an output that is even too large to be stored, the result says that the tool ran, and that its output is gone', async () => {
    const { asked, model } = caller();
    let runs = 0;
    const flood = giving(() => {
      runs++;
      return TOO_LARGE;
    });
    const one = await open(model, { flood });
    const { ada, space } = await lobby(one, { tools: ['flood'] }, { isIn: true });
    asked.push([{ toolName: 'flood' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const [told] = resultsOf(model.requests.at(-1) as never);
    const [callId, text] = [await idOf(one, told), told?.text ?? ''];
    expect(runs).toBe(1);
    expect(text).toMatch(/\n\[output dropped: The tool ran and succeeded, .* cannot be read\]$/);
    const kept = await wholeOf(one, callId);
    expect(JSON.stringify(kept).length).toBeLessThan(4 * outputBytes);
    expect(kept.text).toBe(text);
    const card = one.store.db.selectFrom('messages').select('status').where('call_id', '=', callId);
    expect(await card.executeTakeFirst()).toEqual({ status: 'complete' });
  });

  test('[G61] by default 256 KB are shown and 16 MB are kept, and the database takes them', async () => {
    const { asked, model } = caller();
    const sizes = { kept: 15_000_000, dropped: 17_000_000 };
    const tools = Object.fromEntries(
      Object.entries(sizes).map(([name, size]) => [name, { tool: giving(() => 'x'.repeat(size)), visible: false }]),
    );
    const one = await open(model, tools, DEFAULT_GATEWAY_LIMITS);
    const { ada, space } = await lobby(one, { tools: Object.keys(tools) });
    asked.push([{ toolName: 'kept' }, { toolName: 'dropped' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const [kept, dropped] = resultsOf(model.requests[1] as never);
    expect(kept?.text).toMatch(/^x{256000}\n\[output cut: the first 256000 of 15000000 /);
    expect(dropped?.text).toMatch(/^x{256000}\n\[output dropped: The tool ran /);
    expect((await wholeOf(one, await idOf(one, kept))).text).toHaveLength(sizes.kept);
  });

  test('[G61] [G14] an output over its limit is referred to by its real length after a compaction', async () => {
    const { asked, model } = caller();
    const one = await open(model, { give: { tool: giving(() => LARGE), visible: false } });
    const { ada, space } = await lobby(one, { tools: ['give'], limits: { consciousnessTokens: 1_000 } });
    asked.push([{ toolName: 'give' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    await one.say(space, ada, 'On');
    await one.idle();
    expect(JSON.stringify(model.requests.at(-1)?.prompt)).toContain(`(${LARGE.length} characters): use read_output`);
  });

  test('[G61] within the limit nothing is cut, even if the value is large and its text is not', async () => {
    const { asked, model } = caller();
    const rows = Array.from({ length: 3_000 }, (_, id) => ({ id }));
    const rendered = giving(() => rows, { render: (value: unknown[]) => `${value.length} rows` });
    const exact = 'x'.repeat(outputBytes);
    const one = await open(model, {
      rendered: { tool: rendered, visible: false },
      exact: { tool: giving(() => exact), visible: false },
    });
    const { ada, space } = await lobby(one, { tools: ['rendered', 'exact'] });
    asked.push([{ toolName: 'rendered' }, { toolName: 'exact' }]);
    await one.say(space, ada, 'Go');
    await one.idle();
    const [first, second] = resultsOf(model.requests.at(-1) as never);
    expect(first?.text).toBe('3000 rows');
    expect(second?.text).toBe(exact);
    expect((await wholeOf(one, await idOf(one, first))).value).toEqual(rows);
    const entries = await one.store.db.selectFrom('transcript_entries').select('payload').execute();
    expect(entries.filter(({ payload }) => payload.includes('"id":2999'))).toEqual([]);
  });
});

import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Policy, pending, runTurn, type Settlement, tool } from '../../src/index.ts';
import { crashingJournal, crashOn } from '../../src/testing/crashing-journal.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { memoryJournal } from '../../src/testing/memory-journal.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

const pay = (ran: string[], more: object = {}) =>
  tool({
    description: 'Pays.',
    idempotent: true,
    inputSchema: z.object({}),
    execute(_input, { idempotencyKey }) {
      ran.push(idempotencyKey);
      return 'paid';
    },
    ...more,
  });

/** A turn whose process ends after the payment was made and before its end was written, resumed with these options. */
async function goOn(more: object | ((journal: ReturnType<typeof memoryJournal>) => object)): Promise<{
  outcome: Settlement['outcome'];
  ran: string[];
}> {
  const ran: string[] = [];
  const model = scriptedModel([[{ toolName: 'pay' }]]);
  // turn, reply, started, and no end
  const journal = crashingJournal(4);
  const { kept } = journal;
  await expect(runTurn({ model, prompt: 'go', tools: { pay: pay(ran) }, journal })).rejects.toThrow();
  expect(ran).toHaveLength(1);
  const { transcript, session } = kept.restore();
  const rest = typeof more === 'function' ? more(kept) : more;
  const end = { model: scriptedModel(['end']), transcript, session, journal: kept };
  const { settlements } = await runTurn({ ...end, tools: { pay: pay(ran) }, ...rest });
  const [settlement] = settlements;
  if (settlement === undefined) throw new Error('Nothing was settled.');
  return { outcome: settlement.outcome, ran };
}

test('[T55] [R48] an idempotent call that a dead process had started may have taken effect if the resumed turn is aborted', async () => {
  const { outcome, ran } = await goOn({ signal: AbortSignal.abort(new Error('cancelled')) });
  expect(ran).toHaveLength(1);
  expect(outcome).toMatchObject({ status: 'error', code: 'unknown_outcome' });
});

test('[T55] [R48] an idempotent call that is aborted while its second start is written may have taken effect by its first run', async () => {
  const { outcome, ran } = await goOn((journal: ReturnType<typeof memoryJournal>) => {
    const aborting = new AbortController();
    return {
      signal: aborting.signal,
      journal: {
        ...journal,
        async append(entries: Parameters<typeof journal.append>[0]) {
          if (entries[0]?.kind === 'started') aborting.abort(new Error('cancelled'));
          await journal.append(entries);
        },
      },
    };
  });
  expect(ran).toHaveLength(1);
  expect(outcome).toMatchObject({ status: 'error', code: 'aborted', effect: 'possible' });
  expect(outcome.text).toContain('may have taken effect');
});

test('[T55] [R48] an idempotent call that a policy does not let run again may have taken effect by its first run', async () => {
  const strict: Policy = { name: 'strict', beforeCall: () => ({ deny: 'No more payments today.' }) };
  const { outcome, ran } = await goOn({ policies: [strict] });
  expect(ran).toHaveLength(1);
  expect(outcome).toMatchObject({ status: 'error', effect: 'possible' });
  expect(outcome.text).toContain('may have taken effect');
});

test('[T55] an idempotent call whose arguments no longer fit its tool may have taken effect by its first run', async () => {
  const ran: string[] = [];
  const { outcome } = await goOn({ tools: { pay: pay(ran, { inputSchema: z.object({ amount: z.number() }) }) } });
  expect(ran).toEqual([]);
  expect(outcome).toMatchObject({ status: 'error', effect: 'possible' });
  expect(outcome.text).toContain('may have taken effect');
});

test('[T55] the outcome of a call that is aborted before its first run says that it did not run', async () => {
  const aborting = new AbortController();
  const ran: string[] = [];
  const journal = memoryJournal();
  const { settlements } = await runTurn({
    model: scriptedModel([[{ toolName: 'pay' }]]),
    prompt: 'go',
    tools: { pay: pay(ran) },
    signal: aborting.signal,
    journal: {
      ...journal,
      async append(entries) {
        if (entries[0]?.kind === 'started') aborting.abort(new Error('cancelled'));
        await journal.append(entries);
      },
    },
  });
  expect(ran).toEqual([]);
  expect(settlements[0]?.outcome).toMatchObject({ status: 'error', effect: 'none' });
});

test('[R43] [R48] an answer that a dead process had begun to use in time still counts after the time of its call', async () => {
  const clock = fakeClock();
  const answers: unknown[] = [];
  const book = tool({
    description: 'Books a table.',
    inputSchema: z.object({}),
    idempotent: true,
    execute(_input, { answer }) {
      if (answer === undefined) return pending({ asks: true, expiresInMs: 100 });
      answers.push(answer);
      return 'Booked.';
    },
  });
  const tools = { book };
  const first = memoryJournal();
  const model = scriptedModel([[{ toolName: 'book' }]]);
  const { pending: waiting } = await runTurn({ model, prompt: 'go', tools, journal: first, clock });
  const options = { model: scriptedModel(['Booked.']), tools, clock };
  const given = { answers: { [waiting[0]?.callId ?? '']: { result: 'two' } } };
  // The start of the call is written, and its end is not.
  const crash = crashOn(first, 2, 'before');
  await expect(runTurn({ ...options, ...given, ...first.restore(), journal: crash })).rejects.toThrow();
  await clock.advance(200);
  const { settlements } = await runTurn({ ...options, ...first.restore(), journal: first });
  expect(settlements.map(({ outcome }) => outcome)).toMatchObject([{ status: 'ok', value: 'Booked.' }]);
  expect(answers).toEqual([{ result: 'two' }, { result: 'two' }]);
});

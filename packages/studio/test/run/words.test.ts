import type { AgentConfig, Stop } from '@lastcall/client';
import { expect, test } from 'vitest';
import { aRun } from '../../../client/test/support/transcript.ts';
import { taskInWords } from '../../src/pages/run/task-words.ts';
import { mergeRuns } from '../../src/pages/runs/merge-runs.ts';
import { toRunsFilter } from '../../src/pages/runs/runs-filter.ts';
import { inputInWords, withNumbers, workerName } from '../../src/parts/run/call-words.ts';
import { statusInWords, stopInWords } from '../../src/parts/run/stop-sentence.ts';
import { triggerInWords } from '../../src/parts/run/trigger-words.ts';
import { answerInWords, waitInWords } from '../../src/parts/run/wait-words.ts';

const config = { name: 'Clerk', instructions: '', limits: { maxSteps: 3, tokensPerCycle: 900 } } as AgentConfig;

test('[S5] a stop is a sentence with the limit that was reached, and where that is set', () => {
  const stops: readonly [Stop, string, string | undefined, number | undefined][] = [
    [{ reason: 'end_turn', by: 'text' }, 'completed: the agent had no more to do', undefined, undefined],
    [{ reason: 'end_turn', by: 'terminal', tool: 'file' }, 'completed: file gave the response', undefined, undefined],
    [{ reason: 'max_steps' }, 'stopped: it used all its 3 steps', 'limits.maxSteps', 3],
    [
      { reason: 'budget', dimension: 'tokens' },
      'stopped: its turn reached the limit of tokens',
      'limits.tokensPerCycle',
      900,
    ],
    [{ reason: 'deadline' }, 'stopped: it ran out of time', 'limits.cycleTimeoutMs', undefined],
    [{ reason: 'error', error: 'no key' }, 'failed: no key', undefined, undefined],
  ];
  for (const [stop, text, setting, value] of stops) {
    const told = stopInWords(stop, { config, steps: 3 });
    expect([told.text, told.setting, told.value]).toEqual([text, setting, value]);
  }
});

test('[S5] an active run says so, also when its cancel was accepted', () => {
  const running = aRun({ status: 'running', stop: undefined });
  expect(statusInWords(running).text).toBe('is running');
  expect(statusInWords({ ...running, cancelRequestedAt: 1 }).text).toBe('is being cancelled');
});

test('[S5] the trigger of a run is shown as text', () => {
  const message = { eventId: 'm', type: 'space_message', by: 'Ada', text: 'Book it.' } as const;
  const answer = { eventId: 'r', type: 'tool_result', by: 'Ben', text: 'pay: approved' } as const;
  expect(triggerInWords({ trigger: [message] })).toBe('Ada: Book it.');
  expect(triggerInWords({ trigger: [answer, message] })).toBe('Ben answered pay: approved (and 1 more)');
  expect(triggerInWords({ trigger: [{ eventId: 'p', type: 'plan', by: 'morning', text: 'Report.' }] })).toBe(
    'Plan morning: Report.',
  );
  expect(triggerInWords({ trigger: [{ eventId: 'x', type: 'service' }] })).toBe('An event of a service');
  expect(triggerInWords({ trigger: [{ eventId: 'c', type: 'chat', text: ' ' }] })).toBe('A chat request');
});

test('[E3] a fork without a message of its own has words too, as a row and as a heading', () => {
  const run = { trigger: [{ eventId: 'c', type: 'chat', text: '' }], trial: { kind: 'fork', runId: 'o' } } as const;
  const fork = { runId: 'o', atStep: 2, changes: {} };
  expect(triggerInWords(run)).toBe('A fork');
  expect(taskInWords({ runs: [aRun({ ...run, fork })] })).toBe('Fork at step 2');
  const said = [{ eventId: 'c', type: 'chat', text: 'Fax the Inn.' }] as const;
  expect(taskInWords({ runs: [aRun({ ...run, trigger: said, fork })] })).toBe('Fax the Inn.');
});

test('reasons name calls by their visible numbers, inputs are one line, workers have short names', () => {
  const numbers = new Map([['01a1e194-fc27', '2.1']]);
  expect(withNumbers('"pay" (call 01a1e194-fc27) failed: no', numbers)).toBe('"pay" (2.1) failed: no');
  expect(withNumbers('"pay" (call 99) failed', numbers)).toBe('"pay" (call 99) failed');
  expect(inputInWords('{"city":"Tokyo","nights":1,"more":{"a":[1]}}')).toBe('city: Tokyo, nights: 1, more: {"a":[1]}');
  expect(inputInWords('{broken')).toBe('{broken');
  expect(workerName('host:42:01a1e195-50ec-4bbf-98ca-118d8180c429')).toBe('host:42');
});

test('[S5] a wait shows the answerer, the answer and the duration, or whom it waits for', () => {
  const pending = { callId: 'c', runId: 'r', agentId: 'a', toolName: 't', kind: 'approval', createdAt: 0 } as const;
  const call = { callId: 'c', runId: 'r', toolName: 't' };
  const resolved = {
    ...pending,
    status: 'resolved',
    resolvedBy: 'x',
    resolvedByName: 'Ada',
    resolvedAt: 7_200_000,
  } as const;
  expect(waitInWords({ ...call, pending: { ...resolved, answer: { approve: true } } })).toBe('Ada approved after 2 h');
  expect(waitInWords({ ...call, pending: { ...pending, status: 'pending' } })).toBe('for approval');
  expect(waitInWords({ ...call, pending: { ...pending, status: 'expired', expiresAt: 60_000 } })).toBe(
    'no answer came within 1 min',
  );
  expect(answerInWords({ approve: true, input: {} })).toBe('approved with changes');
  expect(answerInWords({ deny: 'no' })).toBe('denied');
});

test('new runs are shown above the others, or held back while a person reads further down', () => {
  const run = (id: string, status: 'running' | 'completed' = 'completed') => aRun({ id, status });
  const loaded = [run('2', 'running'), run('1')];
  const newest = [run('4'), run('3'), run('2')];
  const free = mergeRuns(loaded, newest, { isHeld: false, shownUntil: undefined });
  expect(free.runs.map(({ id, status }) => `${id} ${status}`)).toEqual([
    '4 completed',
    '3 completed',
    '2 completed',
    '1 completed',
  ]);
  const held = mergeRuns(loaded, newest, { isHeld: true, shownUntil: '3' });
  expect(held.runs.map(({ id }) => id)).toEqual(['3', '2', '1']);
  expect(held.held).toBe(1);
});

test('an address becomes only known parameters of the gateway', () => {
  const search = { agent: 'a', status: 'odd', outcome: 'error', since: 'day', tool: 't', stop: 'max_steps' };
  expect(toRunsFilter(search, 86_400_000 * 3)).toEqual({
    agentId: 'a',
    outcome: 'error',
    since: 86_400_000 * 2,
    toolName: 't',
    stop: 'max_steps',
  });
});

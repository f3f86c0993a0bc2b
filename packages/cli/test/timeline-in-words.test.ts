import type { RunEntry } from '@lastcall/client';
import { expect, test } from 'vitest';
import { aRun, transcript } from '../../client/test/support/transcript.ts';
import { timelineInWords } from '../src/timeline-in-words.ts';

const lines = (entries: readonly RunEntry[], run = aRun()): readonly string[] =>
  timelineInWords(run, entries).split('\n').slice(1);

test('[S12] replay names a call that waits, with its question, and later how it ended', () => {
  const settlement = {
    callId: 'c1',
    toolName: 'confirm_booking',
    input: { question: 'Book it?' },
    outcome: { status: 'pending', kind: 'result', text: 'It waits.' },
    startedAt: 3,
    endedAt: 3,
  } as const;
  const waiting: RunEntry = { seq: 1, kind: 'pending', at: 3, entry: { kind: 'pending', settlement } };
  expect(lines([waiting])).toEqual(['  waiting   confirm_booking {"question":"Book it?"}']);
  // The call was answered in a later run.
  const ended = { outcome: { status: 'ok', text: 'true' }, at: 2_003 } as const;
  expect(lines([{ ...waiting, ended }])).toEqual(['  ok        confirm_booking {"question":"Book it?"}  2.0 s  true']);
});

test('[S12] replay shows calls in the order in which the model asked for them, and where another worker went on', () => {
  const { entries, reply, start, settle } = transcript();
  reply(1, [0, 10], ['look.1', 'pay.2', 'mail.3'], 'I pay.');
  settle('pay.2', [20, 30], { status: 'error', code: 'timeout', message: 'late', text: 'late' });
  settle('look.1', [10, 12]);
  start('mail.3', 30);
  const takeovers = [{ at: 9_000, afterSeq: entries.length, silentMs: 5_000 }];
  expect(lines(entries, aRun({ status: 'running', stop: undefined, takeovers }))).toEqual([
    'Step 1  model  15 tokens',
    '  said      I pay.',
    '  ok        look {"id":"look.1"}  2 ms  fine',
    '  timeout   pay {"id":"pay.2"}  10 ms  late',
    '  takeover  another worker went on after 5.0 s of silence',
    '  running   mail {"id":"mail.3"}',
  ]);
});

test('[S12] replay shows the events: the text of a message or a plan, and the data of any other event', () => {
  const { entries, add } = transcript();
  const from = { name: 'Ada' };
  const outcome = { status: 'ok', value: { seat: '14C' } };
  const events = [
    { type: 'space_message', source: 'human e1', data: { from, text: 'Book it.', messageId: 'm1' } },
    { type: 'plan', source: 'plan tea', data: { key: 'tea', name: 'Tea', instruction: 'Make tea.' } },
    { type: 'service', source: 'service till', data: { source: 'till', name: 'paid', data: { order: 17 } } },
    { type: 'service', source: 'service till', data: { source: 'till', name: 'closed', data: null } },
    { type: 'tool_result', source: 'tool book', data: { callId: 'c1', toolName: 'book', outcome, resolvedBy: from } },
    { type: 'alarm', source: 'clock', data: { level: 3 } },
  ];
  add({ kind: 'message', message: { role: 'user', content: [{ type: 'inbox', events }] } }, 1);
  expect(lines(entries)).toEqual([
    '  came      Ada: Book it.',
    '  came      plan tea: Make tea.',
    '  came      service till: paid {"order":17}',
    '  came      service till: closed',
    '  came      Ada: book: ok {"callId":"c1","toolName":"book","outcome":{"status":"ok","value":{"seat":"14C"}},"resolvedBy":{"name":"Ada"}}',
    '  came      clock: alarm {"level":3}',
  ]);
});

test('[S12] replay says that a run is one of a fork or a draft', () => {
  const headOf = (trial: object): string => timelineInWords(aRun(trial), []).split('\n')[0] ?? '';
  expect(headOf({})).not.toMatch(/fork|draft/);
  expect(headOf({ trial: { kind: 'fork', runId: 'r0' } })).toContain('  fork of r0  ');
  expect(headOf({ trial: { kind: 'draft' } })).toContain('  draft  ');
});

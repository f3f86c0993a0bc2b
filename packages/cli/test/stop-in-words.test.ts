import type { Stop } from '@lastcall/core';
import { expect, test } from 'vitest';
import { EXIT } from '../src/exit-code.ts';
import { exitCodeOf, stopInWords } from '../src/stop-in-words.ts';

type Words = readonly [stop: Stop, exitCode: number, words: string];

const STOPS: { readonly [reason in Stop['reason']]: readonly Words[] } = {
  end_turn: [
    [{ reason: 'end_turn', by: 'text' }, EXIT.done, 'the agent had no more to do'],
    [{ reason: 'end_turn', by: 'terminal', tool: 'report' }, EXIT.done, 'report gave the response'],
  ],
  transition: [
    [{ reason: 'transition', tool: 'forward', callId: 'c', value: 1 }, EXIT.done, 'forward handed the task over'],
  ],
  suspended: [[{ reason: 'suspended' }, EXIT.waiting, 'it waits for an answer']],
  max_steps: [[{ reason: 'max_steps' }, EXIT.limit, 'it used all its steps']],
  deadline: [[{ reason: 'deadline' }, EXIT.limit, 'its time was over']],
  budget: [
    [{ reason: 'budget', dimension: 'tokens' }, EXIT.limit, 'its budget of tokens was used up'],
    [{ reason: 'budget', dimension: 'money' }, EXIT.limit, 'its spend limit was reached'],
    [{ reason: 'budget', dimension: 'toolCalls' }, EXIT.limit, 'its budget of tool calls was used up'],
  ],
  aborted: [[{ reason: 'aborted' }, EXIT.cancelled, 'it was cancelled']],
  length: [[{ reason: 'length' }, EXIT.cut, 'the reply of the model was cut off']],
  content_filter: [[{ reason: 'content_filter' }, EXIT.cut, 'the reply of the model was filtered']],
  max_invocations: [
    [
      { reason: 'max_invocations' },
      EXIT.limit,
      'the model was asked 3 times, which is the limit, and did not end with the required tool',
    ],
  ],
  max_nudges: [
    [
      { reason: 'max_nudges' },
      EXIT.limit,
      'the model kept replying without a tool call, and did not end with the required tool',
    ],
  ],
  // Without the full stop of the error: callers end the sentence.
  error: [
    [{ reason: 'error', error: 'No such model.' }, EXIT.failed, 'No such model'],
    [{ reason: 'error', error: 'It broke...' }, EXIT.failed, 'It broke...'],
  ],
};

test.each(Object.values(STOPS).flat())('[S12] the stop %j exits with %i and says: %s', (stop, exitCode, words) => {
  expect([exitCodeOf(stop), stopInWords(stop, { asked: 3 })]).toEqual([exitCode, words]);
});

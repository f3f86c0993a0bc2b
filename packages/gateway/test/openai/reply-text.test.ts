import { describe, expect, test } from 'vitest';
import { ReplyText } from '../../src/transport/openai/reply-text.ts';

type Told = readonly [step: number, ...deltas: string[]];

/** The text that a client reads for these steps and this response of the run. */
function readOf(steps: readonly Told[], response: string): string {
  const reply = new ReplyText();
  const event = (type: string, payload: object) =>
    reply.take({ stream: 'run:r', seq: 1, type, payload, at: 0, revocations: 0 });
  const told = steps.flatMap(([step, ...deltas]) => [
    event('step.start', { step, attempt: 1 }),
    ...deltas.map((delta) => event('text.delta', { step, delta })),
  ]);
  return [...told, reply.finish(response)].join('');
}

describe('the text of a streamed reply', () => {
  test.each<{ title: string; steps: readonly Told[]; response: string; read: string }>([
    { title: 'is what the model wrote', steps: [[1, 'It ', 'is 3.']], response: 'It is 3.', read: 'It is 3.' },
    { title: 'is the answer where nothing was written', steps: [[1]], response: '{"total":3}', read: '{"total":3}' },
    {
      title: 'has what was written before a call, and a blank line after it',
      steps: [
        [1, 'Let me see.'],
        [2, 'It is 3.'],
      ],
      response: 'It is 3.',
      read: 'Let me see.\n\nIt is 3.',
    },
    {
      title: 'has the output of the tool that ended the run last',
      steps: [[1, 'Let me see.']],
      response: '3',
      read: 'Let me see.\n\n3',
    },
    {
      title: 'has the words of a step once, when the model is asked for it again and says the same',
      steps: [
        [1, 'It i'],
        [1, 'It', ' is ', '3.'],
      ],
      response: 'It is 3.',
      read: 'It is 3.',
    },
    {
      title: 'has the whole answer after a blank line, when the model says something else the second time',
      steps: [
        [1, 'It may'],
        [1, 'It ', 'is 3.'],
      ],
      response: 'It is 3.',
      read: 'It may\n\nIt is 3.',
    },
    {
      title: 'ends with the answer, when the second time is the shorter one',
      steps: [
        [1, 'It is 3. Or'],
        [1, 'It is 3.'],
      ],
      response: 'It is 3.',
      read: 'It is 3. Or\n\nIt is 3.',
    },
  ])('$title', ({ steps, response, read }) => {
    expect(readOf(steps, response)).toBe(read);
  });
});

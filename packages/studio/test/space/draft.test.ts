import { expect, test } from 'vitest';
import { nextAttempt } from '../../src/pages/space/draft.ts';

test('a message that is sent again is the same message, and one that was changed meanwhile is another', () => {
  const first = nextAttempt(undefined, 'Book Tokyo.');
  expect(nextAttempt(first, 'Book Tokyo.')).toEqual(first);
  expect(nextAttempt(first, 'Book Osaka.')).toEqual({
    text: 'Book Osaka.',
    attachments: [],
    id: expect.not.stringMatching(first.id),
  });
  // The same text after the first was sent is another message.
  expect(nextAttempt(undefined, 'Book Tokyo.').id).not.toBe(first.id);
});

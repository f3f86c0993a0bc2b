import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { SentMessages } from '../../src/domain/transcript/sent-messages.ts';

const user = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] });

/** Makes a copy, and records its argument. */
function maker(isKept = true) {
  const asked: LanguageModelV4Message[] = [];
  const make = (message: LanguageModelV4Message) => {
    asked.push(message);
    return { message: { ...message } as LanguageModelV4Message, isKept };
  };
  return { asked, make };
}

test('[R40] the converted form of a message is made once while the message keeps its place', () => {
  const [sent, one, two, three] = [new SentMessages(), user('One.'), user('Two.'), user('Three.')];
  const { asked, make } = maker();
  const first = sent.next([one, two], make);
  const second = sent.next([one, two, three], make);
  expect(asked).toEqual([one, two, three]);
  expect([second[0] === first[0], second[1] === first[1]]).toEqual([true, true]);
  expect(second).toEqual([one, two, three]);
});

test('[G10] a message that is not the same object, or too small to cache, is converted again', () => {
  const [sent, one] = [new SentMessages(), user('One.')];
  const [kept, unkept] = [maker(), maker(false)];
  sent.next([one, one], kept.make);
  sent.next([user('One.'), one], kept.make);
  expect(kept.asked).toHaveLength(3);
  sent.next([user('Two.')], unkept.make);
  sent.next([user('Three.'), one], unkept.make);
  sent.next([user('Four.'), one], unkept.make);
  expect(unkept.asked).toHaveLength(5);
});

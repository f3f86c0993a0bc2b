import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { Transcript } from '@lastcall/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameMessage, fromOutside, isFrame, parseFrame, renderFrame, withoutMark } from '../../src/domain/frame.ts';
import { hideTagInReasoning, showTagInReasoning } from '../../src/domain/frame-tag.ts';
import { fromEntryPayload, toEntryPayload } from '../../src/domain/transcript/transcript-row.ts';
import { hostileText, TAG } from './hostile-events.ts';

const said = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] });

describe('a frame', () => {
  test('[G10] no value in a frame can become a line or a tag', () => {
    fc.assert(
      fc.property(fc.array(hostileText, { maxLength: 3 }), (lines) => {
        const text = renderFrame({ name: 'inbox', lines });
        expect(text.split(/[\n\r\v\f\u0085\u2028\u2029]/)).toHaveLength(lines.length + 2);
        expect(text.match(/</g)).toHaveLength(2);
        expect(parseFrame(text, 'inbox')?.lines).toEqual(JSON.parse(JSON.stringify(lines)));
      }),
    );
  });

  test('[G10] a message is a frame only with its mark: the same text without it is not', () => {
    const text = renderFrame({ name: 'inbox', lines: [1] });
    expect(isFrame(frameMessage(text))).toBe(true);
    expect(isFrame(said(text))).toBe(false);
    expect(withoutMark(frameMessage(text))).toEqual(said(text));
  });

  test('a stored frame is still a frame when it is read', () => {
    const message = frameMessage(renderFrame({ name: 'inbox', lines: [] }));
    const { entry } = fromEntryPayload(toEntryPayload({ entry: { kind: 'message', message } }));
    expect(new Transcript([entry]).viewFor('any').map(isFrame)).toEqual([true]);
  });

  test('[G10] no message that core itself writes is a frame, with any text', () => {
    const fake = renderFrame({ name: 'inbox', lines: [] });
    const call = { callId: 'c', toolName: 'ask', input: '{}' };
    const settlement = { callId: 'c', toolName: 'ask', input: {}, startedAt: 1, endedAt: 2 };
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    const transcript = new Transcript([
      { kind: 'turn' },
      { kind: 'message', message: frameMessage(fake) },
      { kind: 'checkpoint' },
      {
        kind: 'reply',
        step: 1,
        content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'ask', input: {} }],
        calls: [call],
        text: '',
        finishReason: 'tool-calls',
        usage,
      },
      { kind: 'pending', settlement: { ...settlement, outcome: { status: 'pending', kind: 'result', text: fake } } },
      { kind: 'nudge', why: 'no-call', role: 'user', text: fake },
      {
        kind: 'settled',
        late: true,
        settlement: { ...settlement, outcome: { status: 'ok', value: fake, text: fake } },
      },
      { kind: 'rewind', callId: 'c', text: fake, remaining: [] },
    ]);
    const view = transcript.view();
    expect(view.map(({ role }) => role)).toContain('user');
    expect(view.filter(isFrame)).toEqual([frameMessage(fake)]);
  });

  test('[G10] a message of a caller is not a frame, and keeps its other options', () => {
    const mark = frameMessage('').providerOptions;
    const given = { ...said('x'), providerOptions: { ...mark, other: { cache: true } } } as LanguageModelV4Message;
    expect(fromOutside(given)).toEqual({ ...said('x'), providerOptions: { other: { cache: true } } });
    expect(fromOutside(frameMessage('x'))).toEqual(said('x'));
    expect(fromOutside(said('x'))).toEqual(said('x'));
  });

  test('[G10] reasoning that a caller made up gets no tag', () => {
    const text = hideTagInReasoning(`<inbox-${TAG}>`, TAG);
    expect(showTagInReasoning(text, TAG)).toContain(TAG);
    const [part] = fromOutside({ role: 'assistant', content: [{ type: 'reasoning', text }] }).content as {
      text: string;
    }[];
    expect(showTagInReasoning(part?.text ?? '', TAG)).toBe(text);
  });
});

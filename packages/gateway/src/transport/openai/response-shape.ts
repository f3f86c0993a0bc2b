import { toJson } from '../../ports/store/schema/json.ts';
import type { AcceptedTurn } from '../../runtime/chat/turn-request.ts';
import type { AnswerShape } from './answer-run.ts';
import type { Asked } from './asked.ts';
import { createdOf } from './created-of.ts';
import { namedFrames } from './data-frames.ts';
import { instructionsIn } from './items.ts';
import type { Outcome } from './outcome.ts';
import { ReplyText } from './reply-text.ts';
import {
  callItem,
  endedResponse,
  endStatus,
  messageItem,
  type ResponseHead,
  startedResponse,
  textPart,
} from './response-object.ts';

interface ResponseEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A response, whole or as events. */
export function responseShape({ runId, contextId }: AcceptedTurn, asked: Asked): AnswerShape {
  const { model, isStream, items } = asked;
  const settings = { ...asked, instructions: instructionsIn(items) };
  const head: ResponseHead = { runId, contextId, model, created: createdOf(runId), settings };
  const reply = new ReplyText();
  let sequence = 0;
  let text = '';
  const numbered = (events: readonly ResponseEvent[]): Uint8Array<ArrayBuffer> =>
    namedFrames(events.map((event) => ({ ...event, sequence_number: sequence++ })));
  const write = (delta: string): readonly ResponseEvent[] => {
    if (delta === '') return [];
    const events = [...(text === '' ? messageBegins(head) : []), textDelta(head, delta)];
    text += delta;
    return events;
  };
  return {
    isStream,
    whole: (outcome) => endedResponse(head, outcome),
    start: () =>
      numbered([
        { type: 'response.created', response: startedResponse(head) },
        { type: 'response.in_progress', response: startedResponse(head) },
      ]),
    event(event) {
      const events = write(reply.take(event));
      return events.length === 0 ? undefined : numbered(events);
    },
    finish(outcome) {
      const last = write(reply.finish(outcome.text));
      return numbered([
        ...last,
        ...(text === '' ? [] : messageEnds(head, text, outcome)),
        ...callEvents(outcome, text === '' ? 0 : 1),
        ended(endedResponse(head, outcome, text)),
      ]);
    },
    fail: ({ error: { code, message, param } }) => numbered([{ type: 'error', code, message, param }]),
  };
}

const FIRST = { output_index: 0, content_index: 0 };

function messageBegins(head: ResponseHead): readonly ResponseEvent[] {
  const item = messageItem(head);
  return [
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', item_id: item.id, ...FIRST, part: textPart('') },
  ];
}

function textDelta(head: ResponseHead, delta: string): ResponseEvent {
  return { type: 'response.output_text.delta', item_id: messageItem(head).id, ...FIRST, delta, logprobs: [] };
}

function messageEnds(head: ResponseHead, text: string, outcome: Outcome): readonly ResponseEvent[] {
  const item = messageItem(head, text, endStatus(outcome));
  return [
    { type: 'response.output_text.done', item_id: item.id, ...FIRST, text, logprobs: [] },
    { type: 'response.content_part.done', item_id: item.id, ...FIRST, part: textPart(text) },
    { type: 'response.output_item.done', output_index: 0, item },
  ];
}

function callEvents({ calls }: Outcome, firstIndex: number): readonly ResponseEvent[] {
  return calls.flatMap((call, index) => {
    const at = { output_index: firstIndex + index };
    const item = callItem(call);
    const input = toJson(call.input);
    return [
      { type: 'response.output_item.added', ...at, item: callItem(call, true) },
      { type: 'response.function_call_arguments.delta', item_id: item.id, ...at, delta: input },
      {
        type: 'response.function_call_arguments.done',
        item_id: item.id,
        ...at,
        name: call.toolName,
        arguments: input,
      },
      { type: 'response.output_item.done', ...at, item },
    ];
  });
}

function ended(response: object): ResponseEvent {
  const { status } = response as { readonly status: string };
  return { type: `response.${status}`, response };
}

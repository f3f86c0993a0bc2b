import { setTimeout as sleep } from 'node:timers/promises';
import { answerText, type Duty, dutiesOf, isAnswered } from '../processes/answering.ts';
import type { ModelOptions, ModelReply } from '../processes/loopback-model.ts';
import type { ModelRequest } from '../processes/model-request.ts';
import type { Random } from './random.ts';

type Calls = NonNullable<ModelReply['calls']>;

/** The requests of people. Those of the second list are answered after a person has answered the card. */
export const WORKS = ['answer', 'charge', 'record', 'look_up', 'confirm', 'transfer'] as const;
const ASKED: readonly string[] = ['confirm', 'transfer'];

/** Does the requested work, partly in batches, and slowly enough that a kill can happen at any point. */
export function chaosModel(random: Random): ModelOptions {
  return {
    decide: (request) => ({ ...decide(request, random), ...pace(random) }),
    onTool: () => sleep(random.isLucky(0.1) ? 400 : random.between(0, 120)),
  };
}

function pace(random: Random): { paceMs?: number } {
  if (random.isLucky(0.4)) return {};
  return { paceMs: random.isLucky(0.7) ? random.between(2, 15) : random.between(20, 60) };
}

function decide(request: ModelRequest, random: Random): ModelReply {
  const open = [...dutiesOf(request), ...answeredCards(request)]
    .filter(({ ref }, index, all) => all.findIndex((other) => other.ref === ref) === index)
    .map((duty) => ({ duty, calls: nextCalls(request, duty, random) }))
    .filter(({ calls }) => calls.length > 0);
  const [first] = open;
  if (first === undefined) return { text: 'Nothing more to do.' };
  const { spaceId } = first.duty;
  // Only one space at a time, because messages are sent to the active space.
  const batch = open.filter(({ duty }) => duty.spaceId === spaceId).slice(0, random.between(1, 3));
  const enter = request.activeSpaceId === spaceId ? [] : [{ name: 'enter_space', input: { spaceId } }];
  return { calls: [...enter, ...batch.flatMap(({ calls }) => calls)] };
}

function nextCalls(request: ModelRequest, { what, ref }: Duty, random: Random): Calls {
  if (isAnswered(request, ref)) return [];
  const answer = { name: 'send_message', input: { text: answerText(ref) } };
  if (what === 'answer' || isAnsweredCard(request, ref)) return [answer];
  const call = { name: what, input: { ref } };
  if (ASKED.includes(what)) return isCalled(request, what, ref) ? [] : [call];
  if (isCalled(request, what, ref)) return [answer];
  return random.isLucky(0.5) ? [call, answer] : [call];
}

/** A call whose result says that it was cancelled does not count, so it is made again. */
function isCalled({ calls }: ModelRequest, what: string, ref: string): boolean {
  return calls.some(
    ({ name, input, result }) => name === what && input.ref === ref && !/^(cancelled|skipped)/i.test(result),
  );
}

function isAnsweredCard({ events }: ModelRequest, ref: string): boolean {
  return events.some(({ type, data }) => type === 'tool_result' && (data.input as { ref?: unknown }).ref === ref);
}

/** The message with the request may not be in the transcript any more. */
function answeredCards({ events, spaces }: ModelRequest): Duty[] {
  return events.flatMap(({ type, data }) => {
    if (type !== 'tool_result') return [];
    const ref = String((data.input as { ref?: unknown }).ref);
    return [{ what: 'answer', ref, spaceId: spaces[spaceOf(ref)] ?? '' }];
  });
}

/** The first letter of a reference is the space of its message. */
export function spaceOf(ref: string): 'North' | 'South' {
  return ref.startsWith('n') ? 'North' : 'South';
}

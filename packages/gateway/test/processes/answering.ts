import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';

/** A message with a request to an agent: `<agent>: <what> <ref>`. */
export interface Duty {
  readonly what: string;
  readonly ref: string;
  readonly spaceId: string;
}

export function toText(agent: string, { what, ref }: Pick<Duty, 'what' | 'ref'>): string {
  return `${agent}: ${what} ${ref}`;
}

/** The requests of people to this agent, from all events in its transcript. */
export function dutiesOf({ agent, events }: Pick<ModelRequest, 'agent' | 'events'>): Duty[] {
  return events.flatMap(({ type, data }) => {
    if (type !== 'space_message') return [];
    const [, name, what = '', ref = ''] = /^(\w+): (\w+) (\S+)$/.exec(String(data.text)) ?? [];
    return name === agent ? [{ what, ref, spaceId: String(data.spaceId) }] : [];
  });
}

/** The answer, which names its request. */
export const answerText = (ref: string): string => `Answer to ${ref}.`;

export function isAnswered({ calls }: ModelRequest, ref: string): boolean {
  return calls.some(
    ({ name, input, result }) =>
      name === 'send_message' && input.text === answerText(ref) && result.startsWith('Sent.'),
  );
}

/** Makes the calls in the space of the request, and enters it first if necessary. */
export function inSpace(
  { activeSpaceId }: ModelRequest,
  { spaceId }: Duty,
  calls: NonNullable<ModelReply['calls']>,
): ModelReply {
  const enter = activeSpaceId === spaceId ? [] : [{ name: 'enter_space', input: { spaceId } }];
  return { calls: [...enter, ...calls] };
}

/** Calls the requested tool by its name, and then answers: one step each. No request is answered twice. */
export function doDuties(request: ModelRequest): ModelReply {
  for (const duty of dutiesOf(request)) {
    const { what, ref } = duty;
    if (isAnswered(request, ref)) continue;
    const isDone = request.calls.some(({ name, input }) => name === what && input.ref === ref);
    if (what !== 'answer' && !isDone) return inSpace(request, duty, [{ name: what, input: { ref } }]);
    return inSpace(request, duty, [{ name: 'send_message', input: { text: answerText(ref) } }]);
  }
  return { text: 'Nothing more to do.' };
}

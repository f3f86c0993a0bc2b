import type { ModelReply } from './loopback-model.ts';
import type { ModelRequest } from './model-request.ts';

/** A message that asks an agent for something: `<agent>: <what> <ref>`. */
export interface Duty {
  readonly what: string;
  readonly ref: string;
  readonly spaceId: string;
}

export function toText(agent: string, { what, ref }: Pick<Duty, 'what' | 'ref'>): string {
  return `${agent}: ${what} ${ref}`;
}

/** What people ask of this agent, of all that it was ever shown. */
export function dutiesOf({ agent, events }: Pick<ModelRequest, 'agent' | 'events'>): Duty[] {
  return events.flatMap(({ type, data }) => {
    if (type !== 'space_message') return [];
    const [, name, what = '', ref = ''] = /^(\w+): (\w+) (\S+)$/.exec(String(data.text)) ?? [];
    return name === agent ? [{ what, ref, spaceId: String(data.spaceId) }] : [];
  });
}

/** Text that answers, and says what it answers. */
export const answerText = (ref: string): string => `Answer to ${ref}.`;

export function isAnswered({ calls }: ModelRequest, ref: string): boolean {
  return calls.some(
    ({ name, input, result }) =>
      name === 'send_message' && input.text === answerText(ref) && result.startsWith('Sent.'),
  );
}

/** In the space of the duty, whichever the agent is in. */
export function inSpace(
  { activeSpaceId }: ModelRequest,
  { spaceId }: Duty,
  calls: NonNullable<ModelReply['calls']>,
): ModelReply {
  const enter = activeSpaceId === spaceId ? [] : [{ name: 'enter_space', input: { spaceId } }];
  return { calls: [...enter, ...calls] };
}

/** Does what the message asks for, tool by its name, and then answers: one step each. Nobody is answered twice. */
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

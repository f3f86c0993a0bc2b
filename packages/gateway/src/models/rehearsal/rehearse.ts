import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { exampleInput } from './example-input.ts';
import { finishes, isOwn } from './match-tool.ts';
import { perform, type RehearsedCall, topicText } from './rules.ts';
import { type RehearsedStep, readScene, type Scene } from './scene.ts';

export type RehearsedReply =
  | { readonly kind: 'call'; readonly id: string; readonly call: RehearsedCall }
  | { readonly kind: 'text'; readonly text: string };

/**
 * What comes next. The script is played from its start each time: the results in the request answer its first calls, and
 * the first call without a result is the reply. So it keeps nothing between replies, and never repeats a call that was made.
 */
export function rehearse(request: LanguageModelV4CallOptions): RehearsedReply {
  const scene = readScene(request);
  const script = perform(scene);
  let rest = scene.steps;
  let next = script.next();
  while (next.done !== true) {
    const played = findStep(rest, next.value);
    if (played === undefined) return toReply(scene, next.value);
    rest = played.rest;
    next = script.next(played.step);
  }
  const forced = forcedCall(scene, request.toolChoice);
  return forced === undefined ? { kind: 'text', text: next.value } : toReply(scene, forced);
}

interface Played {
  readonly step: RehearsedStep;
  /** What came after it. */
  readonly rest: readonly RehearsedStep[];
}

function findStep(steps: readonly RehearsedStep[], call: RehearsedCall): Played | undefined {
  if (call.toolName === 'enter_space') return findEntering(steps, call);
  const at = steps.findIndex(({ toolName }) => toolName === call.toolName);
  const step = steps[at];
  return step === undefined ? undefined : { step, rest: steps.slice(at + 1) };
}

/**
 * The active space is known as it is now, not as it was when the cycle began: where a message was sent without entering,
 * the agent was there already.
 */
function findEntering(steps: readonly RehearsedStep[], { toolName, input }: RehearsedCall): Played | undefined {
  const at = steps.findIndex((step) => step.toolName === 'send_message' || isSameSpace(step, input.spaceId));
  const step = steps[at];
  if (step?.toolName !== 'send_message') return step && { step, rest: steps.slice(at + 1) };
  return { step: { toolName, input, text: '', isError: false }, rest: steps };
}

function isSameSpace({ toolName, input }: RehearsedStep, spaceId: unknown): boolean {
  return toolName === 'enter_space' && (input as { spaceId?: unknown } | undefined)?.spaceId === spaceId;
}

/** Where the host lets the model do nothing but call. */
function forcedCall(scene: Scene, choice: LanguageModelV4CallOptions['toolChoice']): RehearsedCall | undefined {
  if (choice?.type !== 'required' && choice?.type !== 'tool') return undefined;
  const wanted = choice.type === 'tool' ? scene.tools.filter(({ name }) => name === choice.toolName) : scene.tools;
  const tool = wanted.find((one) => isOwn(one) && finishes(one)) ?? wanted.find(isOwn) ?? wanted[0];
  // Once is enough, also where the host would have it again and again.
  if (tool === undefined || scene.steps.some(({ toolName }) => toolName === tool.name)) return undefined;
  return { toolName: tool.name, input: exampleInput(tool.inputSchema, { text: topicText(scene), now: scene.now }) };
}

function toReply({ cycle, steps }: Scene, call: RehearsedCall): RehearsedReply {
  return { kind: 'call', id: `rehearsal-${cycle}-${steps.length}`, call };
}

import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { lastCall, perform, type RehearsedCall } from './rules.ts';
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
  const steps = [...scene.steps];
  const script = perform(scene);
  let next = script.next();
  while (next.done !== true) {
    const step = takeStep(steps, next.value, scene);
    if (step === undefined) return toReply(scene, next.value);
    next = script.next(step);
  }
  const forced = forcedCall(scene, request.toolChoice);
  return forced === undefined ? { kind: 'text', text: next.value } : toReply(scene, forced);
}

function takeStep(steps: RehearsedStep[], call: RehearsedCall, scene: Scene): RehearsedStep | undefined {
  // No call was made where the agent was in the space already.
  if (call.toolName === 'enter_space' && isThere(call.input.spaceId, steps[0], scene))
    return { ...call, text: '', isError: false };
  const at = steps.findIndex(({ toolName }) => toolName === call.toolName);
  return at === -1 ? undefined : steps.splice(0, at + 1).at(-1);
}

/** The situation may tell where the agent was when the cycle began: what it entered since then counts more. */
function isThere(spaceId: unknown, next: RehearsedStep | undefined, { steps, activeSpaceId }: Scene): boolean {
  if (next !== undefined) return next.toolName !== 'enter_space' || next.input.spaceId !== spaceId;
  const entered = steps.findLast(({ toolName, isError }) => toolName === 'enter_space' && !isError);
  return spaceId === (entered === undefined ? activeSpaceId : entered.input.spaceId);
}

/** Where the host lets the model do nothing but call: once is enough, also where it would have it again and again. */
function forcedCall(scene: Scene, choice: LanguageModelV4CallOptions['toolChoice']): RehearsedCall | undefined {
  if (choice?.type !== 'required' && choice?.type !== 'tool') return undefined;
  const call = lastCall(scene, ({ name }) => choice.type !== 'tool' || name === choice.toolName);
  return scene.steps.some(({ toolName }) => toolName === call?.toolName) ? undefined : call;
}

function toReply({ cycle, steps }: Scene, call: RehearsedCall): RehearsedReply {
  return { kind: 'call', id: `rehearsal-${cycle}-${steps.length}`, call };
}

import type { LanguageModelV4CallOptions, LanguageModelV4Text, LanguageModelV4ToolCall } from '@ai-sdk/provider';
import { readScene, type Scene, type Step } from './scene.ts';
import { type Call, perform } from './script.ts';

/**
 * Returns the next reply. The script is played from its start each time: the results in the request answer its first calls, and
 * the first call without a result is the reply. So it keeps nothing between replies and never repeats a call.
 */
export function rehearse(request: LanguageModelV4CallOptions): LanguageModelV4Text | LanguageModelV4ToolCall {
  const scene = readScene(request);
  const steps = [...scene.steps];
  const script = perform(scene);
  for (let next = script.next(); ; ) {
    if (next.done === true) return { type: 'text', text: next.value };
    const step = takeStep(steps, next.value, scene);
    if (step === undefined) return toToolCall(next.value, `rehearsal-${scene.at}-${scene.steps.length}`);
    next = script.next(step);
  }
}

function toToolCall({ toolName, input }: Call, toolCallId: string): LanguageModelV4ToolCall {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
}

function takeStep(steps: Step[], call: Call, scene: Scene): Step | undefined {
  // No call was made if the agent was already in the space.
  if (call.toolName === 'enter_space' && isThere(call.input.spaceId, steps[0], scene))
    return { ...call, text: '', isError: false };
  const at = steps.findIndex(({ toolName }) => toolName === call.toolName);
  return at === -1 ? undefined : steps.splice(0, at + 1).at(-1);
}

/** The situation may say where the agent was when the run began. Spaces that it entered since then take precedence. */
function isThere(spaceId: unknown, next: Step | undefined, { steps, activeSpaceId }: Scene): boolean {
  if (next !== undefined) return next.toolName !== 'enter_space' || next.input.spaceId !== spaceId;
  const entered = steps.findLast(({ toolName, isError }) => toolName === 'enter_space' && !isError);
  return spaceId === (entered === undefined ? activeSpaceId : entered.input.spaceId);
}

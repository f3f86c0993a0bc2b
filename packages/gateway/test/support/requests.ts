import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { parseInboxes } from '../../src/models/rehearsal/parse-inbox.ts';

type Prompt = LanguageModelV4CallOptions['prompt'];

/** The events of the newest inbox in a request, with the ids that the model sees. */
export function inboxOf({ prompt }: { prompt: Prompt }): { type: string; data: Record<string, unknown> }[] {
  const frames = textsOf(prompt).filter((text) => text.startsWith('<inbox-'));
  const [, tag = ''] = /^<inbox-(\w+)/.exec(frames.at(-1) ?? '') ?? [];
  return (parseInboxes(frames, tag).at(-1)?.events ?? []).map(({ type, ...data }) => ({ type, data }));
}

/** The lines of the newest inbox in a request. */
export function inboxLines({ prompt }: { prompt: Prompt }): string[] {
  return shownLines(prompt, 'inbox');
}

/** The lines of the situation in a request. */
export function situationOf({ prompt }: { prompt: Prompt }): string[] {
  return shownLines(prompt, 'situation');
}

function shownLines(prompt: Prompt, name: string): string[] {
  const frame = textsOf(prompt).findLast((text) => text.startsWith(`<${name}-`)) ?? '';
  return frame.split('\n').slice(1, -1);
}

/** The frames in a request with instructions of an entity's client. */
export function callerTextOf({ prompt }: { prompt: Prompt }): Record<string, unknown>[] {
  return linesOf(prompt, 'caller');
}

function linesOf(prompt: Prompt, name: string): Record<string, unknown>[] {
  const frame = textsOf(prompt).findLast((text) => text.startsWith(`<${name}-`)) ?? '';
  const [, ...lines] = frame.split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

/** Every text of the user role. */
export function textsOf(prompt: Prompt): string[] {
  return prompt.flatMap((message) =>
    message.role === 'user' ? message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])) : [],
  );
}

export function systemOf({ prompt }: { prompt: Prompt }): string {
  return prompt.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n');
}

/** The results of the calls in a request, newest last. */
export function resultsOf({ prompt }: { prompt: Prompt }): { toolName: string; callId: string; text: string }[] {
  return prompt.flatMap((message) =>
    message.role !== 'tool'
      ? []
      : message.content.flatMap((part) =>
          part.type !== 'tool-result'
            ? []
            : [
                {
                  toolName: part.toolName,
                  callId: part.toolCallId,
                  text: 'value' in part.output ? String(part.output.value) : '',
                },
              ],
        ),
  );
}

/** True if the newest message has no results, so that the model makes its first reply. */
export function isFirstStep({ prompt }: { prompt: Prompt }): boolean {
  const isSituation = (text: string): boolean => text.startsWith('<situation-');
  // The situation, if there is one, comes last, and is not part of the conversation.
  return prompt.findLast((message) => !textsOf([message]).some(isSituation))?.role === 'user';
}

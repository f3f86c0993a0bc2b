import { toJson } from '../../ports/store/schema/json.ts';

/** The chunks of the AI SDK's UI message stream that the gateway sends. An unknown type would end the client's stream. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; readonly id: string }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-start'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      /** True if the page does not have to run the call. */
      readonly providerExecuted: boolean;
    }
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: unknown;
      readonly providerExecuted: true;
    }
  | {
      readonly type: 'tool-output-error';
      readonly toolCallId: string;
      readonly errorText: string;
      readonly providerExecuted: true;
    }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  /** The gateway's own type: the progress of a call. */
  | { readonly type: 'data-tool-progress'; readonly id: string; readonly data: object }
  /** The gateway's own type: the id of the run, and at the end why it stopped. */
  | { readonly type: 'data-run'; readonly data: object; readonly transient: true }
  | { readonly type: 'error'; readonly errorText: string }
  | { readonly type: 'abort'; readonly reason: string }
  | { readonly type: 'finish'; readonly finishReason: UiFinishReason };

export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other';

const encoder = new TextEncoder();

export function encodeChunks(chunks: readonly UiChunk[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(chunks.map((chunk) => `data: ${toJson(chunk)}\n\n`).join(''));
}

/** The last line of every complete stream. */
export const DONE: Uint8Array = encoder.encode('data: [DONE]\n\n');

export const UI_STREAM_HEADERS: Readonly<Record<string, string>> = { 'x-vercel-ai-ui-message-stream': 'v1' };

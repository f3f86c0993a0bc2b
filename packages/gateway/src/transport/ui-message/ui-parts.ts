import type { UiChunk } from './ui-chunk.ts';

/** A part of a `UIMessage` of the AI SDK. */
export type UiMessagePart = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The parts that a client of the AI SDK creates from these chunks. */
export function toParts(chunks: readonly UiChunk[]): readonly UiMessagePart[] {
  const parts: UiMessagePart[] = [];
  const indexes = new Map<string, number>();
  /** Adds a part, or changes the part with the same id. */
  const set = (id: string, change: object, added: { readonly type: string }): void => {
    const index = indexes.get(id) ?? parts.length;
    indexes.set(id, index);
    parts[index] = { ...(parts[index] ?? added), ...change };
  };
  const end = (toolCallId: string, change: object): void => set(toolCallId, change, { type: 'dynamic-tool' });
  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'start-step':
        parts.push({ type: 'step-start' });
        break;
      case 'text-start':
      case 'reasoning-start':
        set(chunk.id, {}, {
          type: chunk.type === 'text-start' ? 'text' : 'reasoning',
          text: '',
          state: 'done',
        } as UiMessagePart);
        break;
      case 'text-delta':
      case 'reasoning-delta':
        set(chunk.id, { text: `${textOf(parts[indexes.get(chunk.id) ?? -1])}${chunk.delta}` }, { type: 'text' });
        break;
      case 'tool-input-available': {
        const { toolCallId, toolName, input, providerExecuted } = chunk;
        const part = { toolCallId, state: 'input-available', input, providerExecuted };
        set(toolCallId, part, { type: `tool-${toolName}` });
        break;
      }
      case 'tool-approval-request':
        end(chunk.toolCallId, { state: 'approval-requested', approval: { id: chunk.approvalId } });
        break;
      case 'tool-approval-response': {
        const { approvalId: id, approved, reason } = chunk;
        end(id, {
          state: 'approval-responded',
          approval: { id, approved, ...(reason === undefined ? {} : { reason }) },
        });
        break;
      }
      case 'tool-output-available':
        end(chunk.toolCallId, { state: 'output-available', output: chunk.output, providerExecuted: true });
        break;
      case 'tool-output-error':
        end(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText, providerExecuted: true });
        break;
      case 'tool-output-denied':
        end(chunk.toolCallId, { state: 'output-denied' });
        break;
      default:
        break;
    }
  }
  return parts;
}

function textOf(part: UiMessagePart | undefined): string {
  return String(part?.text ?? '');
}

import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { CassetteError } from './cassette.ts';

type Block = Extract<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;

/** The parts of a stream as a whole result, for a caller that does not stream. */
export function collectParts(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4GenerateResult {
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, { -readonly [K in keyof Block]: Block[K] }>();
  let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  for (const part of parts) {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block: Block = { type: part.type === 'text-start' ? 'text' : 'reasoning', text: '' };
        open.set(part.id, block);
        content.push(block);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const block = open.get(part.id);
        if (block !== undefined) block.text += part.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const block = open.get(part.id);
        if (block !== undefined && part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
        break;
      }
      case 'error':
        throw part.error;
      case 'finish':
        end = part;
        break;
      case 'stream-start':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'response-metadata':
      case 'raw':
      case 'ping':
        break;
      default:
        content.push(part);
    }
  }
  if (end === undefined) throw new CassetteError('The recorded stream was cut off before its end.');
  const { finishReason, usage, providerMetadata } = end;
  return {
    content,
    finishReason,
    usage,
    warnings: [],
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  };
}

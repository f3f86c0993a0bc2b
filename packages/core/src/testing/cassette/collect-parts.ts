import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { CassetteError } from './cassette.ts';

type Block = Extract<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;
type BlockPart = Extract<LanguageModelV4StreamPart, { type: `${Block['type']}-${'start' | 'delta' | 'end'}` }>;

/** The parts of a stream as a whole result, for a caller that does not stream. */
export function collectParts(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4GenerateResult {
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, { -readonly [K in keyof Block]: Block[K] }>();
  // As in a turn: a block may begin with a delta, and have metadata in each part. The signature of a thought comes with a delta.
  const extend = (part: BlockPart, type: Block['type']): void => {
    const key = `${type}:${part.id}`;
    const known = part.type.endsWith('-start') ? undefined : open.get(key);
    if (known === undefined && part.type.endsWith('-end')) return;
    const block = known ?? { type, text: '' };
    if (known === undefined) content.push(block);
    open.set(key, block);
    if ('delta' in part) block.text += part.delta;
    if (part.providerMetadata !== undefined)
      block.providerMetadata = { ...block.providerMetadata, ...part.providerMetadata };
  };
  let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  for (const part of parts) {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        extend(part, 'text');
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        extend(part, 'reasoning');
        break;
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

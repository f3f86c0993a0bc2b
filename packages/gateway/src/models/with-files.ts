import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { type ModelFiles, takenBy } from '../config/model-files.ts';
import { attachedBytes, attachedId, sizeInWords } from '../domain/artifacts/attachment.ts';
import { nameInWords } from '../domain/plain-words.ts';
import { wrapModel } from './wrap-model.ts';

type ReadFile = (id: string) => Promise<Uint8Array | undefined>;

export interface FileSource {
  /** The bytes of an artifact. Undefined if it is gone. */
  readonly read: ReadFile;
  /** What models take, by their names in the configuration. */
  readonly modelFiles: ModelFiles;
}

/**
 * A model that is sent the files of messages. A transcript only refers to them:
 *
 * 1. Images and PDFs become parts of the request, if the model takes them. All other files, and files of models that do not take them,
 *    become a note that says what the model cannot see.
 * 2. A file that is too large for providers, or that does not fit with the newer ones into a request, becomes a note too. The newest files
 *    are sent first.
 * 3. A file that is gone, because it was deleted, becomes a note, and so does a damaged one: providers would refuse the request, and each later one.
 * 4. The bytes are read for each request. Nothing keeps them.
 */
export function withFiles(name: string, model: LanguageModelV4, source: FileSource): LanguageModelV4 {
  const toSend = async (options: LanguageModelV4CallOptions): Promise<LanguageModelV4CallOptions> => {
    if (!options.prompt.some(hasAttachment)) return options;
    const taken = takenBy({ name, provider: model.provider, modelId: model.modelId }, source.modelFiles);
    return { ...options, prompt: await readFiles(options.prompt, { taken, read: source.read }) };
  };
  return wrapModel(model, {
    doGenerate: async (options) => await model.doGenerate(await toSend(options)),
    doStream: async (options) => await model.doStream(await toSend(options)),
  });
}

type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>;

function hasAttachment(message: LanguageModelV4Message): message is UserMessage {
  // Nearly all messages have one part, and every message of a long transcript passes here.
  return (
    message.role === 'user' &&
    message.content.length > 1 &&
    message.content.some((part) => attachedId(part) !== undefined)
  );
}

interface Reading {
  readonly taken: readonly ('image' | 'pdf')[];
  readonly read: ReadFile;
}

async function readFiles(prompt: LanguageModelV4Prompt, reading: Reading): Promise<LanguageModelV4Prompt> {
  const sent = [...prompt];
  let room = REQUEST_BYTES;
  for (let at = sent.length - 1; at >= 0; at--) {
    const message = sent[at] as LanguageModelV4Message;
    if (!hasAttachment(message)) continue;
    const content: UserMessage['content'] = [];
    for (const part of message.content) {
      const id = attachedId(part);
      if (part.type !== 'file' || id === undefined) {
        content.push(part);
        continue;
      }
      const { shown, bytes } = await showFile(id, part, room, reading);
      room -= bytes;
      content.push(shown);
    }
    sent[at] = { ...message, content };
  }
  return sent;
}

/** Providers accept 20 to 50 MB in a request, and files grow by a third on the way. */
const REQUEST_BYTES = 15_000_000;
/** The smallest limit of the large providers. */
const IMAGE_BYTES = 5_000_000;

interface Shown {
  readonly shown: UserMessage['content'][number];
  readonly bytes: number;
}

async function showFile(id: string, part: LanguageModelV4FilePart, room: number, reading: Reading): Promise<Shown> {
  const kind = kindOf(part.mediaType);
  if (kind === undefined) return note(part, 'You cannot be shown files of this type.');
  if (!reading.taken.includes(kind)) return note(part, `You cannot be shown ${NAMES[kind]}.`);
  const most = kind === 'image' ? IMAGE_BYTES : REQUEST_BYTES;
  const refused = (size: number): Shown | undefined => {
    if (size > most) return note(part, `It is larger than ${sizeInWords(most)}, so you cannot be shown it.`);
    return size > room ? note(part, 'It is left out, because newer files fill this request.') : undefined;
  };
  const size = attachedBytes(part);
  const tooLarge = refused(size);
  if (tooLarge !== undefined) return tooLarge;
  const bytes = await reading.read(id);
  if (bytes === undefined) return note(part, 'It was deleted.');
  if (size > 0 && bytes.length !== size) return note(part, 'Its file is damaged.');
  const { providerOptions: _ours, ...sent } = part;
  return refused(bytes.length) ?? { shown: { ...sent, data: { type: 'data', data: bytes } }, bytes: bytes.length };
}

const NAMES = { image: 'images', pdf: 'PDFs' } as const;

/** The types that all large providers read. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

function kindOf(mediaType: string): 'image' | 'pdf' | undefined {
  if (IMAGES.has(mediaType)) return 'image';
  return mediaType === 'application/pdf' ? 'pdf' : undefined;
}

/** A person chose the name. It must not look like another note, or like a frame. */
function note({ filename }: LanguageModelV4FilePart, why: string): Shown {
  const name = filename === undefined ? 'a file' : nameInWords(filename);
  return { shown: { type: 'text', text: `[${name}: ${why}]` }, bytes: 0 };
}

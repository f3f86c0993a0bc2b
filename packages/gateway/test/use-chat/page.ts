import { randomUUID } from 'node:crypto';
import { Chat } from '@ai-sdk/react';
import {
  type ChatInit,
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';

export interface PageOptions
  extends Omit<ChatInit<UIMessage>, 'transport' | 'id' | 'messageMetadataSchema' | 'dataPartSchemas'> {
  /** Of `/api/agents/:id/chat`, with its host. */
  readonly api: string;
  readonly secret: string;
  readonly id?: string;
  readonly body?: object;
  readonly fetch?: typeof globalThis.fetch;
}

/** A page with `useChat`: the AI SDK's own chat, with a record of its requests and responses. */
export interface Page {
  readonly chat: Chat<UIMessage>;
  /** The requests, in order. */
  readonly requests: readonly { readonly method: string; readonly url: string; readonly body: unknown }[];
  readonly statuses: readonly number[];
  /** The received chunks, in order. The transport has validated each with the AI SDK's schema. */
  readonly chunks: UIMessageChunk[];
  say(text: string): Promise<void>;
  /** The parts of the last message, in a short form. */
  readonly shown: readonly ShownPart[];
  /** Decides on every call that asks. A page with `sendAutomaticallyWhen` sends it then. */
  mark(approved: boolean, reason?: string): Promise<void>;
  /** The same, and sends it. */
  decide(approved: boolean, reason?: string): Promise<void>;
}

type ShownPart = string | readonly [tool: string, state: string, output?: unknown];

export function openPage({
  api,
  secret,
  id = randomUUID(),
  body,
  fetch = globalThis.fetch,
  ...init
}: PageOptions): Page {
  const requests: { method: string; url: string; body: unknown }[] = [];
  const statuses: number[] = [];
  const chunks: UIMessageChunk[] = [];
  const transport = new NotingTransport(chunks, {
    api,
    headers: { authorization: `Bearer ${secret}` },
    ...(body === undefined ? {} : { body }),
    fetch: async (input, given) => {
      const sent = given?.body;
      requests.push({
        method: given?.method ?? 'GET',
        url: String(input),
        body: typeof sent === 'string' ? JSON.parse(sent) : undefined,
      });
      const response = await fetch(input, given);
      statuses.push(response.status);
      return response;
    },
  });
  const chat = new Chat<UIMessage>({ id, transport, ...init });
  const mark: Page['mark'] = async (approved, reason) => {
    for (const part of chat.messages.at(-1)?.parts ?? [])
      if (isToolUIPart(part) && part.state === 'approval-requested')
        await chat.addToolApprovalResponse({
          id: part.approval.id,
          approved,
          ...(reason === undefined ? {} : { reason }),
        });
  };
  return {
    chat,
    requests,
    statuses,
    chunks,
    say: (text) => chat.sendMessage({ text }),
    get shown() {
      return (chat.messages.at(-1)?.parts ?? []).flatMap(toShown);
    },
    mark,
    async decide(approved, reason) {
      await mark(approved, reason);
      await chat.sendMessage();
    },
  };
}

class NotingTransport extends DefaultChatTransport<UIMessage> {
  readonly #chunks: UIMessageChunk[];

  constructor(chunks: UIMessageChunk[], options: ConstructorParameters<typeof DefaultChatTransport<UIMessage>>[0]) {
    super(options);
    this.#chunks = chunks;
  }

  protected override processResponseStream(stream: ReadableStream<Uint8Array>): ReadableStream<UIMessageChunk> {
    const note = (chunk: UIMessageChunk): void => void this.#chunks.push(structuredClone(chunk));
    return super.processResponseStream(stream as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          note(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
  }
}

function toShown(part: UIMessage['parts'][number]): readonly ShownPart[] {
  if (part.type === 'text') return [part.text];
  if (!isToolUIPart(part)) return [];
  const output = part.state === 'output-error' ? part.errorText : part.output;
  return [output === undefined ? [getToolName(part), part.state] : [getToolName(part), part.state, output]];
}

import { toJson } from '../../ports/store/schema/json.ts';

const encoder = new TextEncoder();

/** Frames without an event name: OpenAI's client cannot read named events in chat completions. */
export function dataFrames(data: readonly (object | '[DONE]')[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(data.map((one) => `data: ${typeof one === 'string' ? one : toJson(one)}\n\n`).join(''));
}

/** Frames whose event name is the type of their data. */
export function namedFrames(events: readonly { readonly type: string }[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(events.map((one) => `event: ${one.type}\ndata: ${toJson(one)}\n\n`).join(''));
}

import { parseJson } from '@lastcall/core/internal';
import type { StreamEvent } from './bus.ts';

type StoredFields = Omit<StreamEvent, 'payload'> & { readonly json: string };

/** An event whose payload is JSON text. The text is parsed when the payload is read, and most payloads never are. */
export function storedEvent(fields: StoredFields): StreamEvent {
  return new StoredEvent(fields);
}

class StoredEvent implements StreamEvent {
  readonly stream: string;
  readonly seq: number;
  readonly type: string;
  readonly json: string;
  readonly at: number;
  readonly revocations: number;
  #payload: unknown;

  constructor({ stream, seq, type, json, at, revocations }: StoredFields) {
    this.stream = stream;
    this.seq = seq;
    this.type = type;
    this.json = json;
    this.at = at;
    this.revocations = revocations;
  }

  get payload(): unknown {
    this.#payload ??= parseJson(this.json);
    return this.#payload;
  }
}

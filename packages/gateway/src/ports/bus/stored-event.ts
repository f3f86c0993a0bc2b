import type { StreamEvent } from './bus.ts';

/** An event whose payload is JSON text. It is parsed when somebody reads it, which most events' readers never do. */
export function storedEvent(event: Omit<StreamEvent, 'payload'> & { readonly json: string }): StreamEvent {
  let payload: unknown;
  return {
    ...event,
    get payload() {
      payload ??= JSON.parse(event.json);
      return payload;
    },
  };
}

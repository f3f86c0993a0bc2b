import { ClientError } from '@lastcall/client';

type Listener = (error: ClientError) => void;
let listener: Listener | undefined;

/** Any request may discover that the session has ended because it was revoked or is too old. */
export function noticeSessionEnd(error: unknown): void {
  if (error instanceof ClientError && error.status === 401) listener?.(error);
}

export function onSessionEnd(hear: Listener): () => void {
  listener = hear;
  return () => {
    if (listener === hear) listener = undefined;
  };
}

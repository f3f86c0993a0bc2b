const NAME = 'lastcall.draft.';

/** What somebody began to write in a space. It outlives the page, not the tab. */
export function readDraft(spaceId: string): string {
  return sessionStorage.getItem(NAME + spaceId) ?? '';
}

export function keepDraft(spaceId: string, text: string): void {
  if (text === '') sessionStorage.removeItem(NAME + spaceId);
  else sessionStorage.setItem(NAME + spaceId, text);
}

/** Whoever signs in next in this tab must not find what another began to write. */
export function forgetDrafts(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(NAME)) sessionStorage.removeItem(name);
}

/** A message that somebody tries to send. */
export interface Attempt {
  readonly text: string;
  /** The same for each try of one message: however often it is sent, it is posted once. */
  readonly id: string;
}

/**
 * The next try. Another text is another message: under the id of one that may have arrived, the gateway would answer with that one,
 * and what was changed since would be lost without a word.
 */
export function nextAttempt(before: Attempt | undefined, text: string): Attempt {
  return before?.text === text ? before : { text, id: newMessageId() };
}

export function newMessageId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

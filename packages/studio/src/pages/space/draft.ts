import { keepInTab, readJsonInTab } from '../../data/tab-storage.ts';

const NAME = 'lastcall.draft.';

/** The unsent text of a space. It is kept while the tab is open. */
export function readDraft(spaceId: string): string {
  return sessionStorage.getItem(NAME + spaceId) ?? '';
}

export function keepDraft(spaceId: string, text: string): void {
  keepInTab(NAME + spaceId, text === '' ? undefined : text);
}

const ATTEMPT = `${NAME}attempt.`;

/** The attempt to send the draft that was not confirmed. It is kept with the draft, which may be sent after the page was left or reloaded. */
export function readAttempt(spaceId: string): Attempt | undefined {
  return readJsonInTab(ATTEMPT + spaceId);
}

export function keepAttempt(spaceId: string, attempt: Attempt | undefined): void {
  keepInTab(ATTEMPT + spaceId, attempt && JSON.stringify(attempt));
}

/** Drafts are removed so that the next user of this tab does not see them. */
export function forgetDrafts(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(NAME)) sessionStorage.removeItem(name);
}

/** A message that the user tries to send. */
export interface Attempt {
  readonly text: string;
  /** The ids of its files. */
  readonly attachments: readonly string[];
  /** The same for each attempt of one message: no matter how often it is sent, it is posted once. */
  readonly id: string;
}

/**
 * The next attempt. A changed text, or other files, are another message: if the old id were reused and the first attempt had arrived, the
 * gateway would answer with that message, and the changes would be lost silently.
 */
export function nextAttempt(before: Attempt | undefined, text: string, attachments: readonly string[] = []): Attempt {
  const isSame = before?.text === text && before.attachments.join() === attachments.join();
  return isSame ? before : { text, attachments, id: newMessageId() };
}

export function newMessageId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

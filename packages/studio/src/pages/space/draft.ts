const NAME = 'lastcall.draft.';

/** What somebody began to write in a space. It outlives the page, not the tab. */
export function readDraft(spaceId: string): string {
  return sessionStorage.getItem(NAME + spaceId) ?? '';
}

export function keepDraft(spaceId: string, text: string): void {
  if (text === '') sessionStorage.removeItem(NAME + spaceId);
  else sessionStorage.setItem(NAME + spaceId, text);
}

/** The same for each try of one message: however often it is sent, it is posted once. */
export function newMessageId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

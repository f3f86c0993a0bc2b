import { type Client, createClient, type Operations } from '@lastcall/client';

/** A card that a link opened: for one call, as one person, for an hour. */
export type OpenedCard = Operations['POST /api/card-links']['answer'];

/** Uses the link up. */
export async function openCardLink(code: string): Promise<OpenedCard> {
  const opened = await createClient({ auth: 'none' }).notifications.openLink(code);
  sessionStorage.setItem(KEY, JSON.stringify(opened));
  return opened;
}

/** The card that this tab opened before it was loaded again. A link works once, so the tab keeps what it got. */
export function openedBefore(now: number): OpenedCard | undefined {
  const kept = sessionStorage.getItem(KEY);
  if (kept === null) return undefined;
  const opened = JSON.parse(kept) as OpenedCard;
  return opened.expiresAt > now ? opened : undefined;
}

/** The browser may be signed in as another user: the card is shown and answered with the link's own rights. */
export function clientOf({ token }: OpenedCard): Client {
  return createClient({ auth: { token } });
}

const KEY = 'lastcall-card';

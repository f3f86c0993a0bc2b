/** A figure, and the limit that it is compared with. Without a unit it is a ratio of two figures of one run. */
export interface Held {
  readonly what: string;
  readonly figure: number;
  readonly is: 'at most' | 'at least';
  readonly limit: number;
  readonly unit: string;
}

export function heldAtMost(what: string, figure: number, limit: number, unit = ''): Held {
  return { what, figure, is: 'at most', limit, unit };
}

export function heldAtLeast(what: string, figure: number, limit: number, unit = ''): Held {
  return { what, figure, is: 'at least', limit, unit };
}

export function isHeld({ figure, is, limit }: Held): boolean {
  return is === 'at most' ? figure <= limit : figure >= limit;
}

export function toSentence(held: Held): string {
  const { what, figure, is, limit, unit } = held;
  return `${what}: ${short(figure)}${unit}, ${is} ${short(limit)}${unit}: ${isHeld(held) ? 'held' : 'missed'}.`;
}

export function short(figure: number): string {
  return String(Number(figure.toPrecision(3)));
}

// The cards of the game, and which of them a deck has. Nothing here changes while a game is played.

export type PlayerId = 'ada' | 'bo';

export const NAMES: Readonly<Record<PlayerId, string>> = { ada: 'Ada', bo: 'Bo' };

/** A card in one player's deck: `ada-3` is the fourth card of Ada's list. */
export type CardId = string;

export interface Attack {
  readonly name: string;
  /** How many embers the beast must carry. */
  readonly cost: number;
  readonly damage: number;
  /** Whether the beast that is hit falls drowsy. */
  readonly lulls?: true;
}

export type Card =
  | { readonly kind: 'beast'; readonly name: string; readonly life: number; readonly attacks: readonly Attack[] }
  | { readonly kind: 'ember'; readonly name: string };

const mosshorn: Card = {
  kind: 'beast',
  name: 'Mosshorn',
  life: 60,
  attacks: [
    { name: 'Nudge', cost: 1, damage: 20 },
    { name: 'Stampede', cost: 2, damage: 40 },
  ],
};
const cinderfox: Card = {
  kind: 'beast',
  name: 'Cinderfox',
  life: 40,
  attacks: [
    { name: 'Nip', cost: 1, damage: 20 },
    { name: 'Wildfire', cost: 2, damage: 50 },
  ],
};
const mistwing: Card = {
  kind: 'beast',
  name: 'Mistwing',
  life: 50,
  attacks: [
    { name: 'Lullaby', cost: 1, damage: 10, lulls: true },
    { name: 'Downdraught', cost: 2, damage: 40 },
  ],
};
const boulderback: Card = {
  kind: 'beast',
  name: 'Boulderback',
  life: 80,
  attacks: [{ name: 'Landslip', cost: 3, damage: 60 }],
};
const ember: Card = { kind: 'ember', name: 'Ember' };

const DECK: readonly Card[] = [
  ...[mosshorn, mosshorn, cinderfox, cinderfox, mistwing, mistwing, boulderback],
  ...Array.from({ length: 11 }, () => ember),
];

export function deckOf(player: PlayerId): readonly CardId[] {
  return DECK.map((_, index) => `${player}-${index}`);
}

export function findCard(id: CardId): Card | undefined {
  const [, index] = /^(?:ada|bo)-(\d+)$/.exec(id) ?? [];
  return index === undefined ? undefined : DECK[Number(index)];
}

/** The card of an id that is known to exist. */
export function cardOf(id: CardId): Card {
  const card = findCard(id);
  if (card === undefined) throw new Error(`"${id}" is no card.`);
  return card;
}

export function isBeast(id: CardId): boolean {
  return findCard(id)?.kind === 'beast';
}

/** `Mosshorn (ada-0)`, as texts name a card. */
export function cardName(id: CardId): string {
  return `${cardOf(id).name} (${id})`;
}

/** Returns the same shuffle for the same seed, and the seed of the next shuffle. */
export function shuffle(cards: readonly CardId[], seed: number): { cards: readonly CardId[]; seed: number } {
  const shuffled = [...cards];
  let next = seed;
  for (let last = shuffled.length - 1; last > 0; last--) {
    next = (next * 48_271) % 2_147_483_647;
    const other = next % (last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other] as CardId, shuffled[last] as CardId];
  }
  return { cards: shuffled, seed: next };
}

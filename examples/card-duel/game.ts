// The table: whose turn it is and where every card lies. Only events change it, so that a call that fails leaves no
// trace and a rewind puts everything back.
import { type Slice, slice } from '@lastcall/core';
import { type CardId, deckOf, type PlayerId, shuffle } from './cards.ts';

export type Zone = 'deck' | 'hand' | 'active' | 'bench' | 'attached' | 'discard';
export type Phase = 'setup' | 'start' | 'main';
export type Zones = Readonly<Record<Zone, readonly CardId[]>>;

export interface Game {
  readonly turn: number;
  readonly player: PlayerId;
  readonly phase: Phase;
  readonly zones: Readonly<Record<PlayerId, Zones>>;
  readonly points: Readonly<Record<PlayerId, number>>;
  readonly mulligans: readonly PlayerId[];
  readonly hasDrawn: boolean;
  readonly decision: Decision | null;
  readonly winner: PlayerId | null;
  readonly seed: number;
}

/** A choice that the other player has to make before the turn goes on: one of these cards becomes active. */
interface Decision {
  readonly of: PlayerId;
  readonly question: string;
  readonly cards: readonly CardId[];
}

const HAND_SIZE = 5;
export const BENCH_SIZE = 3;
export const POINTS_TO_WIN = 3;

export type GameEvent =
  | { readonly type: 'GameStarted'; readonly seed: number }
  | { readonly type: 'CardDrawn'; readonly player: PlayerId }
  | {
      readonly type: 'CardMoved';
      readonly player: PlayerId;
      readonly card: CardId;
      readonly from: Zone;
      readonly to: Zone;
    }
  | { readonly type: 'HandExchanged'; readonly player: PlayerId }
  | { readonly type: 'PhaseEnded' }
  | { readonly type: 'TurnEnded'; readonly player: PlayerId }
  | { readonly type: 'DecisionAsked'; readonly decision: Decision }
  | { readonly type: 'DecisionMade'; readonly card: CardId }
  | { readonly type: 'PointScored'; readonly player: PlayerId }
  | { readonly type: 'GameWon'; readonly player: PlayerId };

type EventOf<T extends GameEvent['type']> = Extract<GameEvent, { type: T }>;

const noCards: Zones = { deck: [], hand: [], active: [], bench: [], attached: [], discard: [] };

const noGame: Game = {
  turn: 0,
  player: 'ada',
  phase: 'setup',
  zones: { ada: noCards, bo: noCards },
  points: { ada: 0, bo: 0 },
  mulligans: [],
  hasDrawn: false,
  decision: null,
  winner: null,
  seed: 73,
};

export const game: Slice<Game> = slice<Game>('game', {
  // In a new session the cards are dealt. Another seed deals others.
  initial: deal(deal(noGame, 'ada'), 'bo'),
  on: {
    GameStarted: (_, { seed }: EventOf<'GameStarted'>) => deal(deal({ ...noGame, seed }, 'ada'), 'bo'),
    CardDrawn: (state, { player }: EventOf<'CardDrawn'>) => ({ ...takeFromDeck(state, player, 1), hasDrawn: true }),
    CardMoved: move,
    HandExchanged: (state, { player }: EventOf<'HandExchanged'>) => ({
      ...deal(state, player),
      mulligans: [...state.mulligans, player],
    }),
    PhaseEnded: endPhase,
    TurnEnded: (state, { player }: EventOf<'TurnEnded'>) => ({
      ...state,
      turn: state.turn + 1,
      player: otherThan(player),
      phase: 'start',
      hasDrawn: false,
    }),
    DecisionAsked: (state, { decision }: EventOf<'DecisionAsked'>) => ({ ...state, decision }),
    DecisionMade: (state, { card }: EventOf<'DecisionMade'>) => {
      const player = state.decision?.of ?? otherThan(state.player);
      return { ...move(state, { type: 'CardMoved', player, card, from: 'bench', to: 'active' }), decision: null };
    },
    PointScored: (state, { player }: EventOf<'PointScored'>) => ({
      ...state,
      points: { ...state.points, [player]: state.points[player] + 1 },
    }),
    GameWon: (state, { player }: EventOf<'GameWon'>) => ({ ...state, winner: player }),
  },
});

/** Who makes the next move: the player whose turn it is, or the one who has to decide something. */
export function toMove({ player, decision }: Game): PlayerId {
  return decision?.of ?? player;
}

export function otherThan(player: PlayerId): PlayerId {
  return player === 'ada' ? 'bo' : 'ada';
}

/** Shuffles a player's hand and deck together and deals a new hand: at the start, and for a mulligan. */
function deal(state: Game, player: PlayerId): Game {
  const { hand, deck } = state.zones[player];
  const all = hand.length + deck.length === 0 ? deckOf(player) : [...deck, ...hand];
  const { cards, seed } = shuffle(all, state.seed);
  const shuffled = withZones({ ...state, seed }, player, { hand: [], deck: cards });
  return takeFromDeck(shuffled, player, HAND_SIZE);
}

function takeFromDeck(state: Game, player: PlayerId, count: number): Game {
  const { deck, hand } = state.zones[player];
  return withZones(state, player, { hand: [...hand, ...deck.slice(0, count)], deck: deck.slice(count) });
}

function move(state: Game, { player, card, from, to }: EventOf<'CardMoved'>): Game {
  const zones = state.zones[player];
  if (!zones[from].includes(card)) throw new Error(`${card} is not in ${player}'s ${from}.`);
  const left = withZones(state, player, { [from]: zones[from].filter((one) => one !== card) });
  return withZones(left, player, { [to]: [...left.zones[player][to], card] });
}

function endPhase(state: Game): Game {
  if (state.phase === 'start') return { ...state, phase: 'main' };
  if (state.player === 'ada') return { ...state, player: 'bo' };
  return { ...state, player: 'ada', phase: 'start', turn: 1 };
}

function withZones(state: Game, player: PlayerId, changed: Partial<Zones>): Game {
  return { ...state, zones: { ...state.zones, [player]: { ...state.zones[player], ...changed } } };
}

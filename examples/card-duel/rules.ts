// What the table allows, as pure functions: each returns the reason why a move is not allowed, or undefined if it is.
import { type CardId, cardName, findCard, isBeast, type PlayerId } from './cards.ts';
import { BENCH_SIZE, type Game, otherThan, type Phase, POINTS_TO_WIN, type Zone } from './game.ts';

export type Refusal = string | undefined;

/** Most rules begin with this one. */
export function notNow(game: Game, ...phases: readonly Phase[]): Refusal {
  if (game.winner !== null) return 'The game is over.';
  if (game.decision !== null) return 'There is a decision to make first.';
  return phases.includes(game.phase) ? undefined : `This is not allowed in the phase "${game.phase}".`;
}

export function noDraw(game: Game, player: PlayerId): Refusal {
  if (game.hasDrawn) return 'You have drawn your card for this turn.';
  return game.zones[player].deck.length === 0 ? 'Your deck is empty.' : undefined;
}

export function noMulligan(game: Game, player: PlayerId): Refusal {
  if (game.mulligans.includes(player)) return 'You have exchanged your hand once already.';
  const { active, bench } = game.zones[player];
  return active.length + bench.length > 0 ? 'You have put beasts on the table already.' : undefined;
}

/** Beasts come from the hand or the bench, and an active one may retreat to the bench. */
export function noMove(game: Game, player: PlayerId, { card, to }: { card: CardId; to: 'active' | 'bench' }): Refusal {
  if (findCard(card) === undefined) return `There is no card "${card}".`;
  if (!isBeast(card)) return `${cardName(card)} is no beast: only beasts stand on the table.`;
  const from = zoneOf(game, player, card);
  if (from !== 'hand' && from !== 'bench' && from !== 'active')
    return `${cardName(card)} is neither in your hand nor on your side of the table.`;
  if (from === to) return `${cardName(card)} is there already.`;
  const size = to === 'active' ? 1 : BENCH_SIZE;
  return game.zones[player][to].length < size ? undefined : `There is no room: ${to} holds ${size} at most.`;
}

export function noEndOfPhase(game: Game, player: PlayerId): Refusal {
  if (game.phase === 'setup')
    return game.zones[player].active.length === 0 ? 'Put a beast into the active place first.' : undefined;
  return game.hasDrawn || game.zones[player].deck.length === 0 ? undefined : 'Draw your card first.';
}

export function noEndOfTurn(game: Game, player: PlayerId): Refusal {
  if (game.zones[player].active.length === 0) return 'You have no active beast. Put one into the active place.';
  const { active, bench } = game.zones[otherThan(player)];
  if (active.length > 0) return undefined;
  return bench.length === 0
    ? 'The other side has no beasts left. Declare your victory.'
    : 'The other player must choose a new active beast first. Ask for the decision.';
}

export function noDecision(game: Game, player: PlayerId, cards: readonly CardId[]): Refusal {
  const { active, bench } = game.zones[otherThan(player)];
  if (active.length > 0) return 'The other player has an active beast: there is nothing to decide.';
  const stranger = cards.find((card) => !bench.includes(card));
  return stranger === undefined ? undefined : `"${stranger}" is not on the other player's bench.`;
}

export function noResolution({ decision }: Game, player: PlayerId, card: CardId): Refusal {
  if (decision === null || decision.of !== player) return 'There is nothing for you to decide.';
  return decision.cards.includes(card) ? undefined : `Choose one of ${decision.cards.join(', ')}.`;
}

export function noVictory(game: Game, player: PlayerId): Refusal {
  const { active, bench } = game.zones[otherThan(player)];
  if (game.points[player] >= POINTS_TO_WIN || active.length + bench.length === 0) return undefined;
  return `You have ${game.points[player]} of ${POINTS_TO_WIN} points, and the other side still has beasts.`;
}

/** Only its owner sees a hand, and a deck lies face down for both players. */
export function noSearch(owner: 'mine' | 'theirs', zone: Zone): Refusal {
  if (zone === 'deck') return 'A deck lies face down.';
  return owner === 'theirs' && zone === 'hand' ? "The other player's hand is secret." : undefined;
}

export function zoneOf(game: Game, player: PlayerId, card: CardId): Zone | undefined {
  const zones = game.zones[player];
  return (Object.keys(zones) as Zone[]).find((zone) => zones[zone].includes(card));
}

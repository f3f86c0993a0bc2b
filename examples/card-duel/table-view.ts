// What a player sees of the table, as text: the last message of every request, never stored.
import type { Session } from '@lastcall/core';
import { type CardId, cardName, NAMES } from './cards.ts';
import { attacksOf, type Combat, combat, embersOn, lifeLeft } from './combat.ts';
import { game, otherThan, toMove } from './game.ts';

export function describeTable(session: Pick<Session, 'read'>): string {
  const table = session.read(game);
  const { zones, points, turn, decision } = table;
  const player = toMove(table);
  const state = session.read(combat);
  const other = otherThan(player);
  const [mine, theirs] = [zones[player], zones[other]];
  const beasts = (cards: readonly CardId[]): string => list(cards, (card) => describeBeast(state, card));
  return [
    `You are ${NAMES[player]}. Turn ${turn}. Points: you ${points[player]}, they ${points[other]}.`,
    `Your hand: ${list(mine.hand, cardName)}. Cards in your deck: ${mine.deck.length}.`,
    `Your active beast: ${beasts(mine.active)}. Your bench: ${beasts(mine.bench)}.`,
    `Their active beast: ${beasts(theirs.active)}. Their bench: ${beasts(theirs.bench)}.`,
    `This turn: ember attached ${state.hasAttached ? 'yes' : 'no'}, attacked ${state.hasAttacked ? 'yes' : 'no'}.`,
    ...(decision === null ? [] : [`To decide: ${decision.question} ${list(decision.cards, cardName)}.`]),
  ].join('\n');
}

function describeBeast(state: Combat, beast: CardId): string {
  const attacks = attacksOf(beast).map(({ name, cost, damage }) => `${name} ${cost}→${damage}`);
  const drowsy = state.drowsy.includes(beast) ? ', drowsy' : '';
  return `${cardName(beast)}, life ${lifeLeft(state, beast)}, embers ${embersOn(state, beast).length}${drowsy} [${attacks.join('; ')}]`;
}

function list(cards: readonly CardId[], describe: (card: CardId) => string): string {
  return cards.length === 0 ? 'none' : cards.map(describe).join(', ');
}

// Tools that any card game needs. They know zones, turns and decisions, but not attacks. A call is a move of the player who is to move.
import { blocked, pending, tool } from '@lastcall/core';
import { z } from 'zod';
import { cardName, type PlayerId } from './cards.ts';
import { type Game, type GameEvent, game, otherThan, toMove } from './game.ts';
import * as rules from './rules.ts';

const nothing = z.object({});
const cardId = z.string().describe('The id of a card, e.g. ada-3');

const cardTools = {
  draw: tool({
    description: 'Draws the top card of your deck: once, at the start of your turn.',
    inputSchema: nothing,
    effects: 'session',
    execute: (_, ctx) => {
      const state = ctx.session.read(game);
      const player = toMove(state);
      const refusal = rules.notNow(state, 'start') ?? rules.noDraw(state, player);
      if (refusal !== undefined) return blocked(refusal);
      ctx.session.dispatch<GameEvent>({ type: 'CardDrawn', player });
      return `You draw ${names(ctx.session.read(game).zones[player].hand.slice(-1))}.`;
    },
  }),
  move_card: tool({
    description: 'Moves one of your beasts to the active place or to the bench.',
    inputSchema: z.object({ card: cardId, to: z.enum(['active', 'bench']) }),
    effects: 'session',
    execute: ({ card, to }, ctx) => {
      const state = ctx.session.read(game);
      const player = toMove(state);
      const refusal = rules.notNow(state, 'setup', 'main') ?? rules.noMove(state, player, { card, to });
      if (refusal !== undefined) return blocked(refusal);
      const from = rules.zoneOf(state, player, card) ?? 'hand';
      ctx.session.dispatch<GameEvent>({ type: 'CardMoved', player, card, from, to });
      return `${cardName(card)} goes from ${from} to ${to}.`;
    },
  }),
  mulligan: tool({
    description: 'Shuffles your hand back into your deck and deals you a new one. Once, in setup.',
    inputSchema: nothing,
    effects: 'session',
    execute: (_, ctx) => {
      const state = ctx.session.read(game);
      const player = toMove(state);
      const refusal = rules.notNow(state, 'setup') ?? rules.noMulligan(state, player);
      if (refusal !== undefined) return blocked(refusal);
      ctx.session.dispatch<GameEvent>({ type: 'HandExchanged', player });
      return `Your new hand: ${names(ctx.session.read(game).zones[player].hand)}.`;
    },
  }),
};

/** For each kind of look, only the newest result stays whole in the conversation: each kind has its own slot. */
const lookingTools = {
  search_zone: tool({
    description: 'Lists the cards of a zone, yours or the other player’s, as far as you may see them.',
    inputSchema: z.object({
      owner: z.enum(['mine', 'theirs']),
      zone: z.enum(['deck', 'hand', 'active', 'bench', 'attached', 'discard']),
    }),
    effects: 'none',
    keepLatest: 'search',
    execute: ({ owner, zone }, ctx) => {
      const refusal = rules.noSearch(owner, zone);
      if (refusal !== undefined) return blocked(refusal);
      const state = ctx.session.read(game);
      const whose = owner === 'mine' ? toMove(state) : otherThan(toMove(state));
      return `${owner === 'mine' ? 'Your' : 'Their'} ${zone}: ${names(state.zones[whose][zone])}.`;
    },
  }),
  peek: tool({
    description: 'Looks at the top cards of your own deck.',
    inputSchema: z.object({ count: z.int().min(1).max(3) }),
    effects: 'none',
    keepLatest: 'peek',
    execute: ({ count }, ctx) => {
      const state = ctx.session.read(game);
      return `Next in your deck: ${names(state.zones[toMove(state)].deck.slice(0, count))}.`;
    },
  }),
};

const decisionTools = {
  create_decision: tool({
    description: 'Asks the other player to choose the beast that becomes active. Your turn waits for the answer.',
    inputSchema: z.object({ question: z.string().min(1), cards: z.array(cardId).min(1) }),
    effects: 'session',
    execute: ({ question, cards }, ctx) => {
      const state = ctx.session.read(game);
      const player = toMove(state);
      const refusal = rules.notNow(state, 'main') ?? rules.noDecision(state, player, cards);
      if (refusal !== undefined) return blocked(refusal);
      const decision = { of: otherThan(player), question, cards };
      ctx.session.dispatch<GameEvent>({ type: 'DecisionAsked', decision });
      return pending({ display: question });
    },
  }),
  resolve_decision: tool({
    description: 'Decides what you were asked.',
    inputSchema: z.object({ card: cardId }),
    terminal: true,
    effects: 'session',
    execute: ({ card }, ctx) => {
      const state = ctx.session.read(game);
      const refusal = rules.noResolution(state, toMove(state), card);
      if (refusal !== undefined) return blocked(refusal);
      ctx.session.dispatch<GameEvent>({ type: 'DecisionMade', card });
      return `${cardName(card)} becomes active.`;
    },
  }),
};

const endingTools = {
  end_phase: ending(
    'Ends setup or the start of your turn.',
    (state, player) => rules.notNow(state, 'setup', 'start') ?? rules.noEndOfPhase(state, player),
    () => ({ type: 'PhaseEnded' }),
    'The phase ends.',
  ),
  end_turn: ending(
    'Ends your turn.',
    (state, player) => rules.notNow(state, 'main') ?? rules.noEndOfTurn(state, player),
    (player) => ({ type: 'TurnEnded', player }),
    'The turn ends.',
  ),
  declare_victory: ending(
    'Declares that you have won.',
    (state, player) => rules.notNow(state, 'main') ?? rules.noVictory(state, player),
    (player) => ({ type: 'GameWon', player }),
    'You have won.',
  ),
  concede: ending(
    'Gives the game up.',
    ({ winner }) => (winner === null ? undefined : 'The game is over.'),
    (player) => ({ type: 'GameWon', player: otherThan(player) }),
    'You have conceded.',
  ),
};

export const coreTools = { ...cardTools, ...lookingTools, ...decisionTools, ...endingTools };

/** A tool that ends the turn, unless a rule forbids it: then nothing happens, and the turn goes on. */
function ending(
  description: string,
  refusalOf: (state: Game, player: PlayerId) => rules.Refusal,
  eventOf: (player: PlayerId) => GameEvent,
  said: string,
) {
  return tool({
    description,
    inputSchema: nothing,
    terminal: true,
    effects: 'session',
    execute: (_, { session }) => {
      const state = session.read(game);
      const refusal = refusalOf(state, toMove(state));
      if (refusal !== undefined) return blocked(refusal);
      session.dispatch(eventOf(toMove(state)));
      return said;
    },
  });
}

function names(cards: readonly string[]): string {
  return cards.length === 0 ? 'nothing' : cards.map(cardName).join(', ');
}

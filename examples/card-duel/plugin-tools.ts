// The tools of the plugin, which only a duel of beasts has.
import { blocked, type Session, type ToolSet, tool } from '@lastcall/core';
import { z } from 'zod';
import { type Attack, type CardId, cardName, type PlayerId } from './cards.ts';
import { attacksOf, type CombatEvent, combat, embersOn, lifeLeft, noAttack, noEmber, noWaking } from './combat.ts';
import { type GameEvent, game, otherThan, toMove } from './game.ts';
import { notNow } from './rules.ts';

const cardId = z.string().describe('The id of a card, e.g. ada-3');

export const beastTools: ToolSet = {
  attach_energy: tool({
    description: 'Attaches an ember of your hand to one of your beasts in play. Once a turn.',
    inputSchema: z.object({ ember: cardId, beast: cardId }),
    effects: 'session',
    execute: ({ ember, beast }, { session }) => {
      const table = tableOf(session);
      const player = toMove(table.game);
      const refusal = notNow(table.game, 'main') ?? noEmber(table, player, { ember, beast });
      if (refusal !== undefined) return blocked(refusal);
      tell(session, { type: 'CardMoved', player, card: ember, from: 'hand', to: 'attached' });
      tell(session, { type: 'EmberAttached', ember, beast });
      return `Embers on ${cardName(beast)}: ${embersOn(session.read(combat), beast).length}.`;
    },
  }),
  declare_attack: tool({
    description: 'Attacks the other active beast with yours. Once a turn, and the last thing but ending it.',
    inputSchema: z.object({ attack: z.string().describe('The name of the attack') }),
    effects: 'session',
    execute: ({ attack }, { session }) => {
      const table = tableOf(session);
      const player = toMove(table.game);
      const refusal = notNow(table.game, 'main') ?? noAttack(table, player, attack);
      return refusal === undefined ? strike(session, player, attack) : blocked(refusal);
    },
  }),
  set_status: tool({
    description: 'Wakes a drowsy beast of yours, at the price of one of its embers.',
    inputSchema: z.object({ beast: cardId, status: z.literal('awake') }),
    effects: 'session',
    execute: ({ beast }, { session }) => {
      const table = tableOf(session);
      const refusal = notNow(table.game, 'start') ?? noWaking(table.combat, beast);
      if (refusal !== undefined) return blocked(refusal);
      const [ember] = embersOn(table.combat, beast);
      if (ember !== undefined) spend(session, toMove(table.game), ember);
      tell(session, { type: 'BeastWoken', beast });
      return `${cardName(beast)} is awake.`;
    },
  }),
};

function tableOf(session: Session): Parameters<typeof noAttack>[0] {
  return { game: session.read(game), combat: session.read(combat) };
}

function strike(session: Session, player: PlayerId, name: string): string {
  const { zones } = session.read(game);
  const [attacker = ''] = zones[player].active;
  const [target = ''] = zones[otherThan(player)].active;
  const { damage, lulls } = attacksOf(attacker).find((one) => one.name === name) as Attack;
  tell(session, { type: 'BeastHit', beast: target, damage });
  const hit = `${cardName(attacker)} hits ${cardName(target)} with ${name} for ${damage}.`;
  if (lifeLeft(session.read(combat), target) <= 0) return `${hit} ${fell(session, player, target)}`;
  if (lulls === true && !session.read(combat).drowsy.includes(target))
    tell(session, { type: 'BeastLulled', beast: target });
  return `${hit} It has ${lifeLeft(session.read(combat), target)} life left${lulls === true ? ' and is drowsy' : ''}.`;
}

function fell(session: Session, player: PlayerId, beast: CardId): string {
  const owner = otherThan(player);
  for (const ember of embersOn(session.read(combat), beast)) spend(session, owner, ember);
  tell(session, { type: 'CardMoved', player: owner, card: beast, from: 'active', to: 'discard' });
  tell(session, { type: 'BeastFell', beast });
  tell(session, { type: 'PointScored', player });
  return `It falls. Your points: ${session.read(game).points[player]}.`;
}

function spend(session: Session, owner: PlayerId, ember: CardId): void {
  tell(session, { type: 'CardMoved', player: owner, card: ember, from: 'attached', to: 'discard' });
  tell(session, { type: 'EmberSpent', ember });
}

function tell(session: Session, event: GameEvent | CombatEvent): void {
  session.dispatch(event);
}
